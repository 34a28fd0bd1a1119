#include <algorithm>
#include <boost/container/static_vector.hpp>
#include <map>
#include <utility>

#include "replay/arrays/fusion/fusion_counts.h"
#include "replay/executor/interpreter.h"
#include "replay/executor/printer.h"
#include "replay/executor/trace_linking.h"
#include "replay/ir/stages.h"
#include "replay/objects/guards.h"
#include "rewriter/cpython/collector.h"
#include "rewriter/cpython/exact_numbers.h"

namespace tagalong::replay {

namespace {

using Reason = array::FusionReason;

constexpr std::size_t kMostGroups = 4;       // of one step: operands of other kinds
constexpr std::int32_t kMostStraight = 128;  // registers
constexpr int kMade = 1;                     // containers, by a fusion group

// Operands of other kinds, or names that are bound anew: another plan may fit.
bool wants_another_plan(array::FusionReason reason) {
  return reason == array::FusionReason::kNone || reason == array::FusionReason::kKinds ||
         reason == array::FusionReason::kBinding;
}

// Whether nobody notices that the object gives up at most so many references; a view's base lives on, or dies so, too.
bool ends_quietly(PyObject* object, Py_ssize_t most) {
  constexpr int kMostBases = 8;
  const array::Numpy* np = array::met_numpy();
  for (int depth = 0; depth < kMostBases; ++depth) {
    if (object == nullptr || Py_REFCNT(object) > most || dies_alone(object)) {
      return true;
    }
    const array::OperandCode code = np == nullptr ? array::kForeign : array::classify(*np, object);
    if (array::is_numpy_scalar(code)) {
      return true;
    }
    if (!array::is_array(code) || array::as_array(object)->weakreflist != nullptr) {
      return false;
    }
    object = array::as_array(object)->base;
  }
  return false;
}

}  // namespace

// As many as there are: to make and unmake all that there may be takes longer than a small fusion group.
struct Interpreter::FusionResults {
  boost::container::static_vector<Ref, kMostNumbers> numbers;
  boost::container::static_vector<Ref, array::kMostResults> arrays;
  Ref tuple;  // nobody finds it before it is filled
};

// Nothing that the fusion group would do can be noticed except its results.
array::FusionReason Interpreter::fusion_holds(const PlannedGroup& group) const {
  for (const auto& [place, object] : group.same) {
    if (registers_[place] != object) {
      return Reason::kBinding;
    }
  }
  if (!loads_hold(group, registers_)) {
    return Reason::kBinding;
  }
  for (const PlannedGroup::Guard& guard : group.guards) {
    if (guard.number >= 0) {
      continue;  // when there are the numbers
    }
    PyObject* value = guard.place < 0 ? guard.object : registers_[guard.place];
    if (!guard_holds(guard.step->op, value, guard.step->object, guard.step->immediate)) {
      return Reason::kGuardFails;
    }
  }
  for (const std::int32_t frame : group.returned_frames) {
    if (run_.depth > 0 && run_.frame_numbers[run_.depth - 1] == frame) {
      return Reason::kRealFrame;
    }
  }
  if (group.returns && run_.depth > 0 &&
      (cpython::is_held(run_.frames[0]) || cpython::has_locals_dict(run_.frames[0]))) {
    return Reason::kRealFrame;
  }
  using From = PlannedGroup::Item::From;
  if (group.tuple >= 0 && cpython::may_collect(run_.thread, kMade)) {
    return Reason::kRequest;
  }
  for (const PlannedGroup::Item& item : group.items) {
    if (item.from == From::kRegister && registers_[item.index] == nullptr) {
      return Reason::kGuardFails;
    }
  }
  for (const auto& [frame, slot] : group.numeric_slots) {
    const int level = real_level(frame);
    PyObject* old = level < 0 ? nullptr : cpython::locals_of(run_.frames[level])[slot];
    if (old != nullptr && !cpython::is_exact_number(old)) {
      return Reason::kRealFrame;
    }
  }
  const auto most = static_cast<Py_ssize_t>(group.dropped.size() + group.locals.size());
  const auto is_quiet = [&](PyObject* object) { return ends_quietly(object, most); };
  for (const std::int32_t place : group.dropped) {
    if (!is_quiet(registers_[place])) {
      return Reason::kDeath;
    }
  }
  for (const PlannedGroup::Local& local : group.locals) {
    const int level = real_level(local.frame);
    if (level >= 0 && !is_quiet(cpython::locals_of(run_.frames[level])[local.slot])) {
      return Reason::kDeath;
    }
  }
  return Reason::kNone;
}

bool Interpreter::compute_numbers(const PlannedGroup& group, Ref* numbers) const {
  for (std::size_t index = 0; index < group.computed.size(); ++index) {
    numbers[index] = evaluate(group.computed[index], number_registers(), numbers);
    if (!numbers[index]) {
      return false;
    }
  }
  return std::ranges::all_of(group.guards, [&](const PlannedGroup::Guard& guard) {
    return guard.number < 0 ||
           guard_holds(guard.step->op, numbers[guard.number].get(), guard.step->object, guard.step->immediate);
  });
}

NumberRegisters Interpreter::number_registers() const {
  return {registers_, unboxed_, unboxed_ == nullptr ? std::span<const Unboxed>() : std::span(executor_.loop_.kinds)};
}

// Of what registers have had before the fusion group, and of what it has given.
void Interpreter::fill_tuple(const PlannedGroup& group, FusionResults* results) const {
  using From = PlannedGroup::Item::From;
  PyObject* tuple = results->tuple.get();
  for (std::size_t i = 0; i < group.items.size(); ++i) {
    const PlannedGroup::Item& item = group.items[i];
    const auto index = static_cast<std::size_t>(item.index);
    PyObject* object = item.from == From::kRegister ? registers_[index]
                       : item.from == From::kObject ? item.object
                       : item.from == From::kResult ? results->arrays[index].get()
                                                    : results->numbers[index].get();
    PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), Py_NewRef(object));
  }
  PyObject_GC_Track(tuple);
}

