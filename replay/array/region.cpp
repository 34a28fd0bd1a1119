#include "replay/array/region.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "replay/array/float_policy.h"

namespace tagalong::array {

int regions_enabled = 0;
RegionCounts region_counts;

namespace {

constexpr Extent kBlock = 1024;       // elements
constexpr std::size_t kItemSize = 8;  // of the largest dtype that is split
constexpr std::size_t kCacheLine = 64;
// Element operations above which the GIL is given away.
constexpr Extent kGilThreshold = 32768;
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

}  // namespace

// One run.
struct RegionPlan::Frame {
  std::array<char*, kMaxRegionSlots> data;      // NOLINT(cppcoreguidelines-pro-type-member-init): plan's slots only
  std::array<Extent, kMaxRegionSlots> strides;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  alignas(16) std::array<std::array<char, kScalarBytes>, kMaxRegionScalars> scalars;
  std::uint64_t swapped = 0;  // bit i: the operands of operation i change places
  const ArrayFields* shape = nullptr;
  int order = 0;
  Extent count = 1;
  Extent block = 0;
  int errors = 0;  // floating point errors that were up before a loop that may clear them
};
static_assert(kMaxRegionOperations <= 64);

bool RegionPlan::bind(const Numpy& np, PyObject* const* externals, Frame* frame) const {
  for (const Input& input : inputs_) {
    PyObject* object = externals[input.external];
    const ArrayFields* array = as_array(object);
    if (Py_TYPE(object) != np.array_type || array->descr != np.descr[input.type] || (array->flags & kAligned) == 0 ||
        array->nd == 0) {
      return false;
    }
    frame->data[input.slot] = array->data;
    if (frame->shape == nullptr) {
      frame->shape = array;
    } else if (!same_shape(frame->shape, array)) {
      return false;
    }
    if (array->nd == 1) {
      frame->strides[input.slot] = array->strides[0];
      continue;
    }
    const int order = array->flags & kOrders;
    if (order == 0 || (frame->order != 0 && frame->order != order)) {
      return false;
    }
    frame->order = order;
    frame->strides[input.slot] = np.item_size[input.type];
  }
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
  if (frame->shape == nullptr) {
    return false;  // a region begins with an array
  }
  for (int i = 0; i < frame->shape->nd; ++i) {
    frame->count *= frame->shape->dimensions[i];
  }
  return frame->count * static_cast<Extent>(kItemSize) < kMinElidedBytes || !np.elides ||
         bind_elision(externals, frame);
}

// Where eager would compute into its right operand it lets both change places, which shows in the payloads of NaNs.
bool RegionPlan::bind_elision(PyObject* const* externals, Frame* frame) const {
  for (std::size_t number = 0; number < operations_.size(); ++number) {
    const Operation& operation = operations_[number];
    if (frame->count * operation.kernel->out_size < kMinElidedBytes) {
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
        if (!is_unique(object) || frame->strides[operation.slots[i]] != operation.kernel->out_size) {
          return false;
        }
      }
      frame->swapped |= static_cast<std::uint64_t>(i) << number;
      break;
    }
  }
  return true;
}

// False: a loop says that there is an exception.
bool RegionPlan::compute(Frame* frame) const {
  std::array<char*, kMaxInputs + 1> data{};
  std::array<Extent, kMaxInputs + 1> strides{};
  Extent left = frame->count;
  while (true) {
    const Extent count = std::min(left, frame->block);
    std::uint64_t swapped = frame->swapped;
    for (const Operation& operation : operations_) {
      const Kernel& kernel = *operation.kernel;
      for (unsigned i = 0; i <= kernel.nin; ++i) {
        const Slot slot = operation.slots[i];
        data[i] = frame->data[slot];
        strides[i] = frame->strides[slot];
      }
      if ((swapped & 1U) != 0) [[unlikely]] {
        std::swap(data[0], data[1]);
        std::swap(strides[0], strides[1]);
      }
      swapped >>= 1U;
      if (operation.collects && float_status_raised(float_units_)) [[unlikely]] {
        frame->errors |= take_float_status();
      }
      if (kernel.loop(kernel.context, data.data(), &count, strides.data(), kernel.auxdata) != 0) [[unlikely]] {
        return false;
      }
    }
    left -= count;
    if (left == 0) {
      return true;
    }
    for (const Input& input : inputs_) {
      frame->data[input.slot] += count * frame->strides[input.slot];
    }
    for (const Output& output : outputs_) {
      frame->data[output.slot] += count * output.item_size;
    }
  }
}

