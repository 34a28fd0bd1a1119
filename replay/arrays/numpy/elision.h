// Temporary elision: for `a op b` eager NumPy computes into an operand that is a temporary of at least 256 KiB
// (multiarray's temp_elide.c). Elision decides the bits of complex results and, where operands have different layouts,
// the layout of the result. So it has to be done here exactly when eager NumPy does it, also for operations that the
// direct path leaves to the general call: called from this library, NumPy itself never elides, because it looks for the
// interpreter on the C stack.
#pragma once

#include "replay/arrays/numpy/operand.h"
#include "rewriter/base/ref.h"

namespace tagalong::array {

enum class Elision : std::uint8_t { kNever, kLeft, kCommutative };

inline constexpr Extent kMinElidedBytes = 256 * 1024;

// What eager NumPy requires of the operand that it computes into, apart from being without a name and large enough. A
// list or an attribute that holds the array, too, adds a reference, here as in eager execution. Weak references do not
// count: afterwards they refer to the result.
[[nodiscard]] inline bool may_be_elided(PyObject* object) {
  return Py_REFCNT(object) == 1 &&
         (as_array(object)->flags & (kOwnData | kWriteable | kWriteBackIfCopy)) == (kOwnData | kWriteable);
}

// Whether no other reference, view or weak reference leads to the array or its memory.
[[nodiscard]] inline bool is_unique(PyObject* object) {
  return Py_REFCNT(object) == 1 && as_array(object)->base == nullptr && as_array(object)->weakreflist == nullptr;
}

inline constexpr int kOrders = kCContiguous | kFContiguous;

// Whether the strides are those of a new array, also along axes of length one: a result that is computed into the array
// then has the usual strides.
[[nodiscard]] inline bool has_usual_strides(const ArrayFields* array, Extent item_size, bool fortran) {
  for (int i = 0; i < array->nd; ++i) {
    const int axis = fortran ? i : array->nd - 1 - i;
    if (array->strides[axis] != item_size) {
      return false;
    }
    item_size *= array->dimensions[axis];
  }
  return true;
}

// Whether the array has exactly the strides and flags that a new result would have.
[[nodiscard]] inline bool looks_fresh(const ArrayFields* array, Extent item_size, int order) {
  constexpr int kChecked = kOwnData | kAligned | kWriteable | kWriteBackIfCopy | kWarnOnWrite;
  return (array->flags & kChecked) == (kOwnData | kAligned | kWriteable) &&
         (array->nd != 1 || (array->flags & kOrders) == kOrders) &&
         has_usual_strides(array, item_size, order == kFContiguous);
}

// Whether NumPy elides when the interpreter calls it. It never does where it cannot look at the C stack, or where other
// frames are between it and the interpreter (other libcs, sanitizers). Since some 2.x it does not for `scalar op
// temporary` with a NumPy scalar. Evaluating two expressions, once, shows which case this is.
struct Elides {
  bool ever = false;
  bool after_numpy_scalar = false;
};
[[nodiscard]] Elides probe_elision(const Numpy& np);

using InplaceFunction = PyObject* (*)(PyObject*, PyObject*);

struct ElisionCase {
  PyObject* left;
  PyObject* right;
  unsigned anonymous;  // bit i: operand i is a temporary without a name
  Elision elision;
  bool right_decides;  // the right operand must have the same shape and cast safely (not so for `x ** 2` and `-x`)
  InplaceFunction function;
};

// Where elision shows in the result and eager NumPy would elide: does the in-place operation that eager NumPy does.
// Returns false where there is nothing to do; otherwise an empty `result` means that an exception is set.
[[nodiscard]] bool elide_generally(const Numpy& np, const ElisionCase& the_case, Ref* result);

}  // namespace tagalong::array
