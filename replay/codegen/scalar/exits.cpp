#include "replay/codegen/scalar/exits.h"

#ifdef __x86_64__

namespace tagalong::replay::native {

Exits::Exits(const Source& source, Assembler& assembler, NumberRegisters& registers)
    : source_(source),
      asm_(assembler),
      registers_(registers),
      labels_(source.program.ops.size()),
      bails_(labels_.size()),
      is_target_(labels_.size()),
      is_bailed_(labels_.size()) {
  find_targets();
}

void Exits::find_targets() {
  const auto mark = [this](std::int32_t number) { is_target_[static_cast<std::size_t>(number)] = true; };
  for (const std::int32_t entry : source_.entries) {
    mark(entry);
  }
  for (const LoopOp& op : source_.program.ops) {
    if (op.branch >= 0) {
      mark(op.branch);
    }
    if (info(op.code).jumps()) {
      mark(op.right);
    }
  }
}

void Exits::prologue() {
  for (const Reg64& saved : {rbx, rbp, r12, r13, r14, r15}) {
    asm_.push(saved);
  }
  asm_.sub(rsp, kNumberSize);
  asm_.mov(r15, rdi);
  asm_.mov(rbx, ptr[r15 + offsetof(Frame, objects)]);
  asm_.mov(rbp, ptr[r15 + offsetof(Frame, unboxed)]);
  asm_.jmp(rsi);
}

void Exits::begin(std::size_t number) {
  number_ = number;
  if (is_target_[number]) {
    registers_.forget_all();
    asm_.L(labels_[number]);
  }
}

void Exits::finish() {
  while (!later_.empty()) {
    const std::function<void()> emit_cold_path = std::move(later_.front());
    later_.pop_front();
    emit_cold_path();
  }
  for (std::size_t number = 0; number < bails_.size(); ++number) {
    if (is_bailed_[number]) {
      asm_.L(bails_[number]);
      asm_.mov(rax, reinterpret_cast<std::size_t>(&source_.program.ops[number]));
      asm_.jmp(exit_);
    }
  }
  asm_.L(ended_);
  asm_.mov(rax, ptr[r15 + offsetof(Frame, next)]);
  asm_.L(exit_);
  asm_.add(rsp, kNumberSize);
  for (const Reg64& saved : {r15, r14, r13, r12, rbp, rbx}) {
    asm_.pop(saved);
  }
  asm_.ret();
}

std::vector<std::ptrdiff_t> Exits::entries() const {
  std::vector<std::ptrdiff_t> entries(labels_.size(), -1);
  for (std::size_t number = 0; number < labels_.size(); ++number) {
    if (is_target_[number]) {  // a target holds no copies in machine registers
      entries[number] = labels_[number].getAddress() - asm_.getCode();
    }
  }
  return entries;
}

Label& Exits::bail() {
  is_bailed_[number_] = true;
  return bails_[number_];
}

void Exits::call_interpreter(const LoopOp& op) {
  asm_.mov(rdi, r15);
  asm_.mov(rsi, reinterpret_cast<std::size_t>(&op));
  asm_.call_function(source_.perform);
  asm_.test(eax, eax);
  if (op.branch < 0) {
    asm_.jnz(ended_);
    return;
  }
  Label other;
  asm_.jnz(other);
  later([this, other, &op]() mutable {
    asm_.L(other);
    asm_.cmp(eax, static_cast<int>(Did::kBranch));
    asm_.je(target(op.branch));
    asm_.jmp(ended_);
  });
}

void Exits::perform(const LoopOp& op) {
  call_interpreter(op);
  registers_.forget_volatile();
  if (op.code != LoopCode::kStep) {
    registers_.forget(op.left);
    registers_.forget(op.result);
  }
}

void Exits::perform_out_of_line(const Label& start, const LoopOp& op) {
  Label back;
  asm_.L(back);
  aside(start, back, [this, &op] { call_interpreter(op); });
}

}  // namespace tagalong::replay::native
#endif
