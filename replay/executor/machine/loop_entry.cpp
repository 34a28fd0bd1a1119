// Entering a loop, and the native code of its loop program.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "replay/executor/machine/frames.h"
#include "replay/executor/machine/loop_interpreter.h"
#include "replay/executor/machine/run_end.h"
#include "replay/ir/stages.h"
#include "rewriter/base/errors.h"
#include "rewriter/cpython/places.h"

namespace tagalong::replay {

namespace {

// False: an operand of the loop node is not of the kind that the loop program takes; nothing has happened.
bool unbox_parameters(RunState& state) {
  const LoopProgram& program = state.program.loop;
  for (const LoopProgram::Entry& entry : program.invariants) {
    if (!unbox(state.registers[entry.from], entry.unboxed, &state.unboxed[entry.to])) {
      return false;
    }
  }
  for (const LoopProgram::Entry& entry : program.parameters) {
    if (!unbox(state.registers[entry.from], entry.unboxed, &state.unboxed[entry.to])) {
      return false;
    }
  }
  for (const LoopProgram::Entry& entry : program.parameters) {
    state.registers[entry.to] = Py_NewRef(state.registers[entry.from]);
  }
  return true;
}

}  // namespace

Outcome LoopInterpreter::enter(RunState& state, const Step& header) {
  constexpr std::size_t kOnStack = 256;
  std::array<UnboxedNumber, kOnStack> small;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled where it is used
  std::vector<UnboxedNumber> large;
  state.unboxed = small.data();
  if (static_cast<std::size_t>(state.program.register_count) > kOnStack) {
    large.resize(static_cast<std::size_t>(state.program.register_count));
    state.unboxed = large.data();
  }
  if (!unbox_parameters(state)) {
    state.unboxed = nullptr;  // no number is unboxed yet
    return end_run(state, header, StepResult::kGuardFailed);
  }
  for (const std::int32_t place : state.program.drops_of(header)) {
    Py_CLEAR(state.registers[place]);
  }
  return LoopInterpreter(state, header).run();
}

Outcome LoopInterpreter::run() {
  show_location(state_, header_.snapshot);
  begin_iteration();
  state_.run.gain += state_.executor.gain().round;
  const LoopOp* op = go_native(state_.program.loop.ops.data());
  return op == nullptr ? outcome_ : interpret(op);
}

#ifdef TAGALONG_CHECKS
// Where a trace begins its parameters are filled, and all other registers are empty.
void LoopInterpreter::check_entry(std::size_t trace) const {
  const StepProgram& program = state_.program;
  const DirectEntry& entry = state_.executor.traces_[trace].entry;
  for (std::int32_t place = program.constant_count; place < program.register_count; ++place) {
    const PyObject* object = state_.registers[place];
    const auto parameter = std::ranges::find(entry.parameters, place, &DirectEntry::Parameter::to);
    const bool is_right = parameter == entry.parameters.end()
                              ? object == nullptr
                              : parameter->unboxed != Unboxed::kNone || object != nullptr;
    TAGALONG_CHECK(is_right, "register {} is {} where trace {} of {} begins", place,
                   object == nullptr ? "empty" : "not empty", trace, program.graph.name);
  }
}
#endif

native::Did LoopInterpreter::perform_for_native(native::Frame* frame, const LoopOp* op) noexcept {
  LoopInterpreter& loop = *frame->interpreter;
  loop.state_.run.gain += std::exchange(frame->gain, 0);
  frame->is_touched = 1;
  loop.left_at_ = nullptr;
  const native::Did did = loop.perform(op);
  frame->next = loop.left_at_;
  return did;
}

// Runs have come here as often as was allowed: whether this one ends here. A run without a linker does not count.
bool LoopInterpreter::stops_at(std::int32_t trace) {
  Arrivals& arrivals = state_.executor.arrivals_of(trace);
  if (state_.run.linker == nullptr) {
    arrivals.left = Arrivals::kNever;
    return false;
  }
  state_.run.is_stopped = state_.run.linker->stops_at(arrivals);
  return state_.run.is_stopped;
}

// At the operation with which a trace begins. Returns the operation with which the interpreter continues: the same one
// if there is no native code, otherwise the one in front of which that has left; null: the run has ended.
const LoopOp* LoopInterpreter::go_native(const LoopOp* op) {
  if (state_.executor.native_.code == nullptr && !make_native()) {
    return op;
  }
  const native::Code& code = *state_.executor.native_.code;
  const void* entry = code.entry(static_cast<std::size_t>(op - state_.program.loop.ops.data()));
  if (entry == nullptr) {
    return op;
  }
  Run& run = state_.run;
  native::Frame frame;
  frame.objects = state_.registers;
  frame.unboxed = state_.unboxed;
  frame.thread = run.thread;
  frame.requests = state_.requested.address();
  frame.depth = &run.depth;
  frame.runs_user_code = &state_.user_code_step;
  frame.synced = &run.synced_keys[level()];
  frame.root_slots = run.root == nullptr ? nullptr : cpython::locals_of(run.root);
  frame.root_synced = &run.synced_keys[0];
  frame.root_place = run.root == nullptr ? nullptr : cpython::shown_place(run.root);
  frame.root_code = run.root == nullptr ? nullptr : cpython::first_place(run.root);
  frame.interpreter = this;
  const LoopOp* next = code.run(&frame, entry);
  run.gain += frame.gain;
  return next;
}

bool LoopInterpreter::make_native() const {
  const Executor& executor = state_.executor;
  const StepProgram& program = state_.program;
  Run& run = state_.run;
  Executor::NativeLoop& native = executor.native_;
  if (run.native_after == 0 || !is_on(Stage::native_code) || native.is_impossible ||
      ++native.iterations < run.native_after || (run.linker != nullptr && run.linker->total_gain() + run.gain <= 0)) {
    return false;
  }
  native.iterations = 0;
  native::Source source{program.loop, program.steps, program.registers_used, program.constants, {0}};
  for (const TraceOfTree& trace : executor.traces_) {
    source.entries.push_back(static_cast<std::int32_t>(trace.first_operation));
  }
  for (const LoopOp& op : program.loop.ops) {
    const bool is_entered = op.code == LoopCode::kCross && op.right != kNoSnapshot && run.root != nullptr;
    source.places.push_back(is_entered ? unit_of(state_, outermost(state_, op.right)) : -1);
  }
  for (std::int32_t trace = 0; std::cmp_less(trace, executor.part_count()); ++trace) {
    source.arrivals.push_back(&executor.arrivals_of(trace).left);
  }
  source.level = static_cast<int>(level());
  source.perform = &perform_for_native;
  native.code = native::compile(source);
  native.is_impossible = native.code == nullptr;
  run.has_made_native = !native.is_impossible;
  if (run.has_made_native && native::code_listener != nullptr) [[unlikely]] {
    native::code_listener(native.code->placed(fmt::format("loop of {}", program.graph.name)));
  }
  return run.has_made_native;
}

}  // namespace tagalong::replay
