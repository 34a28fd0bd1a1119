#include "replay/arrays/fusion/group_run.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include "replay/arrays/fusion/binding.h"
#include "replay/arrays/fusion/results.h"
#include "replay/arrays/fusion/traversal.h"
#include "replay/arrays/numpy/float_policy.h"
#include "replay/arrays/numpy/kept_memory.h"
#include "replay/arrays/simd/non_temporal.h"

namespace tagalong::array {

namespace {

// Memory for this thread's blocks. Code that runs while it is in use runs no other fusion group.
class Arena {
 public:
  char* reserve(std::size_t bytes) {
    if (bytes > size_) {
      memory_.reset(static_cast<char*>(std::aligned_alloc(kCacheLine, bytes)));
      size_ = memory_ ? bytes : 0;
    }
    return memory_.get();
  }

 private:
  struct Free {
    void operator()(char* memory) const { std::free(memory); }  // NOLINT(cppcoreguidelines-no-malloc)
  };
  std::unique_ptr<char, Free> memory_;
  std::size_t size_ = 0;
};
thread_local Arena arena;
constexpr std::size_t kMostKept = 1U << 20U;  // bytes that an arena keeps

// Memory for the blocks of one run. A small amount is on the stack; a large amount is an array of NumPy's, which
// requests huge pages.
class RunMemory {
 public:
  RunMemory() = default;
  RunMemory(const RunMemory&) = delete;
  RunMemory& operator=(const RunMemory&) = delete;
  ~RunMemory() = default;

  // Called once. Null: there is no memory. The address is that of a cache line.
  char* reserve(const Numpy& np, std::size_t bytes) {
    if (bytes <= kSmall) {
      return small_.data();
    }
    if (bytes <= kMostKept) {
      return arena.reserve(bytes);
    }
    const auto size = static_cast<Extent>(bytes + kCacheLine);
    Py_INCREF(np.descr[kUInt8]);
    large_ = Ref::steal(np.new_from_descr(np.array_type, np.descr[kUInt8], 1, &size, nullptr, nullptr, 0, nullptr));
    PyErr_Clear();
    if (!large_) {
      return nullptr;
    }
    char* data = as_array(large_.get())->data;
    const auto address = reinterpret_cast<std::uintptr_t>(data);
    return data + (padded(address) - address);
  }

