#include "runtime/records/frame_changes.h"

#include <algorithm>
#include <utility>

#include "recorder/session.h"
#include "rewriter/base/errors.h"
#include "rewriter/base/once.h"
#include "rewriter/cpython/frame_redirect.h"
#include "runtime/records/anchor.h"
#include "runtime/records/iterator_type.h"

namespace tagalong::runtime {
namespace {

using cpython::Frame;

// What belongs to detail::pending_change.
struct Pending {
  Frame* frame = nullptr;
  Ref anchor;
  std::size_t entry = 0;
  replay::SideExit side_exit;
};
thread_local Pending t_pending;

PyObject* start_recording(PyThreadState* thread, Frame* frame, const Ref& anchor, std::size_t entry,
                          const std::vector<PyObject*>& stack) {
  CodeRecord& record = *record_of(anchor.get());
  const ReplayCode& replay = record.code.replay_code;
  const recorder::DecodedCode::Entry place = record.code.entries[entry].place;
  std::ranges::copy(stack, cpython::stack_base(frame));
  // With an empty stack the pad removes the pushed value.
  PyObject* top = place.depth > 0 ? cpython::redirect_result(stack.back()) : Py_NewRef(Py_None);
  const int depth = std::max(place.depth - 1, 0);
  const auto first = static_cast<std::size_t>(place.first);
  try {
    recorder::Session::Start start{record.code.decoded_ref(), static_cast<int>(entry), replay.home, anchor,
                                   record.keeps_recording_code && options().every_hook};
    const bool is_known = entry < record.code.decoded().entries.size();
    if (is_known) {
      start.known = record.kept_recording_code.get();
    } else {
      start.elsewhere = place;
    }
    const recorder::RecordingCode& recording =
        recorder::Session::start(thread, frame, start, record, record.code.limits());
    record.recordings.begin(cpython::stack_of(thread));
    cpython::redirect(frame, recording.code.get(), is_known ? recording.start_pads[entry] : recording.start_pad, depth);
  } catch (const std::exception&) {
    PyErr_Clear();
    ++record.code.entries[entry].attempts.failures;
    cpython::redirect(frame, cpython::code_of(frame), place.depth > 0 ? replay.starts[first] : replay.pads[first],
                      depth);
  }
  return top;
}

// Null, with the stack as it was: there is no memory for the code.
PyObject* go_on_as_written(Frame* frame, TracedCode& code, int instruction, int previous,
                           const std::vector<PyObject*>& stack) {
  const replay::CodeShape& shape = *code.decoded().shape;
  const int unit = shape.starts[static_cast<std::size_t>(instruction)];
  const int before = previous < 0 ? unit : shape.units[static_cast<std::size_t>(previous)];
  PyCodeObject* as_written = nullptr;
  try {
    as_written = code.as_written();
  } catch (const PythonError&) {
    PyErr_Clear();
    return nullptr;
  }
  if (stack.empty()) {
    return cpython::redirect_to_empty_stack(frame, as_written, unit, before);
  }
  std::ranges::copy(stack, cpython::stack_base(frame));
  cpython::redirect(frame, as_written, unit, static_cast<int>(stack.size()) - 1, before);
  return cpython::redirect_result(stack.back());
}

PyObject* go_on_in_replay_code(Frame* frame, const TracedCode& code, int instruction,
                               const std::vector<PyObject*>& stack) {
  const auto place = static_cast<std::size_t>(instruction);
  if (stack.empty()) {  // the pad removes the pushed value
    cpython::redirect(frame, cpython::code_of(frame), code.replay_code.pads[place], 0);
    Py_RETURN_NONE;
  }
  std::ranges::copy(stack, cpython::stack_base(frame));
  cpython::redirect(frame, cpython::code_of(frame), code.replay_code.starts[place], static_cast<int>(stack.size()) - 1);
  return cpython::redirect_result(stack.back());
}

PyObject* restore_original(Frame* frame, TracedCode& code, std::size_t entry, const std::vector<PyObject*>& stack) {
  const recorder::DecodedCode::Entry& place = code.entries[entry].place;
  const bool is_behind = place.first == place.resume + 1;  // of the RESUME; a header's line is told at its stub
  PyObject* result = go_on_as_written(frame, code, place.first, is_behind ? place.resume : place.first, stack);
  return result != nullptr ? result : go_on_in_replay_code(frame, code, place.first, stack);
}

PyObject* raise(replay::SideExit&& side_exit) {
  PyErr_Restore(side_exit.type.release(), side_exit.value.release(), side_exit.traceback.release());
  return nullptr;
}

PyObject* take_side_exit(Frame* frame, TracedCode& code, replay::SideExit&& side_exit, bool as_written) {
  const auto instruction = static_cast<std::size_t>(side_exit.instruction);
  const std::vector<PyObject*>& stack = side_exit.stack;
  TAGALONG_CHECK(side_exit.raise || std::cmp_equal(stack.size(), code.decoded().shape->depths[instruction]),
                 "a side exit to instruction {} of {} with {} values on the stack, not {}", instruction, code.name(),
                 stack.size(), code.decoded().shape->depths[instruction]);
  if (side_exit.raise) {
    std::ranges::copy(stack, cpython::stack_base(frame));
    cpython::redirect_raising(frame, cpython::code_of(frame), code.replay_code.shown[instruction],
                              static_cast<int>(stack.size()));
    return raise(std::move(side_exit));
  }
  PyObject* result = as_written ? go_on_as_written(frame, code, side_exit.instruction,
                                                   code.decoded().previous(side_exit.instruction), stack)
                                : nullptr;
  return result != nullptr ? result : go_on_in_replay_code(frame, code, side_exit.instruction, stack);
}

PyObject* redirect_frame(PyThreadState* thread, Frame* frame, PyObject* /*argument*/, bool can_redirect) {
  TAGALONG_CHECK(can_redirect, "the redirect function called by {} was not inlined", fmt::ptr(frame));
  Pending pending = std::exchange(t_pending, Pending{});
  const FrameChange change = std::exchange(detail::pending_change, FrameChange::kNone);
  CodeRecord& record = *record_of(pending.anchor.get());
  TAGALONG_CHECK(pending.frame == frame, "a change of {} instead of {}", fmt::ptr(frame), fmt::ptr(pending.frame));
  switch (change) {
    case FrameChange::kRecord:
      return start_recording(thread, frame, pending.anchor, pending.entry, pending.side_exit.stack);
    case FrameChange::kRestore:
      return restore_original(frame, record.code, pending.entry, pending.side_exit.stack);
    case FrameChange::kSideExit:
    case FrameChange::kNone:
      break;
  }
  const bool as_written = goes_on_as_written(thread, frame, record, pending.side_exit.stack.size());
  return take_side_exit(frame, record.code, std::move(pending.side_exit), as_written);
}

PyObject* redirect_next(PyObject* /*self*/) {
  if (pending_change() == FrameChange::kNone) {
    return nullptr;
  }
  cpython::expect_redirect(cpython::thread_state());
  Py_RETURN_NONE;
}

PyObject* redirect_repr(PyObject* /*self*/) { return PyUnicode_FromString("<redirect>"); }

}  // namespace

bool detail::can_go_on_as_written(const Frame* frame, const CodeRecord& record, std::size_t depth) {
  return cpython::code_of(frame) == record.code.replay_code.get() &&
         (depth > 0 || cpython::slot_count(record.code.original()) > 0);
}

void set_pending_change(FrameChange change, std::size_t entry, replay::SideExit&& side_exit) {
  detail::pending_change = change;
  t_pending.entry = entry;
  t_pending.side_exit = std::move(side_exit);
}

void set_pending_change(FrameChange change, std::size_t entry, Frame* frame, int depth) {
  detail::pending_change = change;
  t_pending.entry = entry;
  PyObject** base = cpython::stack_base(frame);
  t_pending.side_exit.stack.assign(base, base + depth);
}

void commit_pending_change(Frame* frame, Ref anchor) {
  t_pending.frame = frame;
  t_pending.anchor = std::move(anchor);
}

Ref redirect_iterator() {
  static PyObject* object = nullptr;
  cpython::once(object, [] {
    PyTypeObject* type =
        make_iterator_type("tagalong._core.Redirect", sizeof(PyObject), redirect_next, redirect_repr, nullptr);
    return type == nullptr ? nullptr : type->tp_alloc(type, 0);
  });
  if (object == nullptr) {
    throw PythonError();
  }
  return Ref::create(object);
}

Ref redirect_function() {
  static PyObject* function = nullptr;
  cpython::once(function, [] { return cpython::make_redirect_function("redirect", redirect_frame, false).release(); });
  if (function == nullptr) {
    throw PythonError();
  }
  return Ref::create(function);
}

}  // namespace tagalong::runtime
