// Comparisons of unboxed numbers, and guards on their results. Float comparisons set the flags of an unsigned
// comparison, int comparisons those of a signed one.
#pragma once

#ifdef __x86_64__
#include "replay/codegen/scalar/code_part.h"

namespace tagalong::replay::native {

enum class Condition : std::uint8_t { kLess, kLessEqual, kEqual, kNotEqual, kGreater, kGreaterEqual };

class ComparisonCode : private CodePart {
 public:
  explicit ComparisonCode(Emission& emission) : CodePart(emission) {}

  void compare_int(const LoopOp& op);
  void guard_int(const LoopOp& op);
  void compare_float(const LoopOp& op);
  void guard_float(const LoopOp& op);
  void truth(const LoopOp& op);
  void guard_bool(const LoopOp& op);

 private:
  static Condition condition(LoopCode code, LoopCode first);
  void compare_ints(const LoopOp& op);
  // Orders the operands so that the condition is "above", which is false for NaNs.
  void compare_floats(const LoopOp& op, Condition which);
};

}  // namespace tagalong::replay::native
#endif
