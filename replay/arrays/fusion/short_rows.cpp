// Rows that are not adjacent, as in a part of an image, computed by one call of machine code that goes from row to row
// itself. A call for each row would take as long as many elements. A long row, such as the adjacent rows of a whole
// image, is computed in parts longer than a block, since no block is read again.
#include <algorithm>
#include <array>

#include "replay/arrays/fusion/plan_run.h"

namespace tagalong::array {
namespace {

// Elements; shorter rows are gathered.
constexpr Extent kMinRow = 8;

}  // namespace

// Whether the fused kernel can compute rows without gathering them.
bool FusionPlan::has_row_spans(const Frame& frame, const Space& space) const {
  const Extent row = space.walk->row();
  if (!is_fused_ || !stores_no_nans_ || is_tree_ || has_masks_ || !reductions_.empty() || !axis_reductions_.empty() ||
      row < kMinRow || (frame.is_speculative && row > frame.block) ||
      (steps_.front().code->may_run_twice() && row >= VectorCode::kLeastQuotients)) {
    return false;
  }
  const auto is_contiguous_row = [&](const auto& each) {
    const auto& [slot, item_size] = each;
    const auto port = std::ranges::find(space.gathered, slot, &Space::Port::slot);
    const bool is_port = port != space.gathered.end();
    return is_port ? port->is_direct && port->strides[0] == item_size : frame.strides[slot] == item_size;
  };
  return std::ranges::all_of(rows_, is_contiguous_row) &&
         (frame.is_speculative || std::ranges::all_of(space.scattered, &Space::Port::is_direct));
}

// What the next call computes from the walk's position on: several rows, or a part of one row.
FusionPlan::RowSpan FusionPlan::row_span(const Space& space, Extent left) {
  const Walk& walk = *space.walk;
  const Extent row = walk.row();
  const Extent in_row = walk.left_in_row();
  const Extent rows = in_row < row ? 0 : std::min({left / row, kMaxSpanElements / row, walk.left_of_rows()});
  return rows > 1 ? RowSpan{rows, row} : RowSpan{1, std::min({left, in_row, kMaxSpanElements})};
}

// False: as compute_block().
bool FusionPlan::compute_row_span(Frame* frame, Space* space, const RowSpan& row_span) const {
  Walk& walk = *space->walk;
  const auto [rows, row] = row_span;
  const bool is_single_row = rows == 1;  // there may be no next row
  RowStrides steps;                      // NOLINT(cppcoreguidelines-pro-type-member-init): plan's slots only
  const auto is_port = [&](Slot slot) {
    return std::ranges::find(space->gathered, slot, &Space::Port::slot) != space->gathered.end() ||
           std::ranges::find(space->scattered, slot, &Space::Port::slot) != space->scattered.end();
  };
  const auto set_row_strides = [&](const auto& all) {
    for (const auto& each : all) {
      if (!is_port(each.slot)) {
        steps[each.slot] = row * frame->strides[each.slot];
      }
    }
  };
  set_row_strides(inputs_);
  set_row_strides(outputs_);
  set_row_strides(targets_);
  for (const Space::Port& port : space->gathered) {
    frame->data[port.slot] = walk.place(port.data, port.strides);
    steps[port.slot] = is_single_row ? 0 : port.strides[1];
  }
  for (const Space::Port& port : space->scattered) {
    frame->data[port.slot] = frame->is_speculative ? port.block : walk.place(port.data, port.strides);
    steps[port.slot] = frame->is_speculative || is_single_row ? 0 : port.strides[1];
  }
  const auto keeps_alignment = [&](Slot slot) { return steps[slot] % Extent{VectorCode::kNonTemporalBytes} == 0; };
  const bool is_non_temporal = frame->with_non_temporal != nullptr && may_store_non_temporal(*frame) &&
                               (is_single_row || std::ranges::all_of(frame->non_temporal, keeps_alignment));
  const VectorCode& code = is_non_temporal ? *frame->with_non_temporal : *steps_.front().code;
  if (is_non_temporal) {
    fusion_counts.non_temporal.add();
  }
  SlotPointers data;  // NOLINT(cppcoreguidelines-pro-type-member-init): plan's slots only; the code may change it
  std::copy_n(frame->data.begin(), slots_, data.begin());
  if (!code.run_rows(data.data(), row, rows, steps.data())) {
    frame->is_one_by_one = true;
    return !frame->is_reused;
  }
  (is_single_row ? fusion_counts.long_parts : fusion_counts.rows_together).add(static_cast<std::uint64_t>(rows));
  walk.advance(row * rows);
  advance(frame, row * rows);
  return true;
}

}  // namespace tagalong::array
