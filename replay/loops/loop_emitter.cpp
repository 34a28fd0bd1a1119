#include "replay/loops/loop_emitter.h"

#include "replay/objects/known_functions.h"

namespace tagalong::replay {

LoopOp& LoopEmitter::push(LoopCode code, std::size_t step, std::int32_t left, std::int32_t right, std::int32_t result) {
  LoopOp& op = program_.ops.emplace_back();
  op.code = code;
  op.step = static_cast<std::uint32_t>(step);
  op.left = left;
  op.right = right;
  op.result = result;
  op.is_guard = info(code).has(loop_trait::kGuards);
  return op;
}

std::int32_t LoopEmitter::unboxed(Value value, std::size_t step) {
  const std::int32_t place = values_.place(value);
  if (values_[value].kind == Unboxed::kNone) {
    const Unboxed wanted = values_.available(value);
    values_[value].kind = wanted;
    if (loop_.is_within(value)) {
      push(unboxing(wanted), step, place);
    } else {
      program_.invariants.push_back({place, place, wanted});
    }
  }
  return place;
}

std::int32_t LoopEmitter::as_float(std::int32_t place, std::size_t step) {
  const std::int32_t converted = values_.new_place(Unboxed::kNone);
  push(LoopCode::kFloatOfInt, step, place, -1, converted);
  return converted;
}

void LoopEmitter::box(Value value, std::size_t step) {
  if (values_[value].is_number) {
    push(LoopCode::kBox, step, values_.place(value));
    values_[value].may_be_boxed = true;
  }
}

void LoopEmitter::merge_guard(std::size_t number, bool truth) {
  merged_ = {.guard = number + (truth ? 2 : 1), .truth = truth ? number + 1 : 0, .op = program_.ops.size() - 1};
}

void LoopEmitter::enter() {
  const Node& header = loop_.node(loop_.header());
  const std::size_t count = loop_.letters().size();
  for (std::size_t index = 0; index < count; ++index) {
    program_.parameters.push_back(
        {place(header, index), values_.place(loop_.parameter(index)), loop_.parameter_kind(index)});
  }
  // The local variables of the loop's frame hold the parameters.
  const Snapshot& state = loop_.snapshot(header.snapshot);
  frame_ = state.frame;
  std::size_t parameter = 0;
  for (std::size_t slot = 0; slot < state.locals.size(); ++slot) {
    if (state.locals[slot] != kNoValue) {
      slots_[static_cast<std::int64_t>(slot)] = loop_.parameter_kind(parameter++) != Unboxed::kNone;
    }
  }
}

bool LoopEmitter::is_merged(std::size_t number, std::size_t step) {
  if (number == 0 || (number != merged_.truth && number != merged_.guard)) {
    return false;
  }
  if (number == merged_.guard) {
    const Node& guard = loop_.node(number);
    LoopOp& op = program_.ops[merged_.op];
    op.step = static_cast<std::uint32_t>(step);
    if (LoopGraph::is_branch(guard)) {
      op.flag = guard.op == Op::guard_true ? 1 : 0;
    }
  }
  return true;
}

void LoopEmitter::emit_unplanned(std::size_t number, std::size_t step) {
  const Node& each = loop_.node(number);
  if (each.op == Op::jump_back) {
    emit_jump(each, step);
  } else if (each.op == Op::sync_local ? !emit_sync(number, step) : !emit_guard(each, step)) {
    emit_step(each, step);
  }
}

// --- planned operations

void LoopEmitter::emit_planned(std::size_t number, std::size_t step, const LoopPlan& plan) {
  using enum LoopCode;
  const Node& each = loop_.node(number);
  if (after_opaque_ && each.snapshot != kNoSnapshot) {
    push(kLeaveIfWatched, step);
    after_opaque_ = false;
  }
  switch (plan.code) {
    case kRangeNext:
    case kArrayNext:
    case kForIter:
      emit_next(number, step, plan.code);
      break;
    case kItem:
    case kItemInt:
    case kItemFloat:
      emit_read(each, step, plan.code);
      break;
    case kArrayItem:
    case kArrayItem2:
      emit_array_item(each, step, plan.code);
      break;
    case kArrayStore:
    case kArrayStore2:
      emit_array_store(each, step, plan.code);
      break;
    case kAttribute:
    case kMethod:
      emit_attribute(each, step, plan.code);
      break;
    case kAppend:
    case kRebind:
      box(each.operands[1], step);
      push(plan.code, step, place(each, 0), place(each, 1));
      break;
    case kStoreItem:
      emit_store_item(number, step);
      break;
    case kGlobal:
    case kGlobalInt:
    case kGlobalFloat:
    case kMove:
      push(plan.code, step, place(each, 0), -1, place_of_result(each));
      break;
    case kMakeRange:
    case kLength:
    case kCallFloat:
    case kCallInt:
      emit_call(each, step, plan.code);
      break;
    default:
      emit_arithmetic(number, step, plan.code);
      break;
  }
  clear_replaced(each, step, plan);
}

// The guard behind the node tells whether there is a next item.
void LoopEmitter::emit_next(std::size_t number, std::size_t step, LoopCode code) {
  const Node& each = loop_.node(number);
  if (code != LoopCode::kRangeNext) {
    values_.show(each.snapshot);
  }
  LoopOp& op = push(code, step, place(each, 0), code == LoopCode::kRangeNext ? -1 : static_cast<std::int32_t>(step),
                    place_of_result(each));
  if (code == LoopCode::kArrayNext) {
    op.flag = static_cast<std::uint8_t>(each.immediate);
  }
  merge_guard(number);
  after_opaque_ = after_opaque_ || code == LoopCode::kForIter;
}

void LoopEmitter::emit_read(const Node& node, std::size_t step, LoopCode code) {
  const PyTypeObject* type = values_.type(node.operands[0]);
  const std::int32_t key = unboxed(node.operands[1], step);
  push(code, step, place(node, 0), key, place_of_result(node)).flag =
      static_cast<std::uint8_t>(type == &PyList_Type    ? Container::kList
                                : type == &PyTuple_Type ? Container::kTuple
                                                        : Container::kEither);
}

void LoopEmitter::emit_array_item(const Node& node, std::size_t step, LoopCode code) {
  const std::int32_t key = unboxed(node.operands[1], step);
  push(code, step, place(node, 0), key, place_of_result(node)).flag = static_cast<std::uint8_t>(node.immediate);
}

void LoopEmitter::emit_array_store(const Node& node, std::size_t step, LoopCode code) {
  const std::int32_t key = unboxed(node.operands[1], step);
  std::int32_t value = unboxed(node.operands[2], step);
  if (unboxed_of_items(static_cast<int>(node.immediate)) == Unboxed::kNumpyFloat &&
      is_int(values_[node.operands[2]].kind)) {
    value = as_float(value, step);
  }
  push(code, step, place(node, 0), key, value).flag = static_cast<std::uint8_t>(node.immediate);
}

void LoopEmitter::emit_attribute(const Node& node, std::size_t step, LoopCode code) {
  box(node.operands[0], step);
  values_.show(node.snapshot);
  const std::int32_t second = code == LoopCode::kMethod ? values_.place(node.first_result + 1) : -1;
  push(code, step, place(node, 0), second, values_.place(node.first_result));
  after_opaque_ = true;
}

void LoopEmitter::emit_store_item(std::size_t number, std::size_t step) {
  const Node& each = loop_.node(number);
  const std::int32_t key = unboxed(each.operands[1], step);
  const Value value = each.operands[2];
  const bool is_number = values_[value].is_number && values_[value].kind == Unboxed::kFloat && loop_.is_within(value) &&
                         !loop_.is_parameter(value) && loop_.last_use(value) == number && loop_.passed(value) == 0;
  if (is_number) {
    values_[value].may_be_boxed = true;  // where the list's old item is not a float that can be reused
  } else {
    box(value, step);
  }
  values_.show(each.snapshot);
  push(LoopCode::kStoreItem, step, place(each, 0), key, values_.place(value)).flag =
      static_cast<std::uint8_t>((is_number ? kStoresNumber : 0) | (each.op == Op::list_renew ? kStoresRenewed : 0));
}

// Calls of known functions.
void LoopEmitter::emit_call(const Node& node, std::size_t step, LoopCode code) {
  const std::int32_t result = place_of_result(node);
  if (code == LoopCode::kMakeRange) {
    const std::int32_t start = node.operands.size() == 1 ? -1 : unboxed(node.operands[0], step);
    push(code, step, start, unboxed(node.operands.back(), step), result);
  } else if (code == LoopCode::kLength) {
    const PyTypeObject* type = values_.type(node.operands[0]);
    const bool has_size = type == &PyList_Type || type == &PyTuple_Type || type == &PyBytes_Type;
    push(code, step, place(node, 0), -1, result).flag = has_size ? 1 : 0;
  } else {
    const std::int32_t operand = unboxed(node.operands[0], step);
    push(code, step, operand, -1, result).flag = static_cast<std::uint8_t>(known_function(node.object.get()));
  }
}

// Operations on one or two numbers.
void LoopEmitter::emit_arithmetic(std::size_t number, std::size_t step, LoopCode code) {
  const Node& each = loop_.node(number);
  const bool is_of_floats = each.op == Op::float_binary || each.op == Op::float64_binary ||
                            (each.op == Op::scalar_compare && info(code).left == LoopField::kFloat);
  std::int32_t operands[2] = {-1, -1};
  for (std::size_t index = 0; index < each.operands.size(); ++index) {
    const Value value = each.operands[index];
    operands[index] = unboxed(value, step);
    if (is_of_floats && is_int(values_[value].kind)) {
      operands[index] = as_float(operands[index], step);
    }
  }
  const bool merges_truth = loop_.is_fused_with_truth(number);
  const bool merges = merges_truth || (info(code).has(loop_trait::kCompares) && loop_.is_fused(number));
  LoopOp& op = push(merges ? guard_of(code) : code, step, operands[0], operands[1], place_of_result(each));
  if (each.op == Op::int_binary && op.code == LoopCode::kRemainderInt && loop_.last_use(each.operands[0]) > number) {
    op.flag = 1;  // the result may be the left operand itself
    values_[each.operands[0]].may_be_boxed = true;
    values_[each.first_result].may_be_boxed = true;
  }
  if (merges) {
    merge_guard(number, merges_truth);
  }
}

// Clears the old object of a parameter whose register has got the number for the next iteration.
void LoopEmitter::clear_replaced(const Node& node, std::size_t step, const LoopPlan& plan) {
  const std::int32_t index = node.result_count == 1 ? loop_.next_parameter(node.first_result) : -1;
  if (index < 0 || plan.result == Unboxed::kNone) {
    return;
  }
  const Value parameter = loop_.parameter(static_cast<std::size_t>(index));
  const std::int32_t result = values_.place(node.first_result);
  if (values_[parameter].is_replaced && values_.place(parameter) == result && !values_[parameter].is_dropped) {
    push(LoopCode::kClear, step, result);
  }
}

// --- guards and general steps

bool LoopEmitter::emit_guard(const Node& node, std::size_t step) {
  if (node.op == Op::guard_unwatched) {
    push(LoopCode::kLeaveIfWatched, step);
    after_opaque_ = false;
    return true;
  }
  if (node.operands.empty()) {
    return false;
  }
  const Value value = node.operands[0];
  if (node.op == Op::guard_is && values_[value].kind == Unboxed::kNone &&
      !loop_.is_expected_to_raise(loop_.defined_at(value))) {
    push(LoopCode::kGuardIs, step, values_.place(value));
    return true;
  }
  if ((node.op == Op::guard_null || node.op == Op::guard_not_null) && !values_[value].is_number &&
      !loop_.is_expected_to_raise(loop_.defined_at(value))) {
    LoopOp& op = push(LoopCode::kGuardNull, step, values_.place(value));
    op.flag = node.op == Op::guard_not_null ? 1 : 0;
    return true;
  }
  if (node.op == Op::guard_type) {
    return emit_type_guard(node, step);
  }
  if (LoopGraph::is_branch(node) && values_[value].kind == Unboxed::kBool) {
    LoopOp& op = push(LoopCode::kGuardBool, step, values_.place(value));
    op.flag = node.op == Op::guard_true ? 1 : 0;
    return true;
  }
  return false;
}

bool LoopEmitter::emit_type_guard(const Node& node, std::size_t step) {
  const Value value = node.operands[0];
  const Unboxed wanted = unboxed_of(reinterpret_cast<PyTypeObject*>(node.object.get()));
  if (wanted == Unboxed::kNone) {
    if (values_[value].kind == Unboxed::kNone && !loop_.is_expected_to_raise(loop_.defined_at(value))) {
      push(LoopCode::kGuardType, step, values_.place(value));
      return true;
    }
    return false;
  }
  if (values_[value].kind == wanted && loop_.is_within(value)) {
    return true;
  }
  if (values_[value].kind != Unboxed::kNone || !loop_.is_within(value)) {
    return false;
  }
  values_[value].kind = wanted;
  push(unboxing(wanted), step, values_.place(value)).is_guard = true;
  return true;
}

// Whether the value turns out to be a number before other code can run, as an item of a list that is bound to a local
// variable and then used. If a type guard finds another object instead, it leaves with all slots as they have to be.
bool LoopEmitter::is_soon_inert(std::size_t number, Value value) const {
  for (++number; number < loop_.nodes().size(); ++number) {
    const Node& next = loop_.node(number);
    if (next.op == Op::guard_type && next.operands[0] == value) {
      return unboxed_of(reinterpret_cast<PyTypeObject*>(next.object.get())) != Unboxed::kNone;
    }
    const bool has_no_effect = next.info().is_guard() || next.info().is_pure() || next.op == Op::sync_local ||
                               (next.op == Op::drop && !values_.disturbs(next));
    if (!has_no_effect || loop_.is_expected_to_raise(number)) {
      return false;
    }
  }
  return false;
}

// A slot of a real frame may hold an older number until other code can see the frame.
bool LoopEmitter::emit_sync(std::size_t number, std::size_t step) {
  const Node& each = loop_.node(number);
  const auto frame = static_cast<std::int32_t>(PyLong_AsLong(each.object.get()));
  const Value value = each.operands[0];
  if (frame == frame_) {
    bool& inert = slots_[each.immediate];
    const bool was_inert = inert;
    inert = values_[value].is_number || values_.is_inert(value) || is_soon_inert(number, value);
    if (was_inert && inert) {
      return true;
    }
  }
  if (!values_[value].is_number) {
    if (frame == 0) {
      values_.show(each.snapshot);
      push(LoopCode::kSync, step, values_.place(value), static_cast<std::int32_t>(each.immediate));
    }
    return frame == 0;
  }
  push(LoopCode::kSyncUnboxed, step, values_.place(value));
  values_[value].may_be_boxed = true;
  return true;
}

void LoopEmitter::emit_step(const Node& node, std::size_t step) {
  for (const Value value : node.operands) {
    box(value, step);
  }
  if (!node.info().is_guard()) {
    values_.show(node.snapshot);
  }
  after_opaque_ = after_opaque_ || node.info().effect == Effect::kOpaque;
  push(LoopCode::kStep, step);
}

void LoopEmitter::clear(Value value, SnapshotId shown) {
  if (shown == kNoSnapshot || values_.is_inert(value)) {
    push(LoopCode::kClear, steps_.size() - 1, values_.place(value));
  } else {
    values_.show(shown);
    push(LoopCode::kClearShown, steps_.size() - 1, values_.place(value), shown);
  }
}

LoopEmitter::Drop LoopEmitter::drop(Value value, SnapshotId shown) {
  values_[value].is_dropped = true;
  if (program_.ops.empty() && steps_.back().op == Op::loop && !loop_.is_within(value)) {
    return Drop::kStep;
  }
  if (values_[value].is_number) {
    // A parameter's register with the number for the next iteration has been cleared (clear_replaced).
    if (!values_[value].is_replaced && values_[value].may_be_boxed) {
      push(LoopCode::kClear, steps_.size() - 1, values_.place(value));
    }
    return Drop::kDone;
  }
  const bool by_step = !program_.ops.empty() && program_.ops.back().code == LoopCode::kStep &&
                       program_.ops.back().step + 1 == steps_.size() &&
                       (shown == kNoSnapshot || steps_.back().shown == kNoSnapshot || steps_.back().shown == shown);
  if (loop_.is_parameter(value)) {
    clear(value, shown);
    return Drop::kDone;
  }
  if (!by_step) {
    clear(value, shown);
    return Drop::kFree;
  }
  values_.show(shown);
  return Drop::kStep;
}

// --- the jump back

void LoopEmitter::emit_jump(const Node& node, std::size_t step) {
  values_.show(node.snapshot);
  push(LoopCode::kPoll, step);
  const Values& passed = node.operands;
  for (std::size_t index = 0; index < passed.size(); ++index) {
    const Value value = passed[index];
    if (value == loop_.parameter(index)) {
      continue;
    }
    const bool is_object = loop_.parameter_kind(index) == Unboxed::kNone;
    if (is_object || loop_.passed(value) > 1) {
      box(value, step);
    }
    if (!is_object) {
      unboxed(value, step);
    }
  }
  pass_values(passed, step);
  clear_unpassed(step);
  if (program_.ops.back().code == LoopCode::kPoll) {
    program_.ops.back().code = LoopCode::kPollAndJump;
    program_.ops.back().right = 0;
  } else {
    push(LoopCode::kJump, step, -1, 0);
  }
}

// Moves values to the parameters' registers. A parameter that becomes another parameter is saved to a register of its
// own first, since its register may be written before it is read.
void LoopEmitter::pass_values(const Values& passed, std::size_t step) {
  const auto is_unchanged = [&](std::size_t index) { return passed[index] == loop_.parameter(index); };
  std::vector<std::int32_t> sources;
  std::unordered_map<Value, std::int32_t> moved;  // how often a value has been passed on
  const auto is_last = [&](Value value) { return ++moved[value] == loop_.passed(value); };
  for (std::size_t index = 0; index < passed.size(); ++index) {
    const Value value = passed[index];
    std::int32_t source = values_.place(value);
    if (!is_unchanged(index) && loop_.is_parameter(value)) {
      const bool stays = is_unchanged(loop_.index_of_parameter(value));
      const std::int32_t scratch = values_.new_place(Unboxed::kNone);
      push(is_last(value) && !stays ? LoopCode::kMove : LoopCode::kShare, step, source, -1, scratch);
      source = scratch;
    }
    sources.push_back(source);
  }
  for (std::size_t index = 0; index < passed.size(); ++index) {
    const Value value = passed[index];
    const std::int32_t target = values_.place(loop_.parameter(index));
    if (is_unchanged(index) || sources[index] == target) {
      continue;
    }
    const bool is_moved = loop_.is_parameter(value) || (loop_.is_within(value) && is_last(value));
    push(is_moved ? LoopCode::kMove : LoopCode::kShare, step, sources[index], -1, target);
  }
}

// Clears what the iteration has computed and neither dropped nor passed on.
void LoopEmitter::clear_unpassed(std::size_t step) {
  for (std::size_t number = loop_.header() + 1; number < loop_.nodes().size(); ++number) {
    const Node& maker = loop_.node(number);
    const bool is_owned = maker.op != Op::constant && maker.op != Op::null && maker.op != Op::function;
    for (std::int32_t index = 0; is_owned && index < maker.result_count; ++index) {
      const Value value = maker.first_result + index;
      const bool has_object = !values_[value].is_number || values_[value].may_be_boxed;
      if (!values_[value].is_dropped && loop_.passed(value) == 0 && has_object) {
        push(LoopCode::kClear, step, values_.place(value));
      }
    }
  }
}

}  // namespace tagalong::replay
