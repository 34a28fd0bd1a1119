#include "replay/executor/machine/fusion_runs.h"

#include <algorithm>
#include <array>
#include <boost/container/small_vector.hpp>
#include <boost/container/static_vector.hpp>
#include <optional>
#include <utility>

#include "replay/arrays/forming/group_stores.h"
#include "replay/arrays/fusion/fusion_counts.h"
#include "replay/arrays/numpy/elision.h"
#include "replay/executor/finalisers.h"
#include "replay/executor/machine/frames.h"
#include "replay/executor/printer.h"
#include "replay/ir/stages.h"
#include "replay/objects/guards.h"
#include "rewriter/cpython/objects/collector.h"
#include "rewriter/cpython/objects/exact_numbers.h"

namespace tagalong::replay {

namespace {

using Reason = array::FusionReason;

constexpr std::size_t kMostGroups = 4;  // of one step: for operands of other kinds
constexpr int kMade = 1;                // containers, by a fusion group

// For operands of other kinds, operands that overlap now, or names that are bound anew, another plan may fit.
bool wants_another_plan(array::FusionReason reason) {
  return reason == array::FusionReason::kNone || reason == array::FusionReason::kKinds ||
         reason == array::FusionReason::kOverlap || reason == array::FusionReason::kBinding;
}

// More are in memory of their own.
constexpr std::size_t kUsualValues = 24;
constexpr std::size_t kUsualResults = 32;

// Only as many entries as the group has: to construct and destroy all would take longer than a small group.
struct FusionResults {
  boost::container::small_vector<Ref, kUsualValues> values;
  boost::container::small_vector<Ref, kUsualResults> arrays;
  Ref tuple;  // untracked by the collector before it is filled
};

// The real frames of inlined calls that return in the group. They end when the group is committed.
class ReturningFrames {
 public:
  ReturningFrames(const RunState& state, const PlannedGroup& group) : state_(state), first_(state.run.depth) {
    for (const std::int32_t frame : group.returned_frames) {
      first_ -= first_ > 0 && state.run.frame_numbers[first_ - 1] == frame ? 1 : 0;
    }
  }
  // Whether the program has no hold of them.
  [[nodiscard]] bool may_return() const {
    for (int level = first_; level < state_.run.depth; ++level) {
      const cpython::Frame* frame = state_.run.frames[level];
      const auto number = static_cast<std::size_t>(state_.run.frame_numbers[level]);
      if (cpython::is_held(frame) || cpython::has_locals_dict(frame) ||
          is_resumption(state_.program.graph.frames[number].return_kind)) {
        return false;
      }
    }
    return true;
  }
  // Adds the references that their ends drop.
  void add_references(DroppedReferences* dropped) const {
    for (int level = first_; level < state_.run.depth; ++level) {
      cpython::Frame* frame = state_.run.frames[level];
      PyObject** slots = cpython::locals_of(frame);
      dropped->push_back(reinterpret_cast<PyObject*>(cpython::function_of(frame)));
      dropped->insert(dropped->end(), slots, slots + cpython::slot_count(cpython::code_of(frame)));
    }
  }
  // Whether the frame at this level is none of them.
  [[nodiscard]] bool stays(int level) const { return level < first_; }