void Interpreter::commit_group(const PlannedGroup& group, FusionResults* results) {
  for (const std::int32_t place : group.dropped) {
    Py_CLEAR(registers_[place]);
  }
  for (const auto& [place, output] : group.results) {
    registers_[place] = Py_XNewRef(results->arrays[output].get());
  }
  for (const auto& [place, object] : group.loaded) {
    registers_[place] = Py_XNewRef(object);
  }
  for (const auto& [place, number] : group.numeric) {
    registers_[place] = Py_NewRef(results->numbers[static_cast<std::size_t>(number)].get());
  }
  if (results->tuple) {
    registers_[group.tuple] = results->tuple.release();
  }
  for (const UnboxedRegister& unboxed : group.unboxed) {
    if (unboxed.is_changed) {
      unbox(results->numbers[static_cast<std::size_t>(unboxed.number)].get(), unboxed.unboxed,
            &unboxed_[unboxed.place]);
    }
    if (unboxed.clears) {
      Py_CLEAR(registers_[unboxed.place]);
    }
    if (unboxed.boxes && registers_[unboxed.place] == nullptr) {
      registers_[unboxed.place] = Py_NewRef(results->numbers[static_cast<std::size_t>(unboxed.number)].get());
    }
  }
  for (const PlannedGroup::Local& local : group.locals) {
    const int level = real_level(local.frame);
    PyObject* value = local.source < 0 ? nullptr : registers_[local.source];
    if (level >= 0 && cpython::locals_of(run_.frames[level])[local.slot] != value) {
      PyObject* old = std::exchange(cpython::locals_of(run_.frames[level])[local.slot], Py_XNewRef(value));
      run_.synced_keys[level] = -1;
      Py_XDECREF(old);
    }
  }
  fusion_steps_ = group.count;
}

array::FusionReason Interpreter::compute_group(const array::Numpy& np, const PlannedGroup& group,
                                               FusionResults* results) {
  if (const Reason reason = fusion_holds(group); reason != Reason::kNone) {
    return reason;
  }
  results->numbers.resize(group.computed.size());
  if (!compute_numbers(group, results->numbers.data())) {
    return Reason::kGuardFails;
  }
  std::array<PyObject*, kMostExternals> externals;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  for (std::size_t index = 0; index < group.externals.size(); ++index) {
    const PlannedGroup::External& external = group.externals[index];
    if (external.number < 0) {
      externals[index] = external.place >= 0 ? registers_[external.place] : external.object;
      continue;
    }
    // One that only operations behind the fusion group's end had wanted is not computed.
    const auto number = static_cast<std::size_t>(external.number);
    externals[index] = number < results->numbers.size() ? results->numbers[number].get() : nullptr;
  }
  // While it computes without the GIL others may bind the names anew.
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
    fill_tuple(group, results);
  }
  return reason;
}

