#include "replay/arrays/planning/plan_builder.h"

#include <algorithm>
#include <utility>

#include "replay/arrays/fusion/small_plan.h"
#include "replay/arrays/kernels/casts.h"
#include "replay/arrays/kernels/functions.h"
#include "replay/arrays/kernels/vector_operation.h"
#include "replay/arrays/planning/common_type.h"
#include "replay/arrays/planning/kernel_fusion.h"
#include "replay/arrays/planning/plan_memory.h"
#include "replay/codegen/vector/svml_functions.h"

namespace tagalong::array {

namespace {

unsigned same_size_integer(std::size_t item_size) {
  return item_size == 1 ? kUInt8 : item_size == 2 ? kUInt16 : item_size == 4 ? kUIntC : kULong;
}

// Whether the loop may use another algorithm for strided operands.
bool may_follow_strides(const Kernel& kernel) {
  return is_floating(kernel.out_type) && !kernel.has_complex && !has(kernel.known, ufunc_trait::kIgnoresStrides) &&
         (!kernel.alias_safe || is_vector_loop(kernel.loop));
}

}  // namespace

int FusionPlanBuilder::add(const ArrayVerb& verb) {
  using Kind = ArrayVerb::Kind;
  if (!verb.fits()) {
    return refuse(FusionReason::kOther);
  }
  const auto is_changed = [&](int number) { return number >= 0 && operands_.is_changed(number); };
  if (std::ranges::any_of(verb.operands, is_changed) || is_changed(verb.out) || is_changed(verb.where)) {
    return refuse(FusionReason::kOverlap);
  }
  switch (verb.kind) {
    case Kind::kBinary:
      return binary(verb);
    case Kind::kUnary:
      return unary(verb);
    case Kind::kCompare:
      return compare(verb);
    case Kind::kCall:
      return call(verb);
    case Kind::kWhere:
      return where(verb);
    case Kind::kAstype:
      return astype(verb);
    case Kind::kClip:
      return clip(verb);
    case Kind::kConjugate:
      return conjugate(verb);
    case Kind::kAssign:
      return assign(verb);
    case Kind::kReduce:
      return reduce(verb);
    case Kind::kRoll:
      return roll(verb);
    case Kind::kComponent:
      return component(verb);
    case Kind::kRound:
      return round(verb);
    case Kind::kCount:
      break;
  }
  return refuse(FusionReason::kOther);
}

// --- The ufunc or the loop of each verb

int FusionPlanBuilder::binary(const ArrayVerb& verb) {
  const auto op = static_cast<BinaryOperator>(verb.code);
  const int left = verb.operands[0];
  const int right = verb.operands[1];
  const OperatorRow& row = operator_row(op);
  if (row.ufunc == UfuncName::kCount || (!operands_.is_array_object(left) && !operands_.is_array_object(right))) {
    return refuse(FusionReason::kOperator);
  }
  // An in-place operator whose left operand is not an array is the plain operator.
  const bool inplace = is_inplace(op) && operands_.is_array_object(left);
  Request request{.ufunc = np_.ufunc(row.ufunc),
                  .operands = {left, right},
                  .nin = 2,
                  .temporaries = inplace ? 0 : verb.temporaries,
                  .elision = row.elision,
                  .inplace = inplace};
  if (row.ufunc == UfuncName::kFloorDivide && type_of(left) == kBool && (request.temporaries & 3U) != 0) {
    return refuse(FusionReason::kOperator);  // where eager elides, it raises: a temporary of bools holds no integers
  }
  if (row.ufunc != UfuncName::kPower) {
    return apply(request);
  }
  const Object& base = at(left);
  const Object& exponent = at(right);
  UfuncName fast = UfuncName::kCount;
  if (!is_array(exponent.code) && !exponent.is_constant) {
    return refuse(FusionReason::kExponent);
  }
  switch (power_kind(np_, base.code, exponent.code, exponent.object, &fast)) {
    case PowerKind::kUnknown:
      return refuse(FusionReason::kExponent);
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

int FusionPlanBuilder::unary(const ArrayVerb& verb) {
  if (!operands_.is_array_object(verb.operands[0])) {
    return refuse(FusionReason::kOperator);
  }
  return apply({.ufunc = np_.ufunc(unary_ufunc(static_cast<UnaryOperator>(verb.code))),
                .operands = {verb.operands[0]},
                .nin = 1,
                .temporaries = verb.temporaries,
                .elision = Elision::kLeft});
}

int FusionPlanBuilder::compare(const ArrayVerb& verb) {
  int py_op = verb.code;
  int left = verb.operands[0];
  int right = verb.operands[1];
  if (!operands_.is_array_object(left)) {
    // NumPy scalars handle a comparison themselves; Python numbers leave it to the array, with the operator reflected.
    if (!operands_.is_array_object(right) || !is_python_number(at(left).code)) {
      return refuse(FusionReason::kOperator);
    }
    std::swap(left, right);
    py_op = reflected(py_op);
  }
  return apply({.ufunc = np_.ufunc(comparison(py_op)), .operands = {left, right}, .nin = 2});
}

int FusionPlanBuilder::call(const ArrayVerb& verb) {
  if (Py_TYPE(verb.object) != np_.ufunc_type || verb.operands.size() > kMaxInputs) {
    return refuse(FusionReason::kOther);
  }
  Request request{.ufunc = verb.object,
                  .operands = {},
                  .nin = static_cast<unsigned>(verb.operands.size()),
                  .temporaries = verb.temporaries,
                  .elision = verb.temporaries == 0 ? Elision::kNever : Elision::kLeft,
                  .out = verb.out,
                  .where = verb.where};
  std::ranges::copy(verb.operands, request.operands.begin());
  return apply(request);
}

int FusionPlanBuilder::where(const ArrayVerb& verb) {
  const int condition = verb.operands[0];
  const int one = verb.operands[1];
  const int other = verb.operands[2];
  const unsigned type = common_type(np_, at(one).code, at(other).code);
  const auto is_castable = [&](int number) {
    return !is_array(at(number).code) || cast_loop(at(number).code, type) != nullptr;
  };
  if (at(condition).code != kBool || type == kTypeNumbers || cast_loop(type, type) == nullptr || !is_castable(one) ||
      !is_castable(other)) {
    return refuse(FusionReason::kNoLoop);
  }
  Kernel kernel;
  kernel.usable = kernel.splittable = kernel.keeps_flags = true;
  kernel.float_units = FloatUnits::kNone;
  kernel.nin = 3;
  kernel.in_type = {kBool, static_cast<std::uint8_t>(type), static_cast<std::uint8_t>(type)};
  kernel.out_type = static_cast<std::uint8_t>(type);
  kernel.out_size = np_.item_size[type];
  kernel.loop = select_loop(kernel.out_size);
  return emit(kernel, {.ufunc = nullptr, .operands = {condition, one, other}, .nin = 3, .name = verb.row().name});
}

int FusionPlanBuilder::astype(const ArrayVerb& verb) {
  const int operand = verb.operands[0];
  const OperandCode from = at(operand).code;
  const bool is_c_copy = verb.object == nullptr;
  const auto* found = std::ranges::find(np_.descr, verb.object);
  const auto to = is_c_copy ? unsigned{from} : static_cast<unsigned>(found - np_.descr.begin());
  if (!operands_.is_array_object(operand) || !is_array(from) || (!is_c_copy && found == np_.descr.end())) {
    return refuse(FusionReason::kForeign);
  }
  const int result = copy(operand, from, to, verb.row().name);
  if (result >= 0) {
    PlanOperation& operation = plan_->operations.back();
    operation.is_c_copy = is_c_copy;
    if (operation.extent == OperationExtent::kElements) {
      set_vector_operation(cast_operation(from, to, &operation.memory_type), &operation);
    }
  }
  return result;
}

// A new array like the operand, perhaps of another dtype.
int FusionPlanBuilder::copy(int operand, unsigned from, unsigned to, std::string_view name) {
  Kernel kernel;
  const unsigned copied = is_complex(to) ? to : same_size_integer(np_.item_size[to]);
  kernel.loop = from == to ? cast_loop(copied, copied) : unsafe_cast_loop(from, to);
  if (kernel.loop == nullptr || unsafe_cast_loop(from, to) == nullptr) {
    return refuse(FusionReason::kNoLoop);
  }
  kernel.usable = kernel.splittable = kernel.keeps_flags = true;
  kernel.float_units = cast_units(from, to);
  kernel.nin = 1;
  kernel.in_type = {static_cast<std::uint8_t>(from)};
  kernel.out_type = static_cast<std::uint8_t>(to);
  kernel.out_size = np_.item_size[to];
  const int result = emit(kernel, {.ufunc = nullptr, .operands = {operand}, .nin = 1, .name = name});
  if (result >= 0) {
    plan_->operations.back().is_copy = true;
  }
  return result;
}

int FusionPlanBuilder::roll(const ArrayVerb& verb) {
  const int operand = verb.operands[0];
  const OperandCode type = at(operand).code;
  if (!is_array(type) || at(operand).view < 0) {
    return refuse(FusionReason::kForeign);
  }
  const int result = copy(operand, type, type, verb.row().name);
  if (result >= 0) {
    set_vector_operation(lane_operation(VectorOp::kCopy, type), &plan_->operations.back());
    at(result).is_shared = verb.is_shared;
  }
  return result;
}

// As ndarray.clip does it since 1.26. Older versions may ignore a bound that is NaN.
int FusionPlanBuilder::clip(const ArrayVerb& verb) {
  const Ref ufunc = Ref::steal(PyObject_GetAttrString(np_.umath, "clip"));
  PyErr_Clear();
  constexpr int kMinor = 26;
  if (!ufunc || (np_.major < 2 && np_.minor < kMinor) || !operands_.is_array_object(verb.operands[0])) {
    return refuse(FusionReason::kOther);
  }
  return apply({.ufunc = ufunc.get(), .operands = {verb.operands[0], verb.operands[1], verb.operands[2]}, .nin = 3});
}

// The method of real arrays gives the array itself.
int FusionPlanBuilder::conjugate(const ArrayVerb& verb) {
  const Ref ufunc = Ref::steal(PyObject_GetAttrString(np_.umath, "conjugate"));
  PyErr_Clear();
  const int operand = verb.operands[0];
  if (!ufunc || !operands_.is_array_object(operand) || !is_array(at(operand).code) || !is_complex(type_of(operand))) {
    return refuse(FusionReason::kOther);
  }
  return apply({.ufunc = ufunc.get(), .operands = {operand}, .nin = 1});
}

// Of an array that the group makes. The view of an existing array is an operand like others.
int FusionPlanBuilder::component(const ArrayVerb& verb) {
  const int operand = verb.operands[0];
  const Object whole = at(operand);
  if (!whole.is_result || whole.is_column || (whole.code != kComplexFloat && whole.code != kComplexDouble)) {
    return refuse(FusionReason::kOther);
  }
  const int slot = operands_.component_slot(whole.slot, whole.code, verb.code != 0);
  if (slot < 0) {
    return refuse(FusionReason::kLimit);
  }
  at(operand).has_component = true;
  return operands_.add({.code = static_cast<OperandCode>(component_type(whole.code)),
                        .is_result = true,
                        .slot = slot,
                        .is_component = true});
}

int FusionPlanBuilder::assign(const ArrayVerb& verb) {
  const int target = verb.operands[0];
  const int value = verb.operands[1];
  Object& part = at(target);
  const Object& from = at(value);
  if (target == value && part.target >= 0) {
    return target;  // the end of an operation in place: the part has its new contents already
  }
  const bool is_computed = from.is_result || from.target >= 0;
  if (!is_computed || from.is_column || part.external < 0 || !is_array(part.code) ||
      !(part.place.shape == operands_.space())) {
    return refuse(is_computed ? FusionReason::kShape : FusionReason::kOther);
  }
  const StridedLoop loop = unsafe_cast_loop(from.code, part.code);
  const int slot = loop == nullptr || plan_->operations.size() == kMaxFusionOperations ? -1 : operands_.new_slot();
  if (slot < 0) {
    return refuse(loop == nullptr ? FusionReason::kNoLoop : FusionReason::kLimit);
  }
  PlanOperation copy{
      .loop = loop, .nin = 1, .out_size = np_.item_size[part.code], .keeps_flags = true, .is_cast = true};
  copy.name = "copy";
  copy.out_type = part.code;
  set_vector_operation(from.code == part.code ? lane_operation(VectorOp::kCopy, from.code)
                                              : cast_operation(from.code, part.code, &copy.memory_type),
                       &copy);
  copy.slots[0] = static_cast<Slot>(from.slot);
  copy.slots[1] = static_cast<Slot>(slot);
  copy.layout_of = static_cast<std::int16_t>(part.slot);
  plan_->operations.push_back(copy);
  if (from.code != part.code) {
    plan_->float_units = std::max(plan_->float_units, cast_units(from.code, part.code));
  }
  ++plan_->calls;
  if (!operands_.write(&part, slot)) {
    return refuse(FusionReason::kLimit);
  }
  if (copy.layout_of < 0) {
    plan_->operations.back().target = static_cast<std::int16_t>(part.target);
  }
  return target;
}

// --- Operations of the plan

int FusionPlanBuilder::apply(const Request& request) {
  OperandCodes codes;
  for (unsigned i = 0; i < request.nin; ++i) {
    const Object& object = at(request.operands[i]);
    if (object.code == kForeign) {
      return refuse(FusionReason::kForeign);
    }
    codes.set(i, object.code);
  }
  const Kernel& kernel = kernel_for(np_, request.ufunc, codes);
  if (!kernel.usable && !kernel.casts) {
    return refuse(FusionReason::kNoLoop);
  }
  if (!kernel.splittable) {
    return refuse(FusionReason::kLoop);
  }
  if (request.inplace &&
      (!is_array(codes[0]) || kernel.out_type != codes[0] || !(kernel.alias_safe || kernel.has_complex))) {
    return refuse(FusionReason::kInPlace);
  }
  // What is written into a view would have to be in the whole array, too.
  if (request.target() >= 0 && (at(request.target()).is_component || at(request.target()).has_component)) {
    return refuse(FusionReason::kInPlace);
  }
  if (may_follow_strides(kernel)) {
    if (takes_components(request)) {
      return refuse(FusionReason::kLoop);
    }
    if (request.ufunc != nullptr && takes_gaps(request)) {
      return refuse(FusionReason::kLayout);
    }
  }
  if (takes_quiet_nans(kernel, codes)) {
    return refuse(FusionReason::kNan);
  }
  // Where operand and result are the same elements with gaps between them, NumPy's squares have other bits.
  if (kernel.has_complex && kernel.known == UfuncName::kSquare && request.target() >= 0) {
    return refuse(FusionReason::kInPlace);
  }
  if (takes_other_integers(kernel, request)) {
    return refuse(FusionReason::kLoop);
  }
  if (request.out >= 0 && at(request.out).code != kernel.out_type) {
    return refuse(FusionReason::kInPlace);
  }
  // Without `out` the elements that are not selected are undefined.
  if (request.where >= 0 &&
      (request.out < 0 || at(request.where).code != kBool || at(request.where).is_column || kernel.nin > 2)) {
    return refuse(FusionReason::kForeign);
  }
  return emit(kernel, request);
}

// Where eager NumPy computes into a temporary of one of two types for the same integers, the result has that type.
bool FusionPlanBuilder::takes_other_integers(const Kernel& kernel, const Request& request) const {
  for (unsigned i = 0; i < request.nin && request.elision != Elision::kNever; ++i) {
    const OperandCode code = at(request.operands[i]).code;
    if ((request.temporaries >> i & 1U) != 0 && is_array(code) && is_integer(code) && is_integer(kernel.out_type) &&
        code != kernel.out_type && np_.item_size[code] == kernel.out_size) {
      return true;
    }
  }
  return false;
}

// Whether the operands' broadcast shape is the shape of all results, which the first operation decides, or that of a
// column.
bool FusionPlanBuilder::fits(const Request& request, bool* is_column) {
  Shape shape;
  bool has_columns = false;
  bool has_others = false;
  bool drops_axes = false;
  if (request.where >= 0 && !broadcast(operands_.shape_of(at(request.where)), &shape)) {
    return false;
  }
  for (unsigned i = 0; i < request.nin; ++i) {
    const Object& object = at(request.operands[i]);
    if (!is_array(object.code)) {
      continue;
    }
    if (!broadcast(operands_.shape_of(object), &shape)) {
      return false;
    }
    if (object.is_column && has_columns && object.drops_axes != drops_axes) {
      return false;
    }
    drops_axes = drops_axes || object.drops_axes;
    has_columns = has_columns || object.is_column;
    has_others = has_others || !object.is_column;
  }
  if (request.inplace && !(operands_.shape_of(at(request.operands[0])) == shape)) {
    return false;
  }
  if (request.out >= 0 && !(operands_.shape_of(at(request.out)) == shape)) {
    return false;
  }
  if (has_columns && ((has_others && drops_axes) || !cut_by_rows())) {
    return false;
  }
  *is_column = has_columns && !has_others;
  if (*is_column && request.where >= 0) {
    return false;
  }
  if (*is_column) {
    return request.out < 0 || at(request.out).is_column;
  }
  return operands_.take_space(shape);
}

int FusionPlanBuilder::emit(const Kernel& kernel, const Request& request) {
  refuse(FusionReason::kLimit);
  if (operation_count() == kMaxFusionOperations) {
    return -1;
  }
  bool is_column = false;
  if (!fits(request, &is_column)) {
    return refuse(FusionReason::kShape);
  }
  const std::size_t before = plan_->operations.size();
  PlanOperation operation{.loop = kernel.loop,
                          .context = kernel.context,
                          .auxdata = kernel.auxdata,
                          .nin = kernel.nin,
                          .out_size = kernel.out_size,
                          .keeps_flags = kernel.keeps_flags,
                          .is_iterated = request.ufunc == nullptr || kernel.casts_number,
                          .extent = is_column ? OperationExtent::kColumn : OperationExtent::kElements,
                          .cost = loop_cost(kernel),
                          .name = request.name.empty() ? std::string_view(kernel.name) : request.name,
                          .out_type = kernel.out_type};
  if (!is_column && request.ufunc != nullptr) {
    set_vector_operation(vector_operation(kernel), &operation);
  } else if (!is_column && kernel.nin == 3) {
    set_vector_operation(lane_operation(VectorOp::kSelect, kernel.out_type), &operation);
  }
  plan_->is_iterated = plan_->is_iterated || operation.is_iterated;
  const bool has_operands = take_operands(kernel, request, &operation) && take_mask(request, &operation);
  const int out = !has_operands || plan_->operations.size() >= kMaxFusionOperations ? -1 : operands_.new_slot();
  if (out < 0) {
    plan_->operations.resize(before);  // the fusion group ends here; unused inputs are harmless
    return -1;
  }
  operation.slots[operation.nin] = static_cast<Slot>(out);
  mark_elidable(kernel, request, &operation);
  const int target = request.target();
  if (target >= 0) {
    // The loop's own input, or the slot of the old contents.
    operation.layout_of = static_cast<std::int16_t>(at(target).slot);
  }
  operation.follows_strides =
      request.ufunc != nullptr && may_follow_strides(kernel) && (request.where >= 0 || !takes_one_result(request));
  plan_->operations.push_back(operation);
  note_traits(kernel, request);
  if (target >= 0 && !operands_.write(&at(target), out)) {
    plan_->operations.resize(before);
    return -1;
  }
  ++plan_->calls;
  if (target >= 0) {
    if (operation.layout_of < 0) {
      plan_->operations.back().target = static_cast<std::int16_t>(at(target).target);
    }
    return target;
  }
  ++plan_->new_array_operations;
  return operands_.add({.code = kernel.out_type,
                        .is_result = true,
                        .slot = out,
                        .is_column = is_column,
                        .drops_axes = operation.drops_axes});
}

// False: there are too many slots or casts, or a number does not fit into the loop's type.
bool FusionPlanBuilder::take_operands(const Kernel& kernel, const Request& request, PlanOperation* operation) {
  const bool is_column = operation->extent == OperationExtent::kColumn;
  for (unsigned i = 0; i < request.nin; ++i) {
    const Object& object = at(request.operands[i]);
    operation->drops_axes = operation->drops_axes || (is_column && object.drops_axes);
    int slot = operands_.slot_of(request.operands[i], kernel.in_type[i]);
    if (object.is_column && !is_column && slot >= 0) {
      slot = operands_.broadcast_slot(slot, kernel.in_type[i]);
    }
    if (slot < 0) {
      return false;
    }
    operation->slots[i] = static_cast<Slot>(slot);
    operation->has_result =
        operation->has_result || (object.is_result && (!object.is_column || is_column)) || object.target >= 0;
  }
  return true;
}

// Adds the mask of `where=`, and the array whose elements stay where the mask is false.
bool FusionPlanBuilder::take_mask(const Request& request, PlanOperation* operation) {
  if (request.where < 0) {
    return true;
  }
  operation->is_masked = true;
  operation->vector_op = VectorOp::kNone;
  plan_->has_masks = true;
  for (const int number : {request.where, request.out}) {
    const int slot = operands_.slot_of(number, at(number).code);
    if (slot < 0) {
      return false;
    }
    operation->slots.at(operation->nin++) = static_cast<Slot>(slot);
    operation->has_result = operation->has_result || at(number).is_result || at(number).target >= 0;
  }
  return true;
}

// Eager NumPy does not elide where an operand has another shape, or where both operands are one array.
void FusionPlanBuilder::mark_elidable(const Kernel& kernel, const Request& request, PlanOperation* operation) const {
  const bool is_column = operation->extent == OperationExtent::kColumn;
  const auto is_broadcast = [&](int number) { return at(number).is_column && !is_column; };
  if (request.elision == Elision::kNever ||
      std::any_of(request.operands.begin(), request.operands.begin() + request.nin, is_broadcast) ||
      (request.nin == 2 && request.operands[0] == request.operands[1])) {
    return;
  }
  operation->elidable = static_cast<std::uint8_t>(kernel.elidable & request.temporaries &
                                                  (request.elision == Elision::kCommutative ? 3U : 1U));
  for (unsigned i = 0; i < 2 && i < request.nin; ++i) {
    const Object& object = at(request.operands[i]);
    operation->externals.at(i) = object.external;
    if (object.view >= 0 || object.is_shared || object.is_component) {
      operation->elidable &= static_cast<std::uint8_t>(~(1U << i));  // a view has no memory of its own
    }
  }
}

// Notes what the loop demands of the whole group.
void FusionPlanBuilder::note_traits(const Kernel& kernel, const Request& request) {
  plan_->float_units = std::max(plan_->float_units, kernel.float_units);
  const bool follows_strides = plan_->operations.back().follows_strides;
  plan_->depends_on_strides = plan_->depends_on_strides || follows_strides;
  plan_->needs_rows = plan_->needs_rows || (follows_strides && request.where >= 0);
  plan_->is_serial =
      plan_->is_serial || (has(kernel.known, ufunc_trait::kRaisesForIntegers) && is_integer(kernel.out_type));
  // NumPy's loops take a computation into an operand for a reduction where there is one element. Single complex numbers
  // with a negative stride are multiplied in another way.
  const auto* end = request.operands.begin() + request.nin;
  const bool updates_operand = std::find(request.operands.begin(), end, request.target()) != end;
  plan_->may_differ_alone = plan_->may_differ_alone || (updates_operand && is_floating(kernel.out_type)) ||
                            kernel.has_complex || (request.target() >= 0 && is_complex(kernel.out_type));
  plan_->has_complex = plan_->has_complex || kernel.has_complex;
  plan_->shows_signs = plan_->shows_signs || has(kernel.known, ufunc_trait::kShowsSigns);
}

// Processors make the signalling NaNs of float16 numbers quiet where they convert them, which fmin and fmax notice.
bool FusionPlanBuilder::takes_quiet_nans(const Kernel& kernel, const OperandCodes& codes) const {
  if ((kernel.known != UfuncName::kFmin && kernel.known != UfuncName::kFmax) || kernel.out_type == kHalf) {
    return false;
  }
  bool is_converted = std::ranges::any_of(
      plan_->operations, [](const PlanOperation& operation) { return operation.is_cast && operation.is_half; });
  for (unsigned i = 0; i < kernel.nin; ++i) {
    is_converted = is_converted || codes[i] == kHalf;
  }
  return is_converted;
}

bool FusionPlanBuilder::takes_components(const Request& request) const {
  return std::any_of(request.operands.begin(), request.operands.begin() + request.nin,
                     [&](int operand) { return at(operand).is_component; });
}

// Whether an operand is a part of an array, or has several axes, and is not contiguous.
bool FusionPlanBuilder::takes_gaps(const Request& request) const {
  return std::any_of(request.operands.begin(), request.operands.begin() + request.nin, [&](int operand) {
    const Object& object = at(operand);
    if (!is_array(object.code) || object.is_result || (object.view < 0 && object.place.shape.nd < 2)) {
      return false;
    }
    const Extent item_size = np_.item_size[object.code];
    return !object.place.is_contiguous(item_size, false) && !object.place.is_contiguous(item_size, true);
  });
}

// The result of an operation is one row of memory. As the only array operand it is passed to the loop as such.
bool FusionPlanBuilder::takes_one_result(const Request& request) const {
  unsigned arrays = 0;
  bool are_results = true;
  for (unsigned i = 0; i < request.nin; ++i) {
    const Object& object = at(request.operands[i]);
    arrays += is_array(object.code) ? 1 : 0;
    are_results = are_results && (!is_array(object.code) || (object.is_result && !object.is_component));
  }
  return arrays == 1 && are_results;
}

// --- The end of the group

bool FusionPlanBuilder::is_profitable_alone() const {
  return !plan_->reductions.empty() || !plan_->axis_reductions.empty() || operands_.are_several_rows() ||
         std::ranges::any_of(plan_->operations, &PlanOperation::is_cast);
}

PlanOutput FusionPlanBuilder::output_of(const Object& object) const {
  if (object.reduction >= 0) {
    return {.reduction = object.reduction, .axis_reduction = -1};
  }
  if (object.axis_reduction >= 0 && !plan_->is_cut_by_rows()) {
    return {.reduction = -1, .axis_reduction = object.axis_reduction};
  }
  return {.descr = object.is_result ? np_.descr[object.code] : nullptr,
          .external = static_cast<std::uint16_t>(std::max<int>(object.external, 0)),
          .reduction = -1,
          .axis_reduction = -1,
          .item_size = np_.item_size[object.code],
          .slot = static_cast<Slot>(object.slot),
          .type = object.code,
          .is_column = object.is_column,
          .drops_axes = object.drops_axes,
          .is_shared = object.is_shared};
}

void FusionPlanBuilder::note_item_bytes() {
  std::size_t& bytes = plan_->item_bytes;
  for (const PlanOperation& operation : plan_->operations) {
    bytes = std::max<std::size_t>(bytes, operation.out_size);
  }
  for (const PlanInput& input : plan_->inputs) {
    bytes = std::max<std::size_t>(bytes, np_.item_size[input.type]);
  }
}

std::unique_ptr<FusionGroup> FusionPlanBuilder::finish(std::span<const int> outputs) {
  if (outputs.size() > kMaxFusionOutputs) {
    return nullptr;
  }
  for (const int number : outputs) {
    plan_->outputs.push_back(output_of(at(number)));
  }
  remove_unread(plan_.get());
  const auto is_part = [](const auto& array) { return array.view >= 0; };
  if (std::ranges::none_of(plan_->inputs, is_part) && std::ranges::none_of(plan_->targets, is_part)) {
    plan_->views.clear();  // operations that were refused have taken parts
  }
  note_item_bytes();
  const KernelFusion::Steps steps = KernelFusion(np_, plan_.get()).fuse();
  choose_reused_buffer(np_, reused_, plan_.get());
  assign_temporaries(steps, plan_.get());
  add_costs(plan_.get());
  for (PlanOperation& operation : plan_->operations) {
    operation.collects = plan_->float_units != FloatUnits::kNone && !operation.keeps_flags;
  }
  plan_->is_small = may_be_small(*plan_);
  if (plan_->is_small && !plan_->is_fused) {
    record_item_sizes(np_, plan_.get());
  }
  ++fusion_counts.planned;
  return std::make_unique<FusionGroup>(std::move(*plan_));
}

// Of an array only the shape and dtype matter to the planner; its memory is not filled.
Ref FusionPlanBuilder::placeholder(int object) const {
  const Object& known = at(object);
  Ref made;
  if (known.reduction >= 0) {
    made = Ref::steal(
        make_scalar(np_, plan_->reductions[static_cast<std::size_t>(known.reduction)].kernel->type, Accumulator{}));
  } else {
    const Shape shape = operands_.shape_of(known);
    PyObject* descr = Py_NewRef(np_.descr[known.code]);
    made = Ref::steal(
        np_.new_from_descr(np_.array_type, descr, shape.nd, shape.dims.data(), nullptr, nullptr, 0, nullptr));
  }
  PyErr_Clear();
  return made;
}

}  // namespace tagalong::array