 private:
  const RunState& state_;
  int first_;  // level of the outermost one
};

// What registers and real frames do not hold any more when the group is done.
void add_dropped(const RunState& state, const PlannedGroup& group, const ReturningFrames& returning,
                 DroppedReferences* dropped) {
  for (const std::int32_t place : group.dropped) {
    dropped->push_back(state.registers[place]);
  }
  returning.add_references(dropped);
  for (const PlannedGroup::Local& local : group.locals) {
    const int level = real_level(state, local.frame);
    if (level >= 0 && returning.stays(level)) {
      dropped->push_back(cpython::locals_of(state.run.frames[level])[local.slot]);
    }
  }
}

// Whether the plan holds, and user code can notice nothing of the group but its results.
array::FusionReason check_group(const RunState& state, const PlannedGroup& group) {
  for (const auto& [place, object] : group.same) {
    if (state.registers[place] != object) {
      return Reason::kBinding;
    }
  }
  for (const PlannedGroup::Guard& guard : group.guards) {
    if (guard.number >= 0) {
      continue;  // checked once the values are computed
    }
    PyObject* value = guard.place < 0 ? guard.object : state.registers[guard.place];
    if (!holds(*guard.step, value)) {
      return Reason::kGuardFails;
    }
  }
  const ReturningFrames returning(state, group);
  if (!returning.may_return()) {
    return Reason::kRealFrame;
  }
  if (group.returns && state.run.depth > 0 &&
      (cpython::is_held(state.run.frames[0]) || cpython::has_locals_dict(state.run.frames[0]))) {
    return Reason::kRealFrame;
  }
  using From = PlannedGroup::Item::From;
  if (group.tuple >= 0 && cpython::may_collect(state.run.thread, kMade)) {
    return Reason::kRequest;
  }
  const auto exists = [&](const PlannedGroup::Item& item) {
    return item.from != From::kRegister || state.registers[item.index] != nullptr;
  };
  if (!std::ranges::all_of(group.items, exists) ||
      !std::ranges::all_of(group.stores, exists, &PlannedGroup::Store::value)) {
    return Reason::kGuardFails;
  }
  for (const auto& [frame, slot] : group.numeric_slots) {
    const int level = real_level(state, frame);
    PyObject* old = level < 0 ? nullptr : cpython::locals_of(state.run.frames[level])[slot];
    if (old != nullptr && !cpython::is_exact_number(old)) {
      return Reason::kRealFrame;
    }
  }
  DroppedReferences dropped;
  add_dropped(state, group, returning, &dropped);
  return drop_without_user_code(&dropped) ? Reason::kNone : Reason::kDeath;
}

GroupRegisters group_registers(const RunState& state) {
  return {state.registers, state.unboxed,
          state.unboxed == nullptr ? std::span<const Unboxed>() : std::span(state.program.loop.kinds)};
}

array::FusionReason compute_values(const RunState& state, const PlannedGroup& group, Ref* values) {
  for (std::size_t index = 0; index < group.computed.size(); ++index) {
    values[index] = evaluate(group.computed[index], group_registers(state), values);
    if (!values[index]) {
      return Reason::kGuardFails;
    }
  }
  const auto holds_now = [&](const PlannedGroup::Guard& guard) {
    return guard.number < 0 || holds(*guard.step, values[guard.number].get());
  };
  if (!std::ranges::all_of(group.guards, holds_now)) {
    return Reason::kGuardFails;
  }
  return loads_hold(group, state.registers, values) ? Reason::kNone : Reason::kBinding;
}

PyObject* key_of(int key, const Ref* values) { return key < 0 ? nullptr : values[key].get(); }

// Whether attributes and items can be stored, and the end of their old values is not noticed. The computed values may
// be among the old ones.
Reason check_stores(const RunState& state, const PlannedGroup& group, const Ref* values) {
  if (group.stores.empty()) {
    return Reason::kNone;
  }
  DroppedReferences dropped;
  for (const PlannedGroup::Store& store : group.stores) {
    PyObject* object = values[store.object].get();
    const std::optional<PyObject*> old = replaced_by(*store.step, object, key_of(store.key, values));
    if (!old) {
      return Reason::kDeath;
    }
    dropped.push_back(*old);
    const auto is_same = [&](const PlannedGroup::Store& other) { return values[other.object].get() == object; };
    if (kind_of(*store.step) == StoreKind::kAppend) {
      const std::ptrdiff_t count = std::ranges::count_if(group.stores, is_same);
      const bool is_new = is_new_object(group, store.object);
      if (is_new ? !reserve_items(object, count) : !has_room(object, count)) {
        return is_new ? Reason::kMemory : Reason::kRoom;
      }
    }
  }
  add_dropped(state, group, ReturningFrames(state, group), &dropped);
  for (std::size_t index = 0; index < group.computed.size(); ++index) {
    // An instance that the group has made lives on, or ends without attributes.
    const GroupValue& value = group.computed[index];
    const bool is_instance = value.kind == GroupValue::Kind::kStep && value.step->op == Op::new_instance;
    dropped.push_back(is_instance ? nullptr : values[index].get());
  }
  return drop_without_user_code(&dropped) ? Reason::kNone : Reason::kDeath;
}

// Adds what the first of the replacing steps replace.
void add_replaced(const RunState& state, std::span<const PlannedGroup::Replaced> steps, const Ref* values,
                  DroppedReferences* lost) {
  for (const PlannedGroup::Replaced& replaced : steps) {
    const Step& step = *replaced.step;
    if (replaced.object >= 0) {
      lost->push_back(replaced_by(step, values[replaced.object].get(), key_of(replaced.key, values)).value_or(nullptr));
      continue;
    }
    const bool is_return = step.op == Op::leave_frame;
    const int level = real_level(state, is_return ? step.immediate : static_cast<int>(PyLong_AsLong(step.object)));
    if (level >= 0) {
      cpython::Frame* frame = state.run.frames[level];
      PyObject** slots = cpython::locals_of(frame);
      const int first = is_return ? 0 : step.immediate;
      lost->insert(lost->end(), slots + first,
                   slots + (is_return ? cpython::slot_count(cpython::code_of(frame)) : first + 1));
    }
  }
}

// Whether eager NumPy would find no more references to large temporary operands than the group does.
bool operands_last(const RunState& state, const array::Numpy& np, const PlannedGroup& group, PyObject* const* externals,
                   std::span<const Ref> values) {
  for (const PlannedGroup::Lasting& lasting : group.lasting) {
    PyObject* operand = externals[lasting.external];
    if (operand == nullptr || !array::is_array(array::classify(np, operand)) ||
        array::bytes_of(np, operand, array::classify(np, operand)) < array::kMinElidedBytes) {
      continue;
    }
    DroppedReferences lost;
    add_replaced(state, std::span(group.replaced).first(lasting.replaced), values.data(), &lost);
    const std::size_t count = lost.size();
    for (const Ref& value : values) {
      lost.push_back(value.get());
    }
    if (may_drop_reference(lost, count, operand)) {
      return false;
    }
  }
  return true;
}

// Borrowed.
PyObject* object_of(const RunState& state, const PlannedGroup::Item& item, const FusionResults& results) {
  using From = PlannedGroup::Item::From;
  const auto index = static_cast<std::size_t>(item.index);
  return item.from == From::kRegister ? state.registers[index]
         : item.from == From::kObject ? item.object
         : item.from == From::kResult ? results.arrays[index].get()
                                      : results.values[index].get();
}

// Its items are results of the group, and values that registers held before.
void fill_tuple(const RunState& state, const PlannedGroup& group, FusionResults* results) {
  PyObject* tuple = results->tuple.get();
  for (std::size_t i = 0; i < group.items.size(); ++i) {
    PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), Py_NewRef(object_of(state, group.items[i], *results)));
  }
  PyObject_GC_Track(tuple);
}

