#include <algorithm>
#include <utility>

#include "replay/array/casts.h"
#include "replay/array/functions.h"
#include "replay/array/region_run.h"

namespace tagalong::array {

namespace {

unsigned same_size_integer(std::size_t item_size) {
  return item_size == 1 ? kUInt8 : item_size == 2 ? kUInt16 : item_size == 4 ? kUIntC : kULong;
}

}  // namespace

int RegionBuilder::external(PyObject* object, unsigned number) {
  Object known{.object = object, .code = classify(np_, object), .external = static_cast<std::int16_t>(number)};
  if (is_array(known.code) && !view_of(as_array(object), &known.place)) {
    known.code = kForeign;
  }
  objects_.push_back(known);
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

int RegionBuilder::view(ViewSpec spec, PyObject* const* externals) {
  PyObject* object = externals[spec.external];
  Object part{.object = object,
              .code = classify(np_, object),
              .external = static_cast<std::int16_t>(spec.external),
              .view = static_cast<std::int16_t>(plan_->views_.size())};
  if (!is_array(part.code) || !take_view(spec, externals, &part.place)) {
    return refuse(RegionReason::kLayout);
  }
  plan_->views_.push_back(std::move(spec));
  objects_.push_back(part);
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
  const Object& base = at(left);
  const Object& exponent = at(right);
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
    if (!is_array_object(right) || !is_python_number(at(left).code)) {
      return refuse(RegionReason::kOperator);
    }
    std::swap(left, right);
    py_op = reflected(py_op);
  }
  return apply({.ufunc = np_.ufunc(comparison(py_op)), .operands = {left, right}, .nin = 2});
}

int RegionBuilder::call(PyObject* ufunc, std::span<const int> operands, int out, int where) {
  if (Py_TYPE(ufunc) != np_.ufunc_type) {
    return refuse(RegionReason::kOther);
  }
  if (operands.empty() || operands.size() > kMaxInputs) {
    return refuse(RegionReason::kOther);
  }
  Request request{
      .ufunc = ufunc, .operands = {}, .nin = static_cast<unsigned>(operands.size()), .out = out, .where = where};
  std::copy(operands.begin(), operands.end(), request.operands.begin());
  return apply(request);
}

// A Python number that has the type of arrays beside it.
bool RegionBuilder::is_integer_number(int object, unsigned type) const {
  const OperandCode code = objects_[static_cast<std::size_t>(object)].code;
  const bool is_float = type == kFloat || type == kDouble;
  return np_.weak_scalars && ((code == kPyInt && (is_integer(type) || is_float)) || (code == kPyFloat && is_float));
}

int RegionBuilder::where(int condition, int one, int other) {
  const OperandCode first = at(one).code;
  const OperandCode second = at(other).code;
  const unsigned type = is_array(first) ? first : second;
  const bool fits = is_array(static_cast<OperandCode>(type)) && (first == type || is_integer_number(one, type)) &&
                    (second == type || is_integer_number(other, type));
  if (at(condition).code != kBool || !fits || cast_loop(type, type) == nullptr) {
    return refuse(RegionReason::kNoLoop);
  }
  Kernel kernel;
  kernel.usable = kernel.splittable = kernel.keeps_flags = true;
  kernel.float_units = FloatUnits::kNone;
  kernel.nin = 3;
  kernel.in_type = {kBool, static_cast<std::uint8_t>(type), static_cast<std::uint8_t>(type)};
  kernel.out_type = static_cast<std::uint8_t>(type);
  kernel.out_size = np_.item_size[type];
  kernel.loop = select_loop(kernel.out_size);
  return emit(kernel, {.ufunc = nullptr, .operands = {condition, one, other}, .nin = 3});
}

int RegionBuilder::astype(int operand, PyObject* descr) {
  const OperandCode from = at(operand).code;
  const auto* found = std::ranges::find(np_.descr, descr);
  const auto to = static_cast<unsigned>(found - np_.descr.begin());
  if (!is_array_object(operand) || !is_array(from) || found == np_.descr.end()) {
    return refuse(RegionReason::kForeign);
  }
  Kernel kernel;
  kernel.loop = from == to ? cast_loop(same_size_integer(np_.item_size[to]), same_size_integer(np_.item_size[to]))
                           : unsafe_cast_loop(from, to);
  if (kernel.loop == nullptr || unsafe_cast_loop(from, to) == nullptr) {
    return refuse(RegionReason::kNoLoop);
  }
  kernel.usable = kernel.splittable = kernel.keeps_flags = true;
  kernel.float_units = is_floating(from) ? FloatUnits::kVector : FloatUnits::kNone;
  kernel.nin = 1;
  kernel.in_type = {from};
  kernel.out_type = static_cast<std::uint8_t>(to);
  kernel.out_size = np_.item_size[to];
  const int result = emit(kernel, {.ufunc = nullptr, .operands = {operand}, .nin = 1});
  if (result >= 0) {
    plan_->operations_.back().is_copy = true;
  }
  return result;
}

// As ndarray.clip does it since 2.0.
int RegionBuilder::clip(int operand, int low, int high) {
  const Ref ufunc = Ref::steal(PyObject_GetAttrString(np_.umath, "clip"));
  PyErr_Clear();
  if (!ufunc || np_.major < 2 || !is_array_object(operand)) {
    return refuse(RegionReason::kOther);
  }
  return apply({.ufunc = ufunc.get(), .operands = {operand, low, high}, .nin = 3});
}

int RegionBuilder::assign(int target, int value) {
  Object& part = at(target);
  const Object& from = at(value);
  if (!from.is_result || from.is_column || part.external < 0 || !is_array(part.code) || !(part.place.shape == space_)) {
    return refuse(from.is_result ? RegionReason::kShape : RegionReason::kOther);
  }
  const StridedLoop loop = unsafe_cast_loop(from.code, part.code);
  const int slot = loop == nullptr || plan_->operations_.size() == kMaxRegionOperations ? -1 : new_slot();
  if (slot < 0) {
    return refuse(loop == nullptr ? RegionReason::kNoLoop : RegionReason::kLimit);
  }
  RegionPlan::Operation copy{
      .loop = loop, .nin = 1, .out_size = np_.item_size[part.code], .keeps_flags = true, .is_cast = true};
  copy.exact = from.code == kDouble && part.code == kDouble ? Exact::kCopy : Exact::kNone;
  copy.slots[0] = static_cast<RegionPlan::Slot>(from.slot);
  copy.slots[1] = static_cast<RegionPlan::Slot>(slot);
  plan_->operations_.push_back(copy);
  if (is_floating(from.code) && from.code != part.code) {
    plan_->float_units_ = std::max(plan_->float_units_, FloatUnits::kVector);
  }
  ++plan_->calls_;
  return write(&part, slot) ? target : refuse(RegionReason::kLimit);
}

// What is reduced may be an array that is there already, as long as nothing is written: one row of memory.
bool RegionBuilder::may_be_reduced(int operand) {
  Object& object = at(operand);
  if (object.is_result || object.target >= 0) {
    return !object.is_column;
  }
  if (!is_array(object.code) || object.object == nullptr || object.view >= 0 || !plan_->targets_.empty() ||
      object.place.shape.nd == 0 || (has_space_ && !(object.place.shape == space_)) ||
      slot_of(operand, object.code) < 0) {
    return false;
  }
  space_ = object.place.shape;
  has_space_ = true;
  plan_->reduces_inputs_ = true;
  return true;
}

int RegionBuilder::reduce(Reduction reduction, int operand) {
  const ReductionKernel& kernel = reduction_kernel(np_, reduction, at(operand).code);
  if (plan_->is_staged_ || kernel.takes_rows) {
    return refuse(RegionReason::kReduction);
  }
  if (kernel.loop == nullptr) {
    return refuse(RegionReason::kLoop);
  }
  if (!may_be_reduced(operand)) {
    return refuse(RegionReason::kOther);
  }
  const Object& object = at(operand);
  const std::size_t before = plan_->operations_.size();
  const int slot = object.code == kernel.from ? object.slot : cast_slot(object.slot, object.code, kernel.from);
  if (slot < 0 || plan_->reductions_.size() == kMaxRegionReductions) {
    plan_->operations_.resize(before);
    return refuse(RegionReason::kLimit);
  }
  if (kernel.is_pairwise &&
      std::ranges::any_of(plan_->folds_, [](const auto& fold) { return fold.kernel->is_pairwise; })) {
    plan_->operations_.resize(before);
    return refuse(RegionReason::kReduction);
  }
  objects_.push_back({.reduction = static_cast<std::int16_t>(plan_->reductions_.size())});
  plan_->reductions_.push_back(
      {.kernel = &kernel, .reduction = reduction, .slot = static_cast<RegionPlan::Slot>(slot)});
  plan_->is_tree_ = plan_->is_tree_ || kernel.is_pairwise;
  plan_->is_serial_ = plan_->is_serial_ || !kernel.is_pairwise;
  plan_->float_units_ = std::max(plan_->float_units_, kernel.float_units);
  ++plan_->calls_;
  return static_cast<int>(objects_.size()) - 1;
}

int RegionBuilder::reduce(Reduction reduction, int operand, std::span<const int> axes, bool keeps_dims) {
  const ReductionKernel& kernel = reduction_kernel(np_, reduction, at(operand).code);
  if (kernel.loop == nullptr || axes.empty() || (kernel.takes_rows && keeps_dims)) {
    return refuse(RegionReason::kLoop);
  }
  if (!may_be_reduced(operand)) {
    return refuse(RegionReason::kOther);
  }
  const Object& object = at(operand);
  FoldAxes reduced{.keeps_dims = keeps_dims};
  for (const int axis : axes) {
    const int place = axis < 0 ? axis + space_.nd : axis;
    if (place < 0 || place >= space_.nd || reduced.has(place)) {
      return refuse(RegionReason::kShape);  // eager execution raises
    }
    reduced.mask |= static_cast<std::uint8_t>(1U << static_cast<unsigned>(place));
  }
  if (static_cast<int>(axes.size()) == space_.nd && !keeps_dims) {
    plan_->nd_ = space_.nd;
    return reduce(reduction, operand);
  }
  if ((kernel.takes_rows && plan_->is_staged_) || (kernel.is_pairwise && plan_->is_tree_) ||
      (plan_->is_staged_ && plan_->folds_[0].axes.mask != reduced.mask)) {
    return refuse(RegionReason::kReduction);
  }
  const std::size_t before = plan_->operations_.size();
  const int slot = object.code == kernel.from ? object.slot : cast_slot(object.slot, object.code, kernel.from);
  const int column = slot < 0 ? -1 : new_slot();
  if (column < 0 || plan_->folds_.size() == kMaxRegionFolds || plan_->operations_.size() >= kMaxRegionOperations) {
    plan_->operations_.resize(before);
    return refuse(RegionReason::kLimit);
  }
  const auto number = static_cast<std::int16_t>(plan_->folds_.size());
  RegionPlan::Operation fold{.nin = 1,
                             .out_size = kernel.item_size,
                             .stage = RegionPlan::Stage::kFold,
                             .drops_axes = !keeps_dims,
                             .fold = number};
  fold.slots[0] = static_cast<RegionPlan::Slot>(slot);
  fold.slots[1] = static_cast<RegionPlan::Slot>(column);
  plan_->operations_.push_back(fold);
  objects_.push_back({.code = kernel.type,
                      .is_result = true,
                      .slot = column,
                      .fold = number,
                      .is_column = true,
                      .drops_axes = !keeps_dims});
  plan_->folds_.push_back(
      {.kernel = &kernel, .reduction = reduction, .axes = reduced, .slot = static_cast<RegionPlan::Slot>(slot)});
  plan_->nd_ = space_.nd;
  plan_->is_serial_ = true;
  plan_->float_units_ = std::max(plan_->float_units_, kernel.float_units);
  ++plan_->calls_;
  return static_cast<int>(objects_.size()) - 1;
}

// The object's contents are those of the slot from now on.
bool RegionBuilder::write(Object* object, int slot) {
  if (object->external >= 0) {
    if (object->target < 0) {
      if (plan_->targets_.size() == kMaxRegionOutputs) {
        return false;
      }
      object->target = static_cast<int>(plan_->targets_.size());
      plan_->targets_.push_back({.external = static_cast<std::uint16_t>(object->external),
                                 .view = object->view,
                                 .type = object->code,
                                 .written = plan_->operations_.size() - 1});
    }
    plan_->targets_[static_cast<std::size_t>(object->target)].slot = static_cast<RegionPlan::Slot>(slot);
  }
  object->slot = slot;
  return true;
}

// What one reduction gives becomes an operand of what follows: blocks are whole rows from now on.
bool RegionBuilder::stage() {
  if (plan_->is_staged_) {
    return true;
  }
  const FoldAxes& axes = plan_->folds_[0].axes;
  Extent row = 1;
  bool is_c = true;  // the axes are the last ones, or the first ones
  bool is_f = true;
  for (int axis = 0; axis < space_.nd; ++axis) {
    row *= axes.has(axis) ? space_.dims[axis] : 1;
    is_c = is_c && (axis == 0 || !axes.has(axis - 1) || axes.has(axis));
    is_f = is_f && (axis == 0 || axes.has(axis - 1) || !axes.has(axis));
  }
  for (const Object& object : objects_) {
    if (object.slot >= 0 && !object.is_result && object.place.shape == space_) {
      is_c = is_c && object.place.is_contiguous(np_.item_size[object.code], false);
      is_f = is_f && object.place.is_contiguous(np_.item_size[object.code], true);
    }
  }
  const bool are_alike = std::ranges::all_of(plan_->folds_, [&](const RegionPlan::Folded& fold) {
    return fold.axes.mask == axes.mask && !fold.kernel->takes_rows;
  });
  if (row < 2 || row > kMostRow || (!is_c && !is_f) || !are_alike || !plan_->reductions_.empty()) {
    return false;
  }
  plan_->is_staged_ = true;
  return true;
}

Shape RegionBuilder::shape_of(const Object& object) const {
  if (object.is_column) {
    return plan_->column_shape(space_, object.drops_axes);
  }
  return object.is_result ? space_ : object.place.shape;
}

// The result has the shape that all results have, which the first operation decides, or that of a column.
bool RegionBuilder::fits(const Request& request, bool* is_column) {
  Shape shape;
  bool has_columns = false;
  bool has_others = false;
  bool drops_axes = false;
  if (request.where >= 0 && !broadcast(shape_of(at(request.where)), &shape)) {
    return false;
  }
  for (unsigned i = 0; i < request.nin; ++i) {
    const Object& object = at(request.operands[i]);
    if (!is_array(object.code)) {
      continue;
    }
    if (!broadcast(shape_of(object), &shape)) {
      return false;
    }
    if (object.is_column && has_columns && object.drops_axes != drops_axes) {
      return false;
    }
    drops_axes = drops_axes || object.drops_axes;
    has_columns = has_columns || object.is_column;
    has_others = has_others || !object.is_column;
  }
  if (request.inplace && !(shape_of(at(request.operands[0])) == shape)) {
    return false;
  }
  if (request.out >= 0 && !(shape_of(at(request.out)) == shape)) {
    return false;
  }
  if (has_columns && ((has_others && drops_axes) || !stage())) {
    return false;
  }
  *is_column = has_columns && !has_others;
  if (*is_column && request.where >= 0) {
    return false;
  }
  if (*is_column) {
    return request.out < 0 || at(request.out).is_column;
  }
  if (!has_space_) {
    space_ = shape;
    has_space_ = true;
    return true;
  }
  return shape == space_;
}

int RegionBuilder::scalar_slot(int number, unsigned type) {
  const Object& object = at(number);
  const auto [known, is_new] = scalar_slots_.emplace(std::pair{number, type}, -1);
  if (!is_new) {
    return known->second;
  }
  RegionPlan::Constant value{};
  if (!read_scalar(np_, object.object, object.code, type, value.bytes.data()) ||
      (!object.is_constant && plan_->scalars_.size() == kMaxRegionScalars)) {
    scalar_slots_.erase(known);
    reason_ = RegionReason::kNumber;
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

int RegionBuilder::cast_slot(int slot, unsigned from, unsigned to, bool is_column) {
  const auto [known, is_new] = cast_slots_.emplace(std::pair{slot, to}, -1);
  if (!is_new) {
    return known->second;
  }
  const StridedLoop loop = cast_loop(from, to);
  if (loop == nullptr || plan_->operations_.size() == kMaxRegionOperations) {
    cast_slots_.erase(known);
    return -1;
  }
  const int out = known->second = new_slot();
  if (out >= 0) {
    RegionPlan::Operation cast{
        .loop = loop, .nin = 1, .out_size = np_.item_size[to], .keeps_flags = true, .is_cast = true};
    cast.slots[0] = static_cast<RegionPlan::Slot>(slot);
    cast.slots[1] = static_cast<RegionPlan::Slot>(out);
    cast.stage = is_column ? RegionPlan::Stage::kColumn : RegionPlan::Stage::kElements;
    if (is_integer(from) && is_integer(to) && np_.item_size[from] == np_.item_size[to]) {
      cast.layout_of = static_cast<std::int16_t>(slot);  // two types for the same integers: nothing is cast
    }
    plan_->operations_.push_back(cast);
    plan_->is_iterated_ = true;
    if (is_floating(from)) {
      plan_->float_units_ = std::max(plan_->float_units_, FloatUnits::kVector);
    }
  }
  return out;
}

// The elements of a column, each for a whole row.
int RegionBuilder::spread_slot(int slot, unsigned type) {
  const auto [known, is_new] = spread_slots_.emplace(slot, -1);
  if (!is_new) {
    return known->second;
  }
  const int out = plan_->operations_.size() == kMaxRegionOperations ? -1 : new_slot();
  if (out < 0) {
    spread_slots_.erase(known);
    return -1;
  }
  known->second = out;
  RegionPlan::Operation spread{
      .nin = 1, .out_size = np_.item_size[type], .keeps_flags = true, .stage = RegionPlan::Stage::kSpread};
  spread.slots[0] = static_cast<RegionPlan::Slot>(slot);
  spread.slots[1] = static_cast<RegionPlan::Slot>(out);
  plan_->operations_.push_back(spread);
  return out;
}

// Where a loop that takes this type finds the object.
int RegionBuilder::slot_of(int number, unsigned type) {
  Object& object = at(number);
  if (!is_array(object.code)) {
    return scalar_slot(number, type);
  }
  if (object.slot < 0) {
    if (plan_->inputs_.size() == kMaxRegionInputs || (object.slot = new_slot()) < 0) {
      return -1;
    }
    plan_->inputs_.push_back({.external = static_cast<std::uint16_t>(object.external),
                              .view = object.view,
                              .type = object.code,
                              .slot = static_cast<RegionPlan::Slot>(object.slot)});
  }
  return object.code == type ? object.slot : cast_slot(object.slot, object.code, type, object.is_column);
}

int RegionBuilder::apply(const Request& request) {
  OperandCodes codes;
  for (unsigned i = 0; i < request.nin; ++i) {
    const Object& object = at(request.operands[i]);
    if (object.code == kForeign) {
      return refuse(RegionReason::kForeign);
    }
    codes.set(i, object.code);
  }
  const Kernel& kernel = kernel_for(np_, request.ufunc, codes);
  if (!kernel.usable && !kernel.casts) {
    return refuse(RegionReason::kNoLoop);
  }
  if (!kernel.splittable) {
    return refuse(RegionReason::kLoop);
  }
  if (request.inplace && (!is_array(codes[0]) || kernel.out_type != codes[0] || !kernel.alias_safe)) {
    return refuse(RegionReason::kInPlace);
  }
  // Where eager computes into a temporary of one of two types for the same integers, the result has that one.
  for (unsigned i = 0; i < request.nin; ++i) {
    const OperandCode code = codes[i];
    if (request.elision != Elision::kNever && (request.temporaries >> i & 1U) != 0 && is_array(code) &&
        is_integer(code) && is_integer(kernel.out_type) && code != kernel.out_type &&
        np_.item_size[code] == kernel.out_size) {
      return refuse(RegionReason::kLoop);
    }
  }
  if (request.out >= 0 && at(request.out).code != kernel.out_type) {
    return refuse(RegionReason::kInPlace);
  }
  // Without `out` nobody knows what is elsewhere.
  if (request.where >= 0 &&
      (request.out < 0 || at(request.where).code != kBool || at(request.where).is_column || kernel.nin > 2)) {
    return refuse(RegionReason::kForeign);
  }
  return emit(kernel, request);
}

int RegionBuilder::emit(const Kernel& kernel, const Request& request) {
  reason_ = RegionReason::kLimit;
  if (operation_count() == kMaxRegionOperations) {
    return -1;
  }
  bool is_column = false;
  if (!fits(request, &is_column)) {
    return refuse(RegionReason::kShape);
  }
  const std::size_t before = plan_->operations_.size();
  RegionPlan::Operation operation{.loop = kernel.loop,
                                  .context = kernel.context,
                                  .auxdata = kernel.auxdata,
                                  .nin = kernel.nin,
                                  .out_size = kernel.out_size,
                                  .keeps_flags = kernel.keeps_flags,
                                  .is_iterated = request.ufunc == nullptr || kernel.casts_number,
                                  .cost = loop_cost(kernel)};
  operation.exact = is_column                                       ? Exact::kNone
                    : request.ufunc != nullptr                      ? exact_operation(kernel)
                    : kernel.out_type == kDouble && kernel.nin == 3 ? Exact::kSelect
                                                                    : Exact::kNone;
  plan_->is_iterated_ = plan_->is_iterated_ || operation.is_iterated;
  int slot = 0;
  bool has_spread = false;
  bool drops_axes = false;
  for (unsigned i = 0; i < request.nin && slot >= 0; ++i) {
    const Object& object = at(request.operands[i]);
    drops_axes = drops_axes || object.drops_axes;
    slot = slot_of(request.operands[i], kernel.in_type[i]);
    if (object.is_column && !is_column && slot >= 0) {
      slot = spread_slot(slot, kernel.in_type[i]);
      has_spread = true;
    }
    operation.slots[i] = static_cast<RegionPlan::Slot>(slot);
    operation.has_result =
        operation.has_result || (object.is_result && (!object.is_column || is_column)) || object.target >= 0;
  }
  if (request.where >= 0) {
    operation.is_masked = true;
    operation.exact = Exact::kNone;
    for (const int object : {request.where, request.out}) {
      slot = slot < 0 ? slot : slot_of(object, at(object).code);
      operation.slots.at(operation.nin++) = static_cast<RegionPlan::Slot>(slot);
      operation.has_result = operation.has_result || at(object).is_result || at(object).target >= 0;
    }
    plan_->has_masks_ = true;
  }
  const int out = slot < 0 || plan_->operations_.size() >= kMaxRegionOperations ? -1 : new_slot();
  operation.slots[operation.nin] = static_cast<RegionPlan::Slot>(out);
  if (out < 0) {
    plan_->operations_.resize(before);  // the region ends here; inputs without a use are harmless
    return -1;
  }
  operation.stage = is_column ? RegionPlan::Stage::kColumn : RegionPlan::Stage::kElements;
  operation.drops_axes = is_column && drops_axes;
  // Not where an operand has another shape.
  if (request.elision != Elision::kNever && !has_spread &&
      !(request.nin == 2 && request.operands[0] == request.operands[1])) {
    operation.elidable = static_cast<std::uint8_t>(kernel.elidable & request.temporaries &
                                                   (request.elision == Elision::kCommutative ? 3U : 1U));
    for (unsigned i = 0; i < 2 && i < request.nin; ++i) {
      const Object& object = at(request.operands[i]);
      operation.externals.at(i) = object.external;
      if (object.view >= 0) {
        operation.elidable &= static_cast<std::uint8_t>(~(1U << i));  // its memory is somebody else's
      }
    }
  }
  const int target = request.inplace ? request.operands[0] : request.out;
  if (target >= 0) {
    operation.layout_of = static_cast<std::int16_t>(at(target).slot);  // the loop's own input, or what it was before
  }
  plan_->operations_.push_back(operation);
  plan_->float_units_ = std::max(plan_->float_units_, kernel.float_units);
  plan_->depends_on_strides_ =
      plan_->depends_on_strides_ || (is_floating(kernel.out_type) && !kernel.alias_safe && request.ufunc != nullptr &&
                                     kernel.name != "clip" && (request.where >= 0 || !takes_one_result(request)));
  plan_->is_serial_ = plan_->is_serial_ || (kernel.name == "power" && is_integer(kernel.out_type));
  plan_->shows_signs_ = plan_->shows_signs_ || kernel.name == "signbit" || kernel.name == "copysign" ||
                        kernel.name == "fmax" || kernel.name == "fmin";
  if (target >= 0) {
    if (!write(&at(target), out)) {
      plan_->operations_.resize(before);
      return -1;
    }
    if (operation.layout_of < 0) {
      plan_->operations_.back().target = static_cast<std::int16_t>(at(target).target);
    }
    ++plan_->calls_;
    return target;
  }
  ++plan_->calls_;
  ++plan_->made_;
  objects_.push_back({.code = kernel.out_type,
                      .is_result = true,
                      .slot = out,
                      .is_column = is_column,
                      .drops_axes = operation.drops_axes});
  return static_cast<int>(objects_.size()) - 1;
}

// What an operation has made is one row of memory, and alone it is taken as such.
bool RegionBuilder::takes_one_result(const Request& request) const {
  unsigned arrays = 0;
  bool are_results = true;
  for (unsigned i = 0; i < request.nin; ++i) {
    const Object& object = objects_[static_cast<std::size_t>(request.operands[i])];
    arrays += is_array(object.code) ? 1 : 0;
    are_results = are_results && (!is_array(object.code) || object.is_result);
  }
  return arrays == 1 && are_results;
}

void RegionBuilder::add_costs() {
  const bool is_joined = !plan_->steps_.empty();
  plan_->cost_ = static_cast<Extent>(plan_->reductions_.size() * kReductionCost);
  for (const RegionPlan::Operation& operation : plan_->operations_) {
    plan_->cost_ += is_joined && operation.exact != Exact::kNone ? joined_cost(operation.exact) : operation.cost;
  }
}

std::unique_ptr<RegionPlan> RegionBuilder::finish(std::span<const int> outputs) {
  if (outputs.size() > kMaxRegionOutputs) {
    return nullptr;
  }
  for (const int number : outputs) {
    const Object& object = at(number);
    if (object.reduction >= 0) {
      plan_->outputs_.push_back({.reduction = object.reduction, .fold = -1});
      continue;
    }
    if (object.fold >= 0 && !plan_->is_staged_) {
      plan_->outputs_.push_back({.reduction = -1, .fold = object.fold});
      continue;
    }
    plan_->outputs_.push_back({.descr = object.is_result ? np_.descr[object.code] : nullptr,
                               .external = static_cast<std::uint16_t>(std::max<int>(object.external, 0)),
                               .reduction = -1,
                               .fold = -1,
                               .item_size = np_.item_size[object.code],
                               .slot = static_cast<RegionPlan::Slot>(object.slot),
                               .type = object.code,
                               .is_column = object.is_column,
                               .drops_axes = object.drops_axes});
  }
  Joined joined;
  join_exact(&joined);
  place_temporaries(joined);
  add_costs();
  for (RegionPlan::Operation& operation : plan_->operations_) {
    operation.collects = plan_->float_units_ != FloatUnits::kNone && !operation.keeps_flags;
  }
  plan_->slots_ = static_cast<std::size_t>(slots_);
  ++region_counts.planned;
  return std::move(plan_);
}

}  // namespace tagalong::array
