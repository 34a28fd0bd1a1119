#include "replay/array/region.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include "replay/array/float_policy.h"
#include "replay/array/kept_memory.h"
#include "replay/array/region_run.h"
#include "replay/array/streaming.h"

namespace tagalong::array {

int regions_enabled = 0;
RegionCounts region_counts;

namespace {

// Memory for the blocks of this thread. Nothing that runs while it is in use runs another region.
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
constexpr std::size_t kMostKept = 1U << 20U;  // bytes of an arena

}  // namespace

void RegionPlan::place_blocks(char* blocks, std::size_t bytes, Frame* frame, Space* space) const {
  for (const Temporary& temporary : temporaries_) {
    frame->data[temporary.slot] = blocks + (bytes * temporary.buffer);
    frame->strides[temporary.slot] = temporary.item_size;
  }
  blocks += bytes * buffers_;
  if (space != nullptr) {
    for (Space::Port& port : space->gathered) {
      port.laid = 0;
      port.block = std::exchange(blocks, blocks + bytes);
    }
    for (Space::Port& port : space->scattered) {
      port.block = std::exchange(blocks, blocks + bytes);
    }
  }
}

// Whether anything has to be reported.
RegionReason RegionPlan::compute_and_check(const Numpy& np, Frame* frame, Space* space,
                                           const PartMemory& memory) const {
  if (float_units_ != FloatUnits::kNone && float_status_raised(float_units_)) {
    clear_float_status();
  }
  bool is_done = false;
  if (memory.parts > 1 || frame->count * cost_ > kGilThreshold) {
    PyThreadState* state = PyEval_SaveThread();
    is_done = memory.parts > 1 ? compute_in_parallel(frame, space, memory) : compute(frame, space);
    PyEval_RestoreThread(state);
    region_counts.parts += memory.parts > 1 ? memory.parts : 0;
  } else {
    is_done = compute(frame, space);
  }
  if (frame->streaming != nullptr) {
    finish_streaming();
  }
  finish_reductions(frame);
  if (!is_done && frame->is_donated) [[unlikely]] {
    not_donated_ = kNotDonated;
    clear_float_status();
    return RegionReason::kNan;
  }
  // Some old loops set an exception and return 0 (integer power).
  if (!is_done || PyErr_Occurred() != nullptr) [[unlikely]] {
    PyErr_Clear();
    clear_float_status();
    return RegionReason::kException;
  }
  if (float_units_ != FloatUnits::kNone && float_status_raised(float_units_)) [[unlikely]] {
    frame->errors |= take_float_status(float_units_);
  }
  if (frame->errors != 0 && !ignores_float_errors(np, frame->errors)) [[unlikely]] {
    return RegionReason::kFloatError;
  }
  if (frame->is_refused || frame->is_split_otherwise) {
    return frame->is_refused ? RegionReason::kReduction : RegionReason::kNan;
  }
  return RegionReason::kNone;
}

RegionReason RegionPlan::execute(const Numpy& np, PyObject* const* externals, Ref* outputs, Frame* frame,
                                 Space* space) const {
  std::optional<KeptMemory> kept(std::in_place, np, static_cast<std::size_t>(frame->count) * kItemSize);
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const Output& output = outputs_[i];
    if (output.reduction >= 0 || output.fold >= 0) {
      continue;
    }
    if (output.descr == nullptr) {
      outputs[i] = Ref::create(externals[output.external]);
      continue;
    }
    if (static_cast<int>(i) == donor_.output) {
      outputs[i] = Ref::create(donor(*frame, space, externals));
      if (outputs[i]) {
        frame->is_donated = true;
        frame->data[output.slot] = as_array(outputs[i].get())->data;
        frame->strides[output.slot] = output.item_size;
        ++region_counts.donated;
        continue;
      }
    }
    Py_INCREF(output.descr);
    if (output.is_column && space != nullptr) {
      const Shape shape = column_shape(space->shape, output.drops_axes);
      outputs[i] = Ref::steal(np.new_from_descr(np.array_type, output.descr, shape.nd, shape.dims.data(),
                                                space->output_strides[i].data(), nullptr, 0, nullptr));
      if (!outputs[i]) {
        PyErr_Clear();
        return RegionReason::kMemory;
      }
      frame->data[output.slot] = as_array(outputs[i].get())->data;
      frame->strides[output.slot] = output.item_size;
      continue;
    }
    outputs[i] = Ref::steal(
        space == nullptr ? np.new_from_descr(np.array_type, output.descr, frame->shape->nd, frame->shape->dimensions,
                                             nullptr, nullptr, frame->order == kFContiguous ? 1 : 0, nullptr)
                         : np.new_from_descr(np.array_type, output.descr, space->shape.nd, space->shape.dims.data(),
                                             space->output_strides[i].data(), nullptr, 0, nullptr));
    if (!outputs[i]) {
      PyErr_Clear();
      return RegionReason::kMemory;
    }
    char* data = as_array(outputs[i].get())->data;
    if (space == nullptr || space->walk->is_row(space->walked_outputs[i])) {
      frame->data[output.slot] = data;
      frame->strides[output.slot] = output.item_size;
    } else {
      space->scattered.push_back({.data = data,
                                  .strides = space->walked_outputs[i],
                                  .slot = output.slot,
                                  .item_size = output.item_size,
                                  .is_direct = false});  // strided results of some loops are wrong (isfinite of 2.4)
    }
  }
  if (frame->count == 0) {
    return reductions_.empty() && folds_.empty() ? RegionReason::kNone : RegionReason::kReduction;
  }
  std::unique_ptr<Folds> folds;
  if (!folds_.empty() && !is_staged_) {
    folds = std::make_unique<Folds>();
    frame->folds = folds.get();
    const RegionReason reason = bind_folds(np, *frame, space, frame->folds);
    if (reason != RegionReason::kNone) {
      return reason;
    }
  }
  frame->block = is_staged_ ? std::max<Extent>(kBlock / frame->row, 1) * frame->row : kBlock;
  if (operations_.empty() && space == nullptr) {
    frame->block = frame->count;  // reduce loops halve what they sum themselves
  }
  frame->block = std::min(frame->count, frame->block);
  constexpr std::size_t kSmall = 2048;
  alignas(kCacheLine) std::array<char, kSmall> small;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  const std::size_t parts = part_count(*frame);
  const Writing way = writing(np, *frame, space, parts);
  const bool is_copied = way == Writing::kCopied;
  if (!is_copied) {
    place_targets(np, space);
  }
  // One line more, so that blocks do not lie at the same place of pages.
  const std::size_t bytes = padded(static_cast<std::size_t>(frame->block) * kItemSize) + kCacheLine;
  if (takes_long_blocks(space)) {
    frame->block = std::min(frame->count, kLongBlock);
  }
  const std::size_t ports = space == nullptr ? 0 : space->gathered.size() + space->scattered.size();
  const std::size_t whole = padded(static_cast<std::size_t>(frame->count) * kItemSize);  // of a target
  const std::size_t each = bytes * (buffers_ + ports);                                   // of a part
  const std::size_t needed = each * parts + (is_copied ? whole * targets_.size() : 0);
  char* blocks = small.data();
  Ref large;
  if (needed > kMostKept) {
    // NumPy asks for huge pages, which new memory of this size wants.
    const auto size = static_cast<Extent>(needed + kCacheLine);
    Py_INCREF(np.descr[kUInt8]);
    large = Ref::steal(np.new_from_descr(np.array_type, np.descr[kUInt8], 1, &size, nullptr, nullptr, 0, nullptr));
    PyErr_Clear();
    blocks = large ? as_array(large.get())->data : nullptr;
    blocks += blocks == nullptr
                  ? 0
                  : padded(reinterpret_cast<std::uintptr_t>(blocks)) - reinterpret_cast<std::uintptr_t>(blocks);
  } else if (needed > kSmall) {
    blocks = arena.reserve(needed);
  }
  if (blocks == nullptr) {
    return RegionReason::kMemory;
  }
  kept.reset();
  place_blocks(blocks, bytes, frame, space);
  char* const parts_memory = std::exchange(blocks, blocks + each * parts);
  char* const contents = blocks;  // of the targets, one after another
  for (const Target& target : targets_) {
    frame->data[target.slot] = is_copied ? std::exchange(blocks, blocks + whole) : contents;
    frame->strides[target.slot] = np.item_size[target.type];
  }
  const PartMemory memory{parts, parts_memory, each, bytes};
  begin_streaming(frame, space);
  if (way == Writing::kTried) {
    const auto begin = frame->data;
    frame->is_tried = true;
    const RegionReason reason = compute_and_check(np, frame, space, memory);
    if (reason != RegionReason::kNone) {
      return reason;
    }
    frame->is_tried = false;
    frame->data = begin;
    space->walk->begin();
    ++region_counts.twice;
  }
  region_counts.at_once += way == Writing::kAtOnce ? 1 : 0;
  const RegionReason reason = compute_and_check(np, frame, space, memory);
  if (reason != RegionReason::kNone) {
    return reason;
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].fold >= 0) {
      outputs[i] = folds->results.at(static_cast<std::size_t>(outputs_[i].fold));
    }
    if (const std::int16_t number = outputs_[i].reduction; number >= 0) {
      const auto place = static_cast<std::size_t>(number);
      outputs[i] = Ref::steal(make_scalar(np, reductions_[place].kernel->type, frame->reduced[place]));
      if (!outputs[i]) {
        PyErr_Clear();
        return RegionReason::kMemory;
      }
    }
  }
  for (std::size_t i = 0; i < targets_.size() && is_copied; ++i) {
    space->walk->begin();
    space->walk->scatter(space->targets[i].data, space->target_strides[i], np.item_size[targets_[i].type], frame->count,
                         contents + (whole * i));
  }
  return RegionReason::kNone;
}