void store_objects(const RunState& state, const PlannedGroup& group, const FusionResults& results) {
  for (const PlannedGroup::Store& store : group.stores) {
    store_object(*store.step, results.values[static_cast<std::size_t>(store.object)].get(),
                 key_of(store.key, results.values.data()), object_of(state, store.value, results));
  }
}

void commit_group(RunState& state, const PlannedGroup& group, FusionResults* results) {
  boost::container::small_vector<Ref, 4> copied;
  for (const auto& [place, from] : group.copied) {
    copied.push_back(Ref::create(state.registers[from]));
  }
  for (const std::int32_t place : group.dropped) {
    Py_CLEAR(state.registers[place]);
  }
  for (const auto& [place, output] : group.results) {
    state.registers[place] = Py_XNewRef(results->arrays[output].get());
  }
  for (const auto& [place, object] : group.loaded) {
    state.registers[place] = Py_XNewRef(object);
  }
  for (std::size_t index = 0; index < group.copied.size(); ++index) {
    state.registers[group.copied[index].first] = copied[index].release();
  }
  for (const auto& [place, number] : group.numeric) {
    state.registers[place] = Py_NewRef(results->values[static_cast<std::size_t>(number)].get());
  }
  if (results->tuple) {
    state.registers[group.tuple] = results->tuple.release();
  }
  for (const UnboxedRegister& unboxed : group.unboxed) {
    if (unboxed.is_changed) {
      unbox(results->values[static_cast<std::size_t>(unboxed.number)].get(), unboxed.unboxed,
            &state.unboxed[unboxed.place]);
    }
    if (unboxed.clears) {
      Py_CLEAR(state.registers[unboxed.place]);
    }
    if (unboxed.boxes && state.registers[unboxed.place] == nullptr) {
      state.registers[unboxed.place] = Py_NewRef(results->values[static_cast<std::size_t>(unboxed.number)].get());
    }
  }
  for (const PlannedGroup::Local& local : group.locals) {
    const int level = real_level(state, local.frame);
    PyObject* value = local.source < 0 ? nullptr : state.registers[local.source];
    if (level >= 0 && cpython::locals_of(state.run.frames[level])[local.slot] != value) {
      PyObject* old = std::exchange(cpython::locals_of(state.run.frames[level])[local.slot], Py_XNewRef(value));
      state.run.synced_keys[level] = -1;
      Py_XDECREF(old);
    }
  }
  for (const std::int32_t frame : group.returned_frames) {
    if (state.run.depth > 0 && state.run.frame_numbers[state.run.depth - 1] == frame) {
      pop_frame(state);
    }
  }
  state.fused_steps = group.count;
}