RegionReason RegionPlan::run(const Numpy& np, PyObject* const* externals, Ref* outputs) const {
  Frame frame;
  if (!bind(np, externals, &frame)) {
    return RegionReason::kKinds;
  }
  for (const Output& output : outputs_) {
    Py_INCREF(output.descr);
    *outputs = Ref::steal(np.new_from_descr(np.array_type, output.descr, frame.shape->nd, frame.shape->dimensions,
                                            nullptr, nullptr, frame.order == kFContiguous ? 1 : 0, nullptr));
    if (!*outputs) {
      PyErr_Clear();
      return RegionReason::kMemory;
    }
    frame.data[output.slot] = as_array(outputs->get())->data;
    frame.strides[output.slot] = output.item_size;
    ++outputs;
  }
  if (frame.count == 0) {
    return RegionReason::kNone;
  }
  frame.block = std::min(frame.count, kBlock);
  constexpr std::size_t kSmall = 2048;
  alignas(kCacheLine) std::array<char, kSmall> small;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  // One line more, so that blocks do not lie at the same place of pages.
  const std::size_t bytes =
      ((static_cast<std::size_t>(frame.block) * kItemSize + kCacheLine - 1) / kCacheLine + 1) * kCacheLine;
  char* blocks = bytes * buffers_ <= kSmall ? small.data() : arena.reserve(bytes * buffers_);
  if (blocks == nullptr) {
    return RegionReason::kMemory;
  }
  for (const Temporary& temporary : temporaries_) {
    frame.data[temporary.slot] = blocks + (bytes * temporary.buffer);
    frame.strides[temporary.slot] = temporary.item_size;
  }
  if (float_units_ != FloatUnits::kNone && float_status_raised(float_units_)) {
    clear_float_status();
  }
  bool is_done = false;
  if (frame.count * static_cast<Extent>(operations_.size()) > kGilThreshold) {
    PyThreadState* state = PyEval_SaveThread();
    is_done = compute(&frame);
    PyEval_RestoreThread(state);
  } else {
    is_done = compute(&frame);
  }
  // Some old loops set an exception and return 0 (integer power).
  if (!is_done || PyErr_Occurred() != nullptr) [[unlikely]] {
    PyErr_Clear();
    clear_float_status();
    return RegionReason::kException;
  }
  if (float_units_ != FloatUnits::kNone && float_status_raised(float_units_)) [[unlikely]] {
    frame.errors |= take_float_status();
  }
  if (frame.errors != 0) [[unlikely]] {
    return ignores_float_errors(np, frame.errors) ? RegionReason::kNone : RegionReason::kFloatError;
  }
  return RegionReason::kNone;
}

int RegionBuilder::external(PyObject* object, unsigned number) {
  objects_.push_back({.object = object, .code = classify(np_, object), .external = static_cast<std::int16_t>(number)});
  return static_cast<int>(objects_.size()) - 1;
}

int RegionBuilder::constant(PyObject* object) {
  const OperandCode code = classify(np_, object);
  if (!is_python_number(code)) {
    return -1;
  }
  objects_.push_back({.object = object, .code = code, .is_constant = true});
  return static_cast<int>(objects_.size()) - 1;
}

bool RegionBuilder::is_array_object(int object) const {
  const Object& known = objects_[static_cast<std::size_t>(object)];
  return known.is_result || (known.object != nullptr && Py_TYPE(known.object) == np_.array_type);
}

int RegionBuilder::binary(BinaryOperator op, int left, int right, unsigned temporaries) {
  const OperatorRow& row = operator_row(op);
  if (row.ufunc == UfuncName::kCount || (!is_array_object(left) && !is_array_object(right))) {
    return refuse(RegionReason::kOperator);
  }
  // An in-place operator of a left operand that is no array is the plain operator.
  const bool inplace = is_inplace(op) && is_array_object(left);
  Request request{.ufunc = np_.ufunc(row.ufunc),
                  .operands = {left, right},
                  .nin = 2,
                  .temporaries = inplace ? 0 : temporaries,
                  .elision = row.elision,
                  .inplace = inplace};
  if (row.ufunc != UfuncName::kPower) {
    return apply(request);
  }
  const Object& base = objects_[static_cast<std::size_t>(left)];
  const Object& exponent = objects_[static_cast<std::size_t>(right)];
  UfuncName fast = UfuncName::kCount;
  if (!is_array(exponent.code) && !exponent.is_constant) {
    return refuse(RegionReason::kExponent);
  }
  switch (power_kind(np_, base.code, exponent.code, exponent.object, &fast)) {
    case PowerKind::kUnknown:
      return refuse(RegionReason::kExponent);
    case PowerKind::kGeneral:
      return apply(request);
    case PowerKind::kFast:
      break;
  }
  request.ufunc = np_.ufunc(fast);
  request.nin = 1;
  request.elision = Elision::kLeft;
  return apply(request);
}

