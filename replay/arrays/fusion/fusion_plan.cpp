#include "replay/arrays/fusion/fusion_plan.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include "replay/arrays/fusion/plan_run.h"
#include "replay/arrays/numpy/float_policy.h"
#include "replay/arrays/numpy/kept_memory.h"
#include "replay/arrays/simd/non_temporal.h"

namespace tagalong::array {

int fusion_enabled = 0;
FusionCounts fusion_counts;

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

}  // namespace

void FusionPlan::place_blocks(char* blocks, std::size_t bytes, Frame* frame, Space* space) const {
  for (const Temporary& temporary : temporaries_) {
    frame->data[temporary.slot] = blocks + (bytes * temporary.buffer);
    frame->strides[temporary.slot] = temporary.item_size;
  }
  blocks += bytes * buffers_;
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

// Computes all blocks, and checks whether anything has to be reported.
FusionReason FusionPlan::compute_and_check(const Numpy& np, Frame* frame, Space* space,
                                           const PartMemory& memory) const {
  forget_float_status(float_units_);
  bool is_done = false;
  if (memory.parts > 1 || frame->count * cost_ > kGilThreshold) {
    PyThreadState* state = PyEval_SaveThread();
    is_done = memory.parts > 1 ? compute_in_parallel(frame, space, memory) : compute(frame, space);
    PyEval_RestoreThread(state);
    fusion_counts.parts += memory.parts > 1 ? memory.parts : 0;
  } else {
    is_done = compute(frame, space);
  }
  if (frame->with_non_temporal != nullptr) {
    finish_non_temporal();
  }
  finish_reductions(frame);
  if (!is_done && frame->is_reused) [[unlikely]] {
    skip_reuse_ = kRunsWithoutReuse;
    clear_float_status();
    return FusionReason::kNan;
  }
  // Some older loops set an exception and return 0 (integer power).
  if (!is_done || PyErr_Occurred() != nullptr) [[unlikely]] {
    PyErr_Clear();
    clear_float_status();
    return FusionReason::kException;
  }
  frame->errors |= collect_float_status(float_units_);
  if (frame->errors != 0 && !ignores_float_errors(np, frame->errors)) [[unlikely]] {
    return FusionReason::kFloatError;
  }
  if (frame->is_refused || frame->is_split_otherwise) {
    return frame->is_refused ? FusionReason::kReduction : FusionReason::kNan;
  }
  return FusionReason::kNone;
}

// How many elements go through all operations at a time.
Extent FusionPlan::block_of(const Frame& frame, const Space* space) const {
  if (is_staged_) {
    return std::min(frame.count, std::max<Extent>(kBlock / frame.row, 1) * frame.row);
  }
  // NumPy's reduce loops split pairwise sums themselves.
  const bool sums_alone = operations_.empty() && space == nullptr;
  return sums_alone ? frame.count : std::min(frame.count, kBlock);
}

// Speculative execution: computes all blocks only to see whether anything has to be reported. The caller computes them
// again.
FusionReason FusionPlan::run_speculatively(const Numpy& np, Frame* frame, Space* space,
                                           const PartMemory& memory) const {
  const SlotPointers begin = frame->data;
  frame->is_speculative = true;
  const FusionReason reason = compute_and_check(np, frame, space, memory);
  frame->is_speculative = false;
  frame->data = begin;
  space->walk->begin();
  fusion_counts.twice += reason == FusionReason::kNone ? 1 : 0;
  return reason;
}

FusionReason FusionPlan::execute(const Numpy& np, PyObject* const* externals, Ref* outputs, Frame* frame,
                                 Space* space) const {
  if (is_cut_by_buffers_) {
    frame->piece = buffer_size(np);
    if (frame->piece < std::max(kBlock, frame->row)) {
      return FusionReason::kReduction;
    }
  }
  std::optional<KeptMemory> kept(std::in_place, np, static_cast<std::size_t>(frame->count) * kItemSize);
  if (!make_results(np, externals, outputs, frame, space)) {
    PyErr_Clear();
    return FusionReason::kMemory;
  }
  if (frame->count == 0) {
    return reductions_.empty() && axis_reductions_.empty() ? FusionReason::kNone : FusionReason::kReduction;
  }
  std::unique_ptr<AxisReductions> axis_reductions;
  if (!axis_reductions_.empty() && !is_staged_) {
    axis_reductions = std::make_unique<AxisReductions>();
    frame->axis_reductions = axis_reductions.get();
    if (const FusionReason reason = bind_axis_reductions(np, *frame, space, frame->axis_reductions);
        reason != FusionReason::kNone) {
      return reason;
    }
  }
  frame->block = block_of(*frame, space);
  const std::size_t parts = part_count(*frame);
  const WriteMode mode = write_mode(np, frame, space, parts);
  const bool is_copied = mode == WriteMode::kCopied;
  if (!is_copied) {
    place_targets(np, space);
  }
  // One cache line more, so that blocks have different offsets in their pages.
  const std::size_t bytes = padded(static_cast<std::size_t>(frame->block) * kItemSize) + kCacheLine;
  // Temporaries of one byte leave room for eight times as many elements.
  const bool has_small_blocks = !is_staged_ && !is_tree_ && !has_masks_ && space == nullptr && reductions_.empty() &&
                                axis_reductions_.empty() && frame->block == kBlock &&
                                std::ranges::all_of(
                                    temporaries_, [](std::size_t size) { return size == 1; }, &Temporary::item_size);
  if (takes_long_blocks(space) || has_small_blocks) {
    frame->block = std::min(frame->count, kLongBlock);
  }
  const std::size_t ports = space == nullptr ? 0 : space->gathered.size() + space->scattered.size();
  const std::size_t each = bytes * (buffers_ + ports);                                   // of a part
  const std::size_t whole = padded(static_cast<std::size_t>(frame->count) * kItemSize);  // of a target
  RunMemory run_memory;
  char* const blocks = run_memory.reserve(np, each * parts + (is_copied ? whole * targets_.size() : 0));
  if (blocks == nullptr) {
    return FusionReason::kMemory;
  }
  kept.reset();
  place_blocks(blocks, bytes, frame, space);
  char* const contents = blocks + each * parts;  // the targets' new contents, one after another
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    frame->data[targets_[i].slot] = contents + (is_copied ? whole * i : 0);
    frame->strides[targets_[i].slot] = np.item_size[targets_[i].type];
  }
  const PartMemory memory{parts, blocks, each, bytes};
  begin_non_temporal(frame, space);
  begin_prefetching(frame, space);
  begin_argmin(*frame, space);
  if (mode == WriteMode::kSpeculative) {
    if (const FusionReason reason = run_speculatively(np, frame, space, memory); reason != FusionReason::kNone) {
      return reason;
    }
  }
  fusion_counts.in_place += mode == WriteMode::kInPlace ? 1 : 0;
  if (const FusionReason reason = compute_and_check(np, frame, space, memory); reason != FusionReason::kNone) {
    return reason;
  }
  if (!store_reductions(np, outputs, *frame)) {
    PyErr_Clear();
    return FusionReason::kMemory;
  }
  for (std::size_t i = 0; i < targets_.size() && is_copied; ++i) {
    space->walk->begin();
    space->walk->scatter(space->targets[i].data, space->target_strides[i], np.item_size[targets_[i].type], frame->count,
                         contents + (whole * i));
  }
  return FusionReason::kNone;
}

