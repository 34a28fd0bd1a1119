#include "replay/codegen/scalar/sequences.h"

#ifdef __x86_64__
#include "replay/objects/known_functions.h"
#include "rewriter/base/errors.h"
#include "rewriter/cpython/objects/exact_numbers.h"
#include "rewriter/cpython/objects/ints.h"

namespace tagalong::replay::native {

void SequenceCode::range_next(const LoopOp& op) {
  registers_.make_int(op.result, [&](const Reg64& target) {
    asm_.mov(rax, object(op.left));
    version::machine::range_next(asm_, rax, target, rdx, exits_.failed(op));
  });
}

void SequenceCode::make_range(const LoopOp& op) {
  Label& slow_path = exits_.bail();
  if (op.left < 0) {
    asm_.xor_(edi, edi);
  } else {
    asm_.mov(rdi, number(op.left));
  }
  asm_.mov(rsi, number(op.right));
  asm_.call_function(&iterate_range);
  registers_.forget_volatile();
  asm_.test(rax, rax);
  asm_.jz(slow_path);
  asm_.mov(object(op.result), rax);
}

void SequenceCode::for_iter(const LoopOp& op) {
  Label slow_path;
  Label no_list;
  Label found;
  asm_.mov(rax, object(op.left));
  asm_.compare_with(qword[rax + layout::kType], &PyListIter_Type);
  asm_.jne(no_list);
  next_index(slow_path);
  asm_.mov(rdx, qword[rdx + layout::kListItems]);
  asm_.mov(rax, qword[rdx + rcx * kNumberSize]);
  asm_.jmp(found);
  asm_.L(no_list);
  asm_.compare_with(qword[rax + layout::kType], &PyBytesIter_Type);
  asm_.jne(slow_path);
  next_index(slow_path);
  asm_.movzx(ecx, byte[rdx + rcx + layout::kBytes]);
  TAGALONG_CHECK(
      reinterpret_cast<char*>(cpython::int_of_byte(255)) - reinterpret_cast<char*>(cpython::int_of_byte(0)) ==
          255 * layout::kIntObject,
      "ints of {} bytes each", layout::kIntObject);
  asm_.imul(ecx, ecx, layout::kIntObject);
  asm_.mov(rax, reinterpret_cast<std::size_t>(cpython::int_of_byte(0)));
  asm_.add(rax, rcx);
  asm_.L(found);
  Label taken;
  asm_.mov(object(op.result), rax);
  references_.take_from_next(op, taken);
  asm_.share(rax);
  asm_.L(taken);
  exits_.perform_out_of_line(slow_path, op);
}

void SequenceCode::next_index(Label& slow_path) {
  asm_.mov(rdx, qword[rax + layout::kIteratorSequence]);
  asm_.test(rdx, rdx);
  asm_.jz(slow_path);
  asm_.mov(rcx, qword[rax + layout::kIteratorIndex]);
  asm_.cmp(rcx, qword[rdx + layout::kSize]);
  asm_.jge(slow_path);
  asm_.inc(qword[rax + layout::kIteratorIndex]);
}

void SequenceCode::find_item(const LoopOp& op, Label& slow_path, Container container) {
  asm_.mov(rax, object(op.left));
  registers_.load_int(rdx, op.right);
  asm_.cmp(rdx, qword[rax + layout::kSize]);
  asm_.jae(slow_path);
  Label tuple;
  Label found;
  if (container == Container::kEither) {
    asm_.compare_with(qword[rax + layout::kType], &PyList_Type);
    asm_.jne(tuple);
  }
  if (container != Container::kTuple) {
    asm_.mov(rax, qword[rax + layout::kListItems]);
    asm_.lea(rdx, ptr[rax + rdx * kNumberSize]);
  }
  if (container == Container::kEither) {
    asm_.jmp(found);
  }
  if (container != Container::kList) {
    asm_.L(tuple);
    asm_.lea(rdx, ptr[rax + rdx * kNumberSize + layout::kTupleItems]);
  }
  asm_.L(found);
}

void SequenceCode::item(const LoopOp& op) {
  Label slow_path;
  find_item(op, slow_path, static_cast<Container>(op.flag));
  asm_.mov(rax, qword[rdx]);
  boxing_.keep_result(op, slow_path);
  exits_.perform_out_of_line(slow_path, op);
}

void SequenceCode::store_item(const LoopOp& op) {
  Label slow_path;
  Label shared;
  find_item(op, slow_path, Container::kList);
  asm_.mov(rax, qword[rdx]);
  if ((op.flag & kStoresNumber) != 0) {
    store_number(op, slow_path);
    exits_.perform_out_of_line(slow_path, op);
    return;
  }
  Label same;
  asm_.cmp(rax, object(op.result));
  asm_.je(same);
  asm_.if_shared(rax, shared);
  asm_.compare_with(qword[rax + layout::kType], &PyFloat_Type);
  asm_.je(shared);
  asm_.compare_with(qword[rax + layout::kType], &PyLong_Type);
  asm_.jne(slow_path);
  asm_.L(shared);
  asm_.mov(rcx, object(op.result));
  asm_.share(rcx);
  asm_.mov(qword[rdx], rcx);
  references_.release();
  asm_.L(same);
  exits_.perform_out_of_line(slow_path, op);
}

void SequenceCode::store_number(const LoopOp& op, Label& slow_path) {
  asm_.if_shared(rax, slow_path);
  asm_.cmp(object(op.result), 0);
  asm_.jne(slow_path);
  asm_.compare_with(qword[rax + layout::kType], &PyFloat_Type);
  asm_.jne(slow_path);
  const Xmm value = registers_.float_of(op.result);
  asm_.mov(rcx, reinterpret_cast<std::size_t>(&spare_float));  // as replace_float()
  asm_.mov(rcx, qword[rcx]);
  asm_.test(rcx, rcx);
  asm_.jz(slow_path);
  asm_.movsd(qword[rcx + layout::kFloat], value);
  asm_.mov(qword[rdx], rcx);
  asm_.mov(rcx, reinterpret_cast<std::size_t>(&spare_float));
  asm_.mov(qword[rcx], rax);
}

void SequenceCode::append(const LoopOp& op) {
  Label full;
  asm_.mov(rax, object(op.left));
  asm_.mov(rcx, qword[rax + layout::kSize]);
  asm_.cmp(rcx, qword[rax + layout::kListRoom]);
  asm_.jge(full);
  asm_.mov(rdx, object(op.right));
  asm_.share(rdx);
  asm_.inc(qword[rax + layout::kSize]);
  asm_.mov(rax, qword[rax + layout::kListItems]);
  asm_.mov(qword[rax + rcx * kNumberSize], rdx);
  exits_.perform_out_of_line(full, op);
}

void SequenceCode::length(const LoopOp& op) {
  Label slow_path;
  Label counts;
  registers_.make_int(op.result, [&](const Reg64& target) {
    asm_.mov(rax, object(op.left));
    if (op.flag == 0) {
      asm_.compare_with(qword[rax + layout::kType], &PyList_Type);
      asm_.je(counts);
      asm_.compare_with(qword[rax + layout::kType], &PyTuple_Type);
      asm_.jne(slow_path);
      asm_.L(counts);
    }
    asm_.mov(target, qword[rax + layout::kSize]);
  });
  if (op.flag == 0) {
    exits_.perform_out_of_line(slow_path, op);
  }
}

}  // namespace tagalong::replay::native
#endif
