#include "recorder/session.h"

#include <algorithm>
#include <utility>

#include "recorder/deferred/array_proxy.h"
#include "recorder/deferred/deferred_expression.h"
#include "recorder/hook.h"
#include "recorder/inlining/inline.h"
#include "recorder/leaving.h"
#include "recorder/rules/rule_table.h"
#include "rewriter/base/errors.h"
#include "rewriter/base/pending_error.h"
#include "rewriter/base/text.h"
#include "rewriter/cpython/dicts.h"
#include "rewriter/cpython/eval_hook.h"
#include "rewriter/cpython/foreign_eval.h"
#include "rewriter/cpython/requests.h"

namespace tagalong::recorder {
namespace {

// The sessions that are under way, by stack. A stack may end without its frames (a daemon thread, when the interpreter
// goes; a greenlet of a thread that has ended): then its session stays, since the GIL that freeing needs is not held,
// or frames that are never run again refer to it.
class Sessions {
 public:
  static Sessions& all() {
    static auto* const sessions = new Sessions();
    return *sessions;
  }

  [[nodiscard]] bool is_empty() const { return slots_.empty(); }

  // The innermost one on this stack, or null.
  [[nodiscard]] std::shared_ptr<Session> on(const cpython::StackId& stack) const {
    const auto slot = std::ranges::find(slots_, stack, &Slot::stack);
    return slot == slots_.end() ? nullptr : slot->session;
  }

  void put(const cpython::StackId& stack, std::shared_ptr<Session> session) {
    slot_of(stack).session = std::move(session);
    tidy();
  }

  // A session that has finished stays until the function that was called with it is done: reap().
  void keep_finished(const cpython::StackId& stack, std::shared_ptr<Session> session) {
    slot_of(stack).finished = std::move(session);
  }

  std::shared_ptr<Session> take_finished(const cpython::StackId& stack) {
    const auto slot = std::ranges::find(slots_, stack, &Slot::stack);
    std::shared_ptr<Session> finished = slot == slots_.end() ? nullptr : std::move(slot->finished);
    tidy();
    return finished;
  }

  template <class Wanted>
  [[nodiscard]] bool has_any(const Wanted& wanted) const {
    return std::ranges::any_of(
        slots_, [&](const Slot& slot) { return slot.session != nullptr && wanted(*slot.session, slot.stack); });
  }

  void forget_other_threads(std::uint64_t thread) {
    for (Slot& slot : slots_) {
      if (slot.stack.thread != thread) {
        for (auto* session : {&slot.session, &slot.finished}) {
          static_cast<void>(new std::shared_ptr<Session>(std::move(*session)));  // frames that never run refer to it
        }
      }
    }
    tidy();
  }

 private:
  struct Slot {
    cpython::StackId stack;
    std::shared_ptr<Session> session;
    std::shared_ptr<Session> finished;
  };

  Slot& slot_of(const cpython::StackId& stack) {
    const auto slot = std::ranges::find(slots_, stack, &Slot::stack);
    return slot == slots_.end() ? slots_.emplace_back(Slot{stack, nullptr, nullptr}) : *slot;
  }

  void tidy() {
    std::erase_if(slots_, [](const Slot& slot) { return slot.session == nullptr && slot.finished == nullptr; });
  }