int RegionBuilder::unary(UnaryOperator op, int operand, unsigned temporaries) {
  if (!is_array_object(operand)) {
    return refuse(RegionReason::kOperator);
  }
  return apply({.ufunc = np_.ufunc(unary_ufunc(op)),
                .operands = {operand},
                .nin = 1,
                .temporaries = temporaries,
                .elision = Elision::kLeft});
}

int RegionBuilder::compare(int py_op, int left, int right) {
  if (!is_array_object(left)) {
    // NumPy scalars decide themselves which way round the array is asked; numbers do not know arrays.
    if (!is_array_object(right) || !is_python_number(objects_[static_cast<std::size_t>(left)].code)) {
      return refuse(RegionReason::kOperator);
    }
    std::swap(left, right);
    py_op = reflected(py_op);
  }
  return apply({.ufunc = np_.ufunc(comparison(py_op)), .operands = {left, right}, .nin = 2});
}

int RegionBuilder::call(PyObject* ufunc, std::span<const int> operands) {
  if (operands.empty() || operands.size() > kMaxInputs || Py_TYPE(ufunc) != np_.ufunc_type) {
    return refuse(RegionReason::kOther);
  }
  Request request{.ufunc = ufunc, .operands = {}, .nin = static_cast<unsigned>(operands.size())};
  std::copy(operands.begin(), operands.end(), request.operands.begin());
  return apply(request);
}

// Whether the array is of the region's iteration space, which the first one decides.
RegionReason RegionBuilder::shape_reason(const Object& object) const {
  if (object.is_result) {
    return RegionReason::kNone;
  }
  const ArrayFields* array = as_array(object.object);
  if (shape_ != nullptr && !same_shape(shape_, array)) {
    return RegionReason::kShape;
  }
  const bool is_direct = (array->flags & kAligned) != 0 && (array->nd == 1 || (array->flags & kOrders) != 0);
  const bool has_order = shape_ == nullptr || array->nd == 1 || ((array->flags ^ shape_->flags) & kOrders) == 0;
  return is_direct && has_order ? RegionReason::kNone : RegionReason::kLayout;
}

int RegionBuilder::slot_of(int number, unsigned type) {
  Object& object = objects_[static_cast<std::size_t>(number)];
  if (is_array(object.code)) {
    if (object.slot < 0 && (object.slot = new_slot()) >= 0) {
      plan_->inputs_.push_back({.external = static_cast<std::uint16_t>(object.external),
                                .type = object.code,
                                .slot = static_cast<RegionPlan::Slot>(object.slot)});
    }
    return object.slot;
  }
  const auto [known, is_new] = scalar_slots_.emplace(std::pair{number, type}, -1);
  if (!is_new) {
    return known->second;
  }
  RegionPlan::Constant value{};
  if (!read_scalar(np_, object.object, object.code, type, value.bytes.data()) ||
      (!object.is_constant && plan_->scalars_.size() == kMaxRegionScalars)) {
    scalar_slots_.erase(known);
    return -1;
  }
  const int slot = known->second = new_slot();
  if (slot < 0) {
    return slot;
  }
  value.slot = static_cast<RegionPlan::Slot>(slot);
  if (object.is_constant) {
    plan_->constants_.push_back(value);
  } else {
    plan_->scalars_.push_back({.external = static_cast<std::uint16_t>(object.external),
                               .code = object.code,
                               .type = static_cast<std::uint8_t>(type),
                               .slot = value.slot});
  }
  return slot;
}

