#include "replay/loops/loop_planner.h"

#include <opcode.h>

#include <algorithm>

#include "replay/ir/operators.h"
#include "replay/ir/stages.h"
#include "replay/objects/known_functions.h"

namespace tagalong::replay {
namespace {

LoopPlan plan_of(LoopCode code) { return {code, info(code).gives}; }

}  // namespace

std::optional<LoopPlan> LoopPlanner::plan_int(std::int64_t argument) {
  switch (argument % NB_INPLACE_ADD) {
    case NB_ADD:
      return LoopPlan{is_faulty(Stage::unboxing) ? LoopCode::kSubtractInt : LoopCode::kAddInt, Unboxed::kInt};
    case NB_SUBTRACT:
      return plan_of(LoopCode::kSubtractInt);
    case NB_MULTIPLY:
      return plan_of(LoopCode::kMultiplyInt);
    case NB_FLOOR_DIVIDE:
      return plan_of(LoopCode::kFloorDivideInt);
    case NB_REMAINDER:
      return plan_of(LoopCode::kRemainderInt);
    case NB_TRUE_DIVIDE:
      return plan_of(LoopCode::kTrueDivideInt);
    case NB_AND:
      return plan_of(LoopCode::kAndInt);
    case NB_OR:
      return plan_of(LoopCode::kOrInt);
    case NB_XOR:
      return plan_of(LoopCode::kXorInt);
    case NB_LSHIFT:
      return plan_of(LoopCode::kShiftLeftInt);
    case NB_RSHIFT:
      return plan_of(LoopCode::kShiftRightInt);
    default:
      return std::nullopt;
  }
}

std::optional<LoopPlan> LoopPlanner::plan_float(std::int64_t argument) {
  switch (argument % NB_INPLACE_ADD) {
    case NB_ADD:
      return LoopPlan{is_faulty(Stage::unboxing) ? LoopCode::kSubtractFloat : LoopCode::kAddFloat, Unboxed::kFloat};
    case NB_SUBTRACT:
      return plan_of(LoopCode::kSubtractFloat);
    case NB_MULTIPLY:
      return plan_of(LoopCode::kMultiplyFloat);
    case NB_TRUE_DIVIDE:
      return plan_of(LoopCode::kDivideFloat);
    default:
      return std::nullopt;
  }
}

std::optional<LoopPlan> LoopPlanner::plan_float64(std::int64_t argument) {
  switch (argument % NB_INPLACE_ADD) {
    case NB_ADD:
      return plan_of(LoopCode::kAddFloat64);
    case NB_SUBTRACT:
      return plan_of(LoopCode::kSubtractFloat64);
    case NB_MULTIPLY:
      return plan_of(LoopCode::kMultiplyFloat64);
    case NB_TRUE_DIVIDE:
      return plan_of(LoopCode::kDivideFloat64);
    default:
      return std::nullopt;
  }
}

// Whether the node makes a tuple of two ints that is only used as an index of arrays, so that no code sees the tuple.
bool LoopPlanner::is_index(std::size_t number) const {
  const Node& made = loop_.node(number);
  const Value value = made.first_result;
  if (made.operands.size() != 2 || !are(made, Unboxed::kInt) || loop_.passed(value) != 0) {
    return false;
  }
  const auto is_in = [value](const Values& values) { return std::ranges::find(values, value) != values.end(); };
  for (std::size_t next = number + 1; next <= loop_.last_use(value); ++next) {
    const Node& each = loop_.node(next);
    if (loop_.is_local(each.snapshot, value)) {
      return false;
    }
    const bool is_index = (each.op == Op::array_item || each.op == Op::array_store) && each.operands[1] == value &&
                          each.operands[0] != value && !loop_.is_expected_to_raise(next);
    if (is_in(each.operands) && !is_index && each.op != Op::drop) {
      return false;
    }
  }
  return true;
}

std::optional<LoopPlan> LoopPlanner::plan_array(const Node& each) const {
  const Unboxed items = unboxed_of_items(static_cast<int>(each.immediate));
  const Unboxed key = kind(each, 1);
  if (type_of(items) == nullptr || (!is_int(key) && key != Unboxed::kPair)) {
    return std::nullopt;
  }
  if (each.op == Op::array_item) {
    return LoopPlan{key == Unboxed::kPair ? LoopCode::kArrayItem2 : LoopCode::kArrayItem, items};
  }
  const Unboxed value = kind(each, 2);
  const bool fits = items == Unboxed::kNumpyFloat ? is_int(value) || is_float(value)
                    : items == Unboxed::kNumpyInt ? is_int(value)
                                                  : value == Unboxed::kBool || value == Unboxed::kNumpyBool;
  return fits
             ? Planned(LoopPlan{key == Unboxed::kPair ? LoopCode::kArrayStore2 : LoopCode::kArrayStore, Unboxed::kNone})
             : std::nullopt;
}

std::optional<LoopPlan> LoopPlanner::plan_arithmetic(const Node& node) const {
  const auto is_real = [&](std::size_t operand) {
    return is_int(kind(node, operand)) || is_float(kind(node, operand));
  };
  const auto is_python = [&](std::size_t operand) {
    return kind(node, operand) == Unboxed::kInt || kind(node, operand) == Unboxed::kFloat;
  };
  switch (node.op) {
    case Op::int_binary:
      return are(node, Unboxed::kInt) ? plan_int(node.immediate) : std::nullopt;
    case Op::float_binary:
      return is_python(0) && is_python(1) ? plan_float(node.immediate) : std::nullopt;
    case Op::float64_binary:
      return is_real(0) && is_real(1) ? plan_float64(node.immediate) : std::nullopt;
    case Op::int64_binary: {
      const bool are_ints = is_int(kind(node, 0)) && is_int(kind(node, 1));
      const Planned chosen = are_ints ? plan_int(node.immediate) : std::nullopt;
      return chosen && chosen->result == Unboxed::kInt ? Planned({chosen->code, Unboxed::kNumpyInt}) : std::nullopt;
    }
    default:  // unary_op
      if (node.immediate != static_cast<int>(UnaryOperator::kNegative) || !is_real(0)) {
        return std::nullopt;
      }
      return LoopPlan{is_int(kind(node, 0)) ? LoopCode::kNegateInt : LoopCode::kNegateFloat, kind(node, 0)};
  }
}

std::optional<LoopPlan> LoopPlanner::plan_condition(const Node& node) const {
  const auto compares = [&](Unboxed wanted, LoopCode first) {
    return are(node, wanted) && is_unboxed(node, 0) && is_unboxed(node, 1)
               ? Planned(plan_of(shifted(first, node.immediate)))
               : std::nullopt;
  };
  const auto is_real = [&](std::size_t operand) {
    return is_int(kind(node, operand)) || is_float(kind(node, operand));
  };
  switch (node.op) {
    case Op::int_compare:
      return compares(Unboxed::kInt, LoopCode::kLessInt);
    case Op::float_compare:
      return compares(Unboxed::kFloat, LoopCode::kLessFloat);
    case Op::scalar_compare: {
      if (!is_real(0) || !is_real(1)) {
        return std::nullopt;
      }
      const bool are_ints = is_int(kind(node, 0)) && is_int(kind(node, 1));
      return LoopPlan{shifted(are_ints ? LoopCode::kLessInt : LoopCode::kLessFloat, node.immediate),
                      Unboxed::kNumpyBool};
    }
    case Op::number_truth:
      if (kind(node, 0) == Unboxed::kNone || kind(node, 0) == Unboxed::kBool || !is_unboxed(node, 0)) {
        return std::nullopt;
      }
      return LoopPlan{is_float(kind(node, 0)) ? LoopCode::kTruthFloat : LoopCode::kTruthInt, Unboxed::kBool};
    default:  // bool_not
      return kind(node, 0) == Unboxed::kBool && is_unboxed(node, 0) ? Planned(plan_of(LoopCode::kNotBool))
                                                                    : std::nullopt;
  }
}

// The next item of an iterator.
std::optional<LoopPlan> LoopPlanner::plan_next(std::size_t number) const {
  const Node& each = loop_.node(number);
  if (!loop_.is_fused(number)) {
    return std::nullopt;
  }
  if (each.op == Op::array_next) {
    const Unboxed items = unboxed_of_items(static_cast<int>(each.immediate));
    return type_of(items) != nullptr ? Planned({LoopCode::kArrayNext, items}) : std::nullopt;
  }
  return plan_of(each.op == Op::range_next ? LoopCode::kRangeNext : LoopCode::kForIter);
}

// A global variable, or an item of a sequence.
std::optional<LoopPlan> LoopPlanner::plan_read(std::size_t number) const {
  const bool is_global = loop_.node(number).op == Op::load_global;
  if (!is_global && !is_int(kind(loop_.node(number), 1))) {
    return std::nullopt;
  }
  switch (const Unboxed wanted = kind_of_read(number)) {
    case Unboxed::kInt:
      return LoopPlan{is_global ? LoopCode::kGlobalInt : LoopCode::kItemInt, wanted};
    case Unboxed::kFloat:
      return LoopPlan{is_global ? LoopCode::kGlobalFloat : LoopCode::kItemFloat, wanted};
    default:
      return plan_of(is_global ? LoopCode::kGlobal : LoopCode::kItem);
  }
}

std::optional<LoopPlan> LoopPlanner::plan(std::size_t number) const {
  const Node& each = loop_.node(number);
  if (!is_on(Stage::unboxing) || loop_.is_expected_to_raise(number)) {
    return std::nullopt;
  }
  switch (each.op) {
    case Op::int_binary:
    case Op::float_binary:
    case Op::float64_binary:
    case Op::int64_binary:
    case Op::unary_op:
      return plan_arithmetic(each);
    case Op::int_compare:
    case Op::float_compare:
    case Op::scalar_compare:
    case Op::number_truth:
    case Op::bool_not:
      return plan_condition(each);
    case Op::range_next:
    case Op::array_next:
    case Op::for_iter:
      return plan_next(number);
    case Op::load_global:
    case Op::sequence_item:
      return plan_read(number);
    case Op::array_item:
    case Op::array_store:
      return plan_array(each);
    case Op::known_call:
      return plan_call(number);
    case Op::build_tuple:
      return is_index(number) ? Planned(plan_of(LoopCode::kPair)) : std::nullopt;
    case Op::list_store:
    case Op::list_renew:
      return kind(each, 1) == Unboxed::kInt ? Planned(plan_of(LoopCode::kStoreItem)) : std::nullopt;
    case Op::get_iter: {
      const std::size_t maker = loop_.defined_at(each.operands[0]);
      return maker > loop_.header() && is_iterated(maker) ? Planned(plan_of(LoopCode::kMove)) : std::nullopt;
    }
    case Op::load_attr:
      return plan_of(LoopCode::kAttribute);
    case Op::load_method:
      return plan_of(LoopCode::kMethod);
    case Op::list_append:
      return plan_of(LoopCode::kAppend);
    case Op::rebind_global:
      return plan_of(LoopCode::kRebind);
    default:
      return std::nullopt;
  }
}

std::int32_t LoopPlanner::parameter_register(std::size_t number, Value result, Unboxed kind) const {
  const std::int32_t index = loop_.next_parameter(result);
  if (index < 0 || loop_.passed(result) != 1 || loop_.parameter_kind(static_cast<std::size_t>(index)) != kind) {
    return -1;
  }
  const Value parameter = loop_.parameter(static_cast<std::size_t>(index));
  const Node& each = loop_.node(number);
  const std::size_t defined = number + (each.op == Op::range_next || each.op == Op::array_next ? 1 : 0);
  // The result of a remainder may be its left operand, and then has that operand's object.
  const bool keeps_object = each.op == Op::int_binary && each.immediate % NB_INPLACE_ADD == NB_REMAINDER;
  const bool is_free = loop_.passed(parameter) == 0 && loop_.last_use(parameter) <= defined && !keeps_object;
  return is_free ? values_.place(parameter) : -1;
}

std::optional<LoopPlan> LoopPlanner::plan_call(std::size_t number) const {
  const Node& each = loop_.node(number);
  const Unboxed first = kind(each, 0);
  const Known known = known_function(each.object.get());
  switch (known) {
    case Known::kNone:
      return std::nullopt;
    case Known::kRange:
      return is_iterated(number) ? Planned(plan_of(LoopCode::kMakeRange)) : std::nullopt;
    case Known::kLength:
      return plan_of(LoopCode::kLength);
    case Known::kFloat:
      if (is_int(first)) {
        return plan_of(LoopCode::kFloatOfInt);
      }
      return first == Unboxed::kNumpyFloat ? Planned(plan_of(LoopCode::kCallFloat)) : std::nullopt;
    case Known::kFloor:
    case Known::kCeiling:
    case Known::kInt:
      return is_float(first) ? Planned(plan_of(LoopCode::kCallInt)) : std::nullopt;
    case Known::kAbsolute:
      return is_float(first) ? Planned(LoopPlan{LoopCode::kCallFloat, first}) : std::nullopt;
    default:
      return is_float(first) ? Planned(plan_of(LoopCode::kCallFloat)) : std::nullopt;
  }
}

// Whether the node makes a range for the iterator that the next node makes, and nothing else uses the range. Then the
// range object is not made.
bool LoopPlanner::is_iterated(std::size_t number) const {
  const Node& each = loop_.node(number);
  constexpr std::size_t kWithStep = 3;
  const auto is_number = [this](Value value) { return values_.available(value) == Unboxed::kInt; };
  if (each.op != Op::known_call || known_function(each.object.get()) != Known::kRange ||
      each.operands.size() == kWithStep || !std::ranges::all_of(each.operands, is_number) ||
      loop_.passed(each.first_result) != 0) {
    return false;
  }
  std::size_t next = number + 1;
  while (next < loop_.nodes().size() && loop_.node(next).op == Op::drop) {
    ++next;
  }
  return next < loop_.nodes().size() && loop_.node(next).op == Op::get_iter &&
         loop_.node(next).operands[0] == each.first_result && loop_.last_use(each.first_result) == next &&
         !loop_.is_expected_to_raise(next);
}

// The kind of number to which an item or a global variable is unboxed when it is read; kNone: it stays an object. It is
// unboxed only where it takes part in arithmetic or is an index, and is in no local variable, so that no code can see
// that it is not the container's own object. No branch may leave before the value's type guard: an object of another
// type leaves in front of the read, which then must be able to run again.
Unboxed LoopPlanner::kind_of_read(std::size_t number) const {
  const Value value = loop_.node(number).first_result;
  Unboxed wanted = Unboxed::kNone;
  const auto is_in = [value](const Values& values) { return std::ranges::find(values, value) != values.end(); };
  for (std::size_t next = number + 1; next <= loop_.last_use(value); ++next) {
    const Node& each = loop_.node(next);
    if (loop_.is_local(each.snapshot, value)) {
      return Unboxed::kNone;
    }
    if (each.info().is_guard() && each.op != Op::guard_type) {
      return Unboxed::kNone;
    }
    if (!is_in(each.operands) || each.op == Op::drop) {
      continue;
    }
    const bool is_arithmetic =
        each.op == Op::int_binary || each.op == Op::float_binary || each.op == Op::int_compare ||
        each.op == Op::float_compare ||
        (each.op == Op::known_call && known_function(each.object.get()) != Known::kRange) ||
        ((each.op == Op::sequence_item || each.op == Op::list_store || each.op == Op::list_renew) &&
         each.operands[1] == value && std::ranges::count(each.operands, value) == 1);
    if (each.op == Op::guard_type) {
      wanted = unboxed_of(reinterpret_cast<PyTypeObject*>(each.object.get()));
    }
    if (wanted == Unboxed::kNone || (!is_arithmetic && each.op != Op::guard_type) || loop_.is_expected_to_raise(next)) {
      return Unboxed::kNone;
    }
  }
  return loop_.passed(value) == 0 ? wanted : Unboxed::kNone;
}

}  // namespace tagalong::replay
