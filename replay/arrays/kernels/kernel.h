// A kernel is one ufunc resolved for one combination of operand codes: the inner loop NumPy would choose, its dtypes,
// and what may be done with it. Kernels are shared by all sites and live as long as the process; loops of numeric
// dtypes only read their state, so threads share them too. Refuses (kUnusable) whatever does not have exactly one
// numeric output, needs a cast of an array operand, or could be resolved differently by eager NumPy.
//
//   const Kernel& kernel = kernel_for(np, ufunc, codes);    // cold: remember it by (ufunc, codes)
//   if (kernel.usable) kernel.loop(kernel.context, data, &count, strides, kernel.auxdata);
#pragma once

#include <array>
#include <string>

#include "replay/arrays/numpy/float_status.h"
#include "replay/arrays/numpy/numpy_abi.h"
#include "replay/arrays/numpy/operand.h"
#include "rewriter/base/ref.h"

namespace tagalong::array {

// The codes of all operands, one byte each; unused places hold kNoOperand.
inline constexpr OperandCode kNoOperand = 0xFE;
struct OperandCodes {
  std::uint32_t packed = 0xFEFEFEFEU;
  void set(unsigned index, OperandCode code) {
    packed = (packed & ~(0xFFU << (8 * index))) | (static_cast<std::uint32_t>(code) << (8 * index));
  }
  [[nodiscard]] OperandCode operator[](unsigned index) const { return static_cast<OperandCode>(packed >> (8 * index)); }
  bool operator==(const OperandCodes&) const = default;
};

struct Kernel {
  bool usable = false;
  // Would be usable if array operands were cast to the types of the loop first.
  bool casts = false;
  // Eager makes an array of a scalar whose dtype is not even of the same kind as the loop's (int64 for uint8), and does
  // not take its short way then. Before NumPy 2.
  bool casts_number = false;
  // No bit of the result depends on whether the output is one of the inputs.
  bool alias_safe = false;
  // The loop is one of ours that computes eight elements at once (libm_functions.h).
  bool is_glibc = false;
  // A short pure loop: running it again gives the same, it never sets an exception.
  bool repeatable = false;
  // Element by element, of bool, integers, float and double, and NumPy's own: the bits do not depend on how an array is
  // split into calls (test_arrays_fusion.py shows it for every such loop of the NumPy at hand).
  bool splittable = false;
  // Never clears floating point flags that were up before; many loops do.
  bool keeps_flags = false;
  bool requires_pyapi = false;
  FloatUnits float_units = FloatUnits::kAll;
  std::uint8_t nin = 0;
  std::array<std::uint8_t, kMaxInputs> in_type{};
  std::uint8_t out_type = 0;
  std::uint8_t out_size = 0;
  // Bit i: eager's temporary elision could compute this into operand i (the other operand casts safely to its dtype).
  unsigned elidable = 0;
  // Above this many elements the GIL is released.
  Extent gil_threshold = 0;
  StridedLoop loop = nullptr;
  MethodContext* context = nullptr;
  void* auxdata = nullptr;
  PyObject* out_descr = nullptr;  // borrowed from Numpy
  std::string name;
  UfuncName known = UfuncName::kCount;  // by that name
  Ref ufunc;                            // kept alive if usable
  Ref capsule;
};

// Resolves on first use; always returns the same kernel for the same question. Leaves no exception behind.
[[nodiscard]] const Kernel& kernel_for(const Numpy& np, PyObject* ufunc, OperandCodes codes);

}  // namespace tagalong::array
