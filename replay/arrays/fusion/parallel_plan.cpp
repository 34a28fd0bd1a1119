#include "replay/arrays/fusion/parallel_plan.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "replay/arrays/fusion/traversal.h"
#include "replay/arrays/kernels/parallel.h"
#include "replay/arrays/numpy/float_status.h"
#include "replay/arrays/simd/non_temporal.h"
#include "replay/arrays/simd/pairwise.h"

namespace tagalong::array {
namespace {

constexpr std::size_t kPartsPerThread = 2;  // so that a slow thread delays the end less

// A part of a run.
struct Part {
  Extent begin = 0;
  Extent count = 0;
  bool is_done = false;
  bool is_split_otherwise = false;
  bool is_refused = false;
  int errors = 0;
  Pieces sums;
};

// Reductions along axes are split between rows: each row has a result of its own.
bool may_split(const FusionPlan& plan, const RunState& state) {
  if (plan.axis_reductions.empty() || plan.is_cut_by_rows()) {
    return true;
  }
  const AxisReductions& axis_reductions = *state.axis_reductions;
  const auto reduces_whole_rows = [&](const AxisReducer& axis_reduction) {
    return axis_reduction.reduces_whole_rows() && axis_reduction.row() == axis_reductions.row;
  };
  return !plan.is_tree() && axis_reductions.row != 0 && axis_reductions.row <= kBlock &&
         std::all_of(axis_reductions.of.begin(), axis_reductions.of.begin() + plan.axis_reductions.size(),
                     reduces_whole_rows);
}

// Splits at multiples of `unit`; 0: where the pairwise sum of all elements is split, which have so many parts.
void split_tree(Extent begin, Extent count, Extent unit, Extent sum_parts, std::size_t parts, std::vector<Part>* cut) {
  if (parts == 1) {
    cut->push_back({.begin = begin, .count = count, .sums = {}});
    return;
  }
  const Extent left = unit == 0 ? left_half(count, sum_parts) : count / 2 / unit * unit;
  split_tree(begin, left, unit, sum_parts, parts / 2, cut);
  split_tree(begin + left, count - left, unit, sum_parts, parts / 2, cut);
}

void add_tree(const FusionPlan& plan, std::size_t parts, const Part*& next, Accumulator* sums) {
  if (parts == 1) {
    std::copy_n(next->sums.of.front().begin(), plan.reductions.size(), sums);
    ++next;
    return;
  }
  std::array<Accumulator, kMaxFusionReductions> right;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  add_tree(plan, parts / 2, next, sums);
  add_tree(plan, parts / 2, next, right.data());
  for (std::size_t i = 0; i < plan.reductions.size(); ++i) {
    add_leaves(*plan.reductions[i].kernel, right[i], &sums[i]);
  }
}

void compute_part(const FusionPlan& plan, const RunState& whole, const Space* space, const PartMemory& memory,
                  std::size_t number, Part* part) {
  RunState state = whole;
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
    for (std::size_t i = 0; i < plan.axis_reductions.size(); ++i) {
      axis_reductions->of[i].skip(part->begin / axis_reductions->row);
    }
    state.axis_reductions = &*axis_reductions;
  }
  advance(plan, part->begin, &state);
  place_blocks(plan, memory.blocks + (memory.each * number), memory.block, &state, place);
  state.count = part->count;
  forget_float_status(plan.float_units);
  Traversal traversal(plan, &state, place);
  part->is_done = plan.is_tree() ? traversal.compute_pieces(&part->sums) : traversal.compute();
  state.errors |= collect_float_status(plan.float_units);
  if (state.with_non_temporal != nullptr) {
    finish_non_temporal();
  }
  part->errors = state.errors;
  part->is_split_otherwise = state.is_split_otherwise;
  part->is_refused = state.is_refused;
}

}  // namespace

void place_blocks(const FusionPlan& plan, char* blocks, std::size_t bytes, RunState* state, Space* space) {
  for (const Temporary& temporary : plan.temporaries) {
    state->data[temporary.slot] = blocks + (bytes * temporary.buffer);
    state->strides[temporary.slot] = temporary.item_size;
  }
  blocks += bytes * plan.buffers;
  if (space != nullptr) {
    for (Space::Port& port : space->gathered) {
      port.kept_count = 0;
      port.block = std::exchange(blocks, blocks + bytes);
    }
    for (Space::Port& port : space->scattered) {
      port.block = std::exchange(blocks, blocks + bytes);
    }
  }
}

std::size_t part_count(const FusionPlan& plan, const RunState& state) {
  const Extent all = state.count * plan.cost;
  if (plan.is_serial || all < 2 * min_part || !may_split(plan, state)) {
    return 1;
  }
  const Extent most = all / min_part;
  const std::size_t threads = thread_count();
  std::size_t parts = 1;  // a power of two, like the splits of reduction trees
  while (threads > 1 && parts < threads * kPartsPerThread && static_cast<Extent>(parts * 2) <= most &&
         state.count / static_cast<Extent>(parts * 2) >= kBlock) {
    parts *= 2;
  }
  return parts;
}

bool compute_in_parallel(const FusionPlan& plan, const PartMemory& memory, RunState* state, Space* space) {
  std::vector<Part> parts;
  const Extent row = plan.is_cut_by_rows()               ? state->row
                     : state->axis_reductions == nullptr ? 1
                                                         : state->axis_reductions->row;
  const bool is_whole = state->piece >= state->count;
  const Extent rows = std::max<Extent>(kBlock / row, 1) * row;
  split_tree(0, state->count,
             !plan.is_tree() ? rows
             : is_whole      ? 0
                             : state->piece,
             plan.sum_parts, memory.parts, &parts);
  if (!run_parts(parts.size(),
                 [&](std::size_t number) { compute_part(plan, *state, space, memory, number, &parts[number]); })) {
    return !state->is_reused &&
           Traversal(plan, state, space).compute();  // the blocks that have been written are written again
  }
  bool is_done = true;
  for (const Part& part : parts) {
    is_done = is_done && part.is_done;
    state->errors |= part.errors;
    state->is_split_otherwise |= part.is_split_otherwise;
    state->is_refused |= part.is_refused;
  }
  if (plan.is_tree() && is_done && is_whole) {
    const Part* next = parts.data();
    add_tree(plan, parts.size(), next, state->reduced.data());
  } else if (plan.is_tree() && is_done) {
    Pieces all;
    for (const Part& part : parts) {
      all.of.insert(all.of.end(), part.sums.of.begin(), part.sums.of.end());
    }
    Traversal(plan, state, space).add_pieces(all);
  }
  return is_done;
}

}  // namespace tagalong::array
