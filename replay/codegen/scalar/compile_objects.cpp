// Objects in registers: releasing, moving, boxing and unboxing.
#include "replay/codegen/scalar/compiler.h"

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

void deallocate(PyObject* object, Frame* frame) noexcept {
  frame->is_touched = 1;
  _Py_Dealloc(object);
}

}  // namespace

void Compiler::give_up() {
  Label dies;
  Label back;
  dec(qword[rax + layout::kCount]);
  jz(dies);
  L(back);
  aside(dies, back, [this] {
    mov(rdi, rax);
    mov(rsi, r15);
    call_function(&deallocate);
  });
}

void Compiler::clear(std::int32_t place) {
  Label nothing;
  mov(rax, object(place));
  test(rax, rax);
  jz(nothing);
  mov(object(place), 0);
  give_up();
  L(nothing);
}

void Compiler::give_up_rest(const LoopOp& op) {
  constexpr std::size_t kFew = 6;
  const auto& rest = source_.steps[op.step].rest;
  if (rest == nullptr || rest->size() > kFew) {
    perform(op);
    return;
  }
  Label other;
  for (const std::int32_t place : *rest) {
    Label next;
    mov(rax, object(place));
    test(rax, rax);
    jz(next);
    mov(rdx, qword[rax + layout::kType]);
    for (PyTypeObject* const plain : {&PyRangeIter_Type, &PyFloat_Type, &PyLong_Type}) {
      mov(rcx, reinterpret_cast<std::size_t>(plain));
      cmp(rdx, rcx);
      je(next);
    }
    mov(rcx, reinterpret_cast<std::size_t>(&PyListIter_Type));
    cmp(rdx, rcx);
    jne(other);
    cmp(qword[rax + layout::kIteratorSequence], 0);
    jne(other);
    L(next);
  }
  if (!rest->empty()) {
    perform_aside(other, op);
  }
}

void Compiler::clear_shown(const LoopOp& op) {
  Label nothing;
  Label last;
  mov(rax, object(op.left));
  test(rax, rax);
  jz(nothing);
  cmp(qword[rax + layout::kCount], 1);
  je(last);
  mov(object(op.left), 0);
  dec(qword[rax + layout::kCount]);
  L(nothing);
  perform_aside(last, op);
}

void Compiler::copy_number(const LoopOp& op) {
  mov(rax, number(op.left));
  mov(number(op.result), rax);
  forget(op.result);
}

void Compiler::take_from_next(const LoopOp& op, const Label& taken) {
  const std::size_t next = number_ + 1;
  if (next >= ops_.size() || ops_[next].code != LoopCode::kClear || ops_[next].left == op.result) {
    return;
  }
  Label differs;
  cmp(rax, object(ops_[next].left));
  jne(differs);
  mov(object(ops_[next].left), 0);
  jmp(taken);
  L(differs);
}

void Compiler::move_or_share(const LoopOp& op) {
  Label nothing;
  mov(rdx, object(op.result));
  copy_number(op);
  mov(rax, object(op.left));
  mov(object(op.result), rax);
  if (op.code == LoopCode::kMove) {
    mov(object(op.left), 0);
  } else {
    Label none;
    take_from_next(op, none);
    test(rax, rax);
    jz(none);
    share(rax);
    L(none);
  }
  test(rdx, rdx);
  jz(nothing);
  mov(rax, rdx);
  give_up();
  L(nothing);
}

void Compiler::box(const LoopOp& op) {
  const Unboxed kind = source_.program.kinds[static_cast<std::size_t>(op.left)];
  Label none;
  Label back;
  cmp(object(op.left), 0);
  je(none);
  L(back);
  Label& slow_path = bail();
  aside(none, back, [this, kind, &slow_path, place = op.left] {
    if (kind == Unboxed::kPair) {
      jmp(slow_path);
      return;
    }
    if (kind == Unboxed::kFloat) {
      movsd(xmm0, number(place));
      call_function(&object_of_float);
    } else if (kind == Unboxed::kInt) {
      mov(rdi, number(place));
      call_function(&object_of_int);
    } else if (kind != Unboxed::kBool) {
      mov(edi, static_cast<int>(kind));
      mov(rsi, number(place));
      call_function(&object_of_scalar);
    } else {
      mov(rax, reinterpret_cast<std::size_t>(Py_True));
      mov(rcx, reinterpret_cast<std::size_t>(Py_False));
      cmp(number(place), 0);
      cmove(rax, rcx);
      share(rax);
    }
    test(rax, rax);
    jz(slow_path);
    mov(object(place), rax);
  });
}

void Compiler::keep_float_of(const LoopOp& op, std::int32_t place) {
  compare_with(qword[rax + layout::kType], &PyFloat_Type);
  jne(op.is_guard ? failed(op) : bail());
  const int index = floats_.take();
  movsd(float_register(index), qword[rax + layout::kFloat]);
  keep_float(place, index);
}

void Compiler::keep_int_of(const LoopOp& op, std::int32_t place, Label& large) {
  compare_with(qword[rax + layout::kType], &PyLong_Type);
  jne(op.is_guard ? failed(op) : bail());
  const int index = ints_.take();
  mov(rdx, qword[rax + layout::kSize]);
  lea(rcx, ptr[rdx + 1]);
  cmp(rcx, 2);
  Label small;
  Label found;
  const Reg64 target = int_register(index);
  jbe(small);
  lea(rcx, ptr[rdx + 2]);
  cmp(rcx, 4);
  ja(large);
  mov(ecx, dword[rax + layout::kDigits + layout::kDigitSize]);
  shl(rcx, PyLong_SHIFT);
  mov(target.cvt32(), dword[rax + layout::kDigits]);
  or_(target, rcx);
  test(rdx, rdx);
  jns(found);
  neg(target);
  jmp(found);
  L(small);
  mov(target.cvt32(), dword[rax + layout::kDigits]);
  imul(target, rdx);
  L(found);
  keep_int(place, index);
}

void Compiler::unbox(const LoopOp& op) {
  Label large;
  mov(rax, object(op.left));
  switch (op.code) {
    case LoopCode::kUnboxFloat:
      keep_float_of(op, op.left);
      break;
    case LoopCode::kUnboxInt:
      keep_int_of(op, op.left, large);
      perform_aside(large, op);
      break;
    case LoopCode::kUnboxNumpyInt:
    case LoopCode::kUnboxNumpyFloat:
    case LoopCode::kUnboxNumpyBool:
      compare_with(qword[rax + layout::kType], type_of(info(op.code).gives));
      jne(op.is_guard ? failed(op) : bail());
      lea(rdx, ptr[rax + static_cast<int>(sizeof(PyObject))]);  // array::scalar_value
      keep_item(info(op.code).gives, op.left);
      break;
    default:
      unbox_bool(op);
      break;
  }
}

void Compiler::unbox_bool(const LoopOp& op) {
  Label& fails = op.is_guard ? failed(op) : bail();
  Label known;
  const int index = ints_.take();
  mov(int_register(index).cvt32(), 1);
  mov(rcx, reinterpret_cast<std::size_t>(Py_True));
  cmp(rax, rcx);
  je(known);
  mov(rcx, reinterpret_cast<std::size_t>(Py_False));
  cmp(rax, rcx);
  jne(fails);
  xor_(int_register(index).cvt32(), int_register(index).cvt32());
  L(known);
  keep_int(op.left, index);
}

}  // namespace tagalong::replay::native
#endif
