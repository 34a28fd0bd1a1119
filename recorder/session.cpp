#include "recorder/session.h"

#include <utility>

#include "recorder/code/rule_times.h"
#include "recorder/deferred/array_proxy.h"
#include "recorder/hook.h"
#include "rewriter/base/errors.h"
#include "rewriter/base/pending_error.h"
#include "rewriter/cpython/dicts.h"
#include "rewriter/cpython/eval_hook.h"
#include "rewriter/cpython/foreign_eval.h"

namespace tagalong::recorder {

void Session::reap(PyThreadState* thread) {
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

bool Session::is_mine(const cpython::Frame* frame) const {
  return !finished_ && !waiting_ && frames_.back().live == frame;
}

// Whether the recording goes on at all; asked where the shadow state is one that a trace can end in.
bool Session::may_go_on() {
  if (cpython::is_left_to_others(thread_)) {
    stop(Stop::k_watched);  // the tool that watches wants to see the original code
    return false;
  }
  if (static_cast<int>(graph_.nodes.size()) > limits_.nodes) {
    stop(Stop::k_node_limit);
    return false;
  }
  return true;
}

namespace {

// Looking up a global name runs none of the program's code.
bool has_plain_globals(const cpython::Frame* frame) {
  return PyDict_CheckExact(frame->f_globals) && PyDict_CheckExact(frame->f_builtins) &&
         !cpython::has_asked_keys(frame->f_globals) && !cpython::has_asked_keys(frame->f_builtins);
}

}  // namespace

bool Session::is_poll_place(const cpython::Frame* frame, int instruction, bool is_after) const {
  return !is_mine(frame) || frames_.back().code->decoded->polls_eval_breaker(instruction, is_after);
}

void Session::before(cpython::Frame* frame, int instruction) {
  if (!is_mine(frame)) {
    return;
  }
  const DecodedCode& decoded = *top().code->decoded;
  const auto place = static_cast<std::size_t>(instruction);
  if (!wants_before(instruction_at(instruction).opcode) && !decoded.is_handler[place]) {
    return;  // the hook is there for prepare_array_operation
  }
  const int depth = decoded.shape->depths[place];
  live_top_ = cpython::stack_base(frame) + depth;
  if (decoded.is_handler[place] && !catch_exception(frame, instruction)) {
    return;
  }
  end_iteration();
  current_ = instruction;
  // A branch that has asked its value cannot be begun anew: it is settled before the recording may end.
  const bool is_asked = is_branch_asked();
  if (!is_asked && !may_go_on()) {
    return;
  }
  finish_delegation();
  top().answered = -1;
  settle(instruction, false);
  if (finished_ || (is_asked && !may_go_on())) {
    return;
  }
  catch_up(instruction);
  current_ = top().next = instruction;
  is_before_ = true;
#ifdef TAGALONG_CHECKS
  check_shadow();
#endif
  run(instruction_at(instruction));
  give_up_refused();
}

void Session::unwound(cpython::Frame* frame) {
  if (is_mine(frame)) {
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
  if (!is_mine(frame)) {
    return force_arrays(frame);
  }
  if (limits_.groups == 0) {
    return true;
  }
  const Instruction& operation = instruction_at(instruction);
  const bool has_name = operation.opcode == rewriter::op::kLOAD_ATTR || operation.opcode == rewriter::op::kLOAD_METHOD;
  const bool has_keywords = operation.opcode == rewriter::op::kCALL &&
                            instruction_at(call_start(instruction)).opcode == rewriter::op::kKW_NAMES;
  std::optional<Pause> pause;
  if (has_deferred_arrays(frame)) {
    pause.emplace();  // computing it now may run the program's code
  }
  return prepare_arrays(operation, has_keywords, has_name ? name(static_cast<int>(operation.arg)) : nullptr,
                        array_place(frame, instruction));
}

bool Session::put_array_operation(cpython::Frame* frame, int instruction) {
  return !is_mine(frame) || limits_.groups == 0 ||
         put_array_proxy(instruction_at(instruction), array_place(frame, instruction));
}

bool Session::returns(cpython::Frame* frame, int instruction) const {
  return is_mine(frame) && instruction_at(instruction).opcode == rewriter::op::kRETURN_VALUE;
}

void Session::after(cpython::Frame* frame, int instruction) {
  if (!is_mine(frame)) {
    return;
  }
  end_iteration();
  top().answered = -1;
  current_ = instruction;
  const bool is_asked = is_branch_asked();
  if (!is_asked && !may_go_on()) {
    return;
  }
  const int depth = top().code->decoded->shape->depths[static_cast<std::size_t>(instruction) + 1];
  live_top_ = cpython::stack_base(frame) + depth;
  settle_item(false);
  if (finished_) {
    return;
  }
  if (top().pending == instruction) {
    settle(instruction, true);
  } else if (!come_to(instruction)) {
    return;
  }
  if (finished_ || (is_asked && !may_go_on())) {
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
  } else if (top().declined != kNotDeclined) {
    finish_declined();
  } else {
    run(instruction_at(instruction));
  }
  others_ran_in(instruction);
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
      abandon(reason);  // the rule that has failed may have done half of it
    } else {
      end_at(reason);
    }
  } catch (const std::exception&) {  // no memory for the end of the trace
    abandon(reason);
  }
}

// The trace is of no use: the shadow state is none to leave at.
void Session::abandon(Stop reason) {
  if (finished_) {
    return;
  }
  codes_.leave();
  Recorded recorded;
  recorded.stop = reason;
  recorded.useful = false;
  hand_over(std::move(recorded));
}

void Session::end_at(Stop reason) {
  const bool is_between = is_branch_asked();
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
  // Nothing but reading arguments has been recorded: leaving at once is not worth an entry. With an exception under
  // way (a defect of the recorder has shown itself) there is no state to leave at.
  recorded.useful = false;
  for (const replay::Node& node : graph_.nodes) {
    recorded.useful = recorded.useful || (!node.info().is_pure() && node.op != Op::drop && node.op != Op::take_stack) ||
                      node.info().may_raise();
  }
  recorded.useful = recorded.useful && top().raising.instruction < 0 && !is_between;
  end_with(std::move(recorded));
}

// The trace ends before the instruction that comes next.
void Session::end_with(Recorded recorded) {
  drops_.clear();
  state_changed_ = true;
  const bool consumes = top().consuming.consumer != replay::Consumer::kNone;
  const SnapshotId here = consumes ? consumer_snapshot() : snapshot_at(call_start(top().next), top().stack);
  emit(Op::leave, {}, here);
  leave_with(std::move(recorded));
}

// The trace is over, but its frames are not.
void Session::leave_with(Recorded recorded) {
  codes_.leave();
  finish_with(std::move(recorded));
}

void Session::finish_with(Recorded recorded) {
  settle_entry();
  guard_loops();
  hand_over(std::move(recorded));
}

void Session::hand_over(Recorded recorded) {
  finished_ = true;
  recorded.entry = entry_;
  recorded.stack = stack_;
  recorded.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  cpython::release_hook();
  detach_hook(codes_.hook());
  const std::shared_ptr<Session> self = shared_from_this();
  Recordings::all().keep_finished(stack_, self);
  Recordings::all().put(stack_, std::exchange(outer_, nullptr));
  objects_.take_back(graph_);
  recorded.has_lost = objects_.has_lost();
  recorded.reached = reached_;
  recorded.largest_array = largest_array_;
  recorded.graph = std::move(graph_);
  recorded.shapes = std::move(shapes_);
  recorded.recording_code = codes_.root();
  sink_.finished(std::move(recorded));
}

// With the hook installed a call keeps its arguments on the caller's stack. Where the function does not take them, it
// has no frame that could give them up, so that is done in front of the call: its exception tells nothing of them.
void Session::give_up_refused() {
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

void Session::come_back(cpython::Frame* frame) {
  if (is_away_ && frames_.back().live == frame) {
    is_away_ = false;
    waiting_ = false;
    cpython::acquire_hook();
  }
  if (!waiting_ && cpython::take_back_hook()) {
    others_ran_ = true;
  }
  opaque_frames_ = 0;
}

void Session::lend_hook(PyThreadState* thread) {
  const auto needs_hook = [](const Recording& recording, const cpython::StackId& /*stack*/) {
    const auto& session = static_cast<const Session&>(recording);
    return !session.waiting_ && !session.finished_ && session.is_amid_instruction();
  };
  if (!Recordings::all().has_any(needs_hook)) {
    cpython::lend_hook(thread);
  }
}

}  // namespace tagalong::recorder
