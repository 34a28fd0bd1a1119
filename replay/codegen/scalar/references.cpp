#include "replay/codegen/scalar/references.h"

#ifdef __x86_64__

namespace tagalong::replay::native {
namespace {

void deallocate(PyObject* object, Frame* frame) noexcept {
  frame->is_touched = 1;
  _Py_Dealloc(object);
}

}  // namespace

void ReferenceCode::release() {
  Label dies;
  Label back;
  asm_.give_back(rax, dies);
  asm_.L(back);
  exits_.aside(dies, back, [this] {
    asm_.mov(rdi, rax);
    asm_.mov(rsi, r15);
    asm_.call_function(&deallocate);
  });
}

void ReferenceCode::clear(std::int32_t place) {
  Label nothing;
  asm_.mov(rax, object(place));
  asm_.test(rax, rax);
  asm_.jz(nothing);
  asm_.mov(object(place), 0);
  release();
  asm_.L(nothing);
}

void ReferenceCode::release_rest(const LoopOp& op) {
  constexpr std::size_t kFew = 6;
  const auto& rest = source_.steps[op.step].rest;
  if (rest == nullptr || rest->size() > kFew) {
    exits_.perform(op);
    return;
  }
  Label slow_path;
  for (const std::int32_t place : *rest) {
    Label next;
    asm_.mov(rax, object(place));
    asm_.test(rax, rax);
    asm_.jz(next);
    asm_.mov(rdx, qword[rax + layout::kType]);
    for (PyTypeObject* const plain : {&PyRangeIter_Type, &PyFloat_Type, &PyLong_Type}) {
      asm_.mov(rcx, reinterpret_cast<std::size_t>(plain));
      asm_.cmp(rdx, rcx);
      asm_.je(next);
    }
    asm_.mov(rcx, reinterpret_cast<std::size_t>(&PyListIter_Type));
    asm_.cmp(rdx, rcx);
    asm_.jne(slow_path);
    asm_.cmp(qword[rax + layout::kIteratorSequence], 0);
    asm_.jne(slow_path);
    asm_.L(next);
  }
  if (!rest->empty()) {
    exits_.perform_out_of_line(slow_path, op);
  }
}

void ReferenceCode::clear_shown(const LoopOp& op) {
  Label nothing;
  Label last;
  asm_.mov(rax, object(op.left));
  asm_.test(rax, rax);
  asm_.jz(nothing);
  asm_.if_last(rax, last);
  asm_.mov(object(op.left), 0);
  asm_.give_back(rax);
  asm_.L(nothing);
  exits_.perform_out_of_line(last, op);
}

void ReferenceCode::copy_number(const LoopOp& op) {
  asm_.mov(rax, number(op.left));
  asm_.mov(number(op.result), rax);
  registers_.forget(op.result);
}

void ReferenceCode::take_from_next(const LoopOp& op, const Label& taken) {
  const std::size_t next = exits_.number() + 1;
  if (next >= source_.program.ops.size() || source_.program.ops[next].code != LoopCode::kClear ||
      source_.program.ops[next].left == op.result) {
    return;
  }
  Label differs;
  asm_.cmp(rax, object(source_.program.ops[next].left));
  asm_.jne(differs);
  asm_.mov(object(source_.program.ops[next].left), 0);
  asm_.jmp(taken);
  asm_.L(differs);
}

void ReferenceCode::move_or_share(const LoopOp& op) {
  Label nothing;
  asm_.mov(rdx, object(op.result));
  copy_number(op);
  asm_.mov(rax, object(op.left));
  asm_.mov(object(op.result), rax);
  if (op.code == LoopCode::kMove) {
    asm_.mov(object(op.left), 0);
  } else {
    Label none;
    take_from_next(op, none);
    asm_.test(rax, rax);
    asm_.jz(none);
    asm_.share(rax);
    asm_.L(none);
  }
  asm_.test(rdx, rdx);
  asm_.jz(nothing);
  asm_.mov(rax, rdx);
  release();
  asm_.L(nothing);
}

void ReferenceCode::sync(const LoopOp& op) {
  Label same;
  Label slow_path;
  Label nothing;
  asm_.mov(rax, ptr[r15 + offsetof(Frame, root_slots)]);
  asm_.test(rax, rax);
  asm_.jz(slow_path);
  asm_.mov(rcx, object(op.left));
  asm_.mov(rdx, qword[rax + op.right * kNumberSize]);
  asm_.cmp(rcx, rdx);
  asm_.je(same);
  asm_.test(rcx, rcx);
  asm_.jz(slow_path);
  asm_.test(rdx, rdx);
  asm_.jz(nothing);
  asm_.if_last(rdx, slow_path);
  asm_.give_back(rdx);
  asm_.L(nothing);
  asm_.share(rcx);
  asm_.mov(qword[rax + op.right * kNumberSize], rcx);
  asm_.mov(rax, ptr[r15 + offsetof(Frame, root_synced)]);
  asm_.mov(dword[rax], -1);
  asm_.L(same);
  exits_.perform_out_of_line(slow_path, op);
}

}  // namespace tagalong::replay::native
#endif
