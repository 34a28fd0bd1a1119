#include "replay/array/region.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "replay/array/float_policy.h"
#include "replay/array/kept_memory.h"
#include "replay/array/nans.h"
#include "replay/array/pairwise.h"
#include "replay/array/region_run.h"

namespace tagalong::array {

int regions_enabled = 0;
RegionCounts region_counts;

namespace {

constexpr int kOrders = kCContiguous | kFContiguous;

bool same_shape(const ArrayFields* one, const ArrayFields* other) {
  return one->nd == other->nd && std::equal(one->dimensions, one->dimensions + one->nd, other->dimensions);
}

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

// As a new array has them, in axes of length one, too: a result that is computed into the array has the same.
bool has_usual_strides(const ArrayFields* array, Extent item_size, bool fortran) {
  for (int i = 0; i < array->nd; ++i) {
    const int axis = fortran ? i : array->nd - 1 - i;
    if (array->strides[axis] != item_size) {
      return false;
    }
    item_size *= array->dimensions[axis];
  }
  return true;
}

}  // namespace

bool RegionPlan::bind_scalars(const Numpy& np, PyObject* const* externals, Frame* frame) const {
  for (std::size_t i = 0; i < scalars_.size(); ++i) {
    const Scalar& scalar = scalars_[i];
    PyObject* object = externals[scalar.external];
    if (classify(np, object) != scalar.code ||
        !read_scalar(np, object, scalar.code, scalar.type, frame->scalars[i].data())) {
      return false;
    }
    frame->data[scalar.slot] = frame->scalars[i].data();
    frame->strides[scalar.slot] = 0;
  }
  for (const Constant& constant : constants_) {
    frame->data[constant.slot] = const_cast<char*>(constant.bytes.data());
    frame->strides[constant.slot] = 0;
  }
  return true;
}

// All arrays of one shape, and each one row of memory in the same order. kLayout: they may still be broadcast.
RegionReason RegionPlan::bind(const Numpy& np, PyObject* const* externals, Frame* frame) const {
  if (!bind_scalars(np, externals, frame)) {
    return RegionReason::kKinds;
  }
  if (!views_.empty() || !targets_.empty() || is_staged_) {
    return RegionReason::kLayout;
  }
  for (const Input& input : inputs_) {
    PyObject* object = externals[input.external];
    const ArrayFields* array = as_array(object);
    if (Py_TYPE(object) != np.array_type || array->descr != np.descr[input.type]) {
      return RegionReason::kKinds;
    }
    if ((array->flags & kAligned) == 0 || array->nd == 0) {
      return RegionReason::kLayout;
    }
    frame->data[input.slot] = array->data;
    if (frame->shape == nullptr) {
      frame->shape = array;
    } else if (!same_shape(frame->shape, array)) {
      return RegionReason::kLayout;
    }
    if (array->nd == 1) {
      frame->strides[input.slot] = array->strides[0];
      if (reduces_inputs_ && array->strides[0] != np.item_size[input.type]) {
        return RegionReason::kLayout;
      }
      continue;
    }
    const int order = array->flags & kOrders;
    if (order == 0 || (frame->order != 0 && frame->order != order)) {
      return RegionReason::kLayout;
    }
    frame->order = order;
    frame->strides[input.slot] = np.item_size[input.type];
  }
  if (frame->shape == nullptr) {
    return RegionReason::kKinds;  // a region begins with an array
  }
  if (frame->shape->nd > 1 && frame->order == kFContiguous && is_iterated_) {
    return RegionReason::kLayout;  // operands that are cast go another way, which shows in axes of length one
  }
  for (int i = 0; i < frame->shape->nd; ++i) {
    frame->count *= frame->shape->dimensions[i];
  }
  const bool may_elide = frame->count * static_cast<Extent>(kItemSize) >= kMinElidedBytes && np.elides;
  return may_elide ? bind_elision(externals, frame) : RegionReason::kNone;
}

// Where eager would compute into its right operand it lets both change places, which shows in the payloads of NaNs.
RegionReason RegionPlan::bind_elision(PyObject* const* externals, Frame* frame) const {
  for (std::size_t number = 0; number < operations_.size(); ++number) {
    const Operation& operation = operations_[number];
    if (frame->count * operation.out_size < kMinElidedBytes) {
      continue;
    }
    for (unsigned i = 0; i < 2; ++i) {
      if ((operation.elidable >> i & 1U) == 0) {
        continue;
      }
      if (operation.externals[i] >= 0) {
        PyObject* object = externals[operation.externals[i]];
        if (!may_be_elided(as_array(object))) {
          continue;
        }
        if (!is_unique(object) || frame->strides[operation.slots[i]] != operation.out_size) {
          return RegionReason::kKinds;
        }
        if (!has_usual_strides(as_array(object), operation.out_size, frame->order == kFContiguous)) {
          return RegionReason::kLayout;
        }
      }
      frame->swapped[number] = i == 1;
      break;
    }
  }
  return RegionReason::kNone;
}

// The memory of all arrays, and the shape that they have together.
RegionReason RegionPlan::bind_views(const Numpy& np, PyObject* const* externals, Space* space) const {
  const auto place = [&](std::uint16_t external, std::int16_t number, unsigned type, View* view) {
    PyObject* object = externals[external];
    if (Py_TYPE(object) != np.array_type || as_array(object)->descr != np.descr[type] || as_array(object)->nd == 0) {
      return RegionReason::kKinds;
    }
    const bool is_placed = number < 0 ? view_of(as_array(object), view)
                                      : take_view(views_[static_cast<std::size_t>(number)], externals, view);
    return is_placed ? RegionReason::kNone : RegionReason::kLayout;
  };
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const Input& input = inputs_[i];
    const RegionReason reason = place(input.external, input.view, input.type, &space->inputs[i]);
    if (reason != RegionReason::kNone) {
      return reason;
    }
    if (!broadcast(space->inputs[i].shape, &space->shape)) {
      return RegionReason::kShape;
    }
  }
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    const Target& target = targets_[i];
    View& view = space->targets[i];
    const RegionReason reason = place(target.external, target.view, target.type, &view);
    if (reason != RegionReason::kNone) {
      return reason;
    }
    const int flags = as_array(externals[target.external])->flags;
    if ((flags & kWriteable) == 0 || (flags & kWarnOnWrite) != 0) {
      return RegionReason::kInPlace;
    }
    if (!(view.shape == space->shape)) {
      return RegionReason::kShape;
    }
    const Extent item_size = np.item_size[target.type];
    if (!view.is_aligned || !is_injective(view, item_size)) {
      return RegionReason::kLayout;
    }
    const Bytes written = bytes_of(view, item_size);
    for (std::size_t other = 0; other < inputs_.size(); ++other) {
      if ((target.later >> other & 1U) != 0 &&
          written.overlaps(bytes_of(space->inputs[other], np.item_size[inputs_[other].type]))) {
        return RegionReason::kOverlap;
      }
    }
    for (std::size_t other = 0; other < i; ++other) {
      if (written.overlaps(bytes_of(space->targets[other], np.item_size[targets_[other].type]))) {
        return RegionReason::kOverlap;
      }
    }
  }
  return RegionReason::kNone;
}

