// Which machine registers hold copies of which numbers, and the instructions that load and store the numbers. A jump
// target starts without copies. Calls preserve copies in r12-r14 only.
//
//   const Reg64 left = registers.int_of(op.left);              // loads the number if no register holds it
//   registers.make_int(op.result, [&](const Reg64& target) { ... });
#pragma once

#ifdef __x86_64__
#include <array>
#include <optional>
#include <span>

#include "replay/codegen/scalar/assembler.h"
#include "replay/codegen/scalar/copies.h"

namespace tagalong::replay::native {

inline constexpr std::array kIntRegisters = {12, 13, 14, 6, 7, 8, 9, 10, 11};  // r12, r13, r14, rsi, rdi, r8 ... r11
inline constexpr std::size_t kKept = 3;  // the first of kIntRegisters, which calls preserve
inline constexpr int kFirstXmm = 2;
inline constexpr std::size_t kXmmCount = 14;

inline Reg64 int_register(int index) { return Reg64(kIntRegisters[static_cast<std::size_t>(index)]); }
inline Xmm float_register(int index) { return Xmm(kFirstXmm + index); }

class NumberRegisters {
 public:
  // What the registers hold at one place in the code.
  struct State {
    Copies<kIntRegisters.size()> ints;
    Copies<kXmmCount> floats;
  };

  NumberRegisters(Assembler& assembler, std::span<PyObject* const> constants)
      : asm_(assembler), constants_(constants) {}

  // The machine register that holds the number.
  Reg64 int_of(std::int32_t place);
  Xmm float_of(std::int32_t place);
  // Copies an int to this register, which holds no copy.
  void load_int(const Reg64& target, std::int32_t place);
  // The constant int in this loop register, if it fits an immediate operand.
  [[nodiscard]] std::optional<std::int32_t> constant(std::int32_t place) const;

  // Indices of machine registers for results; the register loses its copy.
  int take_int() { return state_.ints.take(); }
  int take_float() { return state_.floats.take(); }
  // The machine register holds the loop register's new number: stores it.
  void keep_int(std::int32_t place, int index);
  void keep_float(std::int32_t place, int index);
  // `body(target)` computes the loop register's new number.
  template <typename Body>
  void make_int(std::int32_t place, Body body) {
    const int index = take_int();
    body(int_register(index));
    keep_int(place, index);
  }

  // The number in memory has changed.
  void forget(std::int32_t place);
  // A function has been called.
  void forget_volatile();
  void forget_all() { state_ = {}; }
  [[nodiscard]] const State& state() const { return state_; }
  // Reloads copies that a cold path may have changed or clobbered.
  void load_again(const State& state);

 private:
  Assembler& asm_;
  std::span<PyObject* const> constants_;
  State state_;
};

}  // namespace tagalong::replay::native
#endif
