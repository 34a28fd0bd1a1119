// What a run holds of an executor while it is in it, or may come back to it. Internal to replay/.
#pragma once

#include <vector>

#include "replay/executor/executor.h"

namespace tagalong::replay {

// A run keeps alive what its registers and frames stand for.
class Executor::Hold {
 public:
  explicit Hold(const Executor& executor) : executor_(executor) {
    is_complete_ = !executor.is_dead_;
    for (std::size_t index = 0; is_complete_ && index < executor.held_.size(); ++index) {
      PyObject* object = executor.held_[index];
      is_complete_ = Py_REFCNT(object) > 0;  // otherwise it is dying, and we shall be told in a moment
      if (is_complete_) {
        Py_INCREF(object);
        ++count_;
      }
    }
    ++executor.running_;
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  ~Hold() {
    for (std::size_t index = 0; index < count_; ++index) {
      Py_DECREF(executor_.held_[index]);
    }
    --executor_.running_;
  }
  [[nodiscard]] bool is_complete() const { return is_complete_; }

 private:
  const Executor& executor_;
  std::size_t count_ = 0;
  bool is_complete_ = false;
};

// An executor that a run has been stitched to, with its registers: all but constants are null between two stays.
struct Visit {
  Visit(const Executor& visited, const Run& run);
  [[nodiscard]] bool is_complete() const { return hold_.is_complete(); }

  const Executor* executor;
  std::vector<PyObject*> registers;
  std::vector<UnboxedNumber> unboxed;

 private:
  const Executor::Hold hold_;
};

}  // namespace tagalong::replay
