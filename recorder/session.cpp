#include "recorder/session.h"

#include <utility>

#include "recorder/base/call_slots.h"
#include "recorder/base/instruction_kinds.h"
#include "recorder/code/rule_times.h"
#include "recorder/deferred/array_proxy.h"
#include "recorder/hook.h"
#include "rewriter/base/errors.h"
#include "rewriter/base/pending_error.h"
#include "rewriter/cpython/eval_hook.h"
#include "rewriter/cpython/foreign_eval.h"
#include "rewriter/cpython/objects/dicts.h"

namespace tagalong::recorder {

void Session::free_finished(PyThreadState* thread) {
  if (!Recordings::all().is_empty()) {
    const std::shared_ptr<Recording> finished = Recordings::all().take_finished(cpython::stack_of(thread));
  }
}

Session::Session(PyThreadState* thread, Sink& sink, const Limits& limits, const Start& start)
    : Rules(thread, sink, start.sink_owner, limits),
      stack_(cpython::stack_of(thread)),
      outer_(Recordings::all().on(stack_)) {
  Ref hook = make_hook(this);
  if (!hook) {
    throw PythonError();
  }
  codes_.set_hook(std::move(hook), start.has_every_hook);
}

Session::~Session() {
  if (codes_.hook()) {
    detach_hook(codes_.hook());
  }
}

void Session::note_written_local(const cpython::Frame* frame) {
  has_written_local_ = has_written_local_ || std::ranges::find(frames_, frame, &ShadowFrame::live) != frames_.end();
}

bool Session::is_own_frame(const cpython::Frame* frame) const {
  return !finished_ && !paused_ && frames_.back().live == frame;
}

// Whether the recording continues; called only when the shadow state is one at which a trace can end.
bool Session::may_continue() {
  if (cpython::must_run_eagerly(thread_)) {
    stop(Stop::k_watched);  // the tool that watches has to see the original code
    return false;
  }
  if (has_written_local_) {
    stop(Stop::k_written_local);
    return false;
  }
  if (static_cast<int>(graph_.nodes.size()) > limits_.nodes) {
    stop(Stop::k_node_limit);
    return false;
  }
  return true;
}

namespace {

// Whether looking up any global name runs no user code.
bool has_plain_globals(const cpython::Frame* frame) {
  return PyDict_CheckExact(frame->f_globals) && PyDict_CheckExact(frame->f_builtins) &&
         !cpython::has_asked_keys(frame->f_globals) && !cpython::has_asked_keys(frame->f_builtins);
}

}  // namespace

bool Session::is_poll_place(const cpython::Frame* frame, int instruction, bool is_after) const {
  return !is_own_frame(frame) || frames_.back().code->decoded->polls_eval_breaker(instruction, is_after);
}

void Session::before(cpython::Frame* frame, int instruction) {
  if (!is_own_frame(frame)) {
    return;
  }
  const DecodedCode& decoded = *top().code->decoded;
  const auto place = static_cast<std::size_t>(instruction);
  if (!wants_before(instruction_at(instruction).opcode) && !decoded.is_handler[place]) {
    return;  // the hook exists for prepare_array_operation
  }
  const int depth = decoded.shape->depths[place];
  live_top_ = cpython::stack_base(frame) + depth;
  if (decoded.is_handler[place] && !catch_exception(frame, instruction)) {
    return;
  }
  end_iteration();
  current_ = instruction;
  // A branch that has evaluated the truth of its value cannot be executed again: its outcome is recorded before the
  // recording may end.
  const bool is_truth_known = is_branch_truth_known();
  if (!is_truth_known && !may_continue()) {
    return;
  }
  finish_delegation();
  top().finished_resumption = -1;
  resolve_branch(instruction, false);
  if (finished_ || (is_truth_known && !may_continue())) {
    return;
  }
  run_pending_rules(instruction);
  current_ = top().next = instruction;
  is_before_ = true;
#ifdef TAGALONG_CHECKS
  check_shadow();
#endif
  run(instruction_at(instruction));
  release_refused_arguments();
}

void Session::unwound(cpython::Frame* frame) {
  if (is_own_frame(frame)) {
    unwind(frame);
  }
}

ArrayPlace Session::array_place(cpython::Frame* frame, int instruction) const {
  const DecodedCode& decoded = *frames_.back().code->decoded;
  const auto place = static_cast<std::size_t>(instruction);
  const bool may_defer = has_plain_globals(frame);
  return {.frame = frame,
          .end = cpython::stack_base(frame) + decoded.shape->depths[place],
          .reach = decoded.spans.reach[place],
          .may_begin = may_defer && decoded.spans.may_begin[place],
          .may_extend = may_defer && decoded.spans.may_extend[place]};
}

bool Session::prepare_array_operation(cpython::Frame* frame, int instruction) {
  if (!is_own_frame(frame)) {
    return force_arrays(frame);
  }
  if (limits_.groups == 0) {
    return true;
  }
  const Instruction& operation = instruction_at(instruction);
  const bool has_name = loads_attribute(operation.opcode);
  const bool has_keywords = rewriter::names_of_call(frames_.back().code->decoded->assembly, instruction) >= 0;
  std::optional<Pause> pause;
  if (has_deferred_arrays(frame)) {
    pause.emplace();  // forcing the arrays may run user code
  }
  return prepare_arrays(operation, has_keywords, has_name ? name_of(operation) : nullptr,
                        array_place(frame, instruction));
}

bool Session::put_array_operation(cpython::Frame* frame, int instruction) {
  return !is_own_frame(frame) || limits_.groups == 0 ||
         put_array_proxy(instruction_at(instruction), array_place(frame, instruction));
}

bool Session::returns(cpython::Frame* frame, int instruction) const {
  return is_own_frame(frame) && recorder::returns(instruction_at(instruction).opcode);
}

void Session::after(cpython::Frame* frame, int instruction) {
  if (!is_own_frame(frame)) {
    return;
  }
  end_iteration();
  top().finished_resumption = -1;
  current_ = instruction;
  const bool is_truth_known = is_branch_truth_known();
  if (!is_truth_known && !may_continue()) {
    return;
  }
  const int depth = top().code->decoded->shape->depths[static_cast<std::size_t>(instruction) + 1];
  live_top_ = cpython::stack_base(frame) + depth;
  finish_item(false);
  if (finished_) {
    return;
  }
  if (top().pending == instruction) {
    resolve_branch(instruction, true);
  } else if (!advance_to(instruction)) {
    return;
  }
  if (finished_ || (is_truth_known && !may_continue())) {
    return;
  }
  current_ = top().next = instruction;
  is_before_ = false;
  if (top().checked != replay::kNoValue) {
    top().call_result = take_checked();
  }
  if (top().call_result != replay::kNoValue) {
    finish_inlined();
    if (depth > 0) {
      note(top().stack.back(), live_stack(0));
    }
    if (kNullSlot != 0 && loads_method(instruction_at(instruction))) {
      note(top().stack.end()[-2], live_stack(1));
    }
  } else if (top().declined != kNotDeclined) {
    finish_declined();
  } else {
    run(instruction_at(instruction));
  }
  note_unrecorded_code_in(instruction);
  if (!finished_) {
    top().next = instruction + 1;
    TAGALONG_CHECK(static_cast<int>(top().stack.size()) == depth,
                   "after instruction {} the shadow stack has {} values, not {}", instruction, top().stack.size(),
                   depth);
  }
}

void Session::stop(Stop reason) {
  if (finished_) {
    return;
  }
  const PendingError pending;
  try {
    if (reason == Stop::k_internal) {
      abandon(reason);  // the failed rule may have changed the shadow state in part
    } else {
      end_at(reason);
    }
  } catch (const std::exception&) {  // out of memory for the end of the trace
    abandon(reason);
  }
}

// Discards the trace: the shadow state is not one at which a side exit is possible.
void Session::abandon(Stop reason) {
  if (finished_) {
    return;
  }
  codes_.leave();
  Recorded recorded;
  recorded.stop = reason;
  recorded.useful = false;
  publish(std::move(recorded));
}

void Session::end_at(Stop reason) {
  const bool is_between = is_branch_truth_known();
  if (top().checked != replay::kNoValue && !is_between) {
    top().call_result = take_checked();
  }
  if (top().call_result != replay::kNoValue) {
    finish_inlined();  // the callee has returned: the trace ends behind the call
  } else if (top().declined != kNotDeclined) {
    finish_declined();
    ++top().next;
  }
  Recorded recorded;
  recorded.stop = reason;
  recorded.stop_line = instruction_at(top().next).position.line;
  // An executor that only reads arguments and exits would gain nothing. While an exception is being raised (after a
  // defect of the recorder) there is no state for a side exit.
  recorded.useful = false;
  for (const replay::Node& node : graph_.nodes) {
    recorded.useful = recorded.useful || (!node.info().is_pure() && node.op != Op::drop && node.op != Op::take_stack) ||
                      node.info().may_raise();
  }
  recorded.useful = recorded.useful && top().raising.instruction < 0 && !is_between;
  end_with_side_exit(std::move(recorded));
}

// Ends the trace in front of the next instruction.
void Session::end_with_side_exit(Recorded recorded) {
  drops_.clear();
  state_changed_ = true;
  const bool consumes = top().consuming.consumer != replay::Consumer::kNone;
  const SnapshotId here = consumes ? consumer_snapshot() : snapshot_at(call_start(top().next), top().stack);
  emit(Op::leave, {}, here);
  finish_and_leave(std::move(recorded));
}

// Ends the trace; its frames continue in recording code.
void Session::finish_and_leave(Recorded recorded) {
  codes_.leave();
  finish_with(std::move(recorded));
}

void Session::finish_with(Recorded recorded) {
  resolve_entry_types();
  guard_loops();
  publish(std::move(recorded));
}

void Session::publish(Recorded recorded) {
  finished_ = true;
  recorded.entry = entry_;
  recorded.stack = stack_;
  recorded.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  cpython::release_hook();
  detach_hook(codes_.hook());
  const std::shared_ptr<Session> self = shared_from_this();
  Recordings::all().keep_finished(stack_, self);
  Recordings::all().put(stack_, std::exchange(outer_, nullptr));
  objects_.restore_objects(graph_);
  recorded.has_lost = objects_.has_lost();
  recorded.reached = reached_;
  recorded.largest_array = largest_array_;
  recorded.graph = std::move(graph_);
  recorded.shapes = std::move(shapes_);
  recorded.recording_code = codes_.root();
  sink_.finished(std::move(recorded));
}

// While the evaluation hook is installed, a call keeps its arguments on the caller's stack. If the function does not
// accept them, no frame of it can release them in time. So they are released in front of the call, whose exception does
// not depend on them.
void Session::release_refused_arguments() {
  if (finished_) {
    return;
  }
  const std::vector<PyObject**> places = take_refused();
  if (places.empty()) {
    return;
  }
  const std::shared_ptr<Session> kept = shared_from_this();
  const Pause pause;
  for (PyObject** place : places) {
    PyObject* old = std::exchange(*place, Py_NewRef(Py_None));
    Py_DECREF(old);
  }
}

void Session::resume_recording(cpython::Frame* frame) {
  if (is_hook_removed_ && frames_.back().live == frame) {
    is_hook_removed_ = false;
    paused_ = false;
    cpython::acquire_hook();
  }
  if (!paused_ && cpython::restore_idle_hook()) {
    unrecorded_code_ran_ = true;
  }
  opaque_frames_ = 0;
}

void Session::remove_idle_hook(PyThreadState* thread) {
  const auto needs_hook = [](const Recording& recording, const cpython::StackId& /*stack*/) {
    const auto& session = static_cast<const Session&>(recording);
    return !session.paused_ && !session.finished_ && session.is_inside_instruction();
  };
  if (!Recordings::all().has_any(needs_hook)) {
    cpython::remove_idle_hook(thread);
  }
}

}  // namespace tagalong::recorder
