// The instructions of a kernel's operations on integers. AVX2 has fewer instructions for lanes of eight bytes and for
// unsigned numbers than AVX-512, and neither multiplies bytes. There several instructions replace one.
#pragma once

#include <span>

#include "replay/codegen/vector/kernel_part.h"

namespace tagalong::array {

class IntegerCode : private KernelPart {
 public:
  explicit IntegerCode(KernelEmission& emission) : KernelPart(emission) {}

  void compute(const VectorOperation& operation, int out, std::span<const int> in);

 private:
  // out = one > two, as lanes of ones
  void greater(bool is_signed, int out, int one, int two);
  void compare(VectorOp what, bool is_signed, int out, int one, int two);
  void multiply(int out, int one, int two);
  void multiply_bytes(int out, int one, int two);
  void negative(int out, int one);
  void absolute(bool is_signed, int out, int one);
  void sign(bool is_signed, int out, int one);
  void extreme(bool is_maximum, bool is_signed, int out, int one, int two);
  void to_float(LaneType type, int out, std::span<const int> in);
  // As in NumPy, a shift by the size of a lane or more, or by a negative number, shifts all bits out.
  void shift_right(bool is_signed, int out, int one, int two);

  [[nodiscard]] bool has_masks() const { return asm_.unit().has_masks; }
  [[nodiscard]] bool has_eight_bytes() const { return asm_.unit().item_bytes == sizeof(double); }
  // Whether there are instructions for AVX-512 only.
  [[nodiscard]] bool takes_steps() const { return !has_masks() && has_eight_bytes(); }
};

}  // namespace tagalong::array