array::FusionReason compute_group(RunState& state, const array::Numpy& np, const PlannedGroup& group,
                                  FusionResults* results) {
  if (const Reason reason = check_group(state, group); reason != Reason::kNone) {
    return reason;
  }
  results->values.resize(group.computed.size());
  if (const Reason reason = compute_values(state, group, results->values.data()); reason != Reason::kNone) {
    return reason;
  }
  if (const Reason reason = check_stores(state, group, results->values.data()); reason != Reason::kNone) {
    return reason;
  }
  std::array<PyObject*, kMostExternals> externals;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  for (std::size_t index = 0; index < group.externals.size(); ++index) {
    const PlannedGroup::External& external = group.externals[index];
    if (external.number < 0) {
      externals[index] = external.place >= 0 ? state.registers[external.place] : external.object;
      continue;
    }
    // A value that only operations behind the end of the group need is not computed.
    const auto value = static_cast<std::size_t>(external.number);
    externals[index] = value < results->values.size() ? results->values[value].get() : nullptr;
  }
  const std::span<const Ref> values(results->values.data(), results->values.size());
  if (!operands_last(state, np, group, externals.data(), values)) {
    group.loses_operand = true;
    return Reason::kDeath;
  }
  // While it computes without the GIL, other threads may bind the names anew.
  boost::container::static_vector<Ref, kMostNamed> named;
  for (PyObject* object : group.named) {
    named.push_back(Ref::create(object));
  }
  results->arrays.resize(group.plan->output_count());
  if (group.tuple >= 0) {
    results->tuple = Ref::steal(PyTuple_New(static_cast<Py_ssize_t>(group.items.size())));
    if (!results->tuple) {
      PyErr_Clear();
      return Reason::kMemory;
    }
    PyObject_GC_UnTrack(results->tuple.get());
  }
  const Reason reason = group.plan->run(np, externals.data(), results->arrays.data());
  if (reason == Reason::kNone && group.tuple >= 0) {
    fill_tuple(state, group, results);
  }
  if (reason == Reason::kNone) {
    store_objects(state, group, *results);
  }
  return reason;
}

array::FusionReason attempt_group(RunState& state, const array::Numpy& np, const PlannedGroup& group) {
  FusionResults results;
  const Reason reason = compute_group(state, np, group, &results);
  if (reason == Reason::kNone) {
    commit_group(state, group, &results);
    ++group.runs;
  }
  return reason;
}

