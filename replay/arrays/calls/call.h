// One call of a NumPy function, as the functions of this folder see it, and what they share.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "replay/arrays/calls/numpy_calls.h"
#include "replay/arrays/numpy/numpy_abi.h"
#include "replay/arrays/numpy/operand.h"
#include "rewriter/base/ref.h"

namespace tagalong::array {

inline constexpr std::size_t kMostParameters = 6;

struct Call {
  const Numpy& np;
  PyObject* target;            // forward(): what makes the call in NumPy
  PyObject* const* arguments;  // as they are given; `self` first
  Py_ssize_t count;
  PyObject* names;                                      // of the last arguments, or null
  std::array<PyObject*, kMostParameters> parameters{};  // the arguments by parameter; null: not given

  // Whether the program gives the parameter, and not None.
  [[nodiscard]] bool has(std::size_t parameter) const {
    return parameters[parameter] != nullptr && parameters[parameter] != Py_None;
  }
};

using CallFunction = PyObject* (*)(const Call& call);

struct NumpyCall {
  CallFunction run = nullptr;
  CallReads reads = CallReads::kApart;
  PyObject* target = nullptr;
  std::vector<PyObject*> parameters;  // interned names
  bool is_method = false;
  // Of a plain Python function, which the program may change.
  PyObject* code = nullptr;
  PyObject* defaults = nullptr;
};

#define TAGALONG_NUMPY_CALL(home, name, parameters, reads, run) [[nodiscard]] PyObject* run(const Call& call);
#include "replay/arrays/calls/numpy_calls.def"

// The array, if it is an exact one of a native numeric dtype with at least one dimension, aligned and C-contiguous; or
// null.
[[nodiscard]] const ArrayFields* plain_array(const Numpy& np, PyObject* object);
[[nodiscard]] inline bool is_row(const ArrayFields* array) { return array != nullptr && array->nd == 1; }

// A new C-contiguous array, or null without an exception.
[[nodiscard]] PyObject* new_array(const Numpy& np, unsigned type, int nd, const Extent* dims);

// An exact int of this range. False: it is something else, or out of range.
[[nodiscard]] bool read_int(PyObject* object, Extent least, Extent most, Extent* number);
// An axis of so many dimensions, as a number from 0 on.
[[nodiscard]] bool read_axis(PyObject* object, int nd, int* axis);

// Gives up an exception that NumPy has raised: the general call raises it again, with the frames that it shows.
[[nodiscard]] PyObject* forget_error();

}  // namespace tagalong::array
