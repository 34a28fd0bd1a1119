#include "runtime/records/code_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "replay/executor/trace_trees.h"
#include "replay/ir/stages.h"
#include "rewriter/base/text.h"
#include "runtime/entries/deferred_frees.h"
#include "runtime/policy/timing_trials.h"
#include "runtime/records/anchor.h"
#include "runtime/records/dispatching_code.h"
#include "runtime/records/synthesis.h"
#include "runtime/records/texts.h"

namespace tagalong::runtime {

using replay::Limit;

CodeRecord::CodeRecord(std::shared_ptr<const recorder::DecodedCode> decoded) : code(std::move(decoded)) {}

CodeRecord::~CodeRecord() {
  totals().functions_freed += has_activity() ? 1 : 0;
  cancel_trials(measurements);
  for (replay::Executor* executor : code.entries.executors()) {
    executor->keeper = nullptr;
  }
}

namespace {

// What the recorded call has taken, less what recording takes.
Nanoseconds original_time_of(double seconds, std::size_t nodes) {
  constexpr double kSecond = 1e9;
  constexpr double kRecording = 150e3;
  constexpr double kNode = 2e3;
  const double own = seconds * kSecond - kRecording - kNode * static_cast<double>(nodes);
  return static_cast<Nanoseconds>(std::max(own, 0.0));
}

}  // namespace

void CodeRecord::finished(recorder::Recorded recorded) {
  const auto entry = static_cast<std::size_t>(recorded.entry);
  end_recording(recorded);
  policy.note_recorded(entry, recorded);
  const auto start = std::chrono::steady_clock::now();
  const Nanoseconds original_time = original_time_of(recorded.seconds, recorded.graph.nodes.size());
  auto [executor, failure] = synthesise(recorded, code.entries[entry]);
  if (executor == nullptr) {
    policy.note_failure(entry, failure);
    return;
  }
  log_recorded(*executor, code.name(), recorded.stop);
  measurements.note_arrays(recorded.largest_array);
  if (!policy.accepts(entry, *executor, recorded.stop)) {
    return;
  }
  if (code.entries[entry].is(Entry::Kind::kCall)) {
    measurements.guess_original_time(entry, original_time);
  }
  attach(entry, std::move(executor));
  last_recording.synthesis_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  retirement.retire_if_no_graph_pays();
}

void CodeRecord::end_recording(const recorder::Recorded& recorded) {
  recordings.end(recorded.stack);
  discard_timing();
  if (keeps_recording_code) {
    recording_code = recorded.recording_code->code;
  }
  kept_recording_code.offer(recorded.recording_code);
  last_recording.seconds = recorded.seconds;
  last_recording.stop = recorded.stop;
  last_recording.stop_line = recorded.stop_line;
}

void CodeRecord::attach(std::size_t entry, std::shared_ptr<replay::Executor> executor) {
  executor->keeper = this;
  executor->groups = code.limits().groups;
  measurements.prepare(entry, *executor);
  retirement.reset_balance(*executor);
  auto& executors = code.entries[entry].executors;
  executors.insert(executors.begin(), std::move(executor));
}

void CodeRecord::executor_died(const replay::Executor& executor) {
  ++code.counters.invalidations;
  ++totals().invalidations;
  if (const EntryTable::Position position = code.entries.find(executor)) {
    policy.note_death(position.entry, executor);
    defer_free(code.entries.remove(position));
  }
}

void CodeRecord::forget(const replay::Executor& executor) {
  if (const EntryTable::Position position = code.entries.find(executor)) {
    defer_free(code.entries.remove(position));
  }
}

void CodeRecord::run_original(std::size_t entry, cpython::Frame* frame) {
  if (const std::optional<long> loss = measurements.run_original(entry, frame)) {
    retirement.retire(*loss);
  }
}

void CodeRecord::revive() {
  code.records_calls = true;
  retirement.revive();
}

void CodeRecord::grow(const replay::Executor& from, const replay::Step& step, const replay::Executor& next) {
  const EntryTable::Position root = code.entries.find(from);
  const EntryTable::Position part = code.entries.find(next);
  if (!root || !part || !replay::is_on(replay::Stage::trace_trees)) {
    return;
  }
  replay::Reached reached{};
  ++times(reached, Limit::k_grow_after);
  auto grown = replay::grow(root.get(), static_cast<std::size_t>(&step - from.steps().data()), part.get(), step.target,
                            code.limits(), reached);
  code.count_limits(reached);
  if (grown == nullptr) {
    return;
  }
  if (replay::is_faulty(replay::Stage::trace_trees)) [[unlikely]] {
    grown->make_faulty();
  }
  grown->keeper = this;
  retirement.reset_balance(*grown);
  measurements.reset(root.entry);
  defer_free(std::exchange(root.get(), std::move(grown)));
  count(code.counters, Event::kGrow);
  if (is_logged(Topic::kCache)) {
    log(Topic::kCache, fmt::format("{}: the trace behind line {} is a part of the graph now, {} parts in all",
                                   code.name(), step.line, root.get()->part_count()));
  }
  log_lowered(*root.get());
}

recorder::HomeRef CodeRecord::home_of(PyCodeObject* other) {
  PyObject* anchor = anchor_of(other);
  const recorder::HomeRef home = anchor == nullptr ? nullptr : record_of(anchor)->code.replay_code.home;
  const bool is_its = home != nullptr && PyWeakref_GET_OBJECT(home->code.get()) == reinterpret_cast<PyObject*>(other);
  return is_its ? home : nullptr;
}

bool CodeRecord::may_inline(PyCodeObject* callee) {
  if (dispatcher_of_code(callee) != nullptr) {
    return false;
  }
  // Executors of loops, and of the bridges behind them, need a frame of that code to start from.
  PyObject* anchor = anchor_of(callee);
  if (anchor != nullptr && record_of(anchor)->code.decoded().has_headers()) {
    return false;
  }
  if (options().opaque_paths.empty()) {
    return true;
  }
  const std::string path = cpython::readable(callee->co_filename);
  const auto begins_path = [&path](const std::string& prefix) { return path.starts_with(prefix); };
  return std::ranges::none_of(options().opaque_paths, begins_path) ||
         std::ranges::binary_search(options().included_files, path);
}

}  // namespace tagalong::runtime
