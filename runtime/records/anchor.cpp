#include "runtime/records/anchor.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "recorder/code/recording_code.h"
#include "rewriter/base/errors.h"
#include "rewriter/base/once.h"
#include "rewriter/cpython/code_link.h"
#include "rewriter/cpython/eval_hook.h"
#include "rewriter/cpython/frame_redirect.h"
#include "rewriter/cpython/requests.h"
#include "runtime/policy/cost_model.h"
#include "runtime/policy/recording_budget.h"
#include "runtime/records/comparing.h"
#include "runtime/records/options.h"
#include "runtime/records/timing_trials.h"

namespace tagalong::runtime {
namespace {

using cpython::Frame;

struct Anchor {
  PyObject_HEAD
  std::shared_ptr<CodeRecord>* record;
  std::size_t entry;
};

Anchor& anchor_at(PyObject* object) { return *reinterpret_cast<Anchor*>(object); }

// By original code; used under the GIL. The entry goes with the anchor.
std::unordered_map<PyCodeObject*, PyObject*>& anchors() {
  static auto* map = new std::unordered_map<PyCodeObject*, PyObject*>();
  return *map;
}

// What the stub does after the anchor had no item. Between the two nothing else runs in this thread.
struct Pending {
  enum class Kind : std::uint8_t { kNone, kRecord, kRedirect, kPutBack } kind = Kind::kNone;
  Frame* frame = nullptr;
  Ref anchor;
  std::size_t entry = 0;  // kRecord, kPutBack: where; the landing has its stack
  replay::SideExit side_exit;
};
thread_local Pending t_pending;

constexpr int kSpareRecursion = 40;  // Python calls that an exit may need

bool steps_aside(PyThreadState* thread) {
  return cpython::is_watched(thread) || cpython::recursion_left(thread) < kSpareRecursion ||
         cpython::foreign_hook(thread) || recorder::Session::is_recording(thread);
}

// A replay takes C stack where a call from bytecode to bytecode takes none.
bool is_too_deep(PyThreadState* thread, CodeRecord& record) {
  const bool is_reached = !cpython::has_c_stack(thread, record.limits().stack);
  if (is_reached) [[unlikely]] {
    count_limit(record.counters, replay::Limit::k_stack);
  }
  return is_reached;
}

// A generator's frame must have room for the hooks; and a traceback that names an instruction of its present code must
// not find it in other code.
bool can_record(Frame* frame, std::size_t entry) {
  return cpython::has_room(frame, cpython::code_of(frame)) && (entry == 0 || !cpython::is_held(frame));
}

// What has become of a frame that wanted to go on with executors.
enum class Tried : std::uint8_t { kMissed, kReturned, kSideExit };

// One run from a stub: executors one after the other, as long as each leaves where others are attached. Most go on with
// the registers of the one before (replay/executor/machine/trace_link.h); otherwise the frame is as after a landing.
// Then its stack is as the next one finds it, so the anchor, which lies on it, is kept aside.
class Chain final : private replay::TraceLinker {
 public:
  Chain(PyThreadState* thread, Frame* frame, PyObject* anchor, std::size_t entry)
      : thread_(thread),
        frame_(frame),
        anchor_(anchor),
        record_(*record_of(anchor)),
        entry_(entry),
        requested_(thread) {}

  // True: `result` is the call's; false: a landing is pending or nothing has happened.
  bool run(Ref* result) {
    const std::size_t start = entry_;
    Entry& place = record_.entries[start];
    Tried tried = try_executors(place, 0, Event::kHit, result);
    Pending::Kind kind = Pending::Kind::kRedirect;
    while (tried == Tried::kSideExit && record_.is_linked() && !record_.is_retired() && go_on(result, &tried, &kind)) {
    }
    cpython::stack_base(frame_)[place.place.depth] = anchor_;
    if (tried == Tried::kMissed) {
      return false;
    }
    if (tried == Tried::kReturned) {
      const bool is_shown = cpython::is_held(frame_) || cpython::is_watched(thread_);
      if (start == 0 && (!is_shown || side_exit_.instruction < 0)) {
        return true;
      }
      // Whoever holds the frame or watches shall find it at its own return, not at the stub's.
      side_exit_.stack.push_back(result->release());
    }
    t_pending.kind = kind;
    t_pending.entry = entry_;
    t_pending.side_exit = std::move(side_exit_);
    return false;
  }