  std::vector<Slot> slots_;  // changed under the GIL, by code that does not give it up meanwhile
};

}  // namespace

const char* stop_name(Stop stop) {
  switch (stop) {
#define TAGALONG_STOP(name, text) \
  case Stop::k_##name:            \
    return #name;
#include "recorder/stops.inc"
#undef TAGALONG_STOP
    default:
      return "none";
  }
}

const char* stop_text(Stop stop) {
  switch (stop) {
#define TAGALONG_STOP(name, text) \
  case Stop::k_##name:            \
    return text;
#include "recorder/stops.inc"
#undef TAGALONG_STOP
    default:
      return "recorded to the return of the root frame";
  }
}

void Session::reap(PyThreadState* thread) {
  if (!Sessions::all().is_empty()) {
    const std::shared_ptr<Session> finished = Sessions::all().take_finished(cpython::stack_of(thread));
  }
}

bool Session::is_recording(PyThreadState* thread) {
  // Asked at every call; mostly no recording is under way, or those that are wait.
  const auto records = [thread](const Session& session, const cpython::StackId& stack) {
    return stack.thread == thread->id && !session.waiting_;
  };
  const Sessions& all = Sessions::all();
  if (all.is_empty() || !all.has_any(records)) {
    return false;
  }
  const std::shared_ptr<Session> session = all.on(cpython::stack_of(thread));
  return session != nullptr && !session->waiting_;
}

void Session::forget_other_threads(PyThreadState* thread) { Sessions::all().forget_other_threads(thread->id); }

Session::Pause::Pause() {
  PyThreadState* thread = cpython::thread_state();
  if (is_recording(thread)) {
    session_ = Sessions::all().on(cpython::stack_of(thread));
    session_->waiting_ = true;
    cpython::release_hook();
  }
}

Session::Pause::~Pause() {
  if (session_ != nullptr) {
    session_->waiting_ = false;
    cpython::acquire_hook();
  }
}

Session::Session(PyThreadState* thread, Sink& sink, const Limits& limits, Ref sink_owner)
    : thread_(thread),
      stack_(cpython::stack_of(thread)),
      sink_(sink),
      sink_owner_(std::move(sink_owner)),
      limits_(limits),
      outer_(Sessions::all().on(stack_)) {
  hook_ = make_hook(this);
  if (!hook_) {
    throw PythonError();
  }
}

Session::~Session() {
  for (const auto& [object, watch] : watches_) {
    cpython::unwatch(watch.get(), this);
  }
  if (hook_) {
    detach_hook(hook_);
  }
}

const RecordingCode& Session::start(PyThreadState* thread, cpython::Frame* frame, const Start& start, Sink& sink,
                                    const Limits& limits) {
  std::shared_ptr<Session> session(new Session(thread, sink, limits, start.sink_owner));
  session->has_every_hook_ = start.has_every_hook;
  Expression::has_raised_late();  // what has is none of this one's
  session->start_root(frame, start);
  Sessions::all().put(session->stack_, session);
  session->started_ = std::chrono::steady_clock::now();
  cpython::set_frame_handler(handle_frame);
  cpython::acquire_hook();
  return *session->codes_.front();
}

RecordingCode& Session::recording_code(std::shared_ptr<const DecodedCode> decoded, const HomeRef& home,
                                       const DecodedCode::Entry* elsewhere) {
  for (const auto& code : codes_) {
    if (code->decoded->shape->code.get() == decoded->shape->code.get()) {
      return *code;
    }
  }
  codes_.push_back(RecordingCode::make(std::move(decoded), hook_, home, has_every_hook_, elsewhere));
  return *codes_.back();
}

// To make it takes time for each instruction of the function, however few the recording comes to.
RecordingCode& Session::root_code(const Start& start) {
  if (start.known != nullptr && !start.elsewhere &&
      start.known->serves_again(*start.decoded, start.home, has_every_hook_)) {
    start.known->take_hook(hook_);
    return *codes_.emplace_back(start.known);
  }
  return recording_code(start.decoded, start.home, start.elsewhere ? &*start.elsewhere : nullptr);
}

void Session::start_root(cpython::Frame* frame, const Start& start) {
  const std::shared_ptr<const DecodedCode>& decoded = start.decoded;
  const DecodedCode::Entry entry =
      start.elsewhere ? *start.elsewhere : decoded->entries[static_cast<std::size_t>(start.entry)];
  entry_ = start.entry;
  place_ = entry.place;
  PyCodeObject* code = decoded->shape->code.get();
  const Ref name = Ref::create(code->co_qualname);
  // A straight run through the function, or a round of the loop, makes about so much.
  const int last = entry.place == DecodedCode::Place::kHeader ? entry.resume : decoded->assembly.size();
  const auto expected = static_cast<std::size_t>(last - entry.first);
  graph_.nodes.reserve(2 * expected);
  graph_.snapshots.reserve(expected);
  abstract_values_.reserve(2 * expected);
  graph_.name = cpython::readable(name.get());
  graph_.frames.push_back({Ref::create(reinterpret_cast<PyObject*>(code))});
  shapes_.push_back(decoded->shape);
  ShadowFrame root;
  root.live = frame;
  root.next = entry.first;
  root.code = &root_code(start);
  frames_.push_back(std::move(root));
  const Value function = emit(Op::function, {}, replay::kNoSnapshot);
  abstract(function).counted = false;
  top().function = function;
  top().locals.assign(static_cast<std::size_t>(code->co_nlocalsplus), replay::kNoValue);
  for (int slot = 0; slot < code->co_nlocalsplus; ++slot) {
    PyObject* object = cpython::locals_of(frame)[slot];
    if (object != nullptr) {
      const Value value = emit(Op::param, {}, replay::kNoSnapshot, slot);
      note(value, object);
      hold(value);
      top().locals[static_cast<std::size_t>(slot)] = value;
    }
  }
  if (entry.place != DecodedCode::Place::kCall) {
    guard_bound_locals();
  }
  start_root_stack(entry);
  if (decoded->is_namespace) {
    find_names();
  }
  if (instruction_at(entry.first).opcode == rewriter::op::kSEND) {
    top().pending = entry.first;  // entered behind its hook
  }
  if (entry.place == DecodedCode::Place::kHeader) {
    header_ = entry.first;
  }
  if (is_of_tree()) {
    current_ = entry.first;
    open_loop(entry.first);
    current_ = 0;
  }
}

// The arguments of a call are bound; what else is bound in a frame that is under way depends on how it came there.
void Session::guard_bound_locals() {
  current_ = top().next;
  const SnapshotId here = snapshot();
  for (std::size_t slot = 0; slot < top().locals.size(); ++slot) {
    const Value known = top().locals[slot];
    if (known != replay::kNoValue) {
      emit(Op::guard_not_null, {known}, here);
    } else {
      const Value value = emit(Op::param, {}, replay::kNoSnapshot, static_cast<std::int64_t>(slot));
      abstract(value).is_null = true;
      emit(Op::guard_null, {value}, here);
    }
  }
}

// What lies on the stack of a frame that is under way is an input like its locals: their slots lie side by side.
void Session::start_root_stack(const DecodedCode::Entry& entry) {
  const int depth = entry.depth;
  root_stack_ = depth;
  current_ = top().next;
  const bool is_resumed = entry.place == DecodedCode::Place::kYield;
  const auto locals = static_cast<int>(top().locals.size());
  for (int place = 0; place < depth; ++place) {
    PyObject* object = cpython::stack_base(top().live)[place];
    const Value value = emit(Op::param, {}, replay::kNoSnapshot, locals + place);
    abstract(value).on_root_stack = true;
    note(value, object);
    hold(value);
    push(value);
    if (is_resumed) {
      continue;
    }
    if (object != nullptr) {
      emit(Op::guard_not_null, {value}, snapshot());
    } else {
      emit(Op::guard_null, {value}, snapshot());
      abstract(value).counted = false;
      top().stack.back() = null_value();
      state_changed_ = true;
    }
  }
  if (is_resumed && cpython::stack_base(top().live)[depth - 1] == Py_None) {
    // Nothing was sent, as mostly: the trace is for that.
    emit(Op::guard_is, {top().stack.back()}, snapshot(), 0, Ref::create(Py_None));
    const Value none = constant(Py_None);
    hold(none);
    top().stack.back() = none;
    state_changed_ = true;
  }
  current_ = 0;
}

bool Session::is_mine(cpython::Frame* frame) const { return !finished_ && !waiting_ && frames_.back().live == frame; }

// Whether the recording goes on at all; asked where the shadow state is one that a trace can end in.
bool Session::may_go_on() {
  if (cpython::is_left_to_others(thread_)) {
    stop(Stop::k_watched);  // whoever watches wants to see the original code
    return false;
  }
  if (static_cast<int>(graph_.nodes.size()) > limits_.nodes) {
    stop(Stop::k_node_limit);
    return false;
  }
  return true;
}

namespace {

// Names that are looked up run no code of anybody's.
bool has_plain_globals(const cpython::Frame* frame) {
  return PyDict_CheckExact(frame->f_globals) && PyDict_CheckExact(frame->f_builtins) &&
         !cpython::has_asked_keys(frame->f_globals) && !cpython::has_asked_keys(frame->f_builtins);
}

bool g_has_postponed = false;  // under the GIL, which nobody gives up in between
}  // namespace

void Session::postpone(PyThreadState* thread) {
  g_has_postponed = cpython::postpone_requests(thread) || g_has_postponed;
}

bool Session::resume(PyThreadState* thread) {
  if (!g_has_postponed) {
    return false;
  }
  g_has_postponed = false;
  cpython::resume_requests(thread);
  return true;
}

bool Session::is_poll_place(const cpython::Frame* frame, int instruction, bool is_after) const {
  return finished_ || waiting_ || frames_.back().live != frame ||
         frames_.back().code->decoded->polls_eval_breaker(instruction, is_after);
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
  const bool is_asked = top().checked != replay::kNoValue && top().pending >= 0;
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
    pause.emplace();  // what is computed now may call somebody
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
  const bool is_asked = top().checked != replay::kNoValue && top().pending >= 0;
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

void Session::check_shadow() {
  const ShadowFrame& frame = top();
  const auto depth = static_cast<std::size_t>(live_top_ - cpython::stack_base(frame.live));
  TAGALONG_CHECK(frame.stack.size() == depth, "before instruction {} of {} the shadow stack has {} values, not {}",
                 current_, graph_.name, frame.stack.size(), depth);
  PyObject** base = cpython::stack_base(frame.live);
  for (std::size_t index = 0; index < depth; ++index) {
    const AbstractValue& known = abstract_values_[static_cast<std::size_t>(frame.stack[index])];
    if (base[index] != array_behind(base[index])) {
      continue;  // an array that waits
    }
    TAGALONG_CHECK((base[index] == nullptr) == known.is_null, "stack slot {} before instruction {} of {}", index,
                   current_, graph_.name);
    // An assignment to __class__ leaves a heap type, or a module's, behind.
    const bool may_change =
        base[index] != nullptr &&
        (PyType_HasFeature(Py_TYPE(base[index]), Py_TPFLAGS_HEAPTYPE) != 0 || PyModule_Check(base[index]));
    TAGALONG_CHECK(base[index] == nullptr || known.seen == nullptr || may_change || Py_TYPE(base[index]) == known.seen,
                   "stack slot {} before instruction {} of {} is a {}, recorded as {}", index, current_, graph_.name,
                   Py_TYPE(base[index])->tp_name, known.seen->tp_name);
  }
  PyObject** slots = cpython::locals_of(frame.live);
  for (std::size_t slot = 0; slot < frame.locals.size(); ++slot) {
    TAGALONG_CHECK((slots[slot] == nullptr) == (frame.locals[slot] == replay::kNoValue),
                   "local slot {} before instruction {} of {}", slot, current_, graph_.name);
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
  for (const auto& code : codes_) {
    leave_at_next_hook(*code);
  }
  Recorded recorded;
  recorded.stop = reason;
  recorded.useful = false;
  hand_over(std::move(recorded));
}

void Session::end_at(Stop reason) {
  const bool is_between = top().checked != replay::kNoValue && top().pending >= 0;  // no state to leave at
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
  end(std::move(recorded));
}

// The trace ends before the instruction that comes next.
void Session::end(Recorded recorded) {
  drops_.clear();
  state_changed_ = true;
  const bool consumes = top().consuming.consumer != replay::Consumer::kNone;
  const SnapshotId here = consumes ? consumer_snapshot() : snapshot_at(call_start(top().next), top().stack);
  emit(Op::leave, {}, here);
  leave_recording_code(std::move(recorded));
}

// The trace is over, but its frames are not.
void Session::leave_recording_code(Recorded recorded) {
  for (const auto& code : codes_) {
    leave_at_next_hook(*code);
  }
  finish(std::move(recorded));
}

void Session::return_from_root(Value value) {
  emit(Op::return_value, {value}, snapshot_at(current_, top().stack));
  finish({});
}

void Session::finish(Recorded recorded) {
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
  detach_hook(hook_);
  const std::shared_ptr<Session> self = shared_from_this();
  Sessions::all().keep_finished(stack_, self);
  Sessions::all().put(stack_, std::exchange(outer_, nullptr));
  take_back();
  recorded.has_lost = has_lost_;
  recorded.reached = reached_;
  recorded.largest_array = largest_array_;
  recorded.graph = std::move(graph_);
  recorded.shapes = std::move(shapes_);
  recorded.recording_code = codes_.front();
  sink_.finished(std::move(recorded));
}

// With the hook installed a call keeps its arguments on the caller's stack. Where the function does not take them, it
// has no frame that could give them up, so that is done in front of the call: its exception tells nothing of them.
void Session::give_up_refused() {
  if (refused_.empty() || finished_) {
    return;
  }
  const std::shared_ptr<Session> kept = shared_from_this();
  const std::vector<PyObject**> places = std::exchange(refused_, {});
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

bool Session::is_amid_instruction() const {
  const ShadowFrame& frame = frames_.back();
  return frame.consuming.consumer != replay::Consumer::kNone || frame.declined != kNotDeclined ||
         frame.next_method != nullptr || frame.checked != replay::kNoValue || frame.call_result != replay::kNoValue;
}

void Session::lend_hook(PyThreadState* thread) {
  const auto needs_hook = [](const Session& session, const cpython::StackId& /*stack*/) {
    return !session.waiting_ && !session.finished_ && session.is_amid_instruction();
  };
  if (!Sessions::all().has_any(needs_hook)) {
    cpython::lend_hook(thread);
  }
}

namespace {

// Somebody's code, who comes between two instructions, an exception being due to the frame there.
PyObject* evaluate_and_raise(PyThreadState* thread, cpython::Frame* frame, int throw_flag) {
  PyObject* raised[3] = {};
  PyErr_Fetch(&raised[0], &raised[1], &raised[2]);
  if (PyObject* result = cpython::evaluate(thread, frame, throw_flag)) {
    Py_DECREF(result);
    PyErr_Restore(raised[0], raised[1], raised[2]);
    return nullptr;
  }
  std::ranges::for_each(raised, [](PyObject* object) { Py_XDECREF(object); });
  return nullptr;
}

}  // namespace

PyObject* handle_frame(PyThreadState* thread, cpython::Frame* frame, int throw_flag) {
  cpython::Frame* const caller = cpython::current_frame(thread);
  if (has_deferred_arrays(caller) && !force_arrays(caller)) {
    return evaluate_and_raise(thread, frame, throw_flag);
  }
  const std::shared_ptr<Session> session = Sessions::all().on(cpython::stack_of(thread));
  if (session == nullptr || session->waiting_) {
    Session::lend_hook(thread);
    return cpython::evaluate(thread, frame, throw_flag);
  }
  if (throw_flag != 0) {
    return cpython::evaluate(thread, frame, throw_flag);
  }
  const bool is_direct = !session->finished_ && session->direct_arguments(frame).has_value();
  const bool is_inlined = !session->finished_ && session->frames_.back().live == cpython::current_frame(thread) &&
                          cpython::has_c_stack(thread, session->limits_.stack) && session->try_inline(frame);
  if (PyErr_Occurred() != nullptr) [[unlikely]] {
    PyErr_Clear();  // as in a hook: there was no memory for something that the recorder has done without
  }
  if (is_inlined) {
    PyObject* result = cpython::evaluate(thread, frame, throw_flag);
    if (result != nullptr && is_direct) {
      Session::postpone(thread);
    }
    // The session may be gone by now; if it is not, the callee has returned to the shadow of its caller, or raised.
    const PendingError pending;  // what follows may run Python code, or clear errors of its own
    if (result == nullptr && Sessions::all().on(session->stack_) == session && !session->waiting_ &&
        !session->finished_ && session->frames_.back().live == frame) {
      session->stop(Stop::k_interrupted);  // before its first hook
    }
    Session::reap(thread);  // `session` keeps it for the rest of this function
    return result;
  }
  if (!session->finished_ && session->frames_.back().live == cpython::current_frame(thread) &&
      session->is_consumed(frame)) {
    session->end_consumption();  // the generator cannot be followed to where it goes on
  }
  if (session->finished_) {  // just now, so nobody waits
    PyObject* result = cpython::evaluate(thread, frame, throw_flag);
    const PendingError pending;
    Session::reap(thread);
    return result;
  }
  session->hand_over_arguments(frame);
  session->note_others();
  // An opaque call: it runs as if nobody recorded, without the hook.
  session->waiting_ = true;
  cpython::release_hook();
  PyObject* result = cpython::evaluate(thread, frame, throw_flag);
  // Where C code has called as many, as a sort does with its key, the next ones are no others.
  constexpr int kManyFrames = 8;
  session->is_away_ = ++session->opaque_frames_ >= kManyFrames;
  if (!session->is_away_) {
    session->waiting_ = false;
    cpython::acquire_hook();
  }
  if (result != nullptr && is_direct) {
    Session::postpone(thread);
  }
  return result;
}

}  // namespace tagalong::recorder
