#include "replay/arrays/fusion/traversal.h"

#include <algorithm>

#include "replay/arrays/simd/pairwise.h"

namespace tagalong::array {

Traversal::Traversal(const FusionPlan& plan, RunState* state, Space* space)
    : plan_(plan), state_(*state), space_(space), block_(plan, state) {
  const bool has_whole_rows = state->axis_reductions != nullptr && state->axis_reductions->row != 0;
  order_ = has_whole_rows ? Order::kRows : plan.is_tree() ? Order::kTree : Order::kBlocks;
  checks_nans_ =
      space != nullptr || order_ != Order::kBlocks || plan.is_tree() || plan.has_masks || plan.reads_components;
}

// Computes the next block: gathers its operands, computes, scatters and reduces.
bool Traversal::compute_next(Extent count) {
  if (space_ != nullptr) {
    gather(count);
  }
  if (!block_.compute(count)) {
    return false;
  }
  if (checks_nans_) {
    state_.is_split_otherwise |= block_.has_nans(count);
  }
  if (space_ != nullptr) {
    scatter(count);
  }
  if (!plan_.reductions.empty() && !block_.reduce(count)) {
    return false;
  }
  if (state_.axis_reductions != nullptr && !block_.reduce_axes(count)) {
    return false;
  }
  advance(plan_, count, &state_);
  return true;
}

// Sets the addresses of the next block. Arrays that are not one row of memory there are copied into blocks, or will be
// copied from blocks.
void Traversal::gather(Extent count) {
  const Walk& walk = *space_->walk;
  const bool is_in_row = count <= walk.left_in_row();
  // Vector code reads adjacent elements only. A complex loop of NumPy 1.26 rounds in another way if a block lies less
  // than a stride behind the last element that it reads.
  const bool takes_strides = !plan_.has_complex && !plan_.depends_on_strides &&
                             (!plan_.is_fused || plan_.steps.front().code == nullptr || state_.is_one_by_one);
  const auto place = [&](const Space::Port& port, bool may_be_direct) {
    const bool is_direct = is_in_row && port.is_direct && may_be_direct &&
                           (takes_strides || port.strides[0] == port.item_size) &&
                           (!port.is_rolled || count <= walk.left_before_wrap(port.starts, 0));
    state_.data[port.slot] = is_direct ? port.place(walk) : port.block;
    state_.strides[port.slot] = is_direct ? port.strides[0] : port.item_size;
    return is_direct;
  };
  for (Space::Port& port : space_->gathered) {
    if (place(port, true)) {
      continue;
    }
    if (port.is_rolled) {
      walk.gather_rolled(port.data, port.strides, port.starts, port.item_size, count, port.block);
      continue;
    }
    if (port.kept_count >= count && port.kept_from == walk.left_in_row()) {
      fusion_counts.rows_kept.add();
      continue;
    }
    walk.gather(port.data, port.strides, port.item_size, count, port.block);
    port.kept_count = walk.repeats(port.strides) ? count : 0;
    port.kept_from = walk.left_in_row();
  }
  for (const Space::Port& port : space_->scattered) {
    static_cast<void>(place(port, !state_.is_speculative));
  }
}

void Traversal::scatter(Extent count) {
  Walk& walk = *space_->walk;
  for (const Space::Port& port : space_->scattered) {
    if (state_.data[port.slot] == port.block && !state_.is_speculative) {
      walk.scatter(port.data, port.strides, port.item_size, count, port.block);
    }
  }
  walk.advance(count);
}

// A fused kernel that also sums does not read a block again, so blocks may be longer.
Extent Traversal::tree_block() const {
  if (plan_.operations.empty()) {
    return state_.block;
  }
  const bool is_one_loop = plan_.is_fused && !plan_.is_cut_by_rows() && !plan_.has_masks && space_ == nullptr &&
                           plan_.axis_reductions.empty() && plan_.reductions.size() == 1 &&
                           plan_.reductions[0].slot == plan_.sum.result && plan_.reductions[0].kernel->has_known_order;
  return is_one_loop && !state_.is_one_by_one ? ReductionLeaves::kMost : kBlock;
}

// Computes blocks as pairwise summation cuts the elements; `sums` gets their sums.
bool Traversal::compute_tree(Extent count, Accumulator* sums) {
  if (count <= tree_block()) {
    if (compute_next(count)) {
      std::copy_n(state_.reduced.begin(), plan_.reductions.size(), sums);
      return true;
    }
    if (count <= kBlock || !state_.is_one_by_one) {
      return false;
    }
    // The block was longer than the temporaries' blocks, and the steps bailed out.
  }
  std::array<Accumulator, kMaxFusionReductions> right;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  const Extent left = left_half(count, plan_.sum_parts);
  if (!compute_tree(left, sums) || !compute_tree(count - left, right.data())) {
    return false;
  }
  for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
    if (plan_.reductions[i].kernel->is_pairwise) {
      add_leaves(*plan_.reductions[i].kernel, right[i], &sums[i]);
    }
  }
  return true;
}

