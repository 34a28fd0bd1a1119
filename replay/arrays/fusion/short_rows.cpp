// Rows that are not adjacent, as in a part of an image, computed by one call of machine code that goes from row to row
// itself. A call for each row would take as long as many elements. A long row, such as the adjacent rows of a whole
// image, is computed in parts longer than a block, since no block is read again.
#include <algorithm>
#include <array>

#include "replay/arrays/fusion/kernel_variants.h"
#include "replay/arrays/fusion/traversal.h"

namespace tagalong::array {
namespace {

// Bytes of the longest elements; shorter rows are gathered. Most of their elements would not fill a vector.
constexpr Extent kMinRow = 64;

Extent longest_item(const FusionPlan& plan) {
  Extent longest = 1;
  for (const auto& [slot, item_size] : plan.rows) {
    longest = std::max<Extent>(longest, item_size);
  }
  return longest;
}

}  // namespace

// Whether the fused kernel can compute rows without gathering them.
bool Traversal::has_row_spans() const {
  const Extent row = space_->walk->row();
  if (!plan_.is_fused || !plan_.stores_no_nans || !plan_.is_elementwise() || row * longest_item(plan_) < kMinRow ||
      (state_.is_speculative && row > state_.block) || plan_.steps.front().code_for(state_.swapped) == nullptr ||
      (plan_.steps.front().code->may_run_twice() && row >= VectorCode::kLeastQuotients)) {
    return false;
  }
  const auto is_contiguous_row = [&](const auto& each) {
    const auto& [slot, item_size] = each;
    const auto port = std::ranges::find(space_->gathered, slot, &Space::Port::slot);
    const bool is_port = port != space_->gathered.end();
    const bool is_wrapped = is_port && port->is_rolled && port->starts[0] != 0 && space_->walk->nd() > 1;
    return is_port ? port->is_direct && port->strides[0] == item_size && !is_wrapped
                   : state_.strides[slot] == item_size;
  };
  return std::ranges::all_of(plan_.rows, is_contiguous_row) &&
         (state_.is_speculative || std::ranges::all_of(space_->scattered, &Space::Port::is_direct));
}

// What the next call computes from the walk's position on: several rows, or a part of one row.
Traversal::RowSpan Traversal::row_span(Extent left) const {
  const Walk& walk = *space_->walk;
  const Extent row = walk.row();
  Extent in_row = walk.left_in_row();
  Extent rows = in_row < row ? 0 : std::min({left / row, kMaxSpanElements / row, walk.left_of_rows()});
  for (const Space::Port& port : space_->gathered) {
    if (port.is_rolled) {
      in_row = std::min(in_row, walk.left_before_wrap(port.starts, 0));
      rows = walk.nd() > 1 ? std::min(rows, walk.left_before_wrap(port.starts, 1)) : rows;
    }
  }
  return rows > 1 ? RowSpan{rows, row} : RowSpan{1, std::min({left, in_row, kMaxSpanElements})};
}

// False: as BlockComputation::compute().
bool Traversal::compute_row_span(const RowSpan& row_span) {
  Walk& walk = *space_->walk;
  const auto [rows, row] = row_span;
  const bool is_single_row = rows == 1;  // there may be no next row
  RowStrides steps;                      // NOLINT(cppcoreguidelines-pro-type-member-init): plan's slots only
  const auto is_port = [&](Slot slot) {
    return std::ranges::find(space_->gathered, slot, &Space::Port::slot) != space_->gathered.end() ||
           std::ranges::find(space_->scattered, slot, &Space::Port::slot) != space_->scattered.end();
  };
  const auto set_row_strides = [&](const auto& all) {
    for (const auto& each : all) {
      if (!is_port(each.slot)) {
        steps[each.slot] = row * state_.strides[each.slot];
      }
    }
  };
  set_row_strides(plan_.inputs);
  set_row_strides(plan_.outputs);
  set_row_strides(plan_.targets);
  for (const Space::Port& port : space_->gathered) {
    state_.data[port.slot] = port.place(walk);
    steps[port.slot] = is_single_row ? 0 : port.strides[1];
  }
  for (const Space::Port& port : space_->scattered) {
    state_.data[port.slot] = state_.is_speculative ? port.block : walk.place(port.data, port.strides);
    steps[port.slot] = state_.is_speculative || is_single_row ? 0 : port.strides[1];
  }
  const auto keeps_alignment = [&](Slot slot) { return steps[slot] % Extent{VectorCode::kNonTemporalBytes} == 0; };
  const bool is_non_temporal = state_.with_non_temporal != nullptr && may_store_non_temporal(state_) &&
                               (is_single_row || std::ranges::all_of(state_.non_temporal, keeps_alignment));
  const VectorCode* code = is_non_temporal ? state_.with_non_temporal : plan_.steps.front().code_for(state_.swapped);
  if (is_non_temporal) {
    fusion_counts.non_temporal.add();
  }
  SlotPointers data;  // NOLINT(cppcoreguidelines-pro-type-member-init): plan's slots only; the code may change it
  std::copy_n(state_.data.begin(), plan_.slots, data.begin());
  if (code == nullptr || !code->run_rows(data.data(), row, rows, steps.data())) {
    state_.is_one_by_one = true;
    return !state_.is_reused;
  }
  (is_single_row ? fusion_counts.long_parts : fusion_counts.rows_together).add(static_cast<std::uint64_t>(rows));
  walk.advance(row * rows);
  advance(plan_, row * rows, &state_);
  return true;
}

}  // namespace tagalong::array