 private:
  // With executors of one entry, of those whose traces are younger. A side exit in front of the first instruction has
  // done nothing: as a miss it leaves the frame as it was, and the next executor may try. So whatever is stitched to
  // what, each run completes an instruction, or the interpreter does.
  Tried try_executors(Entry& place, std::uint64_t elder, Event event, Ref* result) {
    auto& executors = place.executors;
    PyObject* const* slots = cpython::locals_of(frame_);
    for (std::size_t index = 0; index < executors.size(); ++index) {
      // The caller keeps the anchor, the anchor its record, and a record lets go of no executor that is running.
      const replay::Executor* executor = executors[index].get();
      if (executor->trace() <= elder || (executors.size() > 1 && executor->misses(slots))) {
        continue;
      }
      replay::Run run;
      run.thread = thread_;
      run.root = frame_;
      run.function = reinterpret_cast<PyObject*>(cpython::function_of(frame_));
      run.slots = slots;
      run.names = cpython::names_of(frame_);
      run.root_units = &record_.shown;
      run.linker = record_.is_linked() ? this : nullptr;
      run.grow_after = static_cast<std::uint32_t>(record_.limits().grow_after);
      run.native_after = static_cast<std::uint32_t>(record_.limits().native_after);
      event_ = event;
      gain_ = 0;
      trace_links_ = 0;
      const replay::Outcome outcome = executor->run(run);
      is_stopped_ = run.is_stopped;
      if (run.has_made_native) {
        count_limit(record_.counters, replay::Limit::k_native_after);
      }
      if (outcome == replay::Outcome::kMiss) {
        continue;
      }
      if (outcome != replay::Outcome::kLeft && index != 0 && index < executors.size()) {
        std::swap(executors[0], executors[index]);
      }
      const bool is_complete = outcome == replay::Outcome::kReturned || run.is_complete;
      if (!is_stopped_) {  // it goes on soon
        count(record_.counters, std::exchange(event_, Event::kTraceLink));
      }
      const int gain = gain_ + gain_of(run, outcome, run.last->gain(), run.place != nullptr);
      record_.weigh(gain, trace_links_);
      recording_budget().ran(
          std::max<std::int64_t>(gain, run.gain));  // a long loop's is more than a run is weighed with
      if (!is_complete) {
        count(record_.counters, Event::kExit);
      }
      if (outcome == replay::Outcome::kReturned) {
        side_exit_.instruction = run.last->return_instruction(*run.returned);
        *result = std::move(run.result);
        return Tried::kReturned;
      }
      const Entry& last = run.place == nullptr ? place : static_cast<const Entry&>(*run.place);
      idle_ = record_.is_linked() && !run.side_exit->raise ? run.idle : 0;
      if (idle_ == 0 || &last != &place) {
        side_exit_ = std::move(*run.side_exit);
        return Tried::kSideExit;
      }
      std::copy(run.side_exit->stack.begin(), run.side_exit->stack.end(), cpython::stack_base(frame_));
    }
    if (!executors.empty()) {
      count(record_.counters, Event::kMiss);
      record_.weigh(kMissGain);
    }
    return Tried::kMissed;
  }

  // From the landing that is pending to the executors that go on there. False: the interpreter goes on, or a recording.
  bool go_on(Ref* result, Tried* tried, Pending::Kind* kind) {
    if (side_exit_.raise || is_stopped_ || requested_ || steps_aside(thread_) || is_too_deep(thread_, record_)) {
      return false;
    }
    const int next = behind_jump(side_exit_.instruction);
    const std::optional<std::size_t> entry = record_.entry_at(next, side_exit_.stack.size());
    if (!entry) {
      return false;
    }
    Entry& place = record_.entries[*entry];
    const auto is_untried = [this](const auto& executor) { return executor->trace() > idle_; };
    if (std::ranges::any_of(place.executors, is_untried)) {
      PyObject** base = cpython::stack_base(frame_);
      std::ranges::copy(side_exit_.stack, base);
      side_exit_.stack.clear();
      *tried = try_executors(place, idle_, Event::kTraceLink, result);
      if (*tried != Tried::kMissed) {
        return true;
      }
      side_exit_.stack.assign(base, base + place.place.depth);
      side_exit_.instruction = next;
      *tried = Tried::kSideExit;
    }
    if (record_.is_hot(thread_, *entry) && can_record(frame_, *entry)) {
      side_exit_.instruction = next;
      *kind = Pending::Kind::kRecord;
      entry_ = *entry;
    }
    return false;
  }

  [[nodiscard]] int behind_jump(int place) const {
    const auto& instruction = record_.decoded().assembly.instructions[static_cast<std::size_t>(place)];
    return instruction.opcode == rewriter::op::kJUMP_BACKWARD ? instruction.target : place;
  }

