// Temporary elision: for `a op b` eager NumPy computes into an operand that is a temporary of at least 256 KiB
// (multiarray's temp_elide.c). For complex numbers that changes bits, so it must be done here exactly when eager does
// it, and so it must where operands have different layouts, also for operations the direct path leaves to the general
// call: called from this library, NumPy itself never elides, because it looks for the interpreter on the C stack.
#pragma once

#include "replay/arrays/numpy/operand.h"
#include "rewriter/base/ref.h"

namespace tagalong::array {

enum class Elision : std::uint8_t { kNever, kLeft, kCommutative };

inline constexpr Extent kMinElidedBytes = 256 * 1024;

// What eager asks of the operand it computes into, apart from being without a name and large enough. What a list or an
// attribute holds, too, has more references, here as there. Weak references do not count: what they refer to afterwards
// is what was computed.
[[nodiscard]] inline bool may_be_elided(PyObject* object) {
  return Py_REFCNT(object) == 1 &&
         (as_array(object)->flags & (kOwnData | kWriteable | kWriteBackIfCopy)) == (kOwnData | kWriteable);
}

// Nobody else can see the array or its memory.
[[nodiscard]] inline bool is_unique(PyObject* object) {
  return Py_REFCNT(object) == 1 && as_array(object)->base == nullptr && as_array(object)->weakreflist == nullptr;
}

inline constexpr int kOrders = kCContiguous | kFContiguous;

// As a new array has them, in axes of length one, too: a result that is computed into the array has the same.
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

// The array has exactly the strides and flags that a new result would have.
[[nodiscard]] inline bool looks_fresh(const ArrayFields* array, Extent item_size, int order) {
  constexpr int kChecked = kOwnData | kAligned | kWriteable | kWriteBackIfCopy | kWarnOnWrite;
  return (array->flags & kChecked) == (kOwnData | kAligned | kWriteable) &&
         (array->nd != 1 || (array->flags & kOrders) == kOrders) &&
         has_usual_strides(array, item_size, order == kFContiguous);
}

// Whether NumPy elides when the interpreter calls it: not at all where it cannot look at the C stack, or where
// something stands between it and the interpreter (other libcs, sanitizers); not for `scalar op temporary` with a NumPy
// scalar since some 2.x. Tried out once, by expressions of two operands.
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
  bool right_decides;  // it must have the same shape and cast safely (not so for `x ** 2` and `-x`)
  InplaceFunction function;
};

// Where it shows and eager would elide: the in-place operation eager does. Returns false where there is nothing to do;
// otherwise `result` is empty on an exception.
[[nodiscard]] bool elide_generally(const Numpy& np, const ElisionCase& the_case, Ref* result);

}  // namespace tagalong::array