// How eager execution would lay out each result, which decides how it lays out the next one.
RegionReason RegionPlan::bind_layouts(const Numpy& np, PyObject* const* externals, Frame* frame, Space* space) const {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const Shape& shape = space->shape;
    const View& view = space->inputs[i];
    const Extent item_size = np.item_size[inputs_[i].type];
    const bool is_plain = view.is_aligned && view.shape == shape;
    space->input_strides[i] = strides_in(view, shape);
    space->operands[inputs_[i].slot] = {.strides = &space->input_strides[i],
                                        .is_c = is_plain && view.is_contiguous(item_size, false),
                                        .is_f = is_plain && view.is_contiguous(item_size, true)};
  }
  for (std::size_t number = 0; number < operations_.size(); ++number) {
    const Operation& operation = operations_[number];
    if (operation.stage == Stage::kFold || operation.stage == Stage::kSpread) {
      const RegionReason reason = is_staged_ ? bind_column(operation, frame, space) : RegionReason::kNone;
      if (reason != RegionReason::kNone) {
        return reason;
      }
      continue;
    }
    const bool is_column = operation.stage == Stage::kColumn;
    const Shape shape = is_column ? column_shape(space->shape, operation.drops_axes) : space->shape;
    std::array<const Strides*, kMaxInputs> operands{};
    unsigned count = 0;
    bool is_c = true;
    bool is_f = true;
    Shape together;
    for (unsigned i = 0; i < operation.nin; ++i) {
      const Space::Operand& operand = space->operands[operation.slots[i]];
      if (operand.strides != nullptr) {
        operands[count++] = operand.strides;
        is_c = is_c && operand.is_c;
        is_f = is_f && operand.is_f;
      }
    }
    Space::Operand& result = space->operands[operation.slots[operation.nin]];
    if (operation.is_cast) {
      result = {.strides = operands[0]};  // is cast while it is read, so the way is not the short one
      if (operation.layout_of >= 0) {
        result = space->operands[static_cast<std::size_t>(operation.layout_of)];
      }
      continue;
    }
    if (!operation.has_result) {
      for (unsigned i = 0; i < operation.nin; ++i) {
        const auto* input = input_of(operation.slots[i]);
        if (input != nullptr) {
          static_cast<void>(
              broadcast(space->inputs[static_cast<std::size_t>(input - inputs_.data())].shape, &together));
        } else if (space->operands[operation.slots[i]].is_spread) {
          static_cast<void>(broadcast(column_shape(shape, false), &together));
        }
      }
      if (!(together == shape)) {
        return RegionReason::kShape;  // the result is smaller than the others
      }
    }
    if (operation.layout_of >= 0) {
      result = space->operands[static_cast<std::size_t>(operation.layout_of)];
      continue;
    }
    if (operation.target >= 0) {
      const View& view = space->targets[static_cast<std::size_t>(operation.target)];
      Strides& own = space->results[operation.slots[operation.nin]];
      own = strides_in(view, shape);
      result = {.strides = &own,
                .is_c = view.is_contiguous(operation.out_size, false),
                .is_f = view.is_contiguous(operation.out_size, true)};
      continue;
    }
    Strides& strides = space->results[operation.slots[operation.nin]];
    result.strides = &strides;
    if (operation.is_copy) {
      const Input* input = input_of(operation.slots[0]);
      const Strides& own =
          input == nullptr ? *operands[0] : space->inputs[static_cast<std::size_t>(input - inputs_.data())].strides;
      strides = is_c || is_f ? contiguous_strides(shape, 1, !is_c) : copied_strides(own, shape);
      const View copy{.shape = shape, .strides = strides};
      result.is_c = copy.is_contiguous(1, false);
      result.is_f = copy.is_contiguous(1, true);
      continue;
    }
    if (is_column && operation.elidable != 0 && shape.count() * operation.out_size >= kMinElidedBytes) {
      return RegionReason::kLayout;
    }
    const int into = is_column ? -1 : elided_operand(np, operation, externals, *frame, *space);
    if (into == kUnknownElision) {
      return RegionReason::kLayout;
    }
    if (into >= 0) {
      frame->swapped[number] = into == 1;
      // The very array, so also what its axes of length one have.
      const Slot slot = operation.slots[static_cast<unsigned>(into)];
      const Input* input = input_of(slot);
      strides = input == nullptr ? *space->operands[slot].strides
                                 : space->inputs[static_cast<std::size_t>(input - inputs_.data())].strides;
      for (int axis = 0; axis < shape.nd && input != nullptr; ++axis) {
        if (strides[axis] % operation.out_size != 0) {
          return RegionReason::kLayout;
        }
        strides[axis] /= operation.out_size;
      }
    } else if (shape.nd > 1 && !operation.is_iterated && (is_c || is_f)) {
      strides = contiguous_strides(shape, 1, !is_c);
    } else {
      strides = result_strides({operands.data(), count}, shape, 1);
    }
    const View view{.shape = shape, .strides = strides};
    result.is_c = view.is_contiguous(1, false);
    result.is_f = view.is_contiguous(1, true);
  }
  return RegionReason::kNone;
}

