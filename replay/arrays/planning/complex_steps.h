// Writes operations on complex numbers as operations on their real and imaginary parts, which have the same roundings
// as NumPy's loops (complex_loops.h for those that are not the same everywhere). A complex slot has a slot for each
// part (slot.h).
//
//   ComplexSteps steps(&kernel.operations);
//   steps.add({.what = VectorOp::kMultiply, .nin = 2, .in = {0, 1}, .out = 2});
#pragma once

#include <vector>

#include "replay/codegen/vector/vector_code.h"

namespace tagalong::array {

// Whether the operand, or the result, of an operation with complex numbers is complex, too.
[[nodiscard]] bool is_complex_operand(VectorOp what, unsigned operand);
[[nodiscard]] bool gives_complex(VectorOp what);

class ComplexSteps {
 public:
  explicit ComplexSteps(std::vector<VectorOperation>* operations) : operations_(*operations) {}

  void add(const VectorOperation& operation);
  // A slot for an intermediate result.
  Slot new_slot() { return next_++; }
  // Whether there are not enough slots for all intermediate results.
  [[nodiscard]] bool is_exhausted() const { return next_ + kMostOfOne > kMostKernelSlots; }

 private:
  static constexpr Slot kMostOfOne = 16;  // intermediate results of one operation

  using Operands = std::initializer_list<Slot>;
  void emit(VectorOp what, Operands in, Slot out);
  Slot emit(VectorOp what, Operands in);
  void on_both_parts(const VectorOperation& operation);
  void multiply(Slot one, Slot two, Slot out);
  void divide(Slot one, Slot two, Slot out);
  void compare(VectorOp what, Slot one, Slot two, Slot out);

  std::vector<VectorOperation>& operations_;
  LaneType type_ = LaneType::kFloat64;
  Slot next_ = kFirstWithoutMemory;
};

}  // namespace tagalong::array