array::FusionReason Interpreter::attempt_group(const array::Numpy& np, const PlannedGroup& group) {
  FusionResults results;
  const Reason reason = compute_group(np, group, &results);
  if (reason == Reason::kNone) {
    commit_group(group, &results);
    ++group.runs;
  }
  return reason;
}

namespace {

const Step& first_step(const FusionSource& source) {
  return source.first[source.operations.empty() ? 0 : source.operations.front().step];
}

}  // namespace

// Tries the plans that there are, and a new one if none is for such operands.
template <class Attempt>
bool Interpreter::run_site(FusionSite& site, const FusionSource& source, Reason* reason, const Attempt& attempt) {
  const array::Numpy* np = array::numpy_if_ready();
  bool is_done = false;
  *reason = Reason::kNone;
  // By index: while a fusion group computes without the GIL, another thread may come here and plan another one.
  for (std::size_t index = 0; index < site.groups.size() && !is_done && wants_another_plan(*reason); ++index) {
    const boost::intrusive_ptr<PlannedGroup> group = site.groups[index];
    *reason = attempt(*np, *group);
    is_done = *reason == Reason::kNone;
    if (!is_done && group->plan->is_better_apart()) {
      site.is_apart = true;
      std::erase(site.groups, group);
      return false;
    }
  }
  if (!is_done && wants_another_plan(*reason)) {
    const boost::intrusive_ptr<PlannedGroup> planned(plan_group(*np, source, &site.unplanned).release());
    if (planned == nullptr) {
      *reason = site.unplanned;
      if (plan_listener != nullptr) [[unlikely]] {
        plan_listener->not_planned(executor_, site.unplanned, first_step(source));
      }
    } else if (!group_quota.take()) {
      *reason = Reason::kOther;
    } else {
      if (group_quota.is_used_up() && on_last_group != nullptr) {
        on_last_group(executor_.root_shape().code.get(), planned->last_line);
      }
      if (plan_listener != nullptr) [[unlikely]] {
        plan_listener->planned(executor_, *planned, first_step(source));
      }
      if (site.groups.size() < kMostGroups) {
        site.groups.push_back(planned);
      } else {
        site.groups[site.replaced++ % kMostGroups] = planned;
      }
      *reason = attempt(*np, *planned);
      is_done = *reason == Reason::kNone;
    }
  }
  if (is_done) {
    site.patience = 1;
    ++array::fusion_counts.run;
  }
  return is_done;
}

// False: nothing has happened, the steps are run one by one.
bool Interpreter::run_group(const Step& step) {
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
  if (requested_) {
    site.reasons.add(Reason::kRequest);
    array::fusion_counts.reasons.add(Reason::kRequest);
    return false;
  }
  show_place(step.snapshot);
  const Step* const steps = executor_.steps_.data();
  const auto done = step.in_loop ? static_cast<std::size_t>(loop_op_ - executor_.loop_.ops.data()) : 0;
  const FusionSource source{
      .first = step.in_loop ? steps : &step,
      .end = steps + executor_.steps_.size(),
      .used = executor_.registers_used_.data(),
      .constants = executor_.constant_count_,
      .registers = number_registers(),
      .operations = step.in_loop ? std::span(executor_.loop_.ops).subspan(done) : std::span<const LoopOp>(),
      .in_passes = !site.is_apart && is_on(Stage::multi_pass)};
  auto reason = Reason::kNone;
  if (run_site(site, source, &reason,
               [this](const array::Numpy& np, const PlannedGroup& group) { return attempt_group(np, group); })) {
    return true;
  }
  array::fusion_counts.refused += reason >= Reason::kException ? 1 : 0;
  site.put_off(reason);
  return false;
}

// --- The whole trace

// Whatever else stands in front of its operations, or among them, has to be done by steps.
void Executor::learn_straight() {
  constexpr int kSuspends = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR | CO_ITERABLE_COROUTINE;
  const auto is_operation = [this](const LoopOp& op) {
    return op.code == LoopCode::kStep && is_group_operation(steps_[op.step]);
  };
  const auto first = std::ranges::find_if(loop_.ops, is_operation);
  if (std::ranges::count_if(loop_.ops, is_operation) < 2 || register_count_ > kMostStraight || graph_.frames.empty() ||
      (shapes_.front()->code->co_flags & kSuspends) != 0) {
    return;
  }
  std::map<std::int32_t, std::int32_t> slots;  // by register
  auto straight = std::make_unique<Straight>();
  straight->line = steps_[first->step].line;
  straight->first = loop_.ops.front().step;
  for (const Step& step : std::span(steps_).first(direct_.header)) {
    if (step.op == Op::param) {
      slots[step.result] = step.immediate;
    } else if (!has(step.op, trait::kOneOperand) || !slots.contains(registers_used_[step.operands])) {
      return;
    } else {
      straight->guards.push_back({slots[registers_used_[step.operands]], &step});
    }
    if (step.drop_count != 0) {
      return;
    }
  }
  for (const LoopProgram::Entry& entry : loop_.parameters) {
    if (!slots.contains(entry.from)) {
      return;
    }
    straight->parameters.push_back({slots[entry.from], entry.to, entry.unboxed});
  }
  straight_ = std::move(straight);
}