array::FusionReason attempt_whole_trace(RunState& state, const array::Numpy& np, const PlannedGroup& group) {
  if (!group.returns) {
    return Reason::kOther;
  }
  const Step& returned = state.program.steps[state.program.loop.ops[group.count].step];
  const std::int32_t place = state.program.registers_used[returned.operands];
  const auto is_place = [place](const auto& known) { return known.first == place; };
  const auto output = std::ranges::find_if(group.results, is_place);
  const bool is_known = group.tuple == place || output != group.results.end() || place < state.program.constant_count ||
                        (state.registers[place] != nullptr && state.kind_of(place) == Unboxed::kNone &&
                         std::ranges::none_of(group.loaded, is_place) &&
                         std::ranges::none_of(group.numeric, is_place) && std::ranges::none_of(group.copied, is_place));
  if (!is_known) {
    return Reason::kOther;
  }
  FusionResults results;
  const Reason reason = compute_group(state, np, group, &results);
  if (reason == Reason::kNone) {
    ++group.runs;
    state.run.returned = &returned;
    state.run.result = group.tuple >= 0                ? std::move(results.tuple)
                       : output == group.results.end() ? Ref::create(state.registers[place])
                                                       : std::move(results.arrays[output->second]);
  }
  return reason;
}

const Step& first_step(const FusionSource& source) {
  return source.first[source.operations.empty() ? 0 : source.operations.front().step];
}

// Tries the known plans, and a new one if none of them is for such operands.
template <class Attempt>
bool run_site(RunState& state, FusionSite& site, const FusionSource& source, Reason* reason, const Attempt& attempt) {
  const array::Numpy* np = array::numpy_if_ready();
  bool is_done = false;
  bool plans_often = false;
  *reason = Reason::kNone;
  // By index: while a group computes without the GIL, another thread may plan another one here.
  for (std::size_t index = 0; index < site.groups.size() && !is_done && wants_another_plan(*reason); ++index) {
    const boost::intrusive_ptr<PlannedGroup> group = site.groups[index];
    *reason = attempt(*np, *group);
    is_done = *reason == Reason::kNone;
    if (!is_done && (group->plan->is_better_apart() || group->loses_operand)) {
      site.is_apart = site.is_apart || group->plan->is_better_apart();
      site.ends_at_replaced = site.ends_at_replaced || group->loses_operand;
      std::erase(site.groups, group);
      return false;
    }
  }
  if (!is_done && wants_another_plan(*reason)) {
    const boost::intrusive_ptr<PlannedGroup> planned(plan_group(*np, source, &site.unplanned).release());
    if (planned == nullptr) {
      *reason = site.unplanned.reason;
      if (plan_listener != nullptr) [[unlikely]] {
        plan_listener->not_planned(state.executor, site.unplanned.reason, first_step(source));
      }
    } else if (!group_quota.take()) {
      *reason = Reason::kOther;
    } else {
      if (group_quota.is_used_up() && on_last_group != nullptr) {
        on_last_group(state.executor.root_shape().code.get(), planned->last_line);
      }
      if (plan_listener != nullptr) [[unlikely]] {
        plan_listener->planned(state.executor, *planned, first_step(source));
      }
      if (site.groups.size() < kMostGroups) {
        site.groups.push_back(planned);
      } else {
        site.groups[site.replaced++ % kMostGroups] = planned;
      }
      plans_often = site.replaced > kMostGroups;
      *reason = attempt(*np, *planned);
      is_done = *reason == Reason::kNone;
    }
  }
  if (is_done) {
    ++array::fusion_counts.run;
  }
  // Planning anew for most runs would take longer than running the steps.
  if (plans_often) {
    site.delay();
  } else if (is_done) {
    site.patience = 1;
  }
  return is_done;
}

// A long group was refused. Most of the sites inside it do not plan groups in this run: all plans together would take
// much longer than the operations.
void put_off_inside(const FusionSource& source, const PlannedGroup& group) {
  constexpr std::uint32_t kLong = 100;  // steps
  if (group.count < kLong) {
    return;
  }
  std::uint32_t next = group.count / 2;  // where a group is planned
  for (std::uint32_t number = 1; number < group.count; ++number) {
    const Step& step = source.first[source.operations.empty() ? number : source.operations[number].step];
    if (step.begins_group && number >= next) {
      next = number + std::max((group.count - number) / 2, 1U);
    } else if (step.begins_group) {
      if (!step.group) {
        step.group.reset(new FusionSite());
      }
      step.group->wait = step.group->groups.empty() ? std::max(step.group->wait, 1U) : step.group->wait;
    }
  }
}

}  // namespace

