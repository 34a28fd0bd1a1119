#include "runtime/records/anchor.h"

#include <unordered_map>
#include <utility>

#include "rewriter/base/errors.h"
#include "rewriter/base/once.h"
#include "rewriter/cpython/code_link.h"
#include "rewriter/cpython/eval_hook.h"
#include "rewriter/cpython/frame_redirect.h"
#include "runtime/entries/deferred_frees.h"
#include "runtime/policy/timing_trials.h"
#include "runtime/records/comparing.h"
#include "runtime/records/frame_changes.h"
#include "runtime/records/iterator_type.h"
#include "runtime/records/trace_chain.h"

namespace tagalong::runtime {
namespace {

using cpython::Frame;

struct Anchor {
  PyObject_HEAD
  std::shared_ptr<CodeRecord>* record;
  std::size_t entry;
};

Anchor& anchor_at(PyObject* object) { return *reinterpret_cast<Anchor*>(object); }

// By original code; used under the GIL. A row is removed when its anchor dies.
std::unordered_map<PyCodeObject*, PyObject*>& anchors() {
  static auto* map = new std::unordered_map<PyCodeObject*, PyObject*>();
  return *map;
}

// False: the original instructions run because of the thread's state.
bool may_replay(PyThreadState* thread, CodeRecord& record, std::size_t entry) {
  if (steps_aside(thread)) {
    if (entry == 0) {
      note_left_out(thread, record);
    }
    return false;
  }
  if (is_too_deep(thread, record.code)) {
    if (entry == 0) {
      count_left_out(record.code.counters, LeftOut::kStack);
    }
    return false;
  }
  return true;
}

enum class Replayed : std::uint8_t {
  kReturned,  // the call has a result
  kNot,       // no executor was run, or it has left the frame: a change may be pending
  kRefused,   // the original instructions run
};

Replayed run_executors(PyThreadState* thread, Frame* frame, PyObject* anchor, Ref* result) {
  CodeRecord& record = **anchor_at(anchor).record;
  const std::size_t entry = anchor_at(anchor).entry;
  if (runs_as_written()) {  // compare mode
    return std::exchange(record.has_missed, false) ? Replayed::kNot : Replayed::kRefused;
  }
  const bool is_header = record.code.entries[entry].is(Entry::Kind::kHeader);
  const bool is_measured = (entry == 0 || is_header) && record.measurements.are_on();
  if (is_measured && begin_unit(record.measurements, entry, frame) == Execution::kEager) {
    record.run_original(entry, frame);
    if (record.retirement.is_retired() && entry == 0) {
      record.retirement.restore_function(frame);
    }
    return Replayed::kRefused;
  }
  record.measurements.run_replay();
  if (entry == 0) {
    // The stub has no line: a tool that looks from outside, such as a sampler, finds the frame at its beginning.
    const auto first = static_cast<std::size_t>(record.code.decoded().first - 1);
    cpython::set_location(frame, record.code.replay_code.units[first]);
  }
  const bool has_returned = TraceChain(thread, frame, anchor, record, entry).run(result);
  if (is_measured) {
    const bool is_recorded = !has_returned && pending_change() == FrameChange::kRecord;
    end_run(record.measurements, entry, frame,
            has_returned  ? RunEnd::kReturned
            : is_recorded ? RunEnd::kRecorded
                          : RunEnd::kGoesOn);
  }
  return has_returned ? Replayed::kReturned : Replayed::kNot;
}

bool wants_recording(PyThreadState* thread, Frame* frame, CodeRecord& record, std::size_t entry) {
  const bool is_header = record.code.entries[entry].is(Entry::Kind::kHeader);
  const bool is_wanted = is_header ? record.policy.is_hot(thread, entry) : record.policy.wants_recording(thread, entry);
  return is_wanted && !record.retirement.is_retired() && can_record(frame, entry);
}

// What the anchor's iterator gives for a pending change. `unit`: of the stub.
PyObject* ask_for_change(PyThreadState* thread, Frame* frame, Ref anchor, int unit) {
  const bool asks_again = anchor_at(anchor.get()).entry == 0;  // the stub of a call has a second question
  commit_pending_change(frame, std::move(anchor));
  if (asks_again) {
    return nullptr;
  }
  // The stub is all in one line: a trace function that was set meanwhile is told only of lines that differ from it.
  cpython::set_location(frame, unit);
  cpython::expect_redirect(thread);
  Py_RETURN_NONE;
}

PyObject* anchor_next(PyObject* self) {
  PyThreadState* thread = cpython::thread_state();
  CodeRecord& record = **anchor_at(self).record;
  const std::size_t entry = anchor_at(self).entry;
  Frame* frame = cpython::current_frame(thread);
  const int depth = record.code.entries[entry].place.depth;
  if (goes_on_as_written(thread, frame, record, static_cast<std::size_t>(depth))) [[unlikely]] {
    note_left_out(thread, record);
    set_pending_change(FrameChange::kRestore, entry, frame, depth);
    return ask_for_change(thread, frame, Ref::create(self), cpython::unit_of(frame));
  }
  if ((entry == 0 && record.measurements.skips_call()) || !may_replay(thread, record, entry)) {
    return nullptr;
  }
  free_deferred();
  if (record.retirement.is_retired() && entry == 0) {
    record.retirement.restore_function(frame);
    return nullptr;
  }
  // In code that was made of replay code (code.replace()) the offsets may be others.
  const PyCodeObject* code = record.code.replay_code.get();
  if (code == nullptr || code != cpython::code_of(frame)) {
    return nullptr;
  }
  Ref keep = Ref::create(self);  // the run may free the code object that owns the anchor
  const int unit = cpython::unit_of(frame);
  if (is_timed_as_written(record.measurements, entry, frame)) {
    return nullptr;
  }
  const Entry& place = record.code.entries[entry];
  if (record.retirement.is_retired()) {
    if (!record.retirement.can_restore_frame(frame, entry)) {
      return nullptr;
    }
    set_pending_change(FrameChange::kRestore, entry, frame, place.place.depth);
  } else if (!place.executors.empty()) {
    Ref result;
    switch (run_executors(thread, frame, self, &result)) {
      case Replayed::kReturned:
        return result.release();
      case Replayed::kRefused:
        return nullptr;
      case Replayed::kNot:
        break;
    }
  }
  if (pending_change() == FrameChange::kNone) {
    if (!wants_recording(thread, frame, record, entry)) {
      return nullptr;
    }
    set_pending_change(FrameChange::kRecord, entry, frame, place.place.depth);
  }
  return ask_for_change(thread, frame, std::move(keep), unit);
}

void anchor_dealloc(PyObject* self) {
  std::shared_ptr<CodeRecord>* record = anchor_at(self).record;
  const auto row = anchors().find((*record)->code.original());
  if (row != anchors().end() && row->second == self) {
    anchors().erase(row);
  }
  delete record;
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* anchor_repr(PyObject* self) {
  return PyUnicode_FromFormat("<anchor of %U>", record_of(self)->code.original()->co_qualname);
}

PyTypeObject* anchor_type() {
  static PyTypeObject* type = nullptr;
  return cpython::once(type, [] {
    return make_iterator_type("tagalong._core.Anchor", sizeof(Anchor), anchor_next, anchor_repr, anchor_dealloc);
  });
}

}  // namespace

Ref make_anchor(std::shared_ptr<CodeRecord> record, std::size_t entry) {
  PyTypeObject* type = anchor_type();
  Ref anchor = type == nullptr ? Ref() : Ref::steal(type->tp_alloc(type, 0));
  if (!anchor) {
    throw PythonError();
  }
  anchor_at(anchor.get()).record = new std::shared_ptr<CodeRecord>(std::move(record));
  anchor_at(anchor.get()).entry = entry;
  return anchor;
}

CodeRecord* record_of(PyObject* anchor) { return anchor_at(anchor).record->get(); }

void register_anchor(PyCodeObject* original, PyObject* anchor) { anchors()[original] = anchor; }

PyObject* anchor_of(PyCodeObject* code) {
  const auto row = anchors().find(cpython::original_of(code));
  return row == anchors().end() ? nullptr : row->second;
}

std::vector<CodeRef> replacements_of(PyCodeObject* original) {
  std::vector<CodeRef> found;
  if (PyObject* anchor = anchor_of(original); anchor != nullptr) {
    const TracedCode& code = record_of(anchor)->code;
    for (PyCodeObject* other : {code.replay_code.get(), code.copy().get()}) {
      if (other != nullptr) {
        found.push_back(CodeRef::create(other));
      }
    }
  }
  return found;
}

bool note_left_out(PyThreadState* thread, CodeRecord& record) {
  if (cpython::has_watcher(thread)) {
    count_left_out(record.code.counters, LeftOut::kWatched);
  } else if (cpython::is_watched(thread)) {
    count_left_out(record.code.counters, LeftOut::kAllocations);
  } else if (cpython::foreign_hook(thread)) {
    count_left_out(record.code.counters, LeftOut::kEvaluation);
  } else {
    return false;
  }
  return true;
}

void for_each_record(void (*visit)(CodeRecord& record, void* context), void* context) {
  for (const auto& [code, anchor] : anchors()) {
    visit(*record_of(anchor), context);
  }
}

}  // namespace tagalong::runtime
