// Where the code leaves the fast path: exits in front of an operation, cold paths behind the code, and calls of the
// loop interpreter. It also owns the labels of the operations, and the code's first and last instructions.
//
//   asm_.jnz(exits_.bail());                 // the loop interpreter continues with the current operation
//   exits_.perform_out_of_line(slow_path, op);     // the loop interpreter performs it, and the code continues here
#pragma once

#ifdef __x86_64__
#include <deque>
#include <functional>
#include <vector>

#include "replay/codegen/scalar/number_registers.h"

namespace tagalong::replay::native {

class Exits {
 public:
  Exits(const Source& source, Assembler& assembler, NumberRegisters& registers);

  void prologue();
  // Begins the code of an operation. Each operation has to begin, in their order.
  void begin(std::size_t number);
  // The index of the current operation.
  [[nodiscard]] std::size_t number() const { return number_; }
  // Emits the cold paths, the exits and the end of the code.
  void finish();
  // Offsets of the operations at which the code can be entered, -1 for the others. Needs resolved labels.
  [[nodiscard]] std::vector<std::ptrdiff_t> entries() const;

  // The exit in front of the current operation, for its slow path.
  Label& bail();
  // The target of a failed guard.
  Label& failed(const LoopOp& op) { return op.branch < 0 ? bail() : target(op.branch); }
  // The label of an operation that is a jump target.
  Label& target(std::int32_t operation) { return labels_[static_cast<std::size_t>(operation)]; }

  // `body` emits code behind the rest, for the current operation.
  template <typename Body>
  void later(Body body) {
    later_.emplace_back([this, number = number_, body]() mutable {
      number_ = number;
      body();
    });
  }
  // A cold path from `start` that continues at `back` with the same copies in registers.
  template <typename Body>
  void aside(const Label& start, const Label& back, Body body) {
    later([this, start = Label(start), back = Label(back), body, state = registers_.state()]() mutable {
      asm_.L(start);
      body();
      registers_.load_again(state);
      asm_.jmp(back);
    });
  }
  // The loop interpreter performs the whole operation.
  void perform(const LoopOp& op);
  // A cold path from `start` that lets the loop interpreter perform the operation and continues here.
  void perform_out_of_line(const Label& start, const LoopOp& op);

 private:
  void find_targets();
  void call_interpreter(const LoopOp& op);

  const Source& source_;
  Assembler& asm_;
  NumberRegisters& registers_;
  std::vector<Label> labels_;  // by operation
  std::vector<Label> bails_;
  std::vector<bool> is_target_;
  std::vector<bool> is_bailed_;
  std::deque<std::function<void()>> later_;
  Label ended_;
  Label exit_;
  std::size_t number_ = 0;
};

}  // namespace tagalong::replay::native
#endif
