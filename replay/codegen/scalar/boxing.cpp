#include "replay/codegen/scalar/boxing.h"

#ifdef __x86_64__

namespace tagalong::replay::native {
namespace {

PyObject* object_of_int(std::int64_t number) noexcept {
  PyObject* object = PyLong_FromLongLong(number);
  if (object == nullptr) {
    PyErr_Clear();  // the interpreter repeats the operation and raises
  }
  return object;
}

PyObject* object_of_float(double number) noexcept {
  PyObject* object = PyFloat_FromDouble(number);
  if (object == nullptr) {
    PyErr_Clear();
  }
  return object;
}

PyObject* object_of_scalar(Unboxed kind, std::int64_t bits) noexcept {
  PyObject* object = object_of(kind, {.i = bits});
  if (object == nullptr) {
    PyErr_Clear();
  }
  return object;
}

}  // namespace

void BoxingCode::box(const LoopOp& op) {
  const Unboxed kind = source_.program.kinds[static_cast<std::size_t>(op.left)];
  Label none;
  Label back;
  asm_.cmp(object(op.left), 0);
  asm_.je(none);
  asm_.L(back);
  Label& slow_path = exits_.bail();
  exits_.aside(none, back, [this, kind, &slow_path, place = op.left] {
    if (kind == Unboxed::kPair) {
      asm_.jmp(slow_path);
      return;
    }
    if (kind == Unboxed::kFloat) {
      asm_.movsd(xmm0, number(place));
      asm_.call_function(&object_of_float);
    } else if (kind == Unboxed::kInt) {
      asm_.mov(rdi, number(place));
      asm_.call_function(&object_of_int);
    } else if (kind != Unboxed::kBool) {
      asm_.mov(edi, static_cast<int>(kind));
      asm_.mov(rsi, number(place));
      asm_.call_function(&object_of_scalar);
    } else {
      asm_.mov(rax, reinterpret_cast<std::size_t>(Py_True));
      asm_.mov(rcx, reinterpret_cast<std::size_t>(Py_False));
      asm_.cmp(number(place), 0);
      asm_.cmove(rax, rcx);
      asm_.share(rax);
    }
    asm_.test(rax, rax);
    asm_.jz(slow_path);
    asm_.mov(object(place), rax);
  });
}

void BoxingCode::keep_float_of(const LoopOp& op, std::int32_t place) {
  asm_.compare_with(qword[rax + layout::kType], &PyFloat_Type);
  asm_.jne(op.is_guard ? exits_.failed(op) : exits_.bail());
  const int index = registers_.take_float();
  asm_.movsd(float_register(index), qword[rax + layout::kFloat]);
  registers_.keep_float(place, index);
}

void BoxingCode::keep_int_of(const LoopOp& op, std::int32_t place, Label& large) {
  asm_.compare_with(qword[rax + layout::kType], &PyLong_Type);
  asm_.jne(op.is_guard ? exits_.failed(op) : exits_.bail());
  const int index = registers_.take_int();
  version::machine::load_int(asm_, int_register(index), rax, rdx, rcx, large);
  registers_.keep_int(place, index);
}

void BoxingCode::keep_result(const LoopOp& op, Label& large) {
  switch (info(op.code).gives) {
    case Unboxed::kFloat:
      keep_float_of(op, op.result);
      break;
    case Unboxed::kInt:
      keep_int_of(op, op.result, large);
      break;
    default:
      asm_.share(rax);
      asm_.mov(object(op.result), rax);
      break;
  }
}

void BoxingCode::keep_item(Unboxed kind, std::int32_t place) {
  if (kind == Unboxed::kNumpyFloat) {
    const int index = registers_.take_float();
    asm_.movsd(float_register(index), qword[rdx]);
    registers_.keep_float(place, index);
    return;
  }
  const int index = registers_.take_int();
  if (kind == Unboxed::kNumpyInt) {
    asm_.mov(int_register(index), qword[rdx]);
  } else {
    asm_.cmp(byte[rdx], 0);
    asm_.setne(cl);
    asm_.movzx(int_register(index).cvt32(), cl);
  }
  registers_.keep_int(place, index);
}

void BoxingCode::unbox(const LoopOp& op) {
  Label large;
  asm_.mov(rax, object(op.left));
  switch (op.code) {
    case LoopCode::kUnboxFloat:
      keep_float_of(op, op.left);
      break;
    case LoopCode::kUnboxInt:
      keep_int_of(op, op.left, large);
      exits_.perform_out_of_line(large, op);
      break;
    case LoopCode::kUnboxNumpyInt:
    case LoopCode::kUnboxNumpyFloat:
    case LoopCode::kUnboxNumpyBool:
      asm_.compare_with(qword[rax + layout::kType], type_of(info(op.code).gives));
      asm_.jne(op.is_guard ? exits_.failed(op) : exits_.bail());
      asm_.lea(rdx, ptr[rax + static_cast<int>(sizeof(PyObject))]);  // array::scalar_value
      keep_item(info(op.code).gives, op.left);
      break;
    default:
      unbox_bool(op);
      break;
  }
}

void BoxingCode::unbox_bool(const LoopOp& op) {
  Label& fails = op.is_guard ? exits_.failed(op) : exits_.bail();
  Label known;
  const int index = registers_.take_int();
  asm_.mov(int_register(index).cvt32(), 1);
  asm_.mov(rcx, reinterpret_cast<std::size_t>(Py_True));
  asm_.cmp(rax, rcx);
  asm_.je(known);
  asm_.mov(rcx, reinterpret_cast<std::size_t>(Py_False));
  asm_.cmp(rax, rcx);
  asm_.jne(fails);
  asm_.xor_(int_register(index).cvt32(), int_register(index).cvt32());
  asm_.L(known);
  registers_.keep_int(op.left, index);
}

}  // namespace tagalong::replay::native
#endif
