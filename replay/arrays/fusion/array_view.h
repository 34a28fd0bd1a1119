// A part of an array by slices, integers, an ellipsis and new axes, as memory, without an object that stands for it.
#pragma once

#include <cstdint>
#include <vector>

#include "replay/arrays/fusion/iteration_space.h"

namespace tagalong::array {

struct ViewSpec {
  struct Number {
    bool is_none = true;
    std::int16_t external = -1;  // read anew in each run; -1: `value`
    Extent value = 0;
  };
  struct Axis {
    bool is_slice = false;
    bool is_new = false;       // an axis of length one that the array does not have
    bool is_rest = false;      // all dimensions that the others leave, at most once
    Number start, stop, step;  // of an integer: start
  };
  std::uint16_t external = 0;
  std::vector<Axis> axes;  // of the first dimensions, and new ones among them
};

// False: no such view, or eager execution raises. Of an array, or of memory like one's; of `externals` only numbers are
// read.
[[nodiscard]] bool take_view(const ViewSpec& spec, const ArrayFields* array, PyObject* const* externals, View* view);
[[nodiscard]] bool take_view(const ViewSpec& spec, const View& whole, PyObject* const* externals, View* view);

}  // namespace tagalong::array