bool Interpreter::runs_groups() const {
  return (executor_.groups == kProcessFusion ? array::fusion_enabled : executor_.groups) != 0 &&
         is_on(Stage::fusion_groups);
}

// What the registers of parameters have is borrowed from the frame's slots, which keep it until the frame is left.
bool Interpreter::run_straight() {
  const Straight& straight = *executor_.straight_;
  FusionSite& site = straight.site;
  if (straight.is_given_up || !runs_groups() || requested_ || array::numpy_if_ready() == nullptr) {
    return false;
  }
  if (site.wait > 0) {
    --site.wait;
    return false;
  }
  for (const auto& [slot, step] : straight.guards) {
    if (!guard_holds(step->op, run_.slots[slot], step->object, step->immediate)) {
      return false;
    }
  }
  std::array<UnboxedNumber, kMostStraight>
      unboxed;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled where it is used
  bool is_done = true;
  for (const LoopProgram::Entry& entry : executor_.loop_.invariants) {
    is_done = is_done && unbox(registers_[entry.from], entry.unboxed, &unboxed[entry.to]);
  }
  for (const LoopProgram::Entry& entry : straight.parameters) {
    PyObject* value = run_.slots[entry.from];
    registers_[entry.to] = value;
    is_done = is_done && (entry.unboxed == Unboxed::kNone || unbox(value, entry.unboxed, &unboxed[entry.to]));
  }
  unboxed_ = unboxed.data();
  auto reason = Reason::kNone;
  if (is_done) {
    const FusionSource source{.first = executor_.steps_.data(),
                              .end = executor_.steps_.data() + executor_.steps_.size(),
                              .used = executor_.registers_used_.data(),
                              .constants = executor_.constant_count_,
                              .registers = number_registers(),
                              .operations = executor_.loop_.ops,
                              .in_passes = !site.is_apart && is_on(Stage::multi_pass)};
    is_done = run_site(site, source, &reason, [this](const array::Numpy& np, const PlannedGroup& group) {
      return attempt_straight(np, group);
    });
  }
  unboxed_ = nullptr;
  if (is_done) {
    run_.gain += executor_.gain_.round;
    ++executor_.hits;
    ++array::fusion_counts.whole;
    return true;
  }
  for (const LoopProgram::Entry& entry : straight.parameters) {
    registers_[entry.to] = nullptr;
  }
  // Why not is said where the steps try to be fusion groups.
  straight.is_given_up = reason == Reason::kOther;
  site.delay();
  return false;
}

array::FusionReason Interpreter::attempt_straight(const array::Numpy& np, const PlannedGroup& group) {
  if (!group.returns) {
    return Reason::kOther;
  }
  const Step& returned = executor_.steps_[executor_.loop_.ops[group.count].step];
  const std::int32_t place = executor_.registers_used_[returned.operands];
  const auto is_place = [place](const auto& known) { return known.first == place; };
  const auto output = std::ranges::find_if(group.results, is_place);
  const bool is_known = group.tuple == place || output != group.results.end() || place < executor_.constant_count_ ||
                        (registers_[place] != nullptr && kind_of(place) == Unboxed::kNone &&
                         std::ranges::none_of(group.loaded, is_place) && std::ranges::none_of(group.numeric, is_place));
  if (!is_known) {
    return Reason::kOther;
  }
  FusionResults results;
  const Reason reason = compute_group(np, group, &results);
  if (reason == Reason::kNone) {
    ++group.runs;
    run_.returned = &returned;
    run_.result = group.tuple >= 0                ? std::move(results.tuple)
                  : output == group.results.end() ? Ref::create(registers_[place])
                                                  : std::move(results.arrays[output->second]);
  }
  return reason;
}

}  // namespace tagalong::replay