  replay::Attached* attached(int instruction, std::size_t depth) override {
    const std::optional<std::size_t> entry = record_.entry_at(behind_jump(instruction), depth);
    return entry ? &record_.entries[*entry] : nullptr;
  }

  void linked_trace(const replay::Run& run, const replay::Executor& from, bool is_complete) override {
    gain_ = std::clamp(
        gain_ + gain_of(run, replay::Outcome::kReturned, from.gain(), event_ == Event::kTraceLink && gain_ != 0),
        -kMost, kMost);
    trace_links_ = std::max(trace_links_ + kTraceLink, -kMost);
    count(record_.counters, std::exchange(event_, Event::kTraceLink));
    if (!is_complete) {
      count(record_.counters, Event::kExit);
    }
  }

  bool went_often(const replay::Executor& from, const replay::Step& step, const replay::Executor& next) override {
    const bool may_stay = record_.earned_as_one() + gain_ - trace_links_ >= 0;
    if (may_stay) {
      record_.grow(from, step, next);
    }
    return may_stay;
  }

  [[nodiscard]] std::int64_t earned() const override { return record_.earned() + gain_; }

  bool stops_at(replay::Arrivals& arrivals) override {
    if (record_.is_measured()) {
      return stops_for_trial(record_, frame_, arrivals);
    }
    arrivals.left = replay::Arrivals::kNever;
    return false;
  }

