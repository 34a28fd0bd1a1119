// One recorded run of a function as an object of its own, independent of the function's executors.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/records/code_record.h"

namespace tagalong::runtime {

class Recording {
 public:
  // Runs function(*args, **kwargs) once while recording. An exception of the run is kept in `exception`. Throws
  // PythonError, RewriteError if nothing could be run.
  Recording(const Ref& function, const Ref& args, const Ref& kwargs);

  // Replays for other arguments; a new reference, or null with an exception set (GuardFailed if a guard fails).
  [[nodiscard]] PyObject* replay(PyObject* args, PyObject* kwargs) const;

  [[nodiscard]] const replay::Executor* executor() const { return executor_.get(); }
  [[nodiscard]] std::string explain() const;

  Ref result;
  Ref exception;
  CodeRef original_code, recording_code, replay_code;
  double recording_seconds = 0;  // the eager run with its hooks
  double synthesis_seconds = 0;  // graph, passes, executor
  recorder::Stop stop = recorder::Stop::kNone;

 private:
  void make_replay_code(const Ref& function);

  std::shared_ptr<const recorder::DecodedCode> decoded_;
  std::shared_ptr<const replay::Executor> executor_;
  std::shared_ptr<Counters> counters_ = std::make_shared<Counters>();
  Ref replay_function_;
  std::string explanation_;
};

}  // namespace tagalong::runtime
