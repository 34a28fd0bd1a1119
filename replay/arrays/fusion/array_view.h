// A part of an array by slices, integers, an ellipsis and new axes, perhaps rolled as np.roll does it: memory without
// an object of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "replay/arrays/fusion/iteration_space.h"

namespace tagalong::array {

struct ViewSpec {
  struct Number {
    bool is_none = true;
    std::int8_t item = -1;  // the number is this item of a tuple of `items`; -1: it is the external itself
    std::int8_t items = 0;
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
  // Elements move by `shift` along an axis of the part; what leaves at one end comes in at the other one.
  struct Roll {
    int axis = 0;
    Number shift;
    bool operator==(const Roll&) const = default;
  };
  std::uint16_t external = 0;
  using Subscript = std::vector<Axis>;
  Subscript axes;
  std::vector<Subscript> further = {};  // of the part, one after the other
  std::vector<Roll> rolls = {};
  int nd = 0;                // dimensions that the part must have; 0: any number
  bool is_composed = false;  // rolled by one call after the other
  bool operator==(const ViewSpec&) const = default;
};

// Empty: the object is not an integer that fits.
[[nodiscard]] std::optional<Extent> read_number(const ViewSpec::Number& number, PyObject* const* externals);

// False: there is no such view, or eager execution raises. Only the numbers in `externals` are read.
[[nodiscard]] bool take_view(const ViewSpec& spec, const ArrayFields* array, PyObject* const* externals, View* view);
[[nodiscard]] bool take_view(const ViewSpec& spec, const View& whole, PyObject* const* externals, View* view);

}  // namespace tagalong::array
