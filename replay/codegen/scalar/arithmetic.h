// Arithmetic on unboxed numbers, and calls of known functions.
#pragma once

#ifdef __x86_64__
#include "replay/codegen/scalar/code_part.h"

namespace tagalong::replay::native {

class ArithmeticCode : private CodePart {
 public:
  explicit ArithmeticCode(Emission& emission) : CodePart(emission) {}

  // Addition, subtraction and bitwise operations.
  void binary_int(const LoopOp& op);
  void multiply_int(const LoopOp& op);
  void divide_int(const LoopOp& op);
  void true_divide(const LoopOp& op);
  void shift_left(const LoopOp& op);
  void shift_right(const LoopOp& op);
  void negate_int(const LoopOp& op);
  void binary_float(const LoopOp& op);
  // As float64_arithmetic: the interpreter performs an operation for which NumPy might report a floating point error.
  void binary_float64(const LoopOp& op);
  void negate_float(const LoopOp& op);
  void float_of_int(const LoopOp& op);
  void call_float(const LoopOp& op);
  void call_int(const LoopOp& op);

 private:
  // The second operand is a register or an immediate.
  template <typename Operand>
  void compute_int(LoopCode code, const Reg64& target, const Operand& operand);
  void compute_float(LoopCode code, const Xmm& target, const Xmm& operand);
};

}  // namespace tagalong::replay::native
#endif
