// Rows that lie apart, as those of a part of an image do, by one call of the machine code: it goes from row to row
// itself. A call for each takes as long as a hundred elements.
#include <algorithm>
#include <array>

#include "replay/array/region_run.h"

namespace tagalong::array {
namespace {

// Elements of a call. What a row leaves open is known at the end of all of them.
constexpr Extent kMostTogether = 32 * kBlock;
// Of a row. Shorter ones are gathered.
constexpr Extent kLeastRow = 8;

}  // namespace

// How many rows, from where the walk is; at most one: none.
Extent RegionPlan::rows_together(const Frame& frame, const Space& space, Extent left) const {
  const Walk& walk = *space.walk;
  const Extent row = walk.row();
  if (!is_joined_ || !stores_no_nans_ || is_tree_ || has_masks_ || frame.is_one_by_one || !reductions_.empty() ||
      !folds_.empty() || row < kLeastRow || row > kMostTogether || walk.left_in_row() < row ||
      (frame.is_tried && row > frame.block)) {
    return 0;
  }
  if (steps_.front().code->has_second_way() && row >= ExactCode::kLeastQuotients) {
    return 0;
  }
  const auto lies_in_rows = [&](const auto& each) {
    const auto& [slot, item_size] = each;
    const auto port = std::ranges::find(space.gathered, slot, &Space::Port::slot);
    const bool is_port = port != space.gathered.end();
    return is_port ? port->is_direct && port->strides[0] == item_size : frame.strides[slot] == item_size;
  };
  const auto is_direct = [](const Space::Port& port) { return port.is_direct; };
  if (!std::ranges::all_of(rows_, lies_in_rows) ||
      (!frame.is_tried && !std::ranges::all_of(space.scattered, is_direct))) {
    return 0;
  }
  return std::min({left / row, kMostTogether / row, walk.left_of_rows()});
}

// So many rows. False: as compute_block().
bool RegionPlan::compute_together(Frame* frame, Space* space, Extent rows) const {
  Walk& walk = *space->walk;
  const Extent row = walk.row();
  Places data;                                // NOLINT(cppcoreguidelines-pro-type-member-init): plan's slots only
  std::array<Extent, kMaxRegionSlots> steps;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  std::copy_n(frame->data.begin(), slots_, data.begin());
  const auto goes_on = [&](Slot slot) { steps[slot] = row * frame->strides[slot]; };
  for (const Input& input : inputs_) {
    goes_on(input.slot);
  }
  for (const Output& output : outputs_) {
    goes_on(output.slot);
  }
  for (const Target& target : targets_) {
    goes_on(target.slot);
  }
  for (const Space::Port& port : space->gathered) {
    data[port.slot] = walk.place(port.data, port.strides);
    steps[port.slot] = port.strides[1];
  }
  for (const Space::Port& port : space->scattered) {
    data[port.slot] = frame->is_tried ? port.block : walk.place(port.data, port.strides);
    steps[port.slot] = frame->is_tried ? 0 : port.strides[1];
  }
  const auto is_streamable = [&](Slot slot) {
    return (reinterpret_cast<std::uintptr_t>(data[slot]) | static_cast<std::uintptr_t>(steps[slot])) %
               ExactCode::kStreamedBytes ==
           0;
  };
  const bool is_streamed = frame->streaming != nullptr && std::ranges::all_of(frame->streamed, is_streamable);
  const ExactCode& code = is_streamed ? *frame->streaming : *steps_.front().code;
  if (is_streamed) {
    region_counts.streamed.add();
  }
  if (!code.run_rows(data.data(), row, rows, steps.data())) {
    frame->is_one_by_one = true;
    return !frame->is_donated;
  }
  region_counts.rows_together.add(static_cast<std::uint64_t>(rows));
  walk.advance(row * rows);
  advance(frame, row * rows);
  return true;
}

}  // namespace tagalong::array