FusionReason FusionPlan::run_in_space(const Numpy& np, PyObject* const* externals, Ref* outputs, Frame* frame) const {
  Space space;
  space.operands.resize(slots_);
  space.inputs.resize(inputs_.size());
  space.targets.resize(targets_.size());
  frame->swapped.reset();
  FusionReason reason = bind_space(np, externals, frame, &space);
  if (reason == FusionReason::kNone && !is_profitable(np, frame, space)) {
    reason = FusionReason::kNoGain;
  }
  if (reason == FusionReason::kNone) {
    reason = execute(np, externals, outputs, frame, &space);
  }
  return reason;
}

// Whether a group that writes targets is faster than single operations. Where the new contents are computed elsewhere
// and copied, the copy takes as long as a few operations once it exceeds the inner caches. It saves only the arrays
// that eager execution would make. In-place destinations need no copy.
bool FusionPlan::is_profitable(const Numpy& np, Frame* frame, const Space& space) const {
  constexpr std::size_t kInnerCacheBytes = 32768;  // bytes
  constexpr std::size_t kMinSavedInCache = 2;
  constexpr std::size_t kMinSavedBeyond = 4;
  const bool is_in_cache = static_cast<std::size_t>(frame->count) * kItemSize * targets_.size() <= kInnerCacheBytes;
  return fusion_enabled > 1 ||
         new_array_operations_ >= (is_in_cache ? kMinSavedInCache : kMinSavedBeyond) * targets_.size() ||
         (!is_in_cache && is_unnoticed_in_place(np, frame, &space));
}

FusionReason FusionPlan::run(const Numpy& np, PyObject* const* externals, Ref* outputs) const {
  if (is_small_ && run_small(np, externals, outputs)) {
    ++fusion_counts.small;
    return FusionReason::kNone;
  }
  return run_general(np, externals, outputs);
}

FusionReason FusionPlan::run_general(const Numpy& np, PyObject* const* externals, Ref* outputs) const {
  Frame frame;
  const FusionReason reason = bind(np, externals, &frame);
  const bool needs_contiguous_rows = depends_on_strides_ || (reduces_inputs_ && !is_staged_);
  if (needs_contiguous_rows && reason == FusionReason::kLayout) {
    return FusionReason::kLayout;
  }
  if (nd_ != 0 && reason == FusionReason::kNone && frame.shape->nd != nd_) {
    return FusionReason::kKinds;
  }
  if (shows_signs_ && (is_tree_ || has_masks_ || !axis_reductions_.empty() || reason == FusionReason::kLayout)) {
    return FusionReason::kNan;
  }
  if (reason == FusionReason::kLayout) {
    return run_in_space(np, externals, outputs, &frame);
  }
  return reason == FusionReason::kNone ? execute(np, externals, outputs, &frame, nullptr) : reason;
}

}  // namespace tagalong::array
