#include "replay/codegen/scalar/array_items.h"

#ifdef __x86_64__
#include "replay/arrays/numpy/numpy_abi.h"

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

void ArrayItemCode::make_pair(const LoopOp& op) {
  asm_.mov(number(op.result), registers_.int_of(op.left));
  asm_.mov(number(op.result + 1), registers_.int_of(op.right));
  registers_.forget(op.result);
  registers_.forget(op.result + 1);
}

void ArrayItemCode::find_offset(std::int32_t index, int dimension, Label& slow_path) {
  Label counted;
  registers_.load_int(rdx, index);
  asm_.mov(rcx, qword[rax + kArrayExtents]);
  asm_.mov(rcx, qword[rcx + dimension * kNumberSize]);
  asm_.test(rdx, rdx);
  asm_.jns(counted);
  asm_.add(rdx, rcx);
  asm_.L(counted);
  asm_.cmp(rdx, rcx);
  asm_.jae(slow_path);
  asm_.mov(rcx, qword[rax + kArrayStrides]);
  asm_.imul(rdx, qword[rcx + dimension * kNumberSize]);
}

void ArrayItemCode::find_array_item(const LoopOp& op, Label& slow_path) {
  const bool is_pair = op.code == LoopCode::kArrayItem2 || op.code == LoopCode::kArrayStore2;
  asm_.mov(rax, object(op.left));
  asm_.compare_with(qword[rax + kArrayType], item_dtype(op.flag));
  asm_.jne(slow_path);
  asm_.cmp(dword[rax + kArrayDimensions], is_pair ? 2 : 1);
  asm_.jne(slow_path);
  find_offset(op.right, 0, slow_path);
  if (is_pair) {
    const Reg64 row = int_register(registers_.take_int());
    asm_.mov(row, rdx);
    find_offset(op.right + 1, 1, slow_path);
    asm_.add(rdx, row);
  }
  asm_.add(rdx, qword[rax + kArrayData]);
}

void ArrayItemCode::array_item(const LoopOp& op) {
  Label slow_path;
  find_array_item(op, slow_path);
  boxing_.keep_item(unboxed_of_items(op.flag), op.result);
  exits_.perform_out_of_line(slow_path, op);
}

void ArrayItemCode::array_next(const LoopOp& op) {
  Label slow_path;
  asm_.mov(rax, object(op.left));
  asm_.mov(rdx, qword[rax + layout::kIteratorIndex]);
  asm_.mov(rax, qword[rax + layout::kIteratorSequence]);
  asm_.test(rax, rax);
  asm_.jz(slow_path);
  asm_.compare_with(qword[rax + layout::kType], array::met_numpy()->array_type);
  asm_.jne(slow_path);
  asm_.compare_with(qword[rax + kArrayType], item_dtype(op.flag));
  asm_.jne(slow_path);
  asm_.cmp(dword[rax + kArrayDimensions], 1);
  asm_.jne(slow_path);
  asm_.mov(rcx, qword[rax + kArrayExtents]);
  asm_.cmp(rdx, qword[rcx]);
  asm_.jae(slow_path);
  asm_.mov(rcx, qword[rax + kArrayStrides]);
  asm_.imul(rdx, qword[rcx]);
  asm_.add(rdx, qword[rax + kArrayData]);
  asm_.mov(rax, object(op.left));
  asm_.inc(qword[rax + layout::kIteratorIndex]);
  boxing_.keep_item(unboxed_of_items(op.flag), op.result);
  exits_.perform_out_of_line(slow_path, op);
}

void ArrayItemCode::array_store(const LoopOp& op) {
  Label slow_path;
  const Unboxed kind = unboxed_of_items(op.flag);
  find_array_item(op, slow_path);
  asm_.mov(ecx, dword[rax + kArrayFlags]);
  asm_.and_(ecx, kArrayWriteFlags);
  asm_.cmp(ecx, kArrayWriteable);
  asm_.jne(slow_path);
  if (kind == Unboxed::kNumpyFloat) {
    asm_.movsd(qword[rdx], registers_.float_of(op.result));
  } else {
    registers_.load_int(rcx, op.result);
    kind == Unboxed::kNumpyInt ? asm_.mov(qword[rdx], rcx) : asm_.mov(byte[rdx], cl);
  }
  exits_.perform_out_of_line(slow_path, op);
}

}  // namespace tagalong::replay::native
#endif