const RegionPlan::Input* RegionPlan::input_of(Slot slot) const {
  for (const Input& input : inputs_) {
    if (input.slot == slot) {
      return &input;
    }
  }
  for (const Operation& operation : operations_) {
    if (operation.is_cast && operation.slots[1] == slot) {
      return input_of(operation.slots[0]);
    }
  }
  return nullptr;
}

// Into which operand eager would compute: its result is that array. -1: into a new one.
int RegionPlan::elided_operand(const Numpy& np, const Operation& operation, PyObject* const* externals,
                               const Frame& frame, const Space& space) const {
  if (operation.elidable == 0 || !np.elides || frame.count * operation.out_size < kMinElidedBytes) {
    return -1;
  }
  for (unsigned i = 0; i < 2; ++i) {
    if ((operation.elidable >> i & 1U) == 0) {
      continue;
    }
    if (operation.externals[i] >= 0) {
      PyObject* object = externals[operation.externals[i]];
      if (!may_be_elided(as_array(object))) {
        continue;
      }
      const Space::Operand& operand = space.operands[operation.slots[i]];
      if (!is_unique(object) || (!operand.is_c && !operand.is_f)) {
        return kUnknownElision;
      }
    }
    const Input* other = operation.nin == 2 ? input_of(operation.slots[1 - i]) : nullptr;
    if (other != nullptr && !(space.inputs[static_cast<std::size_t>(other - inputs_.data())].shape == space.shape)) {
      continue;
    }
    return static_cast<int>(i);
  }
  return -1;
}

