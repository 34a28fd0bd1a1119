// NumPy functions that are not ufuncs but can run as loops: functions of NumPy's namespace (dispatchers) and array
// methods. They are recognised by identity with the objects that NumPy has defined. These are kept alive, so no other
// object gets their address.
#pragma once

#include "replay/arrays/numpy/numpy_abi.h"
#include "replay/arrays/simd/reduction.h"
#include "rewriter/base/ref.h"

namespace tagalong::array {

struct KnownFunction {
  enum class Kind : std::uint8_t {
    kNone,
    kReduction,
    kWhere,
    kClip,
    kAstype,
    kBins,
    kConjugate,
    kCopy,
    kRealPart,  // np.real and np.imag
    kImaginaryPart,
    // Several operations
    kRoll,
    kDifference,
    kFlip,
    kRound,
    kVariance,
    kDeviation
  } kind = Kind::kNone;
  Reduction reduction = Reduction::kCount;
};

// The function of this name that NumPy has defined, from the module where this version of NumPy has it. Null: none.
[[nodiscard]] Ref dispatcher(const char* name);

[[nodiscard]] KnownFunction known_function(PyObject* callable);
// A method of this name, for exact arrays.
[[nodiscard]] KnownFunction known_method(PyObject* name);
// Whether the method of this name gives a view of its array, where that is possible.
[[nodiscard]] bool gives_view(PyObject* name);
[[nodiscard]] KnownFunction known_descriptor(const Numpy& np, PyObject* object);
// What a function or method of this name may be.
[[nodiscard]] KnownFunction function_named(PyObject* name);
[[nodiscard]] bool may_be_reduction(PyObject* name);
// Whether it consists of several operations of arrays, or of parts of arrays.
[[nodiscard]] bool is_composed(KnownFunction function);
// Whether a call may be a group on its own.
[[nodiscard]] bool may_be_alone(KnownFunction function);
// Whether it gives the real or the imaginary parts.
[[nodiscard]] constexpr bool is_component(KnownFunction function) {
  return function.kind == KnownFunction::Kind::kRealPart || function.kind == KnownFunction::Kind::kImaginaryPart;
}

// np.where as a loop of three operands, the first of bools, for elements of this size.
[[nodiscard]] StridedLoop select_loop(std::size_t item_size);

}  // namespace tagalong::array
