// A kernel is one ufunc resolved for one combination of operand codes: the inner loop that NumPy would choose, its
// dtypes, and its properties. All sites share the kernels, which live as long as the process; loops of numeric dtypes
// only read their state, so threads share them too. A kernel is not usable if the ufunc does not have exactly one
// numeric output, if an array operand needs a cast, or if eager NumPy could resolve the call differently.
//
//   const Kernel& kernel = kernel_for(np, ufunc, codes);    // slow: the caller caches it by (ufunc, codes)
//   if (kernel.usable) kernel.loop(kernel.context, data, &count, strides, kernel.auxdata);
#pragma once

#include <array>
#include <string>

#include "replay/arrays/numpy/float_status.h"
#include "replay/arrays/numpy/numpy_abi.h"
#include "replay/arrays/numpy/operand.h"
#include "rewriter/base/ref.h"

namespace tagalong::array {

// The codes of all operands, one byte each; unused bytes hold kNoOperand.
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
  // Usable if the caller casts array operands to the types of the loop first.
  bool casts = false;
  // A scalar's dtype does not cast to the loop's dtype even with "same_kind" (int64 to uint8). NumPy 1 then converts
  // the scalar to an array and does not take its fast path.
  bool casts_number = false;
  // The result has the same bits if the output is one of the inputs.
  bool alias_safe = false;
  // The loop is a vectorised glibc function (libm_functions.h).
  bool is_glibc = false;
  // The loop can run again with the same result, and never sets an exception.
  bool repeatable = false;
  // The result's bits do not depend on how an array is split into calls. True for NumPy's element-wise loops of bool,
  // integers, float and double, and of complex numbers where a trial shows it (test_arrays_fusion.py checks every such
  // loop of the installed NumPy).
  bool splittable = false;
  // A splittable loop with complex numbers: its result may depend on whether a stride is negative.
  bool has_complex = false;
  // The loop never clears floating point flags that were set before; many loops do.
  bool keeps_flags = false;
  bool requires_pyapi = false;
  FloatUnits float_units = FloatUnits::kAll;
  std::uint8_t nin = 0;
  std::array<std::uint8_t, kMaxInputs> in_type{};
  std::uint8_t out_type = 0;
  std::uint8_t out_size = 0;
  // Bit i: eager's temporary elision could compute into operand i (the other operand casts safely to its dtype).
  unsigned elidable = 0;
  // The GIL is released for more elements than this.
  Extent gil_threshold = 0;
  StridedLoop loop = nullptr;
  MethodContext* context = nullptr;
  void* auxdata = nullptr;
  PyObject* out_descr = nullptr;  // borrowed from Numpy
  std::string name;
  UfuncName known = UfuncName::kCount;  // by that name
  Ref ufunc;                            // kept alive with the kernel
  Ref capsule;
};

// Resolves the kernel on first use; returns the same kernel for the same arguments. Leaves no exception set.
[[nodiscard]] const Kernel& kernel_for(const Numpy& np, PyObject* ufunc, OperandCodes codes);

}  // namespace tagalong::array
