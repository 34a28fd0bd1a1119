// The current recordings, by stack of frames. Layers below a session, such as deferred arrays, use this to see whether
// their thread records and to pause the recording, without knowing sessions.
//   const Pause pause;                                   // what runs now is no part of the recorded instruction
//  const Pause pause;                                   // code that runs now is not part of the recorded instruction
#pragma once

#include <Python.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "rewriter/cpython/frames.h"
#include "rewriter/cpython/stacks.h"

namespace tagalong::recorder {

class Recording {
 public:
  Recording() = default;
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  virtual ~Recording() = default;

  // Whether the recording is paused while code runs that it does not record, such as an opaque call.
  [[nodiscard]] bool is_paused() const { return paused_; }
  // The program has assigned to a variable of a frame, which the recording has not seen.
  virtual void note_written_local(const cpython::Frame* frame) = 0;

 protected:
  friend class Pause;
  bool paused_ = false;
};

// A stack can end before its frames do (a daemon thread when the interpreter exits; a greenlet of a thread that has
// ended). Its recording is not freed then: freeing needs the GIL, which this thread does not hold, or frames that never
// run again refer to the recording.
class Recordings {
 public:
  static Recordings& all();

  // Whether the current stack records right now.
  static bool has_active(PyThreadState* thread);

  [[nodiscard]] bool is_empty() const { return slots_.empty(); }
  [[nodiscard]] std::shared_ptr<Recording> on(const cpython::StackId& stack) const;
  void put(const cpython::StackId& stack, std::shared_ptr<Recording> recording);

  // Keeps a finished recording until the function that is using it returns.
  void keep_finished(const cpython::StackId& stack, std::shared_ptr<Recording> recording);
  std::shared_ptr<Recording> take_finished(const cpython::StackId& stack);

  template <class Wanted>
  [[nodiscard]] bool has_any(const Wanted& wanted) const {
    return std::ranges::any_of(
        slots_, [&](const Slot& slot) { return slot.recording != nullptr && wanted(*slot.recording, slot.stack); });
  }

  void note_written_local(const cpython::Frame* frame) const {
    for (const Slot& slot : slots_) {
      if (slot.recording != nullptr) {
        slot.recording->note_written_local(frame);
      }
    }
  }

  // Called in the child of a fork, where recordings of other threads never continue.
  void forget_other_threads(PyThreadState* thread);

 private:
  struct Slot {
    cpython::StackId stack;
    std::shared_ptr<Recording> recording;
    std::shared_ptr<Recording> finished;
  };

  Slot& slot_of(const cpython::StackId& stack);
  void remove_empty_slots();

  std::vector<Slot> slots_;  // changed under the GIL, by code that does not release it
};

// Pauses this thread's recording for the scope: what runs is not part of the recorded instruction.
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
