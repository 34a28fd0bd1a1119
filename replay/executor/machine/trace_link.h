// Trace links: where a run leaves one executor, it may continue in the next one without a side exit. The values of the
// frame go from registers to registers, and unboxed numbers stay unboxed. The real frame falls behind, as it does in a
// loop.
#pragma once

#include <cstddef>
#include <vector>

#include "replay/executor/machine/run_state.h"

namespace tagalong::replay {

// While it lives, the objects exist that the registers and frames of a run refer to without owning them.
class ExecutorHold {
 public:
  explicit ExecutorHold(const Executor& executor) : executor_(executor) {
    is_complete_ = !executor.is_dead_;
    for (std::size_t index = 0; is_complete_ && index < executor.held_.size(); ++index) {
      PyObject* object = executor.held_[index];
      is_complete_ = Py_REFCNT(object) > 0;  // otherwise it is dying, and the executor is told in a moment
      if (is_complete_) {
        Py_INCREF(object);
        ++count_;
      }
    }
    ++executor.running_;
  }
  ExecutorHold(const ExecutorHold&) = delete;
  ExecutorHold& operator=(const ExecutorHold&) = delete;
  ~ExecutorHold() {
    for (std::size_t index = 0; index < count_; ++index) {
      Py_DECREF(executor_.held_[index]);
    }
    --executor_.running_;
  }
  // False: an object is gone, and the executor must not be run.
  [[nodiscard]] bool is_complete() const { return is_complete_; }
  // The guard that can never hold again, or the first step.
  [[nodiscard]] const Step* failed_step() const {
    return executor_.dead_step_ != nullptr ? executor_.dead_step_ : executor_.steps().data();
  }

 private:
  const Executor& executor_;
  std::size_t count_ = 0;
  bool is_complete_ = false;
};

// An executor that a run has been linked to, with its registers: all but constants are null while the run is elsewhere.
struct Visit {
  Visit(const Executor& visited, const Run& run);
  [[nodiscard]] bool is_complete() const { return hold_.is_complete(); }

  const Executor* executor;
  std::vector<PyObject*> registers;
  std::vector<UnboxedNumber> unboxed;

 private:
  const ExecutorHold hold_;
};

// True: the next executor (Run::visit) has taken over the values at the step's snapshot.
bool link_trace(RunState& state, const Step& step);

}  // namespace tagalong::replay
