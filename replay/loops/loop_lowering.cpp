#include "replay/loops/loop_lowering.h"

#include <opcode.h>

#include <algorithm>

#include "replay/objects/known_functions.h"

namespace tagalong::replay {

LoopLowering::LoopLowering(const Graph& graph, LoopProgram& program, const std::vector<Step>& steps,
                           const std::vector<std::int32_t>& registers, std::int32_t& next_register)
    : graph_(graph), program_(program), steps_(steps), registers_(registers), next_register_(next_register) {
  if (graph.nodes.empty()) {
    return;
  }
  // Without a jump back: the loop that the graph begins with.
  goes_round_ = graph.nodes.back().op == Op::jump_back;
  std::int64_t left = goes_round_ ? graph.nodes.back().immediate : 1;
  for (std::size_t number = 0; number < graph.nodes.size() && !closed_; ++number) {
    if (node(number).op == Op::loop && --left == 0) {
      closed_ = goes_round_ || is_entry(number);
      header_ = number;
      first_ = node(number).first_result;
      letters_ = PyUnicode_AsUTF8(node(number).object.get());
    }
  }
  if (!closed_) {
    return;
  }
  abstract_values_.emplace(graph);
  const auto values = static_cast<std::size_t>(graph.value_count);
  defined_at_.assign(values, 0);
  last_use_.assign(values, 0);
  uses_.assign(values, 0);
  handed_.assign(values, 0);
  parameter_of_.assign(values, -1);
  unboxed_.assign(values, Unboxed::kNone);
  born_unboxed_.assign(values, false);
  boxed_.assign(values, false);
  dropped_.assign(values, false);
  replaced_.assign(values, false);
  count_uses();
}

bool LoopLowering::is_entry(std::size_t header) const {
  return std::all_of(
      graph_.nodes.begin(), graph_.nodes.begin() + static_cast<std::ptrdiff_t>(header), [](const Node& each) {
        return each.info().is_guard() || each.op == Op::param || each.op == Op::constant || each.op == Op::null ||
               each.op == Op::function || each.op == Op::take_stack || each.op == Op::drop;
      });
}

DirectEntry LoopLowering::direct_entry(std::int32_t constants) const {
  DirectEntry entry;
  if (!closed_ || !is_entry(header_)) {
    return entry;
  }
  const Snapshot& state = graph_.snapshots[static_cast<std::size_t>(node(header_).snapshot)];
  entry.bound.assign(state.locals.size() + state.stack.size(), false);
  std::unordered_map<Value, std::int32_t> slots;
  std::vector<std::pair<std::int32_t, PyObject*>> types;
  for (std::size_t number = 0; number < header_; ++number) {
    const Node& each = node(number);
    if (each.op == Op::param) {
      slots.emplace(each.first_result, static_cast<std::int32_t>(each.immediate));
    } else if (each.op == Op::guard_type && slots.contains(each.operands[0])) {
      types.emplace_back(slots[each.operands[0]], each.object.get());
    } else if (each.op == Op::guard_names) {
      entry.has_plain_names = true;
    } else if (each.info().is_guard() && each.op != Op::guard_null && each.op != Op::guard_not_null) {
      return entry;
    }
  }
  for (std::size_t index = 0; index < letters_.size(); ++index) {
    const auto slot = slots.find(node(header_).operands[index]);
    if (slot == slots.end() || static_cast<std::size_t>(slot->second) >= entry.bound.size()) {
      return entry;
    }
    const Unboxed unboxed = unboxed_of(letters_[index]);
    entry.bound[static_cast<std::size_t>(slot->second)] = true;
    entry.parameters.push_back({slot->second, place(first_ + static_cast<Value>(index)), unboxed});
    if (unboxed != Unboxed::kNone) {  // which says the same as the guard
      std::erase_if(types, [&](const auto& guard) { return guard.first == slot->second; });
    }
  }
  entry.types = std::move(types);
  entry.is_possible =
      std::ranges::all_of(program_.invariants, [&](const auto& number) { return number.from < constants; });
  return entry;
}

void LoopLowering::use(const Values& values, std::size_t number) {
  for (const Value value : values) {
    if (value != kNoValue) {
      ++uses_[at(value)];
      last_use_[at(value)] = std::max(last_use_[at(value)], number);
    }
  }
}

// The slots of the frame that goes round hold the parameters.
void LoopLowering::bind_parameters() {
  const Snapshot& state = graph_.snapshots[static_cast<std::size_t>(node(header_).snapshot)];
  frame_ = state.frame;
  Value parameter = first_;
  for (std::size_t slot = 0; slot < state.locals.size(); ++slot) {
    if (state.locals[slot] != kNoValue) {
      slots_[static_cast<std::int64_t>(slot)] = letters_[static_cast<std::size_t>(parameter++ - first_)] != 'o';
    }
  }
}

void LoopLowering::count_uses() {
  AbstractValues abstract_values(graph_);
  constexpr std::size_t kUnused = SIZE_MAX;
  std::vector<std::size_t> last_node(graph_.snapshots.size(), kUnused);  // many nodes may share a snapshot
  for (std::size_t number = 0; number < graph_.nodes.size(); ++number) {
    const Node& each = node(number);
    for (std::int32_t index = 0; index < each.result_count; ++index) {
      defined_at_[at(each.first_result + index)] = number;
    }
    abstract_values.learn(each);
    if (each.op != Op::drop) {
      use(each.operands, number);
    }
    for (SnapshotId id = each.snapshot; id != kNoSnapshot; id = graph_.snapshots[static_cast<std::size_t>(id)].parent) {
      last_node[static_cast<std::size_t>(id)] = number;
    }
  }
  for (std::size_t id = 0; id < last_node.size(); ++id) {
    if (last_node[id] != kUnused) {
      use(graph_.snapshots[id].locals, last_node[id]);
      use(graph_.snapshots[id].stack, last_node[id]);
    }
  }
  const Values handed = goes_round_ ? graph_.nodes.back().operands : Values();
  for (std::size_t index = 0; index < handed.size(); ++index) {
    ++handed_[at(handed[index])];
    parameter_of_[at(handed[index])] = static_cast<std::int32_t>(index);
  }
}

// --- registers

std::int32_t LoopLowering::new_place(Unboxed unboxed) {
  const std::int32_t place = next_register_++;
  program_.kinds.resize(static_cast<std::size_t>(next_register_), Unboxed::kNone);
  program_.kinds[static_cast<std::size_t>(place)] = unboxed;
  return place;
}

// A number that becomes a parameter's next value is computed in the parameter's register, if nobody looks at the old
// one any more.
std::int32_t LoopLowering::coalesced(std::size_t number, Value result, Unboxed unboxed) const {
  const std::int32_t index = parameter_of_[at(result)];
  if (index < 0 || handed_[at(result)] != 1 || unboxed_of(letters_[static_cast<std::size_t>(index)]) != unboxed) {
    return -1;
  }
  const Value parameter = first_ + index;
  const std::size_t defined = number + (node(number).op == Op::range_next || node(number).op == Op::array_next ? 1 : 0);
  // The remainder may be its left operand, whose object is then the result's.
  const bool keeps_object =
      node(number).op == Op::int_binary && node(number).immediate % NB_INPLACE_ADD == NB_REMAINDER;
  const bool is_free = handed_[at(parameter)] == 0 && last_use_[at(parameter)] <= defined && !keeps_object;
  return is_free ? place(parameter) : -1;
}

std::int32_t LoopLowering::place_of_result(std::size_t number, Value result) {
  if (is_header(number)) {
    const Unboxed unboxed = unboxed_of(letters_[static_cast<std::size_t>(result - first_)]);
    unboxed_[at(result)] = unboxed;
    born_unboxed_[at(result)] = unboxed != Unboxed::kNone;
    boxed_[at(result)] = true;  // by whatever was handed over
    return new_place(unboxed);
  }
  if (!inside_) {
    return -1;
  }
  plan_ = plan(number);
  if (!plan_ || plan_->result == Unboxed::kNone) {
    return -1;
  }
  born_unboxed_[at(result)] = true;
  unboxed_[at(result)] = plan_->result;
  const std::int32_t same = coalesced(number, result, plan_->result);
  if (same >= 0) {
    replaced_[at(first_ + parameter_of_[at(result)])] = true;
    return same;
  }
  const std::int32_t made = new_place(plan_->result);
  if (plan_->result == Unboxed::kPair) {
    new_place(Unboxed::kNone);
  }
  return made;
}

// --- operations

LoopOp& LoopLowering::push(LoopCode code, std::size_t step, std::int32_t left, std::int32_t right,
                           std::int32_t result) {
  LoopOp& op = program_.ops.emplace_back();
  op.code = code;
  op.step = static_cast<std::uint32_t>(step);
  op.left = left;
  op.right = right;
  op.result = result;
  op.is_guard = info(code).has(loop_trait::kGuards);
  return op;
}

// The register that has the value's number.
std::int32_t LoopLowering::unboxed(Value value, std::size_t step) {
  if (unboxed_[at(value)] == Unboxed::kNone) {
    const Unboxed wanted = available(value);
    unboxed_[at(value)] = wanted;
    if (is_within(value)) {
      push(unboxing(wanted), step, place(value));
    } else {
      program_.invariants.push_back({place(value), place(value), wanted});
    }
  }
  return place(value);
}

std::int32_t LoopLowering::as_float(std::int32_t place, std::size_t step) {
  const std::int32_t converted = new_place(Unboxed::kNone);
  push(LoopCode::kFloatOfInt, step, place, -1, converted);
  return converted;
}

void LoopLowering::box(Value value, std::size_t step) {
  if (born_unboxed_[at(value)]) {
    push(LoopCode::kBox, step, place(value));
    boxed_[at(value)] = true;
  }
}

// The step may show its snapshot to somebody and go on.
void LoopLowering::may_be_boxed(SnapshotId id) {
  const auto mark = [this](const Values& values) {
    for (const Value value : values) {
      if (value != kNoValue && born_unboxed_[at(value)]) {
        boxed_[at(value)] = true;
      }
    }
  };
  for (; id != kNoSnapshot; id = graph_.snapshots[static_cast<std::size_t>(id)].parent) {
    mark(graph_.snapshots[static_cast<std::size_t>(id)].locals);
    mark(graph_.snapshots[static_cast<std::size_t>(id)].stack);
  }
}

void LoopLowering::note_snapshot(SnapshotId id) {
  const auto number = static_cast<std::size_t>(id);
  program_.unboxed.resize(graph_.snapshots.size());
  const Snapshot& state = graph_.snapshots[number];
  for (const Values* values : {&state.locals, &state.stack}) {
    for (const Value value : *values) {
      if (value != kNoValue && kind(place(value)) != Unboxed::kNone) {
        program_.unboxed[number].push_back(place(value));
      }
    }
  }
}

void LoopLowering::enter() {
  inside_ = true;
  const Node& header = node(header_);
  for (std::size_t index = 0; index < letters_.size(); ++index) {
    program_.parameters.push_back(
        {place(header.operands[index]), place(first_ + static_cast<Value>(index)), unboxed_of(letters_[index])});
  }
  bind_parameters();
}

void LoopLowering::emit(std::size_t number, std::size_t step) {
  const Node& each = node(number);
  if (is_header(number)) {
    enter();
    return;
  }
  if (!inside_) {
    return;
  }
  if (truth_ != 0 && number == truth_) {
    plan_.reset();
    return;
  }
  if (fused_ != 0 && number == fused_) {
    LoopOp& op = program_.ops[fused_op_];
    op.step = static_cast<std::uint32_t>(step);
    if (is_branch(each)) {
      op.flag = each.op == Op::guard_true ? 1 : 0;
    }
    return;
  }
  if (each.result_count != 1) {
    plan_ = plan(number);
  }
  if (plan_) {
    emit_planned(number, step);
    plan_.reset();
    return;
  }
  switch (each.op) {
    case Op::jump_back:
      emit_jump(each, step);
      return;
    case Op::sync_local:
      if (emit_sync(number, step)) {
        return;
      }
      break;
    default:
      if (emit_guard(each, step)) {
        return;
      }
      break;
  }
  emit_step(each, step);
}

void LoopLowering::emit_planned(std::size_t number, std::size_t step) {
  const Node& each = node(number);
  const Plan chosen = *plan_;
  const bool leaves = each.snapshot != kNoSnapshot;
  if (after_opaque_ && leaves) {
    push(LoopCode::kLeaveIfWatched, step);
    after_opaque_ = false;
  }
  const std::int32_t result = each.result_count == 1 ? place(each.first_result) : -1;
  if (chosen.code == LoopCode::kRangeNext) {
    push(chosen.code, step, place(each.operands[0]), -1, result);
    fused_ = number + 1;
    fused_op_ = program_.ops.size() - 1;
  } else if (chosen.code == LoopCode::kArrayNext) {
    may_be_boxed(each.snapshot);  // where it ends
    LoopOp& op = push(chosen.code, step, place(each.operands[0]), static_cast<std::int32_t>(step), result);
    op.flag = static_cast<std::uint8_t>(each.immediate);
    fused_ = number + 1;
    fused_op_ = program_.ops.size() - 1;
  } else if (chosen.code == LoopCode::kForIter) {
    may_be_boxed(each.snapshot);
    push(chosen.code, step, place(each.operands[0]), static_cast<std::int32_t>(step), result);
    fused_ = number + 1;
    fused_op_ = program_.ops.size() - 1;
    after_opaque_ = true;
  } else if (each.op == Op::sequence_item) {
    const PyTypeObject* type = abstract_values_->type(each.operands[0]);
    const std::int32_t key = unboxed(each.operands[1], step);
    LoopOp& op = push(chosen.code, step, place(each.operands[0]), key, result);
    op.flag = static_cast<std::uint8_t>(type == &PyList_Type    ? Container::kList
                                        : type == &PyTuple_Type ? Container::kTuple
                                                                : Container::kEither);
  } else if (chosen.code == LoopCode::kPair) {
    const std::int32_t row = unboxed(each.operands[0], step);
    push(chosen.code, step, row, unboxed(each.operands[1], step), result);
  } else if (each.op == Op::array_item) {
    const std::int32_t key = unboxed(each.operands[1], step);
    push(chosen.code, step, place(each.operands[0]), key, result).flag = static_cast<std::uint8_t>(each.immediate);
  } else if (each.op == Op::array_store) {
    const std::int32_t key = unboxed(each.operands[1], step);
    std::int32_t value = unboxed(each.operands[2], step);
    if (unboxed_of_items(static_cast<int>(each.immediate)) == Unboxed::kNumpyFloat &&
        is_int(unboxed_[at(each.operands[2])])) {
      value = as_float(value, step);
    }
    push(chosen.code, step, place(each.operands[0]), key, value).flag = static_cast<std::uint8_t>(each.immediate);
  } else if (each.op == Op::load_global) {
    push(chosen.code, step, place(each.operands[0]), -1, result);
  } else if (chosen.code == LoopCode::kAttribute || chosen.code == LoopCode::kMethod) {
    box(each.operands[0], step);
    may_be_boxed(each.snapshot);
    const std::int32_t second = chosen.code == LoopCode::kMethod ? place(each.first_result + 1) : -1;
    push(chosen.code, step, place(each.operands[0]), second, place(each.first_result));
    after_opaque_ = true;
  } else if (chosen.code == LoopCode::kAppend) {
    box(each.operands[1], step);
    push(chosen.code, step, place(each.operands[0]), place(each.operands[1]));
  } else if (chosen.code == LoopCode::kRebind) {
    box(each.operands[1], step);
    push(chosen.code, step, place(each.operands[0]), place(each.operands[1]));
  } else if (chosen.code == LoopCode::kStoreItem) {
    const std::int32_t key = unboxed(each.operands[1], step);
    const Value value = each.operands[2];
    const bool is_number = born_unboxed_[at(value)] && unboxed_[at(value)] == Unboxed::kFloat && is_within(value) &&
                           !is_parameter(value) && last_use_[at(value)] == number && handed_[at(value)] == 0;
    if (is_number) {
      boxed_[at(value)] = true;  // where the list has no float to be had
    } else {
      box(value, step);
    }
    may_be_boxed(each.snapshot);
    LoopOp& op = push(chosen.code, step, place(each.operands[0]), key, place(value));
    op.flag =
        static_cast<std::uint8_t>((is_number ? kStoresNumber : 0) | (each.op == Op::list_renew ? kStoresRenewed : 0));
  } else if (chosen.code == LoopCode::kMakeRange) {
    const std::int32_t start = each.operands.size() == 1 ? -1 : unboxed(each.operands[0], step);
    push(chosen.code, step, start, unboxed(each.operands.back(), step), result);
  } else if (chosen.code == LoopCode::kMove) {
    push(chosen.code, step, place(each.operands[0]), -1, result);
  } else if (chosen.code == LoopCode::kLength) {
    const PyTypeObject* type = abstract_values_->type(each.operands[0]);
    const bool counts = type == &PyList_Type || type == &PyTuple_Type || type == &PyBytes_Type;
    push(chosen.code, step, place(each.operands[0]), -1, result).flag = counts ? 1 : 0;
  } else if (chosen.code == LoopCode::kCallFloat || chosen.code == LoopCode::kCallInt) {
    const std::int32_t operand = unboxed(each.operands[0], step);
    push(chosen.code, step, operand, -1, result).flag = static_cast<std::uint8_t>(known_function(each.object.get()));
  } else {
    std::int32_t operands[2] = {-1, -1};
    for (std::size_t index = 0; index < each.operands.size(); ++index) {
      const Value value = each.operands[index];
      operands[index] = unboxed(value, step);
      const bool is_of_floats = each.op == Op::float_binary || each.op == Op::float64_binary ||
                                (each.op == Op::scalar_compare && info(chosen.code).left == LoopField::kFloat);
      if (is_of_floats && is_int(unboxed_[at(value)])) {
        operands[index] = as_float(operands[index], step);
      }
    }
    const bool fuses_truth = is_fused_with_truth(number);
    const bool fuses = fuses_truth || (info(chosen.code).has(loop_trait::kCompares) && is_fused(number));
    const LoopCode code = fuses ? guard_of(chosen.code) : chosen.code;
    LoopOp& op = push(code, step, operands[0], operands[1], result);
    if (each.op == Op::int_binary && code == LoopCode::kRemainderInt && last_use_[at(each.operands[0])] > number) {
      op.flag = 1;  // the result may be the left operand itself
      boxed_[at(each.operands[0])] = true;
      boxed_[at(each.first_result)] = true;
    }
    if (fuses) {
      fused_ = number + (fuses_truth ? 2 : 1);
      truth_ = fuses_truth ? number + 1 : 0;
      fused_op_ = program_.ops.size() - 1;
    }
  }
  const std::int32_t index = each.result_count == 1 ? parameter_of_[at(each.first_result)] : -1;
  if (index >= 0 && chosen.result != Unboxed::kNone && replaced_[at(first_ + index)] &&
      place(first_ + index) == result && !dropped_[at(first_ + index)]) {
    push(LoopCode::kClear, step, result);  // the parameter's old object
  }
}

bool LoopLowering::emit_guard(const Node& each, std::size_t step) {
  if (each.op == Op::guard_unwatched) {
    push(LoopCode::kLeaveIfWatched, step);
    after_opaque_ = false;
    return true;
  }
  if (each.operands.empty()) {
    return false;
  }
  const Value value = each.operands[0];
  if (each.op == Op::guard_is && unboxed_[at(value)] == Unboxed::kNone &&
      !is_expected_to_raise(graph_.nodes, defined_at_[at(value)])) {
    push(LoopCode::kGuardIs, step, place(value));
    return true;
  }
  if ((each.op == Op::guard_null || each.op == Op::guard_not_null) && !born_unboxed_[at(value)] &&
      !is_expected_to_raise(graph_.nodes, defined_at_[at(value)])) {
    LoopOp& op = push(LoopCode::kGuardNull, step, place(value));
    op.flag = each.op == Op::guard_not_null ? 1 : 0;
    return true;
  }
  if (each.op == Op::guard_type) {
    const Unboxed wanted = unboxed_of(reinterpret_cast<PyTypeObject*>(each.object.get()));
    if (wanted == Unboxed::kNone) {
      if (unboxed_[at(value)] == Unboxed::kNone && !is_expected_to_raise(graph_.nodes, defined_at_[at(value)])) {
        push(LoopCode::kGuardType, step, place(value));
        return true;
      }
      return false;
    }
    if (unboxed_[at(value)] == wanted && is_within(value)) {
      return true;
    }
    if (unboxed_[at(value)] != Unboxed::kNone || !is_within(value)) {
      return false;
    }
    unboxed_[at(value)] = wanted;
    push(unboxing(wanted), step, place(value)).is_guard = true;
    return true;
  }
  if ((each.op == Op::guard_true || each.op == Op::guard_false) && unboxed_[at(value)] == Unboxed::kBool) {
    LoopOp& op = push(LoopCode::kGuardBool, step, place(value));
    op.flag = each.op == Op::guard_true ? 1 : 0;
    return true;
  }
  return false;
}

// Whether a guard finds the value to be a number before anybody can look: as an item that is bound to the variable of
// its loop, where it is used. If it is something else the guard leaves, with all slots as they have to be.
bool LoopLowering::is_soon_inert(std::size_t number, Value value) const {
  for (++number; number < graph_.nodes.size(); ++number) {
    const Node& next = node(number);
    if (next.op == Op::guard_type && next.operands[0] == value) {
      return unboxed_of(reinterpret_cast<PyTypeObject*>(next.object.get())) != Unboxed::kNone;
    }
    const bool is_quiet = next.info().is_guard() || next.info().is_pure() || next.op == Op::sync_local ||
                          (next.op == Op::drop && !abstract_values_->disturbs(next));
    if (!is_quiet || is_expected_to_raise(graph_.nodes, number)) {
      return false;
    }
  }
  return false;
}

// A real frame's slot may go on showing an older number until somebody looks.
bool LoopLowering::emit_sync(std::size_t number, std::size_t step) {
  const Node& each = node(number);
  const auto frame = static_cast<std::int32_t>(PyLong_AsLong(each.object.get()));
  const Value value = each.operands[0];
  if (frame == frame_) {
    bool& inert = slots_[each.immediate];
    const bool was_inert = inert;
    inert = born_unboxed_[at(value)] || abstract_values_->is_inert(value) || is_soon_inert(number, value);
    if (was_inert && inert) {
      return true;
    }
  }
  if (!born_unboxed_[at(value)]) {
    if (frame == 0) {
      may_be_boxed(each.snapshot);
      push(LoopCode::kSync, step, place(value), static_cast<std::int32_t>(each.immediate));
    }
    return frame == 0;
  }
  push(LoopCode::kSyncUnboxed, step, place(value));
  boxed_[at(value)] = true;
  return true;
}

void LoopLowering::emit_step(const Node& each, std::size_t step) {
  for (const Value value : each.operands) {
    box(value, step);
  }
  const bool stays = !each.info().is_guard();
  if (stays) {
    may_be_boxed(each.snapshot);
  }
  after_opaque_ = after_opaque_ || each.info().effect == Effect::kOpaque;
  push(LoopCode::kStep, step);
}

void LoopLowering::clear(Value value, SnapshotId shown) {
  if (shown == kNoSnapshot || abstract_values_->is_inert(value)) {
    push(LoopCode::kClear, steps_.size() - 1, place(value));
  } else {
    may_be_boxed(shown);
    push(LoopCode::kClearShown, steps_.size() - 1, place(value), shown);
  }
}

LoopLowering::Drop LoopLowering::drop(Value value, SnapshotId shown) {
  dropped_[at(value)] = true;
  if (program_.ops.empty() && steps_.back().op == Op::loop && !is_within(value)) {
    return Drop::kStep;
  }
  if (born_unboxed_[at(value)]) {
    if (!replaced_[at(value)] && boxed_[at(value)]) {
      push(LoopCode::kClear, steps_.size() - 1, place(value));
    }  // A register that has the next value by now was cleared then.
    return Drop::kDone;
  }
  const bool by_step = !program_.ops.empty() && program_.ops.back().code == LoopCode::kStep &&
                       program_.ops.back().step + 1 == steps_.size() &&
                       (shown == kNoSnapshot || steps_.back().shown == kNoSnapshot || steps_.back().shown == shown);
  if (is_parameter(value)) {
    clear(value, shown);
    return Drop::kDone;
  }
  if (!by_step) {
    clear(value, shown);
    return Drop::kFree;
  }
  may_be_boxed(shown);
  return Drop::kStep;
}

void LoopLowering::emit_jump(const Node& each, std::size_t step) {
  may_be_boxed(each.snapshot);
  push(LoopCode::kPoll, step);
  Values handed = each.operands;
  std::vector<std::int32_t> sources;
  const auto goes_to_itself = [&](std::size_t index) { return handed[index] == first_ + static_cast<Value>(index); };
  for (std::size_t index = 0; index < handed.size(); ++index) {
    const Value value = handed[index];
    if (goes_to_itself(index)) {
      continue;
    }
    if (letters_[index] == 'o' || handed_[at(value)] > 1) {
      box(value, step);
    }
    if (letters_[index] != 'o') {
      unboxed(value, step);
    }
  }
  std::vector<std::int32_t> left(handed_);
  // What is read from a parameter's register is read before it is written.
  for (std::size_t index = 0; index < handed.size(); ++index) {
    std::int32_t source = place(handed[index]);
    if (!goes_to_itself(index) && is_parameter(handed[index])) {
      const bool stays = goes_to_itself(static_cast<std::size_t>(handed[index] - first_));
      const std::int32_t scratch = new_place(Unboxed::kNone);
      const bool is_last = --left[at(handed[index])] == 0 && !stays;
      push(is_last ? LoopCode::kMove : LoopCode::kShare, step, source, -1, scratch);
      source = scratch;
    }
    sources.push_back(source);
  }
  for (std::size_t index = 0; index < handed.size(); ++index) {
    const std::int32_t target = place(first_ + static_cast<Value>(index));
    const Value value = handed[index];
    if (goes_to_itself(index) || sources[index] == target) {
      continue;
    }
    const bool is_ours = is_parameter(value) || (is_within(value) && --left[at(value)] == 0);
    push(is_ours ? LoopCode::kMove : LoopCode::kShare, step, sources[index], -1, target);
  }
  // What the round has made and neither dropped nor handed over.
  for (std::size_t number = header_ + 1; number < graph_.nodes.size(); ++number) {
    const Node& maker = node(number);
    const bool is_owned = maker.op != Op::constant && maker.op != Op::null && maker.op != Op::function;
    for (std::int32_t index = 0; is_owned && index < maker.result_count; ++index) {
      const Value value = maker.first_result + index;
      const bool has_object = !born_unboxed_[at(value)] || boxed_[at(value)];
      if (!dropped_[at(value)] && handed_[at(value)] == 0 && has_object) {
        push(LoopCode::kClear, step, place(value));
      }
    }
  }
  if (program_.ops.back().code == LoopCode::kPoll) {
    program_.ops.back().code = LoopCode::kPollAndJump;
    program_.ops.back().right = 0;
  } else {
    push(LoopCode::kJump, step, -1, 0);
  }
}

}  // namespace tagalong::replay
