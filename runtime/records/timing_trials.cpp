#include "runtime/records/timing_trials.h"

#include <algorithm>
#include <ctime>

#include "rewriter/cpython/frame_end.h"
#include "rewriter/cpython/iterators.h"

namespace tagalong::runtime {
namespace {

// What is being timed: from an ask at an entry to the end of the call, or to the next ask there.
struct Window {
  CodeRecord* record = nullptr;  // null: nothing
  MeasuredSpeed* gain = nullptr;
  std::size_t entry = 0;
  PyThreadState* thread = nullptr;
  cpython::Frame* frame = nullptr;
  Way way = Way::kReplay;
  Nanoseconds start = 0;
  bool is_long = false;
  std::int64_t refused = 0;    // that have asked meanwhile
  const void* mark = nullptr;  // of the end of a call
  // --- of rounds
  PyObject* iterator = nullptr;  // borrowed, compared only
  std::int64_t items = -1;       // it has left; -1: unknown
  std::int64_t count = 0;        // arrivals until the run is stopped
  bool is_stopped = false;
};
Window the_window;

constexpr Nanoseconds kLong = 2'000'000;

bool is_outside(const Entry& loop, const Entry& other) {
  return other.place.first < loop.place.first || other.place.first > loop.place.resume;
}

bool is_written(const Entry& entry) {
  return entry.place.place == recorder::DecodedCode::Place::kHeader && entry.current != nullptr &&
         entry.current->verdict() == MeasuredSpeed::Verdict::kWritten;
}

// Runs come and go as usual.
void stop_counting(CodeRecord& record) {
  for (Entry& entry : record.entries) {
    constexpr std::int64_t kSoon = 64;
    const std::int64_t usual = entry.current != nullptr ? kSoon : replay::Arrivals::kNever;
    entry.arrivals->left = is_written(entry) ? 0 : usual;
  }
}

void close() {
  if (the_window.record != nullptr && the_window.entry != 0 && the_window.way == Way::kReplay) {
    stop_counting(*the_window.record);
  }
  the_window = Window{};
}

// The processor's time where there is enough of it: others may have the processor meanwhile.
Nanoseconds time_of_thread() {
  constexpr Nanoseconds kSecond = 1'000'000'000;
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * kSecond + now.tv_nsec;
}

void start_clock() {
  the_window.is_long = the_window.gain->is_long();
  the_window.start = the_window.is_long ? time_of_thread() : clock_now();
}

Nanoseconds elapsed() { return (the_window.is_long ? time_of_thread() : clock_now()) - the_window.start; }

void cancel() {
  if (the_window.record != nullptr) {
    the_window.gain->cancel();
    close();
  }
}

void take(Nanoseconds time, std::int64_t units) {
  constexpr Nanoseconds kAsk = 20;  // by a stub, which the original code has not
  MeasuredSpeed& gain = *the_window.gain;
  const Way way = the_window.way;
  if (way == Way::kWritten) {
    time = std::max(time - kAsk * the_window.refused, time / 4);
  }
  close();
  gain.took(way, time, units);
}

void frame_ended(const void* mark, bool is_end) {
  if (the_window.mark != mark) {
    return;
  }
  if (is_end) {
    take(elapsed(), 1);
  } else {
    cancel();
  }
}

// Whether one frame has called the other, over some frames between.
bool calls(const cpython::Frame* caller, cpython::Frame* frame) {
  constexpr int kMost = 256;
  int left = kMost;
  while (frame != nullptr && frame != caller && --left > 0) {
    frame = cpython::caller_of(frame);
  }
  return frame == caller;
}

// Whether the frame that asks has left the loop that is being timed.
bool is_left(const CodeRecord& record, std::size_t entry, cpython::Frame* frame) {
  if (the_window.entry == 0 || the_window.thread != cpython::thread_state()) {
    return false;
  }
  if (the_window.frame == frame && the_window.record == &record) {
    return is_outside(record.entries[the_window.entry], record.entries[entry]);
  }
  return !calls(the_window.frame, frame);
}

// False: something else is being timed.
bool open(CodeRecord& record, MeasuredSpeed& gain, std::size_t entry, cpython::Frame* frame, Way way) {
  constexpr Nanoseconds kTooLong = 1'000'000'000;
  if (the_window.record != nullptr) {
    if (is_left(record, entry, frame)) {
      close();
    } else if (elapsed() > kTooLong) {
      cancel();
    } else {
      return false;
    }
  }
  the_window.record = &record;
  the_window.gain = &gain;
  the_window.entry = entry;
  the_window.thread = cpython::thread_state();
  the_window.frame = frame;
  the_window.way = way;
  return true;
}

PyObject* iterator_of(const CodeRecord& record, std::size_t entry, cpython::Frame* frame) {
  const recorder::DecodedCode::Entry& place = record.entries[entry].place;
  return place.depth > 0 ? cpython::stack_base(frame)[place.depth - 1] : nullptr;
}

// -1 where that cannot be known without running code of others.
std::int64_t items_left(PyObject* iterator) {
  const bool is_known =
      iterator != nullptr && (Py_TYPE(iterator) == &PyRangeIter_Type || Py_TYPE(iterator) == &PyListIter_Type ||
                              Py_TYPE(iterator) == &PyTupleIter_Type);
  const Py_ssize_t left = is_known ? PyObject_LengthHint(iterator, -1) : -1;
  if (left < 0) [[unlikely]] {
    PyErr_Clear();  // no memory for the question
  }
  return left;
}

std::int64_t rounds_run() {
  const std::int64_t left = the_window.record->entries[the_window.entry].arrivals->left;
  return the_window.is_stopped ? the_window.count
                               : std::clamp(the_window.count - left, std::int64_t{0}, the_window.count);
}

// At the entry of the loop whose round is being timed.
void next_round(cpython::Frame* frame) {
  constexpr Nanoseconds kShort = 60;  // a look at the clock is as long
  PyObject* iterator = iterator_of(*the_window.record, the_window.entry, frame);
  const std::int64_t items = items_left(iterator);
  std::int64_t rounds = 1;
  if (the_window.way == Way::kReplay) {
    rounds = rounds_run() + (the_window.is_stopped ? 0 : 1);
  }
  if (items >= 0) {
    rounds = the_window.items - items;
  }
  if (the_window.frame != frame || the_window.iterator != iterator || rounds <= 0) {
    close();  // the loop was left
    return;
  }
  take(std::max(elapsed(), kShort), rounds);
}

void begin_round(CodeRecord& record, std::size_t entry, cpython::Frame* frame) {
  constexpr std::int64_t kFew = 4;
  the_window.iterator = iterator_of(record, entry, frame);
  the_window.items = items_left(the_window.iterator);
  if (the_window.way == Way::kReplay) {
    Entry& loop = record.entries[entry];
    for (Entry& other : record.entries) {
      if (is_outside(loop, other)) {
        other.arrivals->left = 1;  // who comes there has left the loop
      }
    }
    the_window.count = kFew;
    loop.arrivals->left = kFew;
  }
  start_clock();
}

// What is known about a call is forgotten with it.
void begin_call(CodeRecord& record, cpython::Frame* frame) {
  if (the_window.way == Way::kWritten) {
    cpython::set_end_listener(frame_ended);
    the_window.mark = cpython::mark_end(frame);
    if (the_window.mark == nullptr) {
      record.cannot_be_measured();
      cancel();
      return;
    }
  }
  start_clock();
}

}  // namespace

bool is_timed_as_written(CodeRecord& record, std::size_t entry, cpython::Frame* frame) {
  if (the_window.record == nullptr) [[likely]] {
    return false;
  }
  if (the_window.record != &record) {
    constexpr std::int64_t kLookAgain = 64;
    if (the_window.way == Way::kReplay || the_window.thread != cpython::thread_state()) {
      return false;
    }
    const bool is_over = ++the_window.refused % kLookAgain == 0 && is_left(record, entry, frame);
    if (is_over) {
      close();
    }
    return !is_over;  // what it calls is as written, too
  }
  if (the_window.entry != 0 && (entry == 0 || (entry == the_window.entry && the_window.frame != frame))) {
    close();
    return false;
  }
  if (entry == 0) {
    if (calls(the_window.frame, frame)) {
      record.cannot_be_measured();  // what it does is different in each call
      cancel();
    }
    return false;
  }
  if (entry != the_window.entry && is_left(record, entry, frame)) {
    close();
    return false;
  }
  if (entry == the_window.entry || the_window.way == Way::kReplay) {
    return false;
  }
  ++the_window.refused;
  const Nanoseconds usual = 8 * std::max(the_window.gain->replay_time(), the_window.gain->written_time());
  if (the_window.entry != 0 && elapsed() > std::max(kLong, usual)) {
    close();  // the loop was left
    return false;
  }
  return true;
}

Way begin_unit(CodeRecord& record, std::size_t entry, cpython::Frame* frame) {
  if (the_window.record == &record && the_window.entry == entry && entry != 0) {
    next_round(frame);
  }
  MeasuredSpeed& gain = record.measured(entry, frame);
  // What asks while something else is being timed is a part of that, and shall take no time.
  constexpr std::int64_t kLookAgain = 64;
  if (the_window.record != nullptr && ++the_window.refused % kLookAgain != 0) {
    return gain.usual();
  }
  const MeasuredSpeed::Next next = gain.next();
  replay::Arrivals& arrivals = *record.entries[entry].arrivals;
  if (!next.is_timed || !open(record, gain, entry, frame, next.way)) {
    if (entry != 0 && next.way == Way::kReplay &&
        (arrivals.left <= 0 || arrivals.left > replay::Arrivals::kNever / 2)) {
      arrivals.left = gain.rounds_until_due();
    }
    return next.is_timed ? gain.usual() : next.way;
  }
  if (entry == 0) {
    begin_call(record, frame);
  } else {
    begin_round(record, entry, frame);
  }
  return next.way;
}

void end_run(CodeRecord& record, std::size_t entry, cpython::Frame* frame, RunEnd end) {
  if (the_window.record != &record || the_window.entry != entry || the_window.frame != frame ||
      the_window.way != Way::kReplay) {
    return;
  }
  if (end == RunEnd::kRecorded) {
    cancel();
    return;
  }
  if (entry != 0) {
    if (end == RunEnd::kReturned) {
      close();  // how much of it was behind the loop is not known
    }
    return;
  }
  if (end == RunEnd::kReturned) {
    take(elapsed(), 1);
    return;
  }
  cpython::set_end_listener(frame_ended);
  the_window.mark = cpython::mark_end(frame);
  if (the_window.mark == nullptr) {
    record.cannot_be_measured();
    cancel();
  }
}

bool stops_for_trial(CodeRecord& record, cpython::Frame* frame, replay::Arrivals& arrivals) {
  constexpr std::int64_t kEnough = 380;
  constexpr Nanoseconds kEnoughTime = 200'000;
  if (the_window.record == &record && the_window.entry != 0 && the_window.way == Way::kReplay) {
    if (record.entries[the_window.entry].arrivals.get() != &arrivals) {
      take(elapsed(), rounds_run());
      return false;
    }
    if (the_window.count < kEnough && elapsed() < kEnoughTime) {
      arrivals.left = the_window.count;
      the_window.count *= 2;
      return false;
    }
    arrivals.left = replay::Arrivals::kNever;
    the_window.is_stopped = true;
    return true;
  }
  MeasuredSpeed* gain = record.measured_at(arrivals, frame);
  if (gain != nullptr && gain->verdict() == MeasuredSpeed::Verdict::kWritten) {
    arrivals.left = 0;
    return true;
  }
  if (gain == nullptr) {
    arrivals.left = replay::Arrivals::kNever;
    return false;
  }
  if (gain->is_due()) {
    arrivals.left = replay::Arrivals::kNever;
    gain->look();
    return true;
  }
  arrivals.left = gain->rounds_until_due();
  return false;
}

void disturb_trials() {
  if (the_window.record != nullptr && the_window.thread == cpython::thread_state()) {
    cancel();
  }
}

void cancel_trials(const CodeRecord& record) {
  if (the_window.record == &record) {
    close();
  }
}

}  // namespace tagalong::runtime