// In which order the elements are computed, and which arrays lie so.
void RegionPlan::bind_walk(const Numpy& np, Frame* frame, Space* space) const {
  std::array<Strides*, kMaxRegionInputs + 2 * kMaxRegionOutputs + kMaxRegionReductions + kMaxRegionFolds> all{};
  std::size_t count = 0;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    all[count++] = &space->input_strides[i];
  }
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    space->target_strides[i] = space->targets[i].strides;
    all[count++] = &space->target_strides[i];
  }
  for (std::size_t i = 0; i < reductions_.size(); ++i) {
    space->reduced_strides[i] = *space->operands[reductions_[i].slot].strides;
    all[count++] = &space->reduced_strides[i];
  }
  for (std::size_t i = 0; i < folds_.size(); ++i) {
    space->folded_strides[i] = *space->operands[folds_[i].slot].strides;
    all[count++] = &space->folded_strides[i];
  }
  const Strides* leading = !targets_.empty()      ? &space->targets[0].strides
                           : !reductions_.empty() ? space->operands[reductions_[0].slot].strides
                           : !folds_.empty()      ? space->operands[folds_[0].slot].strides
                                                  : nullptr;
  for (std::size_t i = outputs_.size(); i-- > 0;) {
    if (outputs_[i].descr == nullptr) {
      continue;
    }
    Strides strides = *space->operands[outputs_[i].slot].strides;
    for (Extent& stride : strides) {
      stride *= outputs_[i].item_size;
    }
    space->output_strides[i] = strides;
    if (outputs_[i].is_column) {
      continue;  // one element after another
    }
    space->walked_outputs[i] = strides;
    leading = &space->output_strides[i];
    all[count++] = &space->walked_outputs[i];
  }
  const Strides order = leading == nullptr ? space->input_strides[0] : *leading;
  space->walk.emplace(space->shape, order, std::span(all.data(), count));
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const Input& input = inputs_[i];
    const Strides& strides = space->input_strides[i];
    if (space->walk->is_row(strides) && space->inputs[i].is_aligned) {
      frame->data[input.slot] = space->inputs[i].data;
      frame->strides[input.slot] = strides[0];
    } else {
      space->gathered.push_back({.data = space->inputs[i].data,
                                 .strides = strides,
                                 .slot = input.slot,
                                 .item_size = np.item_size[input.type],
                                 .is_direct = space->inputs[i].is_aligned});
    }
  }
}

RegionReason RegionPlan::bind_space(const Numpy& np, PyObject* const* externals, Frame* frame, Space* space) const {
  RegionReason reason = bind_views(np, externals, space);
  if (reason != RegionReason::kNone) {
    return reason;
  }
  if (space->shape.nd == 0 || (nd_ != 0 && space->shape.nd != nd_)) {
    return RegionReason::kKinds;
  }
  frame->count = space->shape.count();
  if (frame->count == 0) {
    return RegionReason::kLayout;
  }
  reason = bind_layouts(np, externals, frame, space);
  if (reason != RegionReason::kNone) {
    return reason;
  }
  bind_walk(np, frame, space);
  // What is reduced would be one row in memory, and its elements are taken in that order.
  const auto is_row = [&](const Strides& strides) { return strides[0] >= 0 && space->walk->is_row(strides); };
  const bool are_rows =
      std::all_of(space->reduced_strides.begin(), space->reduced_strides.begin() + reductions_.size(), is_row) &&
      std::all_of(space->folded_strides.begin(), space->folded_strides.begin() + folds_.size(), is_row);
  return are_rows ? RegionReason::kNone : RegionReason::kLayout;
}

