// The inner part of a run: blocks go through all operations in turn, and then through the reductions.
#include <algorithm>
#include <cstring>
#include <utility>

#include "replay/arrays/fusion/plan_run.h"
#include "replay/arrays/simd/nans.h"
#include "replay/arrays/simd/pairwise.h"

namespace tagalong::array {

// False: the loop has set an exception.
bool FusionPlan::compute_operation(std::size_t number, Frame* frame, Extent count) const {
  const Operation& operation = operations_[number];
  if (operation.stage >= Stage::kAxisReduction) [[unlikely]] {
    return !is_staged_ || compute_staged(operation, frame, count);
  }
  std::array<char*, kMaxInputs + 1> data{};
  std::array<Extent, kMaxInputs + 1> strides{};
  for (unsigned i = 0; i <= operation.nin; ++i) {
    const Slot slot = operation.slots[i];
    data[i] = frame->data[slot];
    strides[i] = frame->strides[slot];
  }
  if (frame->swapped[number]) [[unlikely]] {
    std::swap(data[0], data[1]);
    std::swap(strides[0], strides[1]);
  }
  if (operation.collects && float_status_raised(float_units_)) [[unlikely]] {
    frame->errors |= take_float_status(float_units_);
  }
  if (operation.is_masked) [[unlikely]] {
    return compute_masked(operation, data.data(), strides.data(), count);
  }
  const Extent elements = operation.stage == Stage::kColumn ? count / frame->row : count;
  return operation.loop(operation.context, data.data(), &elements, strides.data(), operation.auxdata) == 0;
}

// The loop gets one run of selected elements after another, so that other elements raise no flags.
bool FusionPlan::compute_masked(const Operation& operation, char** data, const Extent* strides, Extent count) {
  const unsigned nin = operation.nin - 2U;
  const char* where = data[nin];
  char* out = data[nin + 2];
  const Extent step = strides[nin + 2];
  for (Extent i = 0; i < count; ++i) {
    std::memcpy(out + i * step, data[nin + 1] + i * strides[nin + 1], operation.out_size);
  }
  for (Extent i = 0; i < count;) {
    const Extent begin = i;
    const bool is_computed = where[i * strides[nin]] != 0;
    while (i < count && (where[i * strides[nin]] != 0) == is_computed) {
      ++i;
    }
    if (!is_computed) {
      continue;
    }
    std::array<char*, kMaxInputs + 1> places{};
    std::array<Extent, kMaxInputs + 1> steps{};
    for (unsigned operand = 0; operand < nin; ++operand) {
      places.at(operand) = data[operand] + begin * strides[operand];
      steps.at(operand) = strides[operand];
    }
    places.at(nin) = out + begin * step;
    steps.at(nin) = step;
    const Extent elements = i - begin;
    if (operation.loop(operation.context, places.data(), &elements, steps.data(), operation.auxdata) != 0) {
      return false;
    }
  }
  return true;
}

bool FusionPlan::compute_block(Frame* frame, Extent count) const {
  if (!steps_.empty() && !frame->is_one_by_one) {
    const Outcome outcome = compute_steps(frame, count);
    if (outcome != Outcome::kOpen) [[likely]] {
      return outcome == Outcome::kDone;
    }
    if (frame->is_reused) {
      return false;
    }
    frame->is_one_by_one = true;
    if (is_tree_ && count > kBlock) {
      return false;
    }
  }
  return compute_one_by_one(frame, count);
}

bool FusionPlan::takes_long_blocks(const Space* space) const {
  return is_fused_ && !is_staged_ && !is_tree_ && !has_masks_ && space == nullptr && reductions_.empty() &&
         axis_reductions_.empty();
}

// The blocks of temporaries have no more elements than an ordinary block.
bool FusionPlan::compute_one_by_one(Frame* frame, Extent count) const {
  if (count > kBlock && takes_long_blocks(nullptr)) [[unlikely]] {
    const SlotPointers begin = frame->data;
    bool is_done = true;
    for (Extent left = count; is_done && left > 0;) {
      const Extent most = std::min(left, kBlock);
      const Extent part = left > most && left - most < kMinBlock ? most - kMinBlock : most;
      is_done = compute_one_by_one(frame, part);
      advance(frame, part);
      left -= part;
    }
    frame->data = begin;
    return is_done;
  }
  for (std::size_t number = 0; number < operations_.size(); ++number) {
    if (!compute_operation(number, frame, count)) [[unlikely]] {
      return false;
    }
  }
  return true;
}

// Whether the results of the block contain NaNs.
bool FusionPlan::has_nans(const Frame& frame, Extent count) const {
  if (stores_no_nans_ && !frame.is_one_by_one) {
    return false;  // the steps would have bailed out
  }
  const auto is_found = [&](Slot slot, unsigned type, Extent elements) {
    return has_nan(type, frame.data[slot], frame.strides[slot], elements);
  };
  return std::ranges::any_of(outputs_,
                             [&](const Output& output) {
                               return output.descr != nullptr &&
                                      is_found(output.slot, output.type, output.is_column ? count / frame.row : count);
                             }) ||
         std::ranges::any_of(targets_, [&](const Target& target) { return is_found(target.slot, target.type, count); });
}

// Adds a block to the reductions. Each block's pairwise sum begins anew: the reduction tree of the blocks adds them.
bool FusionPlan::reduce_block(Frame* frame, Extent count) const {
  for (std::size_t i = 0; i < reductions_.size(); ++i) {
    const Reduced& reduced = reductions_[i];
    const ReductionKernel& kernel = *reduced.kernel;
    Accumulator& accumulator = frame->reduced[i];
    if (reduced.slot == sum_.result && kernel.has_known_order && !frame->is_one_by_one) {
      const double sum = -0.0 + frame->leaves.sum();
      fusion_counts.fused_sums.add();
      std::memcpy(accumulator.bytes, &sum, sizeof(sum));
      continue;
    }
    char* data = frame->data[reduced.slot];
    const Extent stride = frame->strides[reduced.slot];
    Extent left = count;
    if (kernel.is_pairwise) {
      begin_leaf(kernel, &accumulator);
    } else if (!frame->is_begun && begins_with_element(reduced.reduction)) {
      std::memcpy(accumulator.bytes, data, kernel.item_size);
      data += stride;
      --left;
    } else if (!frame->is_begun) {
      begin(kernel, reduced.reduction, &accumulator);
    }
    frame->errors |= collect_float_status(float_units_);
    const std::array<char*, 3> places{accumulator.bytes, data, accumulator.bytes};
    const std::array<Extent, 3> strides{0, stride, 0};
    if (left > 0 && kernel.whole(kernel.context, places.data(), &left, strides.data(), kernel.auxdata) != 0) {
      return false;
    }
  }
  frame->is_begun = true;
  return true;
}

void FusionPlan::advance(Frame* frame, Extent count) const {
  for (const Input& input : inputs_) {
    frame->data[input.slot] += count * frame->strides[input.slot];
  }
  for (const Output& output : outputs_) {
    if (output.descr != nullptr) {
      frame->data[output.slot] += (output.is_column ? count / frame->row : count) * frame->strides[output.slot];
    }
  }
  for (const Target& target : targets_) {
    frame->data[target.slot] += count * frame->strides[target.slot];
  }
}

// Computes the next block: gathers its operands, computes, scatters and reduces.
bool FusionPlan::compute_next(Frame* frame, Space* space, Extent count) const {
  if (space == nullptr) [[likely]] {
    if (!compute_block(frame, count)) {
      return false;
    }
  } else {
    Walk& walk = *space->walk;
    const bool is_in_row = count <= walk.left_in_row();
    const auto place = [&](const Space::Port& port, bool may_be_direct = true) {
      const bool is_direct = is_in_row && port.is_direct && may_be_direct;
      frame->data[port.slot] = is_direct ? walk.place(port.data, port.strides) : port.block;
      frame->strides[port.slot] = is_direct ? port.strides[0] : port.item_size;
      return is_direct;
    };
    for (Space::Port& port : space->gathered) {
      if (place(port)) {
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
    for (const Space::Port& port : space->scattered) {
      static_cast<void>(place(port, !frame->is_speculative));
    }
    if (!compute_block(frame, count)) {
      return false;
    }
    frame->is_split_otherwise |= has_nans(*frame, count);
    for (const Space::Port& port : space->scattered) {
      if (frame->data[port.slot] == port.block && !frame->is_speculative) {
        walk.scatter(port.data, port.strides, port.item_size, count, port.block);
      }
    }
    walk.advance(count);
  }
  if ((is_tree_ || has_masks_ || (frame->axis_reductions != nullptr && frame->axis_reductions->row != 0)) &&
      space == nullptr) {
    frame->is_split_otherwise |= has_nans(*frame, count);
  }
  if (!reductions_.empty() && !reduce_block(frame, count)) {
    return false;
  }
  if (frame->axis_reductions != nullptr && !reduce_axes_of_block(frame, count)) {
    return false;
  }
  advance(frame, count);
  return true;
}

// A fused kernel that also sums does not read a block again, so blocks may be longer.
Extent FusionPlan::tree_block(const Frame& frame, const Space* space) const {
  if (operations_.empty()) {
    return frame.block;
  }
  const bool is_one_loop = is_fused_ && !is_staged_ && !has_masks_ && space == nullptr && axis_reductions_.empty() &&
                           reductions_.size() == 1 && reductions_[0].slot == sum_.result &&
                           reductions_[0].kernel->has_known_order;
  return is_one_loop && !frame.is_one_by_one ? ReductionLeaves::kMost : kBlock;
}

// Computes blocks as pairwise summation cuts the elements; `sums` gets their sums.
bool FusionPlan::compute_tree(Frame* frame, Space* space, Extent count, Accumulator* sums) const {
  if (count <= tree_block(*frame, space)) {
    if (compute_next(frame, space, count)) {
      std::copy_n(frame->reduced.begin(), reductions_.size(), sums);
      return true;
    }
    if (count <= kBlock || !frame->is_one_by_one) {
      return false;
    }
    // The block was longer than the temporaries' blocks, and the steps bailed out.
  }
  std::array<Accumulator, kMaxFusionReductions> right;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  const Extent left = left_half(count);
  if (!compute_tree(frame, space, left, sums) || !compute_tree(frame, space, count - left, right.data())) {
    return false;
  }
  for (std::size_t i = 0; i < reductions_.size(); ++i) {
    if (reductions_[i].kernel->is_pairwise) {
      add_leaves(*reductions_[i].kernel, right[i], &sums[i]);
    }
  }
  return true;
}

bool FusionPlan::compute_pieces(Frame* frame, Space* space, Extent count, Pieces* pieces) const {
  const Extent piece = std::max<Extent>(std::min(count, frame->piece), 1);  // parts may be empty
  const Extent number = (count + piece - 1) / piece;
  pieces->of.resize(static_cast<std::size_t>(number));
  for (Extent i = 0; i < number; ++i) {
    const Extent elements = std::min(piece, count - i * piece);
    if (!compute_tree(frame, space, elements, pieces->of[static_cast<std::size_t>(i)].data())) {
      return false;
    }
  }
  return true;
}

// The results of the other reductions are in `reduced` already, updated block by block.
void FusionPlan::add_pieces(const Pieces& pieces, Frame* frame) const {
  for (std::size_t i = 0; i < reductions_.size(); ++i) {
    if (!reductions_[i].kernel->is_pairwise) {
      continue;
    }
    frame->reduced[i] = pieces.of.front()[i];
    for (std::size_t k = 1; k < pieces.of.size(); ++k) {
      add_leaves(*reductions_[i].kernel, pieces.of[k][i], &frame->reduced[i]);
    }
  }
}

bool FusionPlan::compute(Frame* frame, Space* space) const {
  if (frame->axis_reductions != nullptr && frame->axis_reductions->row != 0) {
    return compute_rows(frame, space);
  }
  if (is_tree_) {
    Pieces pieces;
    if (!compute_pieces(frame, space, frame->count, &pieces)) {
      return false;
    }
    add_pieces(pieces, frame);
    return true;
  }
  const bool has_spans = space != nullptr && has_row_spans(*frame, *space);
  const Extent long_row = is_fused_ ? kLongRowOfOne : kLongRow;
  const bool is_by_rows = !is_staged_ && space != nullptr && space->walk->row() >= long_row;
  for (Extent left = frame->count; left > 0;) {
    if (has_spans && !frame->is_one_by_one) {
      const RowSpan next = row_span(*space, left);
      if (next.rows > 1 || next.row > frame->block) {
        if (!compute_row_span(frame, space, next)) {
          return false;
        }
        left -= frame->is_one_by_one ? 0 : next.rows * next.row;
        continue;
      }
    }
    Extent most = std::min(left, frame->block);
    if (!is_staged_ && left > most && left - most < kMinBlock) {
      most -= kMinBlock;
    }
    const Extent next = is_by_rows ? std::min(most, space->walk->left_in_row()) : most;
    if (!compute_next(frame, space, next)) {
      return false;
    }
    left -= next;
  }
  return true;
}

void FusionPlan::finish_reductions(Frame* frame) const {
  for (std::size_t i = 0; i < reductions_.size(); ++i) {
    const Reduced& reduced = reductions_[i];
    frame->is_refused |= !finish(*reduced.kernel, reduced.reduction, frame->count, &frame->reduced[i]);
  }
  for (std::size_t i = 0; i < axis_reductions_.size() && !is_staged_; ++i) {
    frame->is_refused |=
        !frame->axis_reductions->of[i].finish(*axis_reductions_[i].kernel, axis_reductions_[i].reduction, kBlock);
  }
}

}  // namespace tagalong::array