bool run_fusion_group(RunState& state, const Step& step) {
  if (!step.group) {
    step.group.reset(new FusionSite());
  }
  FusionSite& site = *step.group;
  if (site.wait > 0) {
    --site.wait;
    return false;
  }
  if (array::numpy_if_ready() == nullptr) {
    return false;
  }
  if (state.requested) {
    site.reasons.add(Reason::kRequest);
    array::fusion_counts.reasons.add(Reason::kRequest);
    return false;
  }
  show_location(state, step.snapshot);
  const Step* const steps = state.program.steps.data();
  const auto done = step.in_loop ? static_cast<std::size_t>(state.loop_op - state.program.loop.ops.data()) : 0;
  const FusionSource source{
      .first = step.in_loop ? steps : &step,
      .end = steps + state.program.steps.size(),
      .used = state.program.registers_used.data(),
      .constants = state.program.constant_count,
      .registers = group_registers(state),
      .operations = step.in_loop ? std::span(state.program.loop.ops).subspan(done) : std::span<const LoopOp>(),
      .in_passes = !site.is_apart && is_on(Stage::multi_pass),
      .ends_at_replaced = site.ends_at_replaced};
  auto reason = Reason::kNone;
  if (run_site(state, site, source, &reason, [&](const array::Numpy& np, const PlannedGroup& group) {
        const Reason refused = attempt_group(state, np, group);
        if (refused != Reason::kNone && !wants_another_plan(refused)) {
          put_off_inside(source, group);
        }
        return refused;
      })) {
    return true;
  }
  array::fusion_counts.refused += reason >= Reason::kException ? 1 : 0;
  site.put_off(reason);
  return false;
}

bool fuses_groups(const RunState& state) {
  return (state.executor.groups == kProcessFusion ? array::fusion_enabled : state.executor.groups) != 0 &&
         is_on(Stage::fusion_groups);
}

// The registers of parameters borrow from the frame's slots, which keep the objects until the frame is left.
bool run_whole_trace(RunState& state) {
  const Straight& straight = *state.executor.straight();
  FusionSite& site = straight.site;
  if (straight.does_more || !fuses_groups(state) || state.requested || array::numpy_if_ready() == nullptr) {
    return false;
  }
  if (site.wait > 0) {
    --site.wait;
    return false;
  }
  for (const auto& [slot, step] : straight.guards) {
    if (!guard_holds(step->op, state.run.slots[slot], step->object, step->immediate)) {
      return false;
    }
  }
  std::array<UnboxedNumber, Straight::kMostRegisters>
      unboxed;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled where it is used
  bool is_done = true;
  for (const LoopProgram::Entry& entry : state.program.loop.invariants) {
    is_done = is_done && unbox(state.registers[entry.from], entry.unboxed, &unboxed[entry.to]);
  }
  for (const LoopProgram::Entry& entry : straight.parameters) {
    PyObject* value = state.run.slots[entry.from];
    state.registers[entry.to] = value;
    is_done = is_done && (entry.unboxed == Unboxed::kNone || unbox(value, entry.unboxed, &unboxed[entry.to]));
  }
  state.unboxed = unboxed.data();
  auto reason = Reason::kNone;
  if (is_done) {
    const FusionSource source{.first = state.program.steps.data(),
                              .end = state.program.steps.data() + state.program.steps.size(),
                              .used = state.program.registers_used.data(),
                              .constants = state.program.constant_count,
                              .registers = group_registers(state),
                              .operations = state.program.loop.ops,
                              .in_passes = !site.is_apart && is_on(Stage::multi_pass),
                              .ends_at_replaced = site.ends_at_replaced};
    is_done = run_site(state, site, source, &reason, [&state](const array::Numpy& np, const PlannedGroup& group) {
      return attempt_whole_trace(state, np, group);
    });
  }
  state.unboxed = nullptr;
  if (is_done) {
    state.run.gain += state.executor.gain().round;
    ++state.executor.hits;
    ++array::fusion_counts.whole;
    return true;
  }
  for (const LoopProgram::Entry& entry : straight.parameters) {
    state.registers[entry.to] = nullptr;
  }
  // The reason is reported where the steps themselves try to form a group.
  const auto returns = [](const auto& group) { return group->returns; };
  straight.does_more = reason == Reason::kOther && std::ranges::none_of(site.groups, returns);
  site.delay();
  return false;
}

}  // namespace tagalong::replay
