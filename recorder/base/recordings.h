// The recordings that are under way, by stack. What runs below a session, such as deferred arrays, finds here whether
// its thread records, and pauses that, without knowing sessions.
//
//   const Pause pause;                                   // what runs now is no part of the recorded instruction
//   const auto recording = Recordings::all().on(stack);  // the innermost one of a stack, or null
#pragma once

#include <Python.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "rewriter/cpython/stacks.h"

namespace tagalong::recorder {

class Recording {
 public:
  Recording() = default;
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  virtual ~Recording() = default;

  // Whether it waits for code that it does not record, such as an opaque call.
  [[nodiscard]] bool is_waiting() const { return waiting_; }

 protected:
  friend class Pause;
  bool waiting_ = false;
};

// A stack may end without its frames (a daemon thread, when the interpreter goes; a greenlet of a thread that has
// ended). Then its recording stays: freeing it needs the GIL, which is not held, or frames that never run again refer
// to it.
class Recordings {
 public:
  static Recordings& all();

  // Whether the current stack records right now.
  static bool has_active(PyThreadState* thread);

  [[nodiscard]] bool is_empty() const { return slots_.empty(); }
  [[nodiscard]] std::shared_ptr<Recording> on(const cpython::StackId& stack) const;
  void put(const cpython::StackId& stack, std::shared_ptr<Recording> recording);

  // A recording that has finished stays until the function that was called with it is done.
  void keep_finished(const cpython::StackId& stack, std::shared_ptr<Recording> recording);
  std::shared_ptr<Recording> take_finished(const cpython::StackId& stack);

  template <class Wanted>
  [[nodiscard]] bool has_any(const Wanted& wanted) const {
    return std::ranges::any_of(
        slots_, [&](const Slot& slot) { return slot.recording != nullptr && wanted(*slot.recording, slot.stack); });
  }

  // In the child of a fork: recordings of other threads will never go on.
  void forget_other_threads(PyThreadState* thread);

 private:
  struct Slot {
    cpython::StackId stack;
    std::shared_ptr<Recording> recording;
    std::shared_ptr<Recording> finished;
  };

  Slot& slot_of(const cpython::StackId& stack);
  void tidy();

  std::vector<Slot> slots_;  // changed under the GIL, by code that does not give it up meanwhile
};

// While it lives, the recording of this thread waits: what runs is no part of the instruction that it has come to.
class Pause {
 public:
  Pause();
  Pause(const Pause&) = delete;
  Pause& operator=(const Pause&) = delete;
  ~Pause();

 private:
  std::shared_ptr<Recording> recording_;  // null: this thread does not record
};

}  // namespace tagalong::recorder
