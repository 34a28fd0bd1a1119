// Everything tagalong knows about one original code object, and the way of its recordings into the table of entries.
// Owned by the anchors in the replay code, so it lives as long as that code object. Each part has one job:
//
//   code          the code object, its replay code, its entries with their executors, its counters
//   recordings    the recordings that are under way
//   measurements  whether calls and rounds are faster as replays
//   retirement    whether the code is replayed at all
//   policy        what is recorded and kept
#pragma once

#include <memory>

#include "recorder/trace/recorded.h"
#include "runtime/entries/traced_code.h"
#include "runtime/policy/active_recordings.h"
#include "runtime/policy/measurements.h"
#include "runtime/policy/recording_policy.h"
#include "runtime/policy/retirement.h"
#include "runtime/records/kept_recording_code.h"

namespace tagalong::runtime {

class CodeRecord final : public recorder::Sink, public replay::Keeper {
 public:
  explicit CodeRecord(std::shared_ptr<const recorder::DecodedCode> decoded);
  CodeRecord(const CodeRecord&) = delete;
  CodeRecord& operator=(const CodeRecord&) = delete;
  ~CodeRecord() override;

  TracedCode code;
  ActiveRecordings recordings{code};
  Measurements measurements{code};
  Retirement retirement{code, measurements, recordings};
  RecordingPolicy policy{code, measurements, recordings, retirement};

  // --- for the recorder
  void finished(recorder::Recorded recorded) override;
  bool may_inline(PyCodeObject* callee) override;
  recorder::HomeRef home_of(PyCodeObject* other) override;
  KeptRecordingCode kept_recording_code{code.entries};

  // --- for executors
  void executor_died(const replay::Executor& executor) override;
  void forget(const replay::Executor& executor);
  // Runs of `from` often continue in `next` from this step: makes one executor of both (replay/executor/trace_trees.h).
  void grow(const replay::Executor& from, const replay::Step& step, const replay::Executor& next);

  // A call or a round runs the original instructions because the measurements say so.
  void run_original(std::size_t entry, cpython::Frame* frame);
  // The program traces the function by name: it is recorded and replayed again.
  void revive();

  // Whether explain() without a function mentions it.
  [[nodiscard]] bool has_activity() const {
    return code.counters.records + code.counters.hits + code.counters.misses != 0;
  }

  struct LastRecording {
    double seconds = 0;
    double synthesis_seconds = 0;
    recorder::Stop stop = recorder::Stop::kNone;
    int stop_line = 0;
  };
  LastRecording last_recording;
  // For tagalong.record(): the recording code is kept, and has all hooks.
  bool keeps_recording_code = false;
  CodeRef recording_code;

  // --- for compare mode (comparing.h)
  std::uint64_t calls_seen = 0;
  bool has_missed = false;  // a copy of the process found no graph for a call: the next call is recorded

 private:
  void end_recording(const recorder::Recorded& recorded);
  void attach(std::size_t entry, std::shared_ptr<replay::Executor> executor);
};

// A text for explain().
[[nodiscard]] std::string explain(const CodeRecord& record);

}  // namespace tagalong::runtime
