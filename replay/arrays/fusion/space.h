// The arrays of a run that are not all one row of memory: their layouts, and the order in which their elements are
// taken. A group keeps the space of its last run, because the next run mostly has arrays with the same layouts. Then
// only addresses have to be found (SpaceBinding).
#pragma once

#include <optional>
#include <vector>

#include "replay/arrays/fusion/fusion_plan.h"

namespace tagalong::array {

struct Space {
  // An array object that inputs or targets are, or are parts of.
  struct Source {
    std::uint16_t external;
    std::uint8_t type;
    int flags = 0;
    View view = {};
    // Whether the array has the layout and the flags that are kept here.
    [[nodiscard]] bool has_layout_of(const ArrayFields* array) const;
    // False: the array has more dimensions than a fusion group can have.
    [[nodiscard]] bool keep(const ArrayFields* array);
  };
  // A number in a subscript that is read anew in each run.
  struct KeptNumber {
    ViewSpec::Number number;
    Extent value = 0;
  };
  // Where a view is in its source.
  struct Place {
    std::size_t source = 0;
    Extent offset = 0;  // bytes
  };
  // An array that is not one row in the order in which blocks are taken.
  struct Port {
    char* data = nullptr;
    Strides strides{};
    char* block = nullptr;
    Slot slot;
    std::uint8_t item_size;
    bool is_direct;  // a block inside a row needs no copy
    bool is_rolled = false;
    Starts starts{};        // of a rolled array
    std::size_t input = 0;  // of a gathered array: index in `inputs`
    // Of a repeated row: the number of elements in the block, and how many were left in the row at the first one.
    Extent kept_count = 0;
    Extent kept_from = 0;
    [[nodiscard]] char* place(const Walk& walk) const {
      return is_rolled ? walk.place(data, strides, starts) : walk.place(data, strides);
    }
  };

  explicit Space(const FusionPlan& plan);

  std::vector<Source> sources;
  std::vector<KeptNumber> numbers;
  std::vector<View> inputs;
  std::vector<View> targets;
  std::vector<Place> input_places;
  std::vector<Place> target_places;

  // What follows from the layouts of inputs and targets. False: it has to be found again.
  bool is_bound = false;
  Shape shape;
  Extent row = 0;                   // elements that become one element of a column
  std::vector<Extent> row_strides;  // of inputs; 0: the array is gathered
  std::vector<Strides> output_strides;
  // The walk merges axes, and has strides of its own.
  std::vector<Strides> target_strides;
  std::vector<Strides> walked_outputs;
  std::array<Strides, kMaxAxisReductions> axis_strides{};  // of the operands of reductions along axes
  std::optional<Walk> walk;
  std::vector<Port> gathered;

  std::vector<Port> scattered;  // the results and targets of one run
};

}  // namespace tagalong::array