int RegionBuilder::apply(const Request& request) {
  OperandCodes codes;
  const ArrayFields* shape = shape_;
  for (unsigned i = 0; i < request.nin; ++i) {
    const Object& object = objects_[static_cast<std::size_t>(request.operands[i])];
    if (object.code == kForeign) {
      return refuse(RegionReason::kForeign);
    }
    if (const RegionReason reason = is_array(object.code) ? shape_reason(object) : RegionReason::kNone;
        reason != RegionReason::kNone) {
      shape_ = shape;
      return refuse(reason);
    }
    if (is_array(object.code) && !object.is_result && shape_ == nullptr) {
      shape_ = as_array(object.object);
    }
    codes.set(i, object.code);
  }
  const Kernel& kernel = kernel_for(np_, request.ufunc, codes);
  const int target = request.operands[0];
  const bool is_in_place =
      !request.inplace || (is_made_here(target) && kernel.out_type == codes[0] && kernel.alias_safe);
  if (!kernel.usable || !kernel.splittable || operation_count() == kMaxRegionOperations || !is_in_place) {
    shape_ = shape;
    return refuse(!kernel.usable       ? RegionReason::kNoLoop
                  : !kernel.splittable ? RegionReason::kLoop
                  : !is_in_place       ? RegionReason::kInPlace
                                       : RegionReason::kLimit);
  }
  RegionPlan::Operation operation{.kernel = &kernel};
  for (unsigned i = 0; i < request.nin; ++i) {
    const int slot = slot_of(request.operands[i], kernel.in_type[i]);
    if (slot < 0) {
      return refuse(RegionReason::kLimit);  // inputs without a use are harmless
    }
    operation.slots[i] = static_cast<RegionPlan::Slot>(slot);
  }
  const int out = new_slot();
  if (out < 0) {
    return refuse(RegionReason::kLimit);
  }
  operation.slots[request.nin] = static_cast<RegionPlan::Slot>(out);
  if (request.elision != Elision::kNever && !(request.nin == 2 && request.operands[0] == request.operands[1])) {
    operation.elidable = static_cast<std::uint8_t>(kernel.elidable & request.temporaries &
                                                   (request.elision == Elision::kCommutative ? 3U : 1U));
    for (unsigned i = 0; i < 2 && i < request.nin; ++i) {
      operation.externals.at(i) = objects_[static_cast<std::size_t>(request.operands[i])].external;
    }
  }
  plan_->operations_.push_back(operation);
  plan_->float_units_ = std::max(plan_->float_units_, kernel.float_units);
  if (request.inplace) {
    objects_[static_cast<std::size_t>(target)].slot = out;
    return target;
  }
  objects_.push_back({.code = kernel.out_type, .is_result = true, .slot = out});
  return static_cast<int>(objects_.size()) - 1;
}

// Blocks for what is neither input nor output; none is written while it may still be read.
void RegionBuilder::place_temporaries() {
  std::array<int, kMaxRegionSlots> last_use{};
  std::array<int, kMaxRegionSlots> buffers{};
  buffers.fill(-1);
  const auto count = static_cast<int>(plan_->operations_.size());
  for (int number = 0; number < count; ++number) {
    const RegionPlan::Operation& operation = plan_->operations_[static_cast<std::size_t>(number)];
    for (unsigned i = 0; i <= operation.kernel->nin; ++i) {
      last_use.at(operation.slots[i]) = number;
    }
  }
  std::vector<int> free;
  for (int number = 0; number < count; ++number) {
    const RegionPlan::Operation& operation = plan_->operations_[static_cast<std::size_t>(number)];
    const unsigned nin = operation.kernel->nin;
    const RegionPlan::Slot out = operation.slots[nin];
    if (std::ranges::none_of(plan_->outputs_, [&](const auto& output) { return output.slot == out; })) {
      if (free.empty()) {
        free.push_back(plan_->buffers_++);
      }
      buffers.at(out) = free.back();
      free.pop_back();
      plan_->temporaries_.push_back({.slot = out,
                                     .item_size = operation.kernel->out_size,
                                     .buffer = static_cast<std::uint16_t>(buffers.at(out))});
    }
    for (unsigned i = 0; i <= nin; ++i) {
      const RegionPlan::Slot slot = operation.slots[i];
      if (buffers.at(slot) >= 0 && last_use.at(slot) == number) {
        free.push_back(std::exchange(buffers.at(slot), -1));
      }
    }
  }
}

std::unique_ptr<RegionPlan> RegionBuilder::finish(std::span<const int> outputs) {
  if (outputs.size() > kMaxRegionOutputs) {
    return nullptr;
  }
  for (const int number : outputs) {
    const Object& object = objects_[static_cast<std::size_t>(number)];
    plan_->outputs_.push_back({.descr = np_.descr[object.code],
                               .item_size = np_.item_size[object.code],
                               .slot = static_cast<RegionPlan::Slot>(object.slot)});
  }
  place_temporaries();
  for (RegionPlan::Operation& operation : plan_->operations_) {
    operation.collects = plan_->float_units_ != FloatUnits::kNone && !operation.kernel->keeps_flags;
  }
  ++region_counts.planned;
  return std::move(plan_);
}

}  // namespace tagalong::array
