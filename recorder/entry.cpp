// The entry of the root frame: its arguments, and the bound locals and stack of a frame that has already started.
#include <utility>

#include "recorder/deferred/deferred_expression.h"
#include "recorder/session.h"
#include "rewriter/base/text.h"
#include "rewriter/cpython/eval_hook.h"

namespace tagalong::recorder {

const RecordingCode& Session::start(PyThreadState* thread, cpython::Frame* frame, const Start& start, Sink& sink,
                                    const Limits& limits) {
  std::shared_ptr<Session> session(new Session(thread, sink, limits, start));
  Expression::has_raised_late();  // discards an exception of an earlier recording
  session->start_root(frame, start);
  Recordings::all().put(session->stack_, session);
  session->started_ = std::chrono::steady_clock::now();
  cpython::set_frame_handler(handle_frame);
  cpython::acquire_hook();
  return *session->codes_.root();
}

void Session::start_root(cpython::Frame* frame, const Start& start) {
  const std::shared_ptr<const DecodedCode>& decoded = start.decoded;
  const DecodedCode::Entry entry =
      start.elsewhere ? *start.elsewhere : decoded->entries[static_cast<std::size_t>(start.entry)];
  entry_ = start.entry;
  place_ = entry.place;
  PyCodeObject* code = decoded->shape->code.get();
  const Ref name = Ref::create(code->co_qualname);
  // An estimate: one pass through the function, or one round of the loop.
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
  root.code = &codes_.of_root(decoded, start.home, start.elsewhere ? &*start.elsewhere : nullptr, start.known);
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
    top().pending = entry.first;  // the recording starts behind its hook
  }
  if (entry.place == DecodedCode::Place::kHeader) {
    set_header(entry.first);
  }
  if (is_in_trace_tree()) {
    current_ = entry.first;
    open_loop(entry.first);
    current_ = 0;
  }
}

// A call's arguments are bound. Which other locals are bound in a frame that has already started depends on its
// history.
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

// The stack of a frame that has already started is an input like its locals; the slots are next to each other.
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
    // Usually nothing is sent; the trace covers only that case.
    emit(Op::guard_is, {top().stack.back()}, snapshot(), 0, Ref::create(Py_None));
    const Value none = constant(Py_None);
    hold(none);
    top().stack.back() = none;
    state_changed_ = true;
  }
  current_ = 0;
}

}  // namespace tagalong::recorder
