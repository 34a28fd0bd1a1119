// Which values of a loop are numbers without objects, and by which operation each is made.
#include <opcode.h>

#include <algorithm>

#include "replay/ir/stages.h"
#include "replay/loops/loop_lowering.h"
#include "replay/objects/known_functions.h"

namespace tagalong::replay {
namespace {

bool fits(PyObject* object) {
  int overflow = 0;
  static_cast<void>(PyLong_AsLongLongAndOverflow(object, &overflow));
  return overflow == 0;
}

}  // namespace

Unboxed LoopLowering::available(Value value) const {
  if (unboxed_[at(value)] != Unboxed::kNone) {
    return unboxed_[at(value)];
  }
  const Node& maker = node(defined_at_[at(value)]);
  if (maker.op == Op::constant && PyLong_CheckExact(maker.object.get()) && !fits(maker.object.get())) {
    return Unboxed::kNone;
  }
  return unboxed_of(abstract_values_->type(value));
}

std::optional<LoopLowering::Plan> LoopLowering::plan_int(std::int64_t argument) {
  switch (argument % NB_INPLACE_ADD) {
    case NB_ADD:
      return Plan{is_faulty(Stage::unboxing) ? LoopCode::kSubtractInt : LoopCode::kAddInt, Unboxed::kInt};
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

std::optional<LoopLowering::Plan> LoopLowering::plan_float(std::int64_t argument) {
  switch (argument % NB_INPLACE_ADD) {
    case NB_ADD:
      return Plan{is_faulty(Stage::unboxing) ? LoopCode::kSubtractFloat : LoopCode::kAddFloat, Unboxed::kFloat};
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

std::optional<LoopLowering::Plan> LoopLowering::plan_float64(std::int64_t argument) {
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

// Two ints in a tuple that is nothing but an index: nobody sees which tuple it is, nor its items.
bool LoopLowering::is_index(std::size_t number) const {
  const Node& made = node(number);
  const Value value = made.first_result;
  if (made.operands.size() != 2 || available(made.operands[0]) != Unboxed::kInt ||
      available(made.operands[1]) != Unboxed::kInt || handed_[at(value)] != 0) {
    return false;
  }
  const auto is_in = [value](const Values& values) { return std::ranges::find(values, value) != values.end(); };
  for (std::size_t next = number + 1; next <= last_use_[at(value)]; ++next) {
    const Node& each = node(next);
    for (SnapshotId id = each.snapshot; id != kNoSnapshot; id = graph_.snapshots[static_cast<std::size_t>(id)].parent) {
      if (is_in(graph_.snapshots[static_cast<std::size_t>(id)].locals)) {
        return false;
      }
    }
    const bool is_index = (each.op == Op::array_item || each.op == Op::array_store) && each.operands[1] == value &&
                          each.operands[0] != value && !is_expected_to_raise(graph_.nodes, next);
    if (is_in(each.operands) && !is_index && each.op != Op::drop) {
      return false;
    }
  }
  return true;
}

std::optional<LoopLowering::Plan> LoopLowering::plan_array(std::size_t number) const {
  const Node& each = node(number);
  const Unboxed items = unboxed_of_items(static_cast<int>(each.immediate));
  const Unboxed key = available(each.operands[1]);
  if (type_of(items) == nullptr || (!is_int(key) && key != Unboxed::kPair)) {
    return std::nullopt;
  }
  if (each.op == Op::array_item) {
    return Plan{key == Unboxed::kPair ? LoopCode::kArrayItem2 : LoopCode::kArrayItem, items};
  }
  const Unboxed value = available(each.operands[2]);
  const bool fits = items == Unboxed::kNumpyFloat ? is_int(value) || is_float(value)
                    : items == Unboxed::kNumpyInt ? is_int(value)
                                                  : value == Unboxed::kBool || value == Unboxed::kNumpyBool;
  return fits ? std::optional(
                    Plan{key == Unboxed::kPair ? LoopCode::kArrayStore2 : LoopCode::kArrayStore, Unboxed::kNone})
              : std::nullopt;
}

std::optional<LoopLowering::Plan> LoopLowering::plan(std::size_t number) const {
  const Node& each = node(number);
  if (!is_on(Stage::unboxing) || is_expected_to_raise(graph_.nodes, number)) {
    return std::nullopt;
  }
  const auto is = [&](std::size_t operand, Unboxed unboxed) { return available(each.operands[operand]) == unboxed; };
  // Without a snapshot nothing can leave, so the number must be there.
  const auto is_there = [&](std::size_t operand) {
    const Value value = each.operands[operand];
    return unboxed_[at(value)] != Unboxed::kNone || !is_within(value);
  };
  const auto are_scalars = [&] {
    const auto is_number = [](Unboxed kind) { return is_int(kind) || is_float(kind); };
    return is_number(available(each.operands[0])) && is_number(available(each.operands[1]));
  };
  switch (each.op) {
    case Op::int_binary:
      return is(0, Unboxed::kInt) && is(1, Unboxed::kInt) ? plan_int(each.immediate) : std::nullopt;
    case Op::float_binary: {
      const auto is_number = [&](std::size_t operand) {
        return is(operand, Unboxed::kInt) || is(operand, Unboxed::kFloat);
      };
      return is_number(0) && is_number(1) ? plan_float(each.immediate) : std::nullopt;
    }
    case Op::float64_binary:
      return are_scalars() ? plan_float64(each.immediate) : std::nullopt;
    case Op::int64_binary: {
      const bool are_ints = is_int(available(each.operands[0])) && is_int(available(each.operands[1]));
      const std::optional<Plan> chosen = are_ints ? plan_int(each.immediate) : std::nullopt;
      return chosen && chosen->result == Unboxed::kInt ? std::optional(Plan{chosen->code, Unboxed::kNumpyInt})
                                                       : std::nullopt;
    }
    case Op::scalar_compare: {
      if (!are_scalars()) {
        return std::nullopt;
      }
      const bool are_ints = is_int(available(each.operands[0])) && is_int(available(each.operands[1]));
      return Plan{shifted(are_ints ? LoopCode::kLessInt : LoopCode::kLessFloat, each.immediate), Unboxed::kNumpyBool};
    }
    case Op::build_tuple:
      return is_index(number) ? std::optional(plan_of(LoopCode::kPair)) : std::nullopt;
    case Op::array_item:
    case Op::array_store:
      return plan_array(number);
    case Op::int_compare:
      return is(0, Unboxed::kInt) && is(1, Unboxed::kInt) && is_there(0) && is_there(1)
                 ? std::optional(plan_of(shifted(LoopCode::kLessInt, each.immediate)))
                 : std::nullopt;
    case Op::float_compare:
      return is(0, Unboxed::kFloat) && is(1, Unboxed::kFloat) && is_there(0) && is_there(1)
                 ? std::optional(plan_of(shifted(LoopCode::kLessFloat, each.immediate)))
                 : std::nullopt;
    case Op::number_truth:
      if (available(each.operands[0]) == Unboxed::kNone || is(0, Unboxed::kBool) || !is_there(0)) {
        return std::nullopt;
      }
      return Plan{is_float(available(each.operands[0])) ? LoopCode::kTruthFloat : LoopCode::kTruthInt, Unboxed::kBool};
    case Op::bool_not:
      return is(0, Unboxed::kBool) && is_there(0) ? std::optional(plan_of(LoopCode::kNotBool)) : std::nullopt;
    case Op::unary_op:
      if (const Unboxed kind = available(each.operands[0]);
          each.immediate == UNARY_NEGATIVE && (is_int(kind) || is_float(kind))) {
        return Plan{is_int(kind) ? LoopCode::kNegateInt : LoopCode::kNegateFloat, kind};
      }
      return std::nullopt;
    case Op::range_next:
      return is_fused(number) ? std::optional(plan_of(LoopCode::kRangeNext)) : std::nullopt;
    case Op::array_next: {
      const Unboxed items = unboxed_of_items(static_cast<int>(each.immediate));
      return is_fused(number) && type_of(items) != nullptr ? std::optional(Plan{LoopCode::kArrayNext, items})
                                                           : std::nullopt;
    }
    case Op::for_iter:
      return is_fused(number) ? std::optional(plan_of(LoopCode::kForIter)) : std::nullopt;
    case Op::load_global:
      switch (const Unboxed wanted = wanted_number(number)) {
        case Unboxed::kInt:
          return Plan{LoopCode::kGlobalInt, wanted};
        case Unboxed::kFloat:
          return Plan{LoopCode::kGlobalFloat, wanted};
        default:
          return plan_of(LoopCode::kGlobal);
      }
    case Op::load_attr:
      return plan_of(LoopCode::kAttribute);
    case Op::load_method:
      return plan_of(LoopCode::kMethod);
    case Op::list_append:
      return plan_of(LoopCode::kAppend);
    case Op::rebind_global:
      return plan_of(LoopCode::kRebind);
    case Op::known_call:
      return plan_call(number);
    case Op::get_iter: {
      const std::size_t maker = defined_at_[at(each.operands[0])];
      return maker > header_ && is_iterated(maker) ? std::optional(plan_of(LoopCode::kMove)) : std::nullopt;
    }
    case Op::sequence_item:
      if (!is_int(available(each.operands[1]))) {
        return std::nullopt;
      }
      switch (const Unboxed wanted = wanted_number(number)) {
        case Unboxed::kInt:
          return Plan{LoopCode::kItemInt, wanted};
        case Unboxed::kFloat:
          return Plan{LoopCode::kItemFloat, wanted};
        default:
          return plan_of(LoopCode::kItem);
      }
    case Op::list_store:
    case Op::list_renew:
      return is(1, Unboxed::kInt) ? std::optional(plan_of(LoopCode::kStoreItem)) : std::nullopt;
    default:
      return std::nullopt;
  }
}

std::optional<LoopLowering::Plan> LoopLowering::plan_call(std::size_t number) const {
  const Node& each = node(number);
  const Unboxed first = available(each.operands[0]);
  const Known known = known_function(each.object.get());
  switch (known) {
    case Known::kNone:
      return std::nullopt;
    case Known::kRange:
      return is_iterated(number) ? std::optional(plan_of(LoopCode::kMakeRange)) : std::nullopt;
    case Known::kLength:
      return plan_of(LoopCode::kLength);
    case Known::kFloat:
      if (is_int(first)) {
        return plan_of(LoopCode::kFloatOfInt);
      }
      return first == Unboxed::kNumpyFloat ? std::optional(plan_of(LoopCode::kCallFloat)) : std::nullopt;
    case Known::kFloor:
    case Known::kCeiling:
    case Known::kInt:
      return is_float(first) ? std::optional(plan_of(LoopCode::kCallInt)) : std::nullopt;
    case Known::kAbsolute:
      return is_float(first) ? std::optional(Plan{LoopCode::kCallFloat, first}) : std::nullopt;
    default:
      return is_float(first) ? std::optional(plan_of(LoopCode::kCallFloat)) : std::nullopt;
  }
}

// Whether a node makes a range for an iterator that is made of it at once, and nobody else sees it: then it is not
// made.
bool LoopLowering::is_iterated(std::size_t number) const {
  const Node& each = node(number);
  constexpr std::size_t kWithStep = 3;
  const auto is_number = [this](Value value) { return available(value) == Unboxed::kInt; };
  if (each.op != Op::known_call || known_function(each.object.get()) != Known::kRange ||
      each.operands.size() == kWithStep || !std::ranges::all_of(each.operands, is_number) ||
      handed_[at(each.first_result)] != 0) {
    return false;
  }
  std::size_t next = number + 1;
  while (next < graph_.nodes.size() && node(next).op == Op::drop) {
    ++next;
  }
  return next < graph_.nodes.size() && node(next).op == Op::get_iter && node(next).operands[0] == each.first_result &&
         last_use_[at(each.first_result)] == next && !is_expected_to_raise(graph_.nodes, next);
}

// The kind of an item or a global that only takes part in arithmetic, or says where an item lies: it may be a number
// that is looked for at once. Where it is none, this leaves in front of it, with nothing done since that could be done
// twice. It is in no variable, and no branch goes elsewhere meanwhile, so nobody finds out that it is not the
// container's own object.
Unboxed LoopLowering::wanted_number(std::size_t number) const {
  const Value value = node(number).first_result;
  Unboxed wanted = Unboxed::kNone;
  const auto is_in = [value](const Values& values) { return std::ranges::find(values, value) != values.end(); };
  for (std::size_t next = number + 1; next <= last_use_[at(value)]; ++next) {
    const Node& each = node(next);
    for (SnapshotId id = each.snapshot; id != kNoSnapshot; id = graph_.snapshots[static_cast<std::size_t>(id)].parent) {
      if (is_in(graph_.snapshots[static_cast<std::size_t>(id)].locals)) {
        return Unboxed::kNone;
      }
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
    if (wanted == Unboxed::kNone || (!is_arithmetic && each.op != Op::guard_type) ||
        is_expected_to_raise(graph_.nodes, next)) {
      return Unboxed::kNone;
    }
  }
  return handed_[at(value)] == 0 ? wanted : Unboxed::kNone;
}

// Whether the next node is the guard on this one's result, and nobody else looks at a comparison's.
bool LoopLowering::is_fused(std::size_t number) const {
  const Node& each = node(number);
  const Node& next = node(number + 1);
  if (next.operands.empty() || next.operands[0] != each.first_result) {
    return false;
  }
  if (each.op == Op::range_next || each.op == Op::for_iter || each.op == Op::array_next) {
    return next.op == Op::guard_not_null;
  }
  return is_branch(next) && uses_[at(each.first_result)] == 1;
}

bool LoopLowering::is_branch(const Node& node) { return node.op == Op::guard_true || node.op == Op::guard_false; }

// Whether nobody looks at a comparison's result but the branch on its truth, which comes next.
bool LoopLowering::is_fused_with_truth(std::size_t number) const {
  const Node& each = node(number);
  const Node& truth = node(number + 1);
  const auto is_only_use = [this](const Node& user, const Node& made) {
    return user.operands.size() == 1 && user.operands[0] == made.first_result && uses_[at(made.first_result)] == 1;
  };
  return each.op == Op::scalar_compare && truth.op == Op::number_truth && is_only_use(truth, each) &&
         number + 2 < graph_.nodes.size() && is_branch(node(number + 2)) && is_only_use(node(number + 2), truth);
}

}  // namespace tagalong::replay