  PyThreadState* thread_;
  Frame* frame_;
  PyObject* anchor_;
  CodeRecord& record_;
  std::size_t entry_;
  static constexpr int kMost = 1'000'000;
  Event event_ = Event::kHit;
  int gain_ = 0;         // of what has been run up to the last stitch
  int trace_links_ = 0;  // part of that
  bool is_stopped_ = false;
  std::uint64_t idle_ = 0;  // the trace that has left where it had begun, if the last run ended so
  replay::SideExit side_exit_;
  const cpython::RequestFlag requested_;
};

void expect(Pending::Kind kind, Frame* frame, std::size_t entry, int depth) {
  t_pending.kind = kind;
  t_pending.entry = entry;
  PyObject** base = cpython::stack_base(frame);
  t_pending.side_exit.stack.assign(base, base + depth);
}

PyObject* anchor_next(PyObject* self) {
  PyThreadState* thread = cpython::thread_state();
  CodeRecord& record = **anchor_at(self).record;
  const std::size_t entry = anchor_at(self).entry;
  if (entry == 0 && record.entries.front().asleep > 0) {
    --record.entries.front().asleep;
    return nullptr;
  }
  if (steps_aside(thread)) {
    if (entry == 0) {
      note_left_out(thread, record);
    }
    return nullptr;
  }
  if (is_too_deep(thread, record)) {
    if (entry == 0) {
      count_left_out(record.counters, LeftOut::kStack);
    }
    return nullptr;
  }
  CodeRecord::free_the_dead();
  Frame* frame = cpython::current_frame(thread);
  if (record.is_retired() && entry == 0) {
    record.put_back(frame);
    return nullptr;
  }
  // In code that was made of replay code (code.replace()) the offsets may be others.
  if (PyWeakref_GET_OBJECT(record.replay_code.get()) != reinterpret_cast<PyObject*>(cpython::code_of(frame))) {
    return nullptr;
  }
  // The run may free the code object that owns the anchor.
  Ref keep = Ref::create(self);
  const Entry& place = record.entries[entry];
  const bool is_header = place.place.place == recorder::DecodedCode::Place::kHeader;
  const int unit = cpython::unit_of(frame);
  if (is_timed_as_written(record, entry, frame)) {
    return nullptr;
  }
  if (record.is_retired()) {
    if (!record.lets_go_of(frame, entry)) {
      return nullptr;
    }
    expect(Pending::Kind::kPutBack, frame, entry, place.place.depth);
  } else if (!place.executors.empty() && runs_as_written()) {
    if (!std::exchange(record.has_missed, false)) {
      return nullptr;
    }
  } else if (!place.executors.empty()) {
    const bool is_measured = record.is_measured() && (entry == 0 || is_header);
    if (is_measured && begin_unit(record, entry, frame) == Way::kWritten) {
      record.rest(entry, frame);
      if (record.is_retired() && entry == 0) {
        record.put_back(frame);
      }
      return nullptr;
    }
    record.wakes();
    if (entry == 0) {
      // The stub has no line: a tool that looks from outside, such as a sampler, finds the frame at its beginning.
      cpython::set_location(frame, record.units[static_cast<std::size_t>(record.decoded().first - 1)]);
    }
    Ref result;
    const bool has_returned = Chain(thread, frame, self, entry).run(&result);
    if (is_measured) {
      const bool is_recorded = t_pending.kind == Pending::Kind::kRecord;
      end_run(record, entry, frame,
              has_returned  ? RunEnd::kReturned
              : is_recorded ? RunEnd::kRecorded
                            : RunEnd::kGoesOn);
    }
    if (has_returned) {
      return result.release();
    }
  }
  if (t_pending.kind == Pending::Kind::kNone) {
    const bool is_wanted = is_header ? record.is_hot(thread, entry) : record.wants_recording(thread, entry);
    if (record.is_retired() || !is_wanted || !can_record(frame, entry)) {
      return nullptr;
    }
    expect(Pending::Kind::kRecord, frame, entry, place.place.depth);
  }
  t_pending.frame = frame;
  t_pending.anchor = std::move(keep);
  if (entry == 0) {
    return nullptr;
  }
  // Whoever has begun to watch is told of lines that differ from the last one: the stub is all in one.
  cpython::set_location(frame, unit);
  cpython::expect_redirect(thread);
  Py_RETURN_NONE;
}

PyObject* redirect_next(PyObject* /*self*/) {
  if (t_pending.kind == Pending::Kind::kNone) {
    return nullptr;
  }
  cpython::expect_redirect(cpython::thread_state());
  Py_RETURN_NONE;
}

PyObject* start_recording(PyThreadState* thread, Frame* frame, const Ref& anchor, std::size_t entry,
                          const std::vector<PyObject*>& stack) {
  CodeRecord& record = *record_of(anchor.get());
  const recorder::DecodedCode::Entry place = record.entries[entry].place;
  std::ranges::copy(stack, cpython::stack_base(frame));
  // The landing pushes the value that lies on top, or one that the pad takes away.
  PyObject* top = place.depth > 0 ? stack.back() : Py_NewRef(Py_None);
  if (top == nullptr) {
    top = Py_NewRef(cpython::redirect_null());
  }
  const int depth = std::max(place.depth - 1, 0);
  const auto first = static_cast<std::size_t>(place.first);
  try {
    recorder::Session::Start start{record.decoded_ref(), static_cast<int>(entry), record.home, anchor,
                                   record.keeps_recording_code && options().every_hook};
    const bool is_known = entry < record.decoded().entries.size();
    if (is_known) {
      start.known = record.known_recording_code;
    } else {
      start.elsewhere = place;
    }
    const recorder::RecordingCode& recording = recorder::Session::start(thread, frame, start, record, record.limits());
    record.recording.push_back(cpython::stack_of(thread));
    cpython::redirect(frame, recording.code.get(), is_known ? recording.start_pads[entry] : recording.start_pad, depth);
  } catch (const std::exception&) {
    PyErr_Clear();
    ++record.entries[entry].failures;
    cpython::redirect(frame, cpython::code_of(frame), place.depth > 0 ? record.starts[first] : record.pads[first],
                      depth);
  }
  return top;
}

// The frame goes on in the original code.
PyObject* put_back(Frame* frame, const CodeRecord& record, std::size_t entry, const std::vector<PyObject*>& stack) {
  const recorder::DecodedCode::Entry& place = record.entries[entry].place;
  const replay::CodeShape& shape = *record.decoded().shape;
  std::ranges::copy(stack, cpython::stack_base(frame));
  cpython::redirect(frame, shape.code.get(), shape.starts[static_cast<std::size_t>(place.first)], place.depth - 1);
  return stack.back() != nullptr ? stack.back() : Py_NewRef(cpython::redirect_null());
}

PyObject* redirect_at(Frame* frame, const CodeRecord& record, replay::SideExit side_exit) {
  const auto instruction = static_cast<std::size_t>(side_exit.instruction);
  TAGALONG_CHECK(side_exit.raise || std::cmp_equal(side_exit.stack.size(), record.decoded().shape->depths[instruction]),
                 "a landing at instruction {} of {} with {} values on the stack, not {}", instruction, record.name(),
                 side_exit.stack.size(), record.decoded().shape->depths[instruction]);
  PyObject** base = cpython::stack_base(frame);
  auto depth = static_cast<int>(side_exit.stack.size());
  PyObject* top = nullptr;
  if (!side_exit.raise && depth > 0) {
    --depth;
    top = side_exit.stack.back() != nullptr ? side_exit.stack.back() : Py_NewRef(cpython::redirect_null());
  }
  for (int index = 0; index < depth; ++index) {
    base[index] = side_exit.stack[static_cast<std::size_t>(index)];
  }
  PyCodeObject* code = cpython::code_of(frame);
  if (side_exit.raise) {
    cpython::redirect(frame, code, record.shown[instruction] + 1, depth);
    PyErr_Restore(side_exit.type.release(), side_exit.value.release(), side_exit.traceback.release());
    return nullptr;
  }
  if (top != nullptr) {
    cpython::redirect(frame, code, record.starts[instruction], depth);
    return top;
  }
  cpython::redirect(frame, code, record.pads[instruction], 0);
  Py_RETURN_NONE;
}

PyObject* redirect_frame(PyThreadState* thread, Frame* frame, PyObject* /*argument*/, bool can_redirect) {
  TAGALONG_CHECK(can_redirect, "the landing of {} was not inlined", fmt::ptr(frame));
  Pending pending = std::exchange(t_pending, Pending{});
  CodeRecord& record = *record_of(pending.anchor.get());
  TAGALONG_CHECK(pending.frame == frame, "landing in {} instead of {}", fmt::ptr(frame), fmt::ptr(pending.frame));
  if (pending.kind == Pending::Kind::kRecord) {
    return start_recording(thread, frame, pending.anchor, pending.entry, pending.side_exit.stack);
  }
  if (pending.kind == Pending::Kind::kPutBack) {
    return put_back(frame, record, pending.entry, pending.side_exit.stack);
  }
  return redirect_at(frame, record, std::move(pending.side_exit));
}

void anchor_dealloc(PyObject* self) {
  std::shared_ptr<CodeRecord>* record = anchor_at(self).record;
  const auto entry = anchors().find((*record)->decoded().shape->code.get());
  if (entry != anchors().end() && entry->second == self) {
    anchors().erase(entry);
  }
  delete record;
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* anchor_repr(PyObject* self) {
  return PyUnicode_FromFormat("<anchor of %U>", record_of(self)->decoded().shape->code->co_qualname);
}

PyObject* redirect_repr(PyObject* /*self*/) { return PyUnicode_FromString("<landing>"); }

PyTypeObject* make_type(const char* name, int size, iternextfunc next, reprfunc repr, destructor dealloc) {
  std::vector<PyType_Slot> slots = {
      {Py_tp_iter, reinterpret_cast<void*>(PyObject_SelfIter)},
      {Py_tp_iternext, reinterpret_cast<void*>(next)},
      {Py_tp_repr, reinterpret_cast<void*>(repr)},
  };
  if (dealloc != nullptr) {
    slots.push_back({Py_tp_dealloc, reinterpret_cast<void*>(dealloc)});
  }
  slots.push_back({0, nullptr});
  PyType_Spec spec = {name, size, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots.data()};
  return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
}

PyTypeObject* anchor_type() {
  static PyTypeObject* type = nullptr;
  return cpython::once(type, [] {
    return make_type("tagalong._core.Anchor", sizeof(Anchor), anchor_next, anchor_repr, anchor_dealloc);
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

Ref redirect_iterator() {
  static PyObject* object = nullptr;
  cpython::once(object, [] {
    PyTypeObject* type = make_type("tagalong._core.Landing", sizeof(PyObject), redirect_next, redirect_repr, nullptr);
    return type == nullptr ? nullptr : type->tp_alloc(type, 0);
  });
  if (object == nullptr) {
    throw PythonError();
  }
  return Ref::create(object);
}

Ref redirect_function() {
  static PyObject* function = nullptr;
  cpython::once(function, [] { return cpython::make_redirect_function("land", redirect_frame, false).release(); });
  if (function == nullptr) {
    throw PythonError();
  }
  return Ref::create(function);
}

void register_anchor(PyCodeObject* original, PyObject* anchor) { anchors()[original] = anchor; }

PyObject* anchor_of(PyCodeObject* code) {
  const auto entry = anchors().find(cpython::original_of(code));
  return entry == anchors().end() ? nullptr : entry->second;
}

bool note_left_out(PyThreadState* thread, CodeRecord& record) {
  if (cpython::has_watcher(thread)) {
    count_left_out(record.counters, LeftOut::kWatched);
  } else if (cpython::is_watched(thread)) {
    count_left_out(record.counters, LeftOut::kAllocations);
  } else if (cpython::foreign_hook(thread)) {
    count_left_out(record.counters, LeftOut::kEvaluation);
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
