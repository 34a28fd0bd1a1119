#include "runtime/code_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string_view>

#include "replay/passes/optimise.h"
#include "replay/printer.h"
#include "runtime/options.h"
#include "runtime/texts.h"

namespace tagalong::runtime {

std::string CodeRecord::name() const {
  const char* text = PyUnicode_AsUTF8(decoded_->shape->code->co_qualname);
  return text == nullptr ? "?" : text;
}

bool CodeRecord::wants_recording(PyThreadState* thread) const {
  return std::find(recording.begin(), recording.end(), thread) == recording.end() && decoded_->refusal == nullptr &&
         failures < options().retries && static_cast<int>(executors.size()) < options().entries_per_anchor;
}

void CodeRecord::finished(recorder::Recorded recorded) {
  std::erase(recording, interp::thread_state());
  if (keeps_recording_code) {
    recording_code = recorded.recording_code;
  }
  count(counters, Event::kRecord);
  count_stop(counters, recorded.stop);
  last_stop = recorded.stop;
  last_recording_seconds = recorded.seconds;
  const auto start = std::chrono::steady_clock::now();
  last_stop_line = recorded.stop_line;
  if (recorded.stop == recorder::Stop::k_internal || !recorded.useful) {
    ++failures;
    return;
  }
  replay::optimise(recorded.graph);
  for (const auto& known : executors) {
    if (replay::same_graph(known->graph(), recorded.graph)) {
      return;  // another thread was faster
    }
  }
  auto executor = replay::Executor::lower(std::move(recorded.graph), std::move(recorded.shapes));
  if (is_logged(Topic::kRecord)) {
    log(Topic::kRecord,
        fmt::format("{}: {} nodes, {}", name(), executor->graph().nodes.size(), recorder::stop_text(recorded.stop)));
  }
  if (is_logged(Topic::kGraph)) {
    log(Topic::kGraph, replay::print(executor->graph()));
  }
  if (is_logged(Topic::kGuards)) {
    for (const std::string& guard : guard_texts(*executor)) {
      log(Topic::kGuards, fmt::format("{}: {}", name(), guard));
    }
  }
  failures = recorded.stop == recorder::Stop::kNone ? 0 : failures + 1;
  executors.insert(executors.begin(), std::move(executor));
  last_synthesis_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

bool CodeRecord::may_inline(PyCodeObject* code) {
  if (options().opaque_paths.empty()) {
    return true;
  }
  const char* file = PyUnicode_AsUTF8(code->co_filename);
  if (file == nullptr) {
    PyErr_Clear();
    return false;
  }
  const std::string_view path(file);
  for (const std::string& prefix : options().opaque_paths) {
    if (path.starts_with(prefix)) {
      return false;
    }
  }
  return true;
}

std::string CodeRecord::explain() const {
  const char* file = PyUnicode_AsUTF8(decoded_->shape->code->co_filename);
  std::string text =
      fmt::format("{} ({}:{})\n", name(), file == nullptr ? "?" : file, decoded_->shape->code->co_firstlineno);
  text += fmt::format("  {} recorded, {} hits, {} misses, {} exits, {} graphs\n", counters.records, counters.hits,
                      counters.misses, counters.exits, executors.size());
  if (decoded_->refusal != nullptr) {
    text += fmt::format("  not recorded: {}\n", decoded_->refusal);
  }
  if (last_stop != recorder::Stop::kNone) {
    text += fmt::format("  the last recording stopped in line {}: {} ({})\n", last_stop_line,
                        recorder::stop_text(last_stop), recorder::stop_name(last_stop));
  }
  if (failures >= options().retries) {
    text += fmt::format("  given up after {} recordings in vain or in part (limit `retries`)\n", failures);
  }
  if (static_cast<int>(executors.size()) >= options().entries_per_anchor) {
    text += fmt::format("  no more graphs: the limit `entries_per_anchor` is reached\n");
  }
  for (std::size_t index = 0; index < executors.size(); ++index) {
    const replay::Executor& executor = *executors[index];
    text += fmt::format("  graph {}: {} nodes, {} hits, {} exits\n", index + 1, executor.graph().nodes.size(),
                        executor.hits, executor.exits);
    for (const std::string& line : failure_texts(executor)) {
      text += "    " + line + "\n";
    }
  }
  return text;
}

}  // namespace tagalong::runtime
