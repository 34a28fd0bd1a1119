// A part of an array by slices, integers, an ellipsis and new axes: an address range without an object of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "replay/arrays/fusion/iteration_space.h"

namespace tagalong::array {

struct ViewSpec {
  struct Number {
    bool is_none = true;
    std::int16_t external = -1;  // read anew in each run; -1: the number is `value`
    Extent value = 0;
    bool operator==(const Number&) const = default;
  };
  struct Axis {
    bool is_slice = false;
    bool is_new = false;       // an axis of length one that the array does not have
    bool is_rest = false;      // the ellipsis: all dimensions without an index
    Number start, stop, step;  // an integer is in `start`
    bool operator==(const Axis&) const = default;
  };
  std::uint16_t external = 0;
  std::vector<Axis> axes;  // in the order of the subscript
  bool operator==(const ViewSpec&) const = default;
};

// False: there is no such view, or eager execution raises. Only the numbers in `externals` are read.
[[nodiscard]] bool take_view(const ViewSpec& spec, const ArrayFields* array, PyObject* const* externals, View* view);
[[nodiscard]] bool take_view(const ViewSpec& spec, const View& whole, PyObject* const* externals, View* view);

}  // namespace tagalong::array