RegionReason RegionPlan::run_in_space(const Numpy& np, PyObject* const* externals, Ref* outputs, Frame* frame) const {
  Space space;
  space.operands.resize(slots_);
  space.inputs.resize(inputs_.size());
  space.targets.resize(targets_.size());
  frame->swapped.reset();
  RegionReason reason = bind_space(np, externals, frame, &space);
  if (reason == RegionReason::kNone && !pays(*frame)) {
    reason = RegionReason::kNoGain;
  }
  if (reason == RegionReason::kNone) {
    reason = execute(np, externals, outputs, frame, &space);
  }
  return reason;
}

// What arrays that are there already get is computed elsewhere and copied. Beyond the inner caches that takes as long
// as a few operations, and only those for which eager execution makes new arrays are saved.
bool RegionPlan::pays(const Frame& frame) const {
  constexpr std::size_t kNear = 32768;  // bytes
  constexpr std::size_t kSavedNear = 2;
  constexpr std::size_t kSavedFar = 4;
  const bool is_near = static_cast<std::size_t>(frame.count) * kItemSize * targets_.size() <= kNear;
  return regions_enabled > 1 || made_ >= (is_near ? kSavedNear : kSavedFar) * targets_.size();
}

RegionReason RegionPlan::run(const Numpy& np, PyObject* const* externals, Ref* outputs) const {
  if (is_small_ && run_small(np, externals, outputs)) {
    ++region_counts.small;
    return RegionReason::kNone;
  }
  return run_generally(np, externals, outputs);
}

RegionReason RegionPlan::run_generally(const Numpy& np, PyObject* const* externals, Ref* outputs) const {
  Frame frame;
  const RegionReason reason = bind(np, externals, &frame);
  if ((depends_on_strides_ || reduces_inputs_) && reason == RegionReason::kLayout) {
    return RegionReason::kLayout;
  }
  if (nd_ != 0 && reason == RegionReason::kNone && frame.shape->nd != nd_) {
    return RegionReason::kKinds;
  }
  if (shows_signs_ && (is_tree_ || has_masks_ || !folds_.empty() || reason == RegionReason::kLayout)) {
    return RegionReason::kNan;
  }
  if (reason == RegionReason::kLayout) {
    return run_in_space(np, externals, outputs, &frame);
  }
  return reason == RegionReason::kNone ? execute(np, externals, outputs, &frame, nullptr) : reason;
}

}  // namespace tagalong::array