bool Traversal::compute_pieces(Pieces* pieces) {
  const Extent count = state_.count;
  const Extent piece = std::max<Extent>(std::min(count, state_.piece), 1);  // parts may be empty
  const Extent number = (count + piece - 1) / piece;
  pieces->of.resize(static_cast<std::size_t>(number));
  for (Extent i = 0; i < number; ++i) {
    const Extent elements = std::min(piece, count - i * piece);
    if (!compute_tree(elements, pieces->of[static_cast<std::size_t>(i)].data())) {
      return false;
    }
  }
  return true;
}

// The results of the other reductions are in `reduced` already, updated block by block.
void Traversal::add_pieces(const Pieces& pieces) {
  for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
    if (!plan_.reductions[i].kernel->is_pairwise) {
      continue;
    }
    state_.reduced[i] = pieces.of.front()[i];
    for (std::size_t k = 1; k < pieces.of.size(); ++k) {
      add_leaves(*plan_.reductions[i].kernel, pieces.of[k][i], &state_.reduced[i]);
    }
  }
}

bool Traversal::compute() {
  switch (order_) {
    case Order::kRows:
      return compute_rows();
    case Order::kTree: {
      Pieces pieces;
      if (!compute_pieces(&pieces)) {
        return false;
      }
      add_pieces(pieces);
      return true;
    }
    default:
      return compute_blocks();
  }
}

bool Traversal::compute_blocks() {
  const bool has_spans = space_ != nullptr && has_row_spans();
  // Rows that are rolled in themselves are gathered, and then there may be several in a block.
  const bool gathers_rows = space_ != nullptr && std::ranges::any_of(space_->gathered, [](const Space::Port& port) {
                              return port.is_rolled && port.starts[0] != 0;
                            });
  const Extent long_row = plan_.is_fused && !gathers_rows ? kLongRowOfOne : kLongRow;
  const bool is_by_rows = !plan_.is_cut_by_rows() && space_ != nullptr && space_->walk->row() >= long_row;
  for (Extent left = state_.count; left > 0;) {
    if (has_spans && !state_.is_one_by_one) {
      const RowSpan next = row_span(left);
      if (next.rows > 1 || next.row > state_.block) {
        if (!compute_row_span(next)) {
          return false;
        }
        left -= state_.is_one_by_one ? 0 : next.rows * next.row;
        continue;
      }
    }
    Extent most = std::min(left, state_.block);
    if (!plan_.is_cut_by_rows() && left > most && left - most < kMinBlock) {
      most -= kMinBlock;
    }
    const bool ends_with_row = is_by_rows || (has_spans && !state_.is_one_by_one);  // whole rows follow
    const Extent next = ends_with_row ? std::min(most, space_->walk->left_in_row()) : most;
    if (!compute_next(next)) {
      return false;
    }
    left -= next;
  }
  return true;
}

// Computes a row in blocks as pairwise summation cuts it.
bool Traversal::compute_row(Extent count, Accumulator* sums) {
  if (count <= kBlock) {
    if (!compute_next(count)) {
      return false;
    }
    std::copy_n(state_.axis_reductions->sums.begin(), plan_.axis_reductions.size(), sums);
    return true;
  }
  std::array<Accumulator, kMaxAxisReductions> right;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  if (!compute_row(left_half(count), sums) || !compute_row(count - left_half(count), right.data())) {
    return false;
  }
  for (std::size_t i = 0; i < plan_.axis_reductions.size(); ++i) {
    if (plan_.axis_reductions[i].kernel->is_pairwise && state_.axis_reductions->of[i].row() != 0) {
      add_leaves(*plan_.axis_reductions[i].kernel, right[i], &sums[i]);
    }
  }
  return true;
}

bool Traversal::compute_long_row(Extent row) {
  AxisReductions& axis_reductions = *state_.axis_reductions;
  for (Extent left = row; left > 0;) {
    const Extent piece = std::min(left, state_.piece);
    std::array<Accumulator, kMaxAxisReductions> sums;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    if (!compute_row(piece, sums.data())) {
      return false;
    }
    for (std::size_t i = 0; i < plan_.axis_reductions.size(); ++i) {
      if (plan_.axis_reductions[i].kernel->is_pairwise && axis_reductions.of[i].row() != 0) {
        axis_reductions.of[i].take_sum(*plan_.axis_reductions[i].kernel, sums[i], piece);
      }
    }
    left -= piece;
  }
  return true;
}

bool Traversal::compute_rows() {
  AxisReductions& axis_reductions = *state_.axis_reductions;
  const Extent rows = std::max<Extent>(kBlock / axis_reductions.row, 1);
  const Extent found = axis_reductions.argmin == nullptr ? 0 : compute_argmins();
  for (Extent left = state_.count - found; left > 0;) {
    const Extent count = std::min(left, rows * axis_reductions.row);
    left -= count;
    if (count <= kBlock) {
      if (!compute_next(count)) {
        return false;
      }
      continue;
    }
    if (!compute_long_row(count)) {
      return false;
    }
  }
  return true;
}

}  // namespace tagalong::array
