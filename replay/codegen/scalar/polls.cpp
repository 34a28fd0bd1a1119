#include "replay/codegen/scalar/polls.h"

#ifdef __x86_64__
#include <algorithm>

#include "rewriter/cpython/foreign_eval.h"
#include "rewriter/cpython/frames.h"
#include "rewriter/cpython/objects/exact_numbers.h"

namespace tagalong::replay::native {

void PollCode::leave_if_watched() {
  Label& slow_path = exits_.bail();
  asm_.mov(rax, ptr[r15 + offsetof(Frame, thread)]);
  version::machine::if_watched(asm_, rax, rcx, slow_path);
  asm_.mov(rax, reinterpret_cast<std::size_t>(cpython::kTraceMalloc));
  asm_.cmp(dword[rax], 0);
  asm_.jne(slow_path);
  asm_.mov(rax, reinterpret_cast<std::size_t>(&cpython::reasons_to_leave));
  asm_.cmp(dword[rax], 0);
  asm_.jne(slow_path);
}

void PollCode::begin_iteration(const LoopOp& op) {
  Label& slow_path = exits_.bail();
  Label touched;
  Label untouched;
  asm_.mov(rax, ptr[r15 + offsetof(Frame, requests)]);
  asm_.cmp(byte[rax], 0);
  asm_.jne(slow_path);
  if (op.code == LoopCode::kCross) {
    asm_.mov(rax, ptr[r15 + offsetof(Frame, depth)]);
    asm_.cmp(dword[rax], 1);
    asm_.jne(slow_path);
  }
  if (!source_.arrivals.empty()) {
    const auto member = static_cast<std::size_t>(std::max(op.left, 0));
    asm_.mov(rax, reinterpret_cast<std::size_t>(source_.arrivals[member]));
    asm_.sub(qword[rax], 1);
    asm_.jle(slow_path);
  }
  asm_.cmp(dword[r15 + offsetof(Frame, is_touched)], 0);
  asm_.jne(touched);
  asm_.L(untouched);
  asm_.add(qword[r15 + offsetof(Frame, gain)], op.result);
  exits_.later([this, touched = Label(touched), untouched = Label(untouched)]() mutable {
    asm_.L(touched);
    leave_if_watched();
    asm_.mov(rax, ptr[r15 + offsetof(Frame, depth)]);
    Label is_virtual;
    asm_.cmp(dword[rax], source_.level);
    asm_.jle(is_virtual);
    asm_.mov(rax, ptr[r15 + offsetof(Frame, synced)]);
    asm_.mov(dword[rax], -1);
    asm_.L(is_virtual);
    asm_.mov(dword[r15 + offsetof(Frame, is_touched)], 0);
    asm_.jmp(untouched);
  });
}

void PollCode::poll(const LoopOp& op) {
  begin_iteration(op);
  if (const std::int32_t place = source_.places[exits_.number()]; place >= 0) {
    asm_.mov(rax, ptr[r15 + offsetof(Frame, root_code)]);
    asm_.mov(rcx, ptr[r15 + offsetof(Frame, root_place)]);
    asm_.add(rax, place * static_cast<int>(sizeof(std::uint16_t)));
    asm_.mov(ptr[rcx], rax);
  }
}

}  // namespace tagalong::replay::native
#endif
