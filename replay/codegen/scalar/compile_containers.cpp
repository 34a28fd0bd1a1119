// Operations on items of sequences and arrays, and on iterators.
#include "replay/codegen/scalar/compiler.h"

#ifdef __x86_64__
#include "replay/arrays/numpy/numpy_abi.h"
#include "rewriter/base/errors.h"
#include "rewriter/cpython/ints.h"

namespace tagalong::replay::native {
namespace {

constexpr int kArrayData = offsetof(array::ArrayFields, data);
constexpr int kArrayDimensions = offsetof(array::ArrayFields, nd);
constexpr int kArrayExtents = offsetof(array::ArrayFields, dimensions);
constexpr int kArrayStrides = offsetof(array::ArrayFields, strides);
constexpr int kArrayType = offsetof(array::ArrayFields, descr);
constexpr int kArrayFlags = offsetof(array::ArrayFields, flags);
constexpr int kArrayWriteable = array::kWriteable;
constexpr int kArrayWriteFlags = array::kWriteable | array::kWarnOnWrite;
const void* item_dtype(int type_number) { return array::met_numpy()->descr[static_cast<std::size_t>(type_number)]; }

}  // namespace

void Compiler::range_next(const LoopOp& op) {
  int_result(op, [&](const Reg64& target) {
    mov(rax, object(op.left));
    mov(target, qword[rax + layout::kRangeIndex]);
    cmp(target, qword[rax + layout::kRangeLength]);
    jge(failed(op));
    inc(qword[rax + layout::kRangeIndex]);
    imul(target, qword[rax + layout::kRangeStep]);
    add(target, qword[rax + layout::kRangeStart]);
  });
}

void Compiler::for_iter(const LoopOp& op) {
  Label other;
  Label no_list;
  Label found;
  mov(rax, object(op.left));
  compare_with(qword[rax + layout::kType], &PyListIter_Type);
  jne(no_list);
  next_place(other);
  mov(rdx, qword[rdx + layout::kListItems]);
  mov(rax, qword[rdx + rcx * kNumberSize]);
  jmp(found);
  L(no_list);
  compare_with(qword[rax + layout::kType], &PyBytesIter_Type);
  jne(other);
  next_place(other);
  movzx(ecx, byte[rdx + rcx + layout::kBytes]);
  TAGALONG_CHECK(
      reinterpret_cast<char*>(cpython::int_of_byte(255)) - reinterpret_cast<char*>(cpython::int_of_byte(0)) ==
          255 * layout::kIntObject,
      "ints of {} bytes each", layout::kIntObject);
  imul(ecx, ecx, layout::kIntObject);
  mov(rax, reinterpret_cast<std::size_t>(cpython::int_of_byte(0)));
  add(rax, rcx);
  L(found);
  Label taken;
  mov(object(op.result), rax);
  take_from_next(op, taken);
  share(rax);
  L(taken);
  perform_aside(other, op);
}

void Compiler::next_place(Label& other) {
  mov(rdx, qword[rax + layout::kIteratorSequence]);
  test(rdx, rdx);
  jz(other);
  mov(rcx, qword[rax + layout::kIteratorIndex]);
  cmp(rcx, qword[rdx + layout::kSize]);
  jge(other);
  inc(qword[rax + layout::kIteratorIndex]);
}

void Compiler::find_item(const LoopOp& op, Label& slow_path, Container container) {
  mov(rax, object(op.left));
  if (const int index = ints_.find(op.right); index >= 0) {
    mov(rdx, int_register(index));
  } else {
    mov(rdx, number(op.right));
  }
  cmp(rdx, qword[rax + layout::kSize]);
  jae(slow_path);
  Label tuple;
  Label found;
  if (container == Container::kEither) {
    compare_with(qword[rax + layout::kType], &PyList_Type);
    jne(tuple);
  }
  if (container != Container::kTuple) {
    mov(rax, qword[rax + layout::kListItems]);
    lea(rdx, ptr[rax + rdx * kNumberSize]);
  }
  if (container == Container::kEither) {
    jmp(found);
  }
  if (container != Container::kList) {
    L(tuple);
    lea(rdx, ptr[rax + rdx * kNumberSize + layout::kTupleItems]);
  }
  L(found);
}

void Compiler::item(const LoopOp& op) {
  Label slow_path;
  find_item(op, slow_path, static_cast<Container>(op.flag));
  mov(rax, qword[rdx]);
  switch (op.code) {
    case LoopCode::kItemFloat:
      keep_float_of(op, op.result);
      break;
    case LoopCode::kItemInt:
      keep_int_of(op, op.result, slow_path);
      break;
    default:
      share(rax);
      mov(object(op.result), rax);
      break;
  }
  perform_aside(slow_path, op);
}

void Compiler::store_item(const LoopOp& op) {
  Label slow_path;
  Label shared;
  find_item(op, slow_path, Container::kList);
  mov(rax, qword[rdx]);
  if ((op.flag & kStoresNumber) != 0) {
    store_number(op, slow_path);
    perform_aside(slow_path, op);
    return;
  }
  Label same;
  cmp(rax, object(op.result));
  je(same);
  cmp(qword[rax + layout::kCount], 1);
  jne(shared);
  compare_with(qword[rax + layout::kType], &PyFloat_Type);
  je(shared);
  compare_with(qword[rax + layout::kType], &PyLong_Type);
  jne(slow_path);
  L(shared);
  mov(rcx, object(op.result));
  share(rcx);
  mov(qword[rdx], rcx);
  give_up();
  L(same);
  perform_aside(slow_path, op);
}

void Compiler::store_number(const LoopOp& op, Label& slow_path) {
  cmp(qword[rax + layout::kCount], 1);
  jne(slow_path);
  cmp(object(op.result), 0);
  jne(slow_path);
  compare_with(qword[rax + layout::kType], &PyFloat_Type);
  jne(slow_path);
  const Xmm value = float_of(op.result);
  mov(rcx, reinterpret_cast<std::size_t>(&spare_float));  // as replace_float()
  mov(rcx, qword[rcx]);
  test(rcx, rcx);
  jz(slow_path);
  movsd(qword[rcx + layout::kFloat], value);
  mov(qword[rdx], rcx);
  mov(rcx, reinterpret_cast<std::size_t>(&spare_float));
  mov(qword[rcx], rax);
}

void Compiler::make_pair(const LoopOp& op) {
  mov(number(op.result), int_of(op.left));
  mov(number(op.result + 1), int_of(op.right));
  forget(op.result);
  forget(op.result + 1);
}

void Compiler::load_int(const Reg64& target, std::int32_t place) {
  if (const int index = ints_.find(place); index >= 0) {
    mov(target, int_register(index));
  } else {
    mov(target, number(place));
  }
}

void Compiler::find_distance(std::int32_t index, int dimension, Label& slow_path) {
  Label counted;
  load_int(rdx, index);
  mov(rcx, qword[rax + kArrayExtents]);
  mov(rcx, qword[rcx + dimension * kNumberSize]);
  test(rdx, rdx);
  jns(counted);
  add(rdx, rcx);
  L(counted);
  cmp(rdx, rcx);
  jae(slow_path);
  mov(rcx, qword[rax + kArrayStrides]);
  imul(rdx, qword[rcx + dimension * kNumberSize]);
}

void Compiler::find_array_item(const LoopOp& op, Label& slow_path) {
  const bool is_pair = op.code == LoopCode::kArrayItem2 || op.code == LoopCode::kArrayStore2;
  mov(rax, object(op.left));
  compare_with(qword[rax + kArrayType], item_dtype(op.flag));
  jne(slow_path);
  cmp(dword[rax + kArrayDimensions], is_pair ? 2 : 1);
  jne(slow_path);
  find_distance(op.right, 0, slow_path);
  if (is_pair) {
    const Reg64 row = int_register(ints_.take());
    mov(row, rdx);
    find_distance(op.right + 1, 1, slow_path);
    add(rdx, row);
  }
  add(rdx, qword[rax + kArrayData]);
}

void Compiler::keep_item(Unboxed kind, std::int32_t place) {
  if (kind == Unboxed::kNumpyFloat) {
    const int index = floats_.take();
    movsd(float_register(index), qword[rdx]);
    keep_float(place, index);
    return;
  }
  const int index = ints_.take();
  if (kind == Unboxed::kNumpyInt) {
    mov(int_register(index), qword[rdx]);
  } else {
    cmp(byte[rdx], 0);
    setne(cl);
    movzx(int_register(index).cvt32(), cl);
  }
  keep_int(place, index);
}

void Compiler::array_item(const LoopOp& op) {
  Label slow_path;
  find_array_item(op, slow_path);
  keep_item(unboxed_of_items(op.flag), op.result);
  perform_aside(slow_path, op);
}

void Compiler::array_next(const LoopOp& op) {
  Label slow_path;
  mov(rax, object(op.left));
  mov(rdx, qword[rax + layout::kIteratorIndex]);
  mov(rax, qword[rax + layout::kIteratorSequence]);
  test(rax, rax);
  jz(slow_path);
  compare_with(qword[rax + layout::kType], array::met_numpy()->array_type);
  jne(slow_path);
  compare_with(qword[rax + kArrayType], item_dtype(op.flag));
  jne(slow_path);
  cmp(dword[rax + kArrayDimensions], 1);
  jne(slow_path);
  mov(rcx, qword[rax + kArrayExtents]);
  cmp(rdx, qword[rcx]);
  jae(slow_path);
  mov(rcx, qword[rax + kArrayStrides]);
  imul(rdx, qword[rcx]);
  add(rdx, qword[rax + kArrayData]);
  mov(rax, object(op.left));
  inc(qword[rax + layout::kIteratorIndex]);
  keep_item(unboxed_of_items(op.flag), op.result);
  perform_aside(slow_path, op);
}

void Compiler::array_store(const LoopOp& op) {
  Label slow_path;
  const Unboxed kind = unboxed_of_items(op.flag);
  find_array_item(op, slow_path);
  mov(ecx, dword[rax + kArrayFlags]);
  and_(ecx, kArrayWriteFlags);
  cmp(ecx, kArrayWriteable);
  jne(slow_path);
  if (kind == Unboxed::kNumpyFloat) {
    movsd(qword[rdx], float_of(op.result));
  } else {
    load_int(rcx, op.result);
    kind == Unboxed::kNumpyInt ? mov(qword[rdx], rcx) : mov(byte[rdx], cl);
  }
  perform_aside(slow_path, op);
}

}  // namespace tagalong::replay::native
#endif
