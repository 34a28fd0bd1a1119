// Loops that cast a block from one dtype of fusion groups to another, for operands whose loop has a wider dtype. Safe
// casts are plain C++ conversions; test_arrays_fusion.py compares each cast with NumPy's.
#pragma once

#include "replay/arrays/numpy/float_status.h"
#include "replay/arrays/numpy/numpy_abi.h"

namespace tagalong::array {

// The loop of a cast that NumPy considers safe, with the signature of a ufunc's loop. Null: no safe cast.
[[nodiscard]] StridedLoop cast_loop(unsigned from, unsigned to);
// The loop of any cast, as `astype` and assignments do it. It returns an error for a floating point number that does
// not fit into an integer.
[[nodiscard]] StridedLoop unsafe_cast_loop(unsigned from, unsigned to);

// The type of the parts of complex numbers.
[[nodiscard]] constexpr unsigned component_type(unsigned type) { return type - (kComplexFloat - kFloat); }
static_assert(component_type(kComplexDouble) == kDouble && component_type(kComplexLongDouble) == kLongDouble);
// Whether these are complex64 or complex128 numbers.
[[nodiscard]] inline bool holds_complex(const Numpy& np, const ArrayFields* array) {
  return array->descr == np.descr[kComplexFloat] || array->descr == np.descr[kComplexDouble];
}
// The units whose flags such a loop can raise.
[[nodiscard]] FloatUnits cast_units(unsigned from, unsigned to);
// Copies the real or the imaginary parts of complex64 or complex128.
[[nodiscard]] StridedLoop component_loop(unsigned type, bool is_imaginary);

}  // namespace tagalong::array
