#include "runtime/policy/timing_trials.h"

#include <algorithm>
#include <ctime>

#include "rewriter/cpython/frame_end.h"
#include "rewriter/cpython/objects/iterators.h"

namespace tagalong::runtime {
namespace {

// What is being timed: from an arrival at an entry to the end of the call, or to the next arrival there.
struct Window {
  Measurements* subject = nullptr;  // null: nothing is being timed
  MeasuredSpeed* speed = nullptr;
  std::size_t entry = 0;
  PyThreadState* thread = nullptr;
  cpython::Frame* frame = nullptr;
  Execution execution = Execution::kReplay;
  Nanoseconds start = 0;
  Nanoseconds start_of_thread = 0;  // by the thread's processor time
  std::int64_t refused = 0;         // arrivals of other units meanwhile
  const void* mark = nullptr;       // at the end of the call
  // --- of rounds
  PyObject* iterator = nullptr;  // of the loop; borrowed, compared only
  std::int64_t items = -1;       // that it had left at the start; -1: unknown
  std::int64_t count = 0;        // arrivals until the run is stopped
  bool is_stopped = false;
};
Window the_window;

constexpr Nanoseconds kLong = 2'000'000;

bool is_outside(const Entry& loop, const Entry& other) {
  return other.place.first < loop.place.first || other.place.first > loop.place.resume;
}

// How many arrivals at this entry run on before a run is stopped there, while nothing is timed.
std::int64_t untimed_arrivals(Measurements& subject, std::size_t entry) {
  const MeasuredSpeed* current = subject.current(entry);
  if (current == nullptr) {
    return replay::Arrivals::kNever;
  }
  const bool is_loop = subject.code().entries[entry].is(Entry::Kind::kHeader);
  return is_loop && current->verdict() == MeasuredSpeed::Verdict::kEager ? 0 : current->rounds_between_looks();
}

void stop_counting(Measurements& subject) {
  EntryTable& entries = subject.code().entries;
  for (std::size_t entry = 0; entry < entries.size(); ++entry) {
    entries[entry].arrivals->left = untimed_arrivals(subject, entry);
  }
}

void close() {
  if (the_window.subject != nullptr && the_window.entry != 0 && the_window.execution == Execution::kReplay) {
    stop_counting(*the_window.subject);
  }
  the_window = Window{};
}

Nanoseconds time_of_thread() {
  constexpr Nanoseconds kSecond = 1'000'000'000;
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * kSecond + now.tv_nsec;
}

// Reading the processor time is a system call, so it comes first, outside of what is timed.
void start_clock() {
  the_window.start_of_thread = time_of_thread();
  the_window.start = clock_now();
}

// While a unit lasts, other processes may have the processor. That is no time of this unit, and would use up the budget
// of all trials. Of short units the system call would be a good part.
Nanoseconds elapsed() {
  constexpr Nanoseconds kShort = 100'000;
  const Nanoseconds passed = clock_now() - the_window.start;
  if (passed < kShort || the_window.thread != cpython::thread_state()) {
    return passed;
  }
  return std::min(passed, time_of_thread() - the_window.start_of_thread);
}

void cancel() {
  if (the_window.subject != nullptr) {
    the_window.speed->cancel();
    close();
  }
}

void take(Nanoseconds time, std::int64_t units) {
  constexpr Nanoseconds kAsk = 20;  // time of a stub, which the original code does not have
  MeasuredSpeed& speed = *the_window.speed;
  const Execution execution = the_window.execution;
  if (execution == Execution::kEager) {
    time = std::max(time - kAsk * the_window.refused, time / 4);
  }
  close();
  speed.add_time(execution, time, units);
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

// Whether `caller` has called the frame, directly or over other frames.
bool calls(const cpython::Frame* caller, cpython::Frame* frame) {
  constexpr int kMost = 256;
  int left = kMost;
  while (frame != nullptr && frame != caller && --left > 0) {
    frame = cpython::caller_of(frame);
  }
  return frame == caller;
}

// Whether an arrival at this entry shows that the loop that is being timed was left.
bool is_left(const Measurements& subject, std::size_t entry, cpython::Frame* frame) {
  if (the_window.entry == 0 || the_window.thread != cpython::thread_state()) {
    return false;
  }
  if (the_window.frame == frame && the_window.subject == &subject) {
    return is_outside(subject.code().entries[the_window.entry], subject.code().entries[entry]);
  }
  return !calls(the_window.frame, frame);
}

// False: something else is being timed.
bool open(Measurements& subject, MeasuredSpeed& speed, std::size_t entry, cpython::Frame* frame, Execution execution) {
  constexpr Nanoseconds kTooLong = 1'000'000'000;
  if (the_window.subject != nullptr) {
    if (is_left(subject, entry, frame)) {
      close();
    } else if (elapsed() > kTooLong) {
      cancel();
    } else {
      return false;
    }
  }
  the_window.subject = &subject;
  the_window.speed = &speed;
  the_window.entry = entry;
  the_window.thread = cpython::thread_state();
  the_window.frame = frame;
  the_window.execution = execution;
  return true;
}

PyObject* iterator_of(const Measurements& subject, std::size_t entry, cpython::Frame* frame) {
  const recorder::DecodedCode::Entry& place = subject.code().entries[entry].place;
  return place.depth > 0 ? cpython::stack_base(frame)[place.depth - 1] : nullptr;
}

// -1: unknown, because the iterator may run code of the program.
std::int64_t items_left(PyObject* iterator) {
  const bool is_known =
      iterator != nullptr && (Py_TYPE(iterator) == &PyRangeIter_Type || Py_TYPE(iterator) == &PyListIter_Type ||
                              Py_TYPE(iterator) == &PyTupleIter_Type);
  const Py_ssize_t left = is_known ? PyObject_LengthHint(iterator, -1) : -1;
  if (left < 0) [[unlikely]] {
    PyErr_Clear();  // there was no memory
  }
  return left;
}

std::int64_t rounds_run() {
  const std::int64_t left = the_window.subject->code().entries[the_window.entry].arrivals->left;
  return the_window.is_stopped ? the_window.count
                               : std::clamp(the_window.count - left, std::int64_t{0}, the_window.count);
}

// At the entry of the loop whose round is being timed.
void next_round(cpython::Frame* frame) {
  constexpr Nanoseconds kShort = 60;  // reading the clock takes as long
  PyObject* iterator = iterator_of(*the_window.subject, the_window.entry, frame);
  const std::int64_t items = items_left(iterator);
  std::int64_t rounds = 1;
  if (the_window.execution == Execution::kReplay) {
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

void begin_round(Measurements& subject, std::size_t entry, cpython::Frame* frame) {
  constexpr std::int64_t kFew = 4;
  the_window.iterator = iterator_of(subject, entry, frame);
  the_window.items = items_left(the_window.iterator);
  if (the_window.execution == Execution::kReplay) {
    Entry& loop = subject.code().entries[entry];
    for (Entry& other : subject.code().entries) {
      if (is_outside(loop, other)) {
        other.arrivals->left = 1;  // a run that arrives there has left the loop
      }
    }
    the_window.count = std::min(kFew, the_window.speed->rounds_between_looks());
    loop.arrivals->left = the_window.count;
  }
  start_clock();
}

void begin_call(Measurements& subject, cpython::Frame* frame) {
  if (the_window.execution == Execution::kEager) {
    cpython::set_end_listener(frame_ended);
    the_window.mark = cpython::mark_end(frame);
    if (the_window.mark == nullptr) {
      subject.cannot_be_measured();
      cancel();
      return;
    }
  }
  start_clock();
}

}  // namespace

bool is_timed_as_written(Measurements& subject, std::size_t entry, cpython::Frame* frame) {
  if (the_window.subject == nullptr) [[likely]] {
    return false;
  }
  if (the_window.subject != &subject) {
    constexpr std::int64_t kLookAgain = 64;
    if (the_window.execution == Execution::kReplay || the_window.thread != cpython::thread_state()) {
      return false;
    }
    const bool is_over = ++the_window.refused % kLookAgain == 0 && is_left(subject, entry, frame);
    if (is_over) {
      close();
    }
    return !is_over;  // calls from the timed unit run the original instructions, too
  }
  if (the_window.entry != 0 && (entry == 0 || (entry == the_window.entry && the_window.frame != frame))) {
    close();
    return false;
  }
  if (entry == 0) {
    if (calls(the_window.frame, frame)) {
      subject.cannot_be_measured();  // recursive: its calls differ too much
      cancel();
    }
    return false;
  }
  if (entry != the_window.entry && is_left(subject, entry, frame)) {
    close();
    return false;
  }
  if (entry == the_window.entry || the_window.execution == Execution::kReplay) {
    return false;
  }
  ++the_window.refused;
  constexpr Nanoseconds kMost = 8;  // times the usual unit
  const Nanoseconds usual = kMost * std::max(the_window.speed->replay_time(), the_window.speed->eager_time());
  if (the_window.entry != 0 && elapsed() > std::max(kLong, usual)) {
    close();  // the loop was left
    return false;
  }
  return true;
}

Execution begin_unit(Measurements& subject, std::size_t entry, cpython::Frame* frame) {
  if (the_window.subject == &subject && the_window.entry == entry && entry != 0) {
    next_round(frame);
  }
  MeasuredSpeed& speed = subject.speed(entry, frame);
  // While another unit is being timed this one is a part of it and should take no extra time.
  constexpr std::int64_t kLookAgain = 64;
  if (the_window.subject != nullptr && ++the_window.refused % kLookAgain != 0) {
    return speed.usual();
  }
  const MeasuredSpeed::Next next = speed.next();
  replay::Arrivals& arrivals = *subject.code().entries[entry].arrivals;
  if (!next.is_timed || !open(subject, speed, entry, frame, next.execution)) {
    if (entry != 0 && next.execution == Execution::kReplay &&
        (arrivals.left <= 0 || arrivals.left > replay::Arrivals::kNever / 2)) {
      arrivals.left = speed.rounds_until_due();
    }
    return next.is_timed ? speed.usual() : next.execution;
  }
  if (entry == 0) {
    begin_call(subject, frame);
  } else {
    begin_round(subject, entry, frame);
  }
  return next.execution;
}

void end_run(Measurements& subject, std::size_t entry, cpython::Frame* frame, RunEnd end) {
  if (the_window.subject != &subject || the_window.entry != entry || the_window.frame != frame ||
      the_window.execution != Execution::kReplay) {
    return;
  }
  if (end == RunEnd::kRecorded) {
    cancel();
    return;
  }
  if (entry != 0) {
    if (end == RunEnd::kReturned) {
      close();  // the time includes the instructions behind the loop
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
    subject.cannot_be_measured();
    cancel();
  }
}

bool stops_for_trial(Measurements& subject, cpython::Frame* frame, replay::Arrivals& arrivals) {
  constexpr std::int64_t kEnough = 380;
  constexpr Nanoseconds kEnoughTime = 200'000;
  if (the_window.subject == &subject && the_window.entry != 0 && the_window.execution == Execution::kReplay) {
    if (subject.code().entries[the_window.entry].arrivals.get() != &arrivals) {
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
  MeasuredSpeed* speed = subject.speed_at(arrivals, frame);
  if (speed != nullptr && speed->verdict() == MeasuredSpeed::Verdict::kEager) {
    arrivals.left = 0;
    return true;
  }
  if (speed == nullptr) {
    arrivals.left = replay::Arrivals::kNever;
    return false;
  }
  if (speed->is_due()) {
    arrivals.left = replay::Arrivals::kNever;
    speed->look();
    return true;
  }
  arrivals.left = speed->rounds_until_due();
  return false;
}

void discard_timing() {
  if (the_window.subject != nullptr && the_window.thread == cpython::thread_state()) {
    cancel();
  }
}

void cancel_trials(const Measurements& subject) {
  if (the_window.subject == &subject) {
    close();
  }
}

}  // namespace tagalong::runtime