 private:
  static constexpr std::size_t kSmall = 2048;
  alignas(kCacheLine) std::array<char, kSmall> small_;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  Ref large_;
};

bool has_negative_strides(const Space& space) {
  const auto is_negative = [](const View& view) {
    return std::any_of(view.strides.begin(), view.strides.begin() + view.shape.nd,
                       [](Extent stride) { return stride < 0; });
  };
  return std::ranges::any_of(space.inputs, is_negative) || std::ranges::any_of(space.targets, is_negative);
}

// Whether eager's loop writes complex products or absolute values into an existing array. If an operand's range of
// memory overlaps that array's, or is adjacent, such loops use no vectors, and round in another way.
bool rounds_by_place(const PlanOperation& operation) {
  const bool is_into_array = operation.layout_of >= 0 || operation.target >= 0;
  const bool is_rounded = operation.vector_op == VectorOp::kMultiply || operation.vector_op == VectorOp::kModulus;
  return is_into_array && (operation.is_masked || (operation.is_complex && is_rounded));
}

// The bytes from the first element to the place where an element would follow the last one: NumPy 1.26 takes them for
// the range of memory.
Bytes range_of(const View& view, Extent item_size) {
  Bytes bytes = bytes_of(view, item_size);
  Extent behind = 0;
  for (int axis = 0; axis < view.shape.nd; ++axis) {
    behind = view.shape.dims[axis] > 1 ? std::max(behind, view.strides[axis] - item_size) : behind;
  }
  bytes.last += behind;
  return bytes;
}

// Whether the ranges of memory overlap or are adjacent, but are not the same elements.
bool touch(const View& one, Extent item_size, const View& other, Extent other_item_size) {
  const Bytes bytes = range_of(one, item_size);
  const Bytes other_bytes = range_of(other, other_item_size);
  const bool is_same = one.data == other.data && one.shape == other.shape &&
                       std::equal(one.strides.begin(), one.strides.begin() + one.shape.nd, other.strides.begin());
  return !is_same && bytes.first <= other_bytes.last && other_bytes.first <= bytes.last;
}

}  // namespace

FusionReason GroupRun::run() {
  const FusionReason reason = bind_rows(plan_, arguments_, &state_);
  const bool reduces_all = plan_.reduces_inputs && !plan_.reductions.empty();
  const bool needs_contiguous_rows = plan_.needs_rows || (reduces_all && !plan_.is_cut_by_rows());
  if (needs_contiguous_rows && reason == FusionReason::kLayout) {
    return FusionReason::kLayout;
  }
  if (plan_.nd != 0 && reason == FusionReason::kNone && state_.shape->nd != plan_.nd) {
    return FusionReason::kKinds;
  }
  if (plan_.has_complex && reason == FusionReason::kNone && has_negative_row()) {
    return FusionReason::kLayout;
  }
  if (plan_.shows_signs &&
      (plan_.is_tree() || plan_.has_masks || !plan_.axis_reductions.empty() || reason == FusionReason::kLayout)) {
    return FusionReason::kNan;
  }
  if (reason == FusionReason::kLayout) {
    return run_in_kept_space();
  }
  InPlaceTargets targets(plan_, arguments_.np, state_, nullptr);
  return reason == FusionReason::kNone ? execute(nullptr, &targets) : reason;
}

bool GroupRun::has_negative_row() const {
  return std::ranges::any_of(plan_.inputs, [&](const PlanInput& input) { return state_.strides[input.slot] < 0; });
}

bool GroupRun::has_touching_targets(const Space& space) const {
  const Numpy& np = arguments_.np;
  if (!plan_.has_complex || std::ranges::none_of(plan_.operations, rounds_by_place)) {
    return false;
  }
  for (std::size_t i = 0; i < plan_.targets.size(); ++i) {
    const Extent item_size = np.item_size[plan_.targets[i].type];
    const auto touches = [&](const View& view, unsigned type) {
      return touch(space.targets[i], item_size, view, np.item_size[type]);
    };
    for (std::size_t other = 0; other < plan_.inputs.size(); ++other) {
      if (touches(space.inputs[other], plan_.inputs[other].type)) {
        return true;
      }
    }
    for (std::size_t other = 0; other < i; ++other) {
      if (touches(space.targets[other], plan_.targets[other].type)) {
        return true;
      }
    }
  }
  return false;
}

// Another run of the group, in another thread or in code that this one runs, has a space of its own.
FusionReason GroupRun::run_in_kept_space() {
  std::unique_ptr<Space> space = std::move(history_.space);
  if (!space) {
    space = std::make_unique<Space>(plan_);
  }
  const FusionReason reason = run_in_space(space.get());
  history_.space = std::move(space);
  return reason;
}

FusionReason GroupRun::run_in_space(Space* space) {
  state_.swapped.reset();
  FusionReason reason = SpaceBinding(plan_, arguments_, &state_, space).bind();
  if (plan_.has_complex && reason == FusionReason::kNone && has_negative_strides(*space)) {
    return FusionReason::kLayout;
  }
  if (reason == FusionReason::kNone && has_touching_targets(*space)) {
    return FusionReason::kOverlap;
  }
  InPlaceTargets targets(plan_, arguments_.np, state_, space);
  if (reason == FusionReason::kNone && !is_profitable(*space, &targets)) {
    reason = FusionReason::kNoGain;
  }
  return reason == FusionReason::kNone ? execute(space, &targets) : reason;
}

// Whether a group that writes targets is faster than single operations. It saves the arrays that eager execution would
// make; and NumPy's way from row to row, or through buffers where it casts. For one row in the inner cache an array
// saves less than the group costs. Beyond the caches, copying new contents that were computed elsewhere takes as long
// as a few operations; in-place destinations need no copy.
bool GroupRun::is_profitable(const Space& space, InPlaceTargets* targets) const {
  constexpr std::size_t kInnerCacheBytes = 32U << 10U;
  constexpr std::size_t kCacheBytes = 512U << 10U;
  const std::size_t count = plan_.targets.size();
  const std::size_t bytes = static_cast<std::size_t>(state_.count) * plan_.item_bytes * count;
  const std::size_t least = space.shape.nd > 1 ? 1 : bytes <= kInnerCacheBytes ? 2 : bytes <= kCacheBytes ? 1 : 4;
  const auto is_iterated = [&] {
    return space.walk->nd() > 1 || std::ranges::any_of(plan_.operations, &PlanOperation::is_cast);
  };
  return fusion_enabled > 1 || plan_.new_array_operations >= least * count || (bytes <= kCacheBytes && is_iterated()) ||
         targets->are_unnoticed();
}

FusionReason GroupRun::execute(Space* space, InPlaceTargets* targets) {
  const Numpy& np = arguments_.np;
  if (plan_.may_differ_alone && state_.count == 1) {
    return FusionReason::kNan;
  }
  if (plan_.is_cut_by_buffers) {
    state_.piece = buffer_size(np);
    if (state_.piece < std::max(kBlock, state_.row)) {
      return FusionReason::kReduction;
    }
  }
  std::optional<KeptMemory> kept(std::in_place, np, static_cast<std::size_t>(state_.count) * plan_.item_bytes);
  RunResults results(plan_, arguments_, &state_, space);
  if (!results.make(&history_.reuse)) {
    PyErr_Clear();
    return FusionReason::kMemory;
  }
  if (state_.count == 0) {
    const bool has_reductions = !plan_.reductions.empty() || !plan_.axis_reductions.empty();
    return has_reductions ? FusionReason::kReduction : FusionReason::kNone;
  }
  std::unique_ptr<AxisReductions> axis_reductions;
  if (!plan_.axis_reductions.empty() && !plan_.is_cut_by_rows()) {
    axis_reductions = std::make_unique<AxisReductions>();
    state_.axis_reductions = axis_reductions.get();
    if (const FusionReason reason = bind_axis_reductions(plan_, np, state_, space, axis_reductions.get());
        reason != FusionReason::kNone) {
      return reason;
    }
  }
  state_.block = block(space);
  const std::size_t parts = part_count(plan_, state_);
  const WriteMode mode = targets->mode(parts);
  const bool is_copied = mode == WriteMode::kCopied;
  if (!is_copied) {
    targets->write_directly(space);
  }
  // One cache line more, so that blocks have different offsets in their pages.
  const std::size_t bytes = padded(static_cast<std::size_t>(state_.block) * plan_.item_bytes) + kCacheLine;
  if (takes_long_blocks(plan_, space) || has_small_blocks(space)) {
    state_.block = std::min(state_.count, kLongBlock);
  }
  const std::size_t ports = space == nullptr ? 0 : space->gathered.size() + space->scattered.size();
  const std::size_t each = bytes * (plan_.buffers + ports);  // of a part
  RunMemory run_memory;
  char* const blocks = run_memory.reserve(np, each * parts + (is_copied ? target_bytes() * plan_.targets.size() : 0));
  if (blocks == nullptr) {
    return FusionReason::kMemory;
  }
  kept.reset();
  place_blocks(plan_, blocks, bytes, &state_, space);
  char* const contents = blocks + each * parts;  // the targets' new contents, one after another
  if (!plan_.targets.empty()) {
    place_contents(is_copied, contents);
  }
  choose_non_temporal(plan_, space, &history_.variants, &state_);
  choose_prefetching(plan_, space, &history_.variants, &state_);
  choose_argmin(plan_, space, &history_.variants, state_);
  const FusionReason reason = compute_and_check(space, {parts, blocks, each, bytes}, mode);
  if (reason != FusionReason::kNone) {
    return reason;
  }
  if (!results.store_reductions()) {
    PyErr_Clear();
    return FusionReason::kMemory;
  }
  if (is_copied && !plan_.targets.empty()) {
    copy_contents(space, contents);
  }
  return FusionReason::kNone;
}

// How many elements go through all operations at a time.
Extent GroupRun::block(const Space* space) const {
  if (plan_.is_cut_by_rows()) {
    return std::min(state_.count, std::max<Extent>(kBlock / state_.row, 1) * state_.row);
  }
  // NumPy's reduce loops split pairwise sums themselves.
  const bool sums_alone = plan_.operations.empty() && space == nullptr;
  if (sums_alone) {
    return state_.count;
  }
  // The blocks of many temporaries are short, so that all of them fit into the inner caches.
  constexpr std::uint16_t kManyBuffers = 32;
  const bool is_short = plan_.buffers > kManyBuffers && plan_.is_elementwise() && !plan_.is_fused;
  return std::min(state_.count, is_short ? kBlock / 4 : kBlock);
}

// Whether the blocks leave room for eight times as many elements, since all temporaries have one byte.
bool GroupRun::has_small_blocks(const Space* space) const {
  return plan_.is_elementwise() && space == nullptr && state_.block == kBlock &&
         std::ranges::all_of(
             plan_.temporaries, [](std::size_t size) { return size == 1; }, &Temporary::item_size);
}

// --- The new contents of targets that are not written directly

void GroupRun::place_contents(bool is_copied, char* contents) {
  for (std::size_t i = 0; i < plan_.targets.size(); ++i) {
    state_.data[plan_.targets[i].slot] = contents + (is_copied ? target_bytes() * i : 0);
    state_.strides[plan_.targets[i].slot] = arguments_.np.item_size[plan_.targets[i].type];
  }
}

void GroupRun::copy_contents(Space* space, const char* contents) const {
  for (std::size_t i = 0; i < plan_.targets.size(); ++i) {
    space->walk->begin();
    space->walk->scatter(space->targets[i].data, space->target_strides[i],
                         arguments_.np.item_size[plan_.targets[i].type], state_.count, contents + (target_bytes() * i));
  }
}

// --- Computing, and what has to be reported

FusionReason GroupRun::compute_and_check(Space* space, const PartMemory& memory, WriteMode mode) {
  if (mode == WriteMode::kSpeculative) {
    if (const FusionReason reason = run_speculatively(space, memory); reason != FusionReason::kNone) {
      return reason;
    }
  }
  fusion_counts.in_place += mode == WriteMode::kInPlace ? 1 : 0;
  return compute_and_check(space, memory);
}

// Computes all blocks only to see whether anything has to be reported. The caller computes them again.
FusionReason GroupRun::run_speculatively(Space* space, const PartMemory& memory) {
  const SlotPointers begin = state_.data;
  state_.is_speculative = true;
  const FusionReason reason = compute_and_check(space, memory);
  state_.is_speculative = false;
  state_.data = begin;
  space->walk->begin();
  fusion_counts.twice += reason == FusionReason::kNone ? 1 : 0;
  return reason;
}

FusionReason GroupRun::compute_and_check(Space* space, const PartMemory& memory) {
  const Numpy& np = arguments_.np;
  forget_float_status(plan_.float_units);
  const bool is_done = compute(space, memory);
  if (state_.with_non_temporal != nullptr) {
    finish_non_temporal();
  }
  finish_reductions();
  if (!is_done && state_.is_reused) [[unlikely]] {
    history_.reuse.start(RunHistory::kRunsWithoutReuse);
    clear_float_status();
    return FusionReason::kNan;
  }
  // Some older loops set an exception and return 0 (integer power).
  if (!is_done || PyErr_Occurred() != nullptr) [[unlikely]] {
    PyErr_Clear();
    clear_float_status();
    return FusionReason::kException;
  }
  state_.errors |= collect_float_status(plan_.float_units);
  if (state_.errors != 0 && !ignores_float_errors(np, state_.errors)) [[unlikely]] {
    return FusionReason::kFloatError;
  }
  if (state_.is_refused || state_.is_split_otherwise) {
    return state_.is_refused ? FusionReason::kReduction : FusionReason::kNan;
  }
  return FusionReason::kNone;
}

// Releases the GIL where that pays.
bool GroupRun::compute(Space* space, const PartMemory& memory) {
  if (memory.parts == 1 && state_.count * plan_.cost <= kGilThreshold) {
    return Traversal(plan_, &state_, space).compute();
  }
  PyThreadState* thread = PyEval_SaveThread();
  const bool is_done = memory.parts > 1 ? compute_in_parallel(plan_, memory, &state_, space)
                                        : Traversal(plan_, &state_, space).compute();
  PyEval_RestoreThread(thread);
  fusion_counts.parts += memory.parts > 1 ? memory.parts : 0;
  return is_done;
}

void GroupRun::finish_reductions() {
  for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
    const PlanReduction& reduced = plan_.reductions[i];
    state_.is_refused |= !finish(*reduced.kernel, reduced.reduction, state_.count, &state_.reduced[i], reduced.end);
  }
  for (std::size_t i = 0; i < plan_.axis_reductions.size() && !plan_.is_cut_by_rows(); ++i) {
    const PlanAxisReduction& reduced = plan_.axis_reductions[i];
    state_.is_refused |= !state_.axis_reductions->of[i].finish(*reduced.kernel, reduced.reduction, kBlock, reduced.end);
  }
}

}  // namespace tagalong::array