// False: a loop says that there is an exception.
bool RegionPlan::compute_operation(std::size_t number, Frame* frame, Extent count) const {
  const Operation& operation = operations_[number];
  if (operation.stage >= Stage::kFold) [[unlikely]] {
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

// The loop gets one run of elements after another, so that nothing is raised elsewhere.
bool RegionPlan::compute_masked(const Operation& operation, char** data, const Extent* strides, Extent count) {
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

bool RegionPlan::compute_block(Frame* frame, Extent count) const {
  if (!steps_.empty() && !frame->is_one_by_one) {
    const Outcome outcome = compute_steps(frame, count);
    if (outcome != Outcome::kOpen) [[likely]] {
      return outcome == Outcome::kDone;
    }
    frame->is_one_by_one = true;
  }
  for (std::size_t number = 0; number < operations_.size(); ++number) {
    if (!compute_operation(number, frame, count)) [[unlikely]] {
      return false;
    }
  }
  return true;
}

// In what has been computed of the results.
bool RegionPlan::has_nans(const Frame& frame, Extent count) const {
  if (is_joined_ && !frame.is_one_by_one) {
    return false;  // it would not have been stored
  }
  const auto is_found = [&](Slot slot, unsigned type, Extent elements) {
    return has_nan(type, frame.data[slot], frame.strides[slot], elements);
  };
  return std::any_of(outputs_.begin(), outputs_.end(),
                     [&](const Output& output) {
                       return output.descr != nullptr &&
                              is_found(output.slot, output.type, output.is_column ? count / frame.row : count);
                     }) ||
         std::any_of(targets_.begin(), targets_.end(),
                     [&](const Target& target) { return is_found(target.slot, target.type, count); });
}

// What a block adds to the reductions. Pairwise sums begin anew: the tree of blocks adds them.
bool RegionPlan::reduce_block(Frame* frame, Extent count) const {
  for (std::size_t i = 0; i < reductions_.size(); ++i) {
    const Reduced& reduced = reductions_[i];
    const ReductionKernel& kernel = *reduced.kernel;
    Accumulator& accumulator = frame->reduced[i];
    if (reduced.slot == sum_.result && kernel.has_known_order && !frame->is_one_by_one) {
      const double sum = sum_of_block(*frame, count);
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
    if (float_units_ != FloatUnits::kNone && float_status_raised(float_units_)) [[unlikely]] {
      frame->errors |= take_float_status(float_units_);
    }
    const std::array<char*, 3> places{accumulator.bytes, data, accumulator.bytes};
    const std::array<Extent, 3> strides{0, stride, 0};
    if (left > 0 && kernel.whole(kernel.context, places.data(), &left, strides.data(), kernel.auxdata) != 0) {
      return false;
    }
  }
  frame->is_begun = true;
  return true;
}

// The next block: what is gathered for it, computed, scattered and reduced.
bool RegionPlan::compute_next(Frame* frame, Space* space, Extent count) const {
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
    for (const Space::Port& port : space->gathered) {
      if (!place(port)) {
        walk.gather(port.data, port.strides, port.item_size, count, port.block);
      }
    }
    for (const Space::Port& port : space->scattered) {
      static_cast<void>(place(port, !frame->is_tried));
    }
    if (!compute_block(frame, count)) {
      return false;
    }
    frame->is_split_otherwise |= has_nans(*frame, count);
    for (const Space::Port& port : space->scattered) {
      if (frame->data[port.slot] == port.block && !frame->is_tried) {
        walk.scatter(port.data, port.strides, port.item_size, count, port.block);
      }
    }
    walk.advance(count);
  }
  if ((is_tree_ || has_masks_ || (frame->folds != nullptr && frame->folds->row != 0)) && space == nullptr) {
    frame->is_split_otherwise |= has_nans(*frame, count);
  }
  if (!reductions_.empty() && !reduce_block(frame, count)) {
    return false;
  }
  if (frame->folds != nullptr && !fold_block(frame, count)) {
    return false;
  }
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
  return true;
}

// Blocks as pairwise summation cuts; `sums` of the elements that have been taken.
bool RegionPlan::compute_tree(Frame* frame, Space* space, Extent count, Accumulator* sums) const {
  if (count <= (operations_.empty() ? frame->block : kBlock)) {
    if (!compute_next(frame, space, count)) {
      return false;
    }
    std::copy_n(frame->reduced.begin(), reductions_.size(), sums);
    return true;
  }
  std::array<Accumulator, kMaxRegionReductions> right;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  if (!compute_tree(frame, space, left_half(count), sums) ||
      !compute_tree(frame, space, count - left_half(count), right.data())) {
    return false;
  }
  for (std::size_t i = 0; i < reductions_.size(); ++i) {
    if (reductions_[i].kernel->is_pairwise) {
      add_leaves(*reductions_[i].kernel, right[i], &sums[i]);
    }
  }
  return true;
}

bool RegionPlan::compute(Frame* frame, Space* space) const {
  if (frame->folds != nullptr && frame->folds->row != 0) {
    return compute_rows(frame, space);
  }
  if (is_tree_) {
    std::array<Accumulator, kMaxRegionReductions> sums;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    if (!compute_tree(frame, space, frame->count, sums.data())) {
      return false;
    }
    for (std::size_t i = 0; i < reductions_.size(); ++i) {
      if (reductions_[i].kernel->is_pairwise) {
        frame->reduced[i] = sums[i];
      }
    }
  } else {
    const Extent long_row = is_joined_ ? kLongRowOfOne : kLongRow;
    const bool is_by_rows = !is_staged_ && space != nullptr && space->walk->row() >= long_row;
    for (Extent left = frame->count; left > 0;) {
      Extent most = std::min(left, frame->block);
      if (!is_staged_ && left > most && left - most < kLeastBlock) {
        most -= kLeastBlock;
      }
      const Extent count = is_by_rows ? std::min(most, space->walk->left_in_row()) : most;
      if (!compute_next(frame, space, count)) {
        return false;
      }
      left -= count;
    }
  }
  return true;
}

void RegionPlan::finish_reductions(Frame* frame) const {
  for (std::size_t i = 0; i < reductions_.size(); ++i) {
    const Reduced& reduced = reductions_[i];
    frame->is_refused |= !finish(*reduced.kernel, reduced.reduction, frame->count, &frame->reduced[i]);
  }
  for (std::size_t i = 0; i < folds_.size() && !is_staged_; ++i) {
    frame->is_refused |= !frame->folds->of[i].finish(*folds_[i].kernel, folds_[i].reduction, kBlock);
  }
}

void RegionPlan::place_blocks(char* blocks, std::size_t bytes, Frame* frame, Space* space) const {
  for (const Temporary& temporary : temporaries_) {
    frame->data[temporary.slot] = blocks + (bytes * temporary.buffer);
    frame->strides[temporary.slot] = temporary.item_size;
  }
  blocks += bytes * buffers_;
  if (space != nullptr) {
    for (Space::Port& port : space->gathered) {
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
  finish_reductions(frame);
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
  const bool is_twice = is_computed_twice(np, *frame, space);
  if (is_twice) {
    place_targets(np, space);
  }
  // One line more, so that blocks do not lie at the same place of pages.
  const std::size_t bytes = padded(static_cast<std::size_t>(frame->block) * kItemSize) + kCacheLine;
  const std::size_t ports = space == nullptr ? 0 : space->gathered.size() + space->scattered.size();
  const std::size_t whole = padded(static_cast<std::size_t>(frame->count) * kItemSize);  // of a target
  const std::size_t each = bytes * (buffers_ + ports);                                   // of a part
  const std::size_t parts = part_count(*frame);
  const std::size_t needed = each * parts + (is_twice ? 0 : whole * targets_.size());
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
    frame->data[target.slot] = is_twice ? contents : std::exchange(blocks, blocks + whole);
    frame->strides[target.slot] = np.item_size[target.type];
  }
  const PartMemory memory{parts, parts_memory, each, bytes};
  if (is_twice) {
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
  for (std::size_t i = 0; i < targets_.size() && !is_twice; ++i) {
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
  Frame frame;
  const RegionReason reason = bind(np, externals, &frame);
  if ((depends_on_strides_ || reduces_inputs_) && reason == RegionReason::kLayout) {
    return RegionReason::kLayout;
  }
  if (nd_ != 0 && frame.shape != nullptr && reason == RegionReason::kNone && frame.shape->nd != nd_) {
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
