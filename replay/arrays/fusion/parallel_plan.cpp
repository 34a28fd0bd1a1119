// Splits a large fusion group into parts that several threads compute.
#include <algorithm>
#include <optional>
#include <vector>

#include "replay/arrays/fusion/plan_run.h"
#include "replay/arrays/kernels/parallel.h"
#include "replay/arrays/numpy/float_status.h"
#include "replay/arrays/simd/non_temporal.h"
#include "replay/arrays/simd/pairwise.h"

namespace tagalong::array {
namespace {

constexpr std::size_t kPartsPerThread = 2;  // so that a slow thread delays the end less

}  // namespace

struct FusionPlan::Part {
  Extent begin = 0;
  Extent count = 0;
  bool is_done = false;
  bool is_split_otherwise = false;
  bool is_refused = false;
  int errors = 0;
  Pieces sums;
};

// Reductions along axes are split between rows: each row has a result of its own.
bool FusionPlan::may_split(const Frame& frame) const {
  if (axis_reductions_.empty() || is_staged_) {
    return true;
  }
  const AxisReductions& axis_reductions = *frame.axis_reductions;
  const auto reduces_whole_rows = [&](const AxisReducer& axis_reduction) {
    return axis_reduction.reduces_whole_rows() && axis_reduction.row() == axis_reductions.row;
  };
  return !is_tree_ && axis_reductions.row != 0 && axis_reductions.row <= kBlock &&
         std::all_of(axis_reductions.of.begin(), axis_reductions.of.begin() + axis_reductions_.size(),
                     reduces_whole_rows);
}

std::size_t FusionPlan::part_count(const Frame& frame) const {
  const Extent all = frame.count * cost_;
  if (is_serial_ || all < 2 * min_part || !may_split(frame)) {
    return 1;
  }
  const Extent most = all / min_part;
  const std::size_t threads = thread_count();
  std::size_t parts = 1;  // a power of two, like the splits of reduction trees
  while (threads > 1 && parts < threads * kPartsPerThread && static_cast<Extent>(parts * 2) <= most &&
         frame.count / static_cast<Extent>(parts * 2) >= kBlock) {
    parts *= 2;
  }
  return parts;
}

// Splits at multiples of `unit`; 0: where the pairwise sum of all elements is split.
void FusionPlan::split_tree(Extent begin, Extent count, Extent unit, std::size_t parts, std::vector<Part>* cut) const {
  if (parts == 1) {
    cut->push_back({.begin = begin, .count = count, .sums = {}});
    return;
  }
  const Extent left = unit == 0 ? left_half(count) : count / 2 / unit * unit;
  split_tree(begin, left, unit, parts / 2, cut);
  split_tree(begin + left, count - left, unit, parts / 2, cut);
}

void FusionPlan::add_tree(std::size_t parts, const Part*& next, Accumulator* sums) const {
  if (parts == 1) {
    std::copy_n(next->sums.of.front().begin(), reductions_.size(), sums);
    ++next;
    return;
  }
  std::array<Accumulator, kMaxFusionReductions> right;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  add_tree(parts / 2, next, sums);
  add_tree(parts / 2, next, right.data());
  for (std::size_t i = 0; i < reductions_.size(); ++i) {
    add_leaves(*reductions_[i].kernel, right[i], &sums[i]);
  }
}

void FusionPlan::compute_part(const Frame& whole, const Space* space, const PartMemory& memory, std::size_t number,
                              Part* part) const {
  Frame frame = whole;
  std::optional<Space> own;
  if (space != nullptr) {
    own.emplace(*space);
    own->walk->begin();
    own->walk->advance(part->begin);
  }
  Space* const place = own ? &*own : nullptr;
  std::optional<AxisReductions> axis_reductions;  // without the results, which are objects
  if (whole.axis_reductions != nullptr) {
    axis_reductions.emplace();
    axis_reductions->of = whole.axis_reductions->of;
    axis_reductions->row = whole.axis_reductions->row;
    axis_reductions->argmin = whole.axis_reductions->argmin;
    for (std::size_t i = 0; i < axis_reductions_.size(); ++i) {
      axis_reductions->of[i].skip(part->begin / axis_reductions->row);
    }
    frame.axis_reductions = &*axis_reductions;
  }
  advance(&frame, part->begin);
  place_blocks(memory.blocks + (memory.each * number), memory.block, &frame, place);
  frame.count = part->count;
  forget_float_status(float_units_);
  part->is_done = is_tree_ ? compute_pieces(&frame, place, part->count, &part->sums) : compute(&frame, place);
  frame.errors |= collect_float_status(float_units_);
  if (frame.with_non_temporal != nullptr) {
    finish_non_temporal();
  }
  part->errors = frame.errors;
  part->is_split_otherwise = frame.is_split_otherwise;
  part->is_refused = frame.is_refused;
}

bool FusionPlan::compute_in_parallel(Frame* frame, Space* space, const PartMemory& memory) const {
  std::vector<Part> parts;
  const Extent row = is_staged_ ? frame->row : frame->axis_reductions == nullptr ? 1 : frame->axis_reductions->row;
  const bool is_whole = frame->piece >= frame->count;
  const Extent rows = std::max<Extent>(kBlock / row, 1) * row;
  split_tree(0, frame->count, !is_tree_ ? rows : is_whole ? 0 : frame->piece, memory.parts, &parts);
  if (!run_parts(parts.size(),
                 [&](std::size_t number) { compute_part(*frame, space, memory, number, &parts[number]); })) {
    return !frame->is_reused && compute(frame, space);  // the blocks that have been written are written again
  }
  bool is_done = true;
  for (const Part& part : parts) {
    is_done = is_done && part.is_done;
    frame->errors |= part.errors;
    frame->is_split_otherwise |= part.is_split_otherwise;
    frame->is_refused |= part.is_refused;
  }
  if (is_tree_ && is_done && is_whole) {
    const Part* next = parts.data();
    add_tree(parts.size(), next, frame->reduced.data());
  } else if (is_tree_ && is_done) {
    Pieces all;
    for (const Part& part : parts) {
      all.of.insert(all.of.end(), part.sums.of.begin(), part.sums.of.end());
    }
    add_pieces(all, frame);
  }
  return is_done;
}

}  // namespace tagalong::array
