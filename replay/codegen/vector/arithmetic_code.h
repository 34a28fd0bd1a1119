// The instructions of a kernel's operations on floats and bools, except the functions of libraries (svml_code.h,
// glibc_code.h).
#pragma once

#include <span>
#include <vector>

#include "replay/codegen/vector/memory_code.h"

namespace tagalong::array {

class ArithmeticCode : private KernelPart {
 public:
  ArithmeticCode(KernelEmission& emission, MemoryCode& memory) : KernelPart(emission), memory_(memory) {}

  // Computes the divisors' reciprocals as sums of two doubles (division.cpp).
  void prepare_divisors();
  void compute(const VectorOperation& operation, int out, std::span<const int> in);

 private:
  void divide(int out, int one, int two);
  // Lanes with a NaN, or with two zeros of different signs, are ambiguous: equal numbers can differ in nothing but the
  // sign.
  void extreme(bool is_maximum, int out, int one, int two);
  // The same for fmax and fmin.
  void extreme_number(bool is_maximum, int out, int one, int two);
  void is_true(int out, int one);
  void same(int out, int one, int two);
  // NumPy's loops treat NaNs and zeros of different signs in several ways.
  void clip(int out, int one, int lowest, int highest);
  void sign(int out, int one, int plus_one, int minus_one);
  // out = one * two + third, or - third
  void multiply_add(const LaneInstructions::Binary& instruction, int out, std::span<const int> in);
  void round_half(int out, std::span<const int> in);
  // The absolute value of a complex number with NumPy's steps. Both infinite, or a NaN: ambiguous.
  void modulus(int out, std::span<const int> in);

  struct Reciprocal {
    int of, high, low;
  };

  MemoryCode& memory_;
  std::vector<Reciprocal> reciprocals_;
  int sign_bits_ = kUnassigned;
};

}  // namespace tagalong::array
