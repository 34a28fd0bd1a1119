#include "replay/loops/loop_lowering.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace tagalong::replay {

DirectEntry LoopLowering::direct_entry(std::int32_t constants) const {
  DirectEntry entry;
  if (!loop_.is_closed() || !loop_.is_entry()) {
    return entry;
  }
  const Node& header = loop_.node(loop_.header());
  const Snapshot& state = loop_.snapshot(header.snapshot);
  entry.bound.assign(state.locals.size() + state.stack.size(), false);
  std::unordered_map<Value, std::int32_t> slots;
  std::vector<std::pair<std::int32_t, PyObject*>> types;
  for (std::size_t number = 0; number < loop_.header(); ++number) {
    const Node& each = loop_.node(number);
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
  for (std::size_t index = 0; index < loop_.letters().size(); ++index) {
    const auto slot = slots.find(header.operands[index]);
    if (slot == slots.end() || static_cast<std::size_t>(slot->second) >= entry.bound.size()) {
      return entry;
    }
    const Unboxed kind = loop_.parameter_kind(index);
    entry.bound[static_cast<std::size_t>(slot->second)] = true;
    entry.parameters.push_back({slot->second, values_.place(loop_.parameter(index)), kind});
    if (kind != Unboxed::kNone) {  // the kind implies the type, so its guard is not needed
      std::erase_if(types, [&](const auto& guard) { return guard.first == slot->second; });
    }
  }
  entry.types = std::move(types);
  entry.is_possible =
      std::ranges::all_of(program_.invariants, [&](const auto& number) { return number.from < constants; });
  return entry;
}

std::int32_t LoopLowering::place_of_result(std::size_t number, Value result) {
  if (is_header(number)) {
    const Unboxed kind = loop_.parameter_kind(loop_.index_of_parameter(result));
    values_[result].kind = kind;
    values_[result].is_number = kind != Unboxed::kNone;
    values_[result].may_be_boxed = true;  // the value that entered the loop, or the last iteration's, may be
    return values_.new_place(kind);
  }
  if (!is_inside_) {
    return -1;
  }
  plan_ = planner_.plan(number);
  if (!plan_ || plan_->result == Unboxed::kNone) {
    return -1;
  }
  values_[result].is_number = true;
  values_[result].kind = plan_->result;
  const std::int32_t place = planner_.parameter_register(number, result, plan_->result);
  if (place >= 0) {
    values_[loop_.parameter(static_cast<std::size_t>(loop_.next_parameter(result)))].is_replaced = true;
    return place;
  }
  const std::int32_t made = values_.new_place(plan_->result);
  if (plan_->result == Unboxed::kPair) {
    values_.new_place(Unboxed::kNone);  // a pair takes two registers
  }
  return made;
}

void LoopLowering::emit(std::size_t number, std::size_t step) {
  if (is_header(number)) {
    is_inside_ = true;
    emitter_.enter();
    return;
  }
  if (!is_inside_ || emitter_.is_merged(number, step)) {
    return;
  }
  if (loop_.node(number).result_count != 1) {  // otherwise place_of_result() has planned
    plan_ = planner_.plan(number);
  }
  if (plan_) {
    emitter_.emit_planned(number, step, *plan_);
  } else {
    emitter_.emit_unplanned(number, step);
  }
}

void LoopLowering::note_snapshot(SnapshotId id) {
  const auto number = static_cast<std::size_t>(id);
  program_.unboxed.resize(loop_.snapshot_count());
  const Snapshot& state = loop_.snapshot(id);
  for (const Values* values : {&state.locals, &state.stack}) {
    for (const Value value : *values) {
      if (value != kNoValue && values_.kind_of_place(values_.place(value)) != Unboxed::kNone) {
        program_.unboxed[number].push_back(values_.place(value));
      }
    }
  }
}

}  // namespace tagalong::replay
