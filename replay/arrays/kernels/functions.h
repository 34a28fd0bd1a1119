// Functions of NumPy that are no ufuncs but do what loops do: the dispatchers of its namespace and the methods of
// arrays. They are known by the objects that NumPy itself has defined, and kept, so no other object gets their address.
#pragma once

#include "replay/arrays/numpy/numpy_abi.h"
#include "replay/arrays/simd/reduction.h"
#include "rewriter/base/ref.h"

namespace tagalong::array {

struct KnownFunction {
  enum class Kind : std::uint8_t { kNone, kReduction, kWhere, kClip, kAstype, kBins } kind = Kind::kNone;
  Reduction reduction = Reduction::kCount;
};

// The function of this name that NumPy itself has defined, which is another object in every series; null if there is
// none.
[[nodiscard]] Ref dispatcher(const char* name);

[[nodiscard]] KnownFunction known_function(PyObject* callable);
// Of exact arrays.
[[nodiscard]] KnownFunction known_method(PyObject* name);
[[nodiscard]] KnownFunction known_descriptor(const Numpy& np, PyObject* object);
// Whether functions and methods of this name are.
[[nodiscard]] bool may_be_reduction(PyObject* name);

// np.where as a loop of three operands, the first one of bools, for elements of this size.
[[nodiscard]] StridedLoop select_loop(std::size_t item_size);

}  // namespace tagalong::array
