// The text of explain() for one code object.
#include <fmt/format.h>

#include "rewriter/base/text.h"
#include "runtime/records/code_record.h"
#include "runtime/records/texts.h"

namespace tagalong::runtime {
namespace {

std::string measured_text(const Entry& entry, const Measurements::OfSize& each) {
  const MeasuredSpeed& speed = each.speed;
  if (speed.trials() == 0) {
    return {};
  }
  const bool is_call = entry.is(Entry::Kind::kCall);
  const std::string sizes =
      each.size_class == 0 ? "" : fmt::format(", arrays below {} elements", std::uint64_t{1} << each.size_class);
  const bool is_replayed = speed.usual() == Execution::kReplay;
  // Where the difference is small, the estimate or the last result decides.
  const bool says_so = is_replayed == (speed.replay_time() < speed.eager_time());
  return fmt::format("  measured{}: a {} takes {} ns replayed and {} ns as written{}, so it {}\n", sizes,
                     is_call ? "call" : "round", speed.replay_time(), speed.eager_time(),
                     says_so ? "" : ", but its trials do not agree", is_replayed ? "is replayed" : "runs as written");
}

std::string executor_text(std::size_t number, const replay::Executor& executor) {
  std::string text = fmt::format("  graph {}: {} nodes, {} hits, {} exits\n", number, executor.graph().nodes.size(),
                                 executor.hits, executor.exits);
  for (const auto& texts : {failure_texts(executor), fusion_texts(executor)}) {
    for (const std::string& line : texts) {
      text += "    " + line + "\n";
    }
  }
  return text;
}

// The line that introduces an entry; the call's needs none.
std::string heading_of(const Entry& entry, const recorder::DecodedCode& decoded) {
  const auto line_of = [&decoded](int instruction) {
    return decoded.assembly.instructions[static_cast<std::size_t>(instruction)].position.line;
  };
  switch (entry.place.place) {
    case Entry::Kind::kCall:
      return {};
    case Entry::Kind::kYield:
      return fmt::format("  after the yield in line {}:\n", line_of(entry.place.resume));
    case Entry::Kind::kHeader:
      return fmt::format("  at the loop of line {}:\n", line_of(entry.place.first));
    case Entry::Kind::kExit:
      return fmt::format("  after exits to line {}:\n", line_of(entry.place.first));
  }
  return {};
}

std::string entry_text(const CodeRecord& record, std::size_t index) {
  const Entry& entry = record.code.entries[index];
  const Attempts& attempts = entry.attempts;
  if (!entry.is(Entry::Kind::kCall) && entry.executors.empty() && attempts.failures == 0) {
    return {};
  }
  const int retries = record.code.limits().retries;
  std::string text = heading_of(entry, record.code.decoded());
  if (attempts.loss > 0) {
    text += fmt::format("  left as written: a round would take about {} ns longer\n", attempts.loss);
  } else if (attempts.failures >= retries) {
    text += fmt::format("  not recorded any more after {} recordings that gave no graph or were aborted\n",
                        attempts.failures);
  }
  if (attempts.short_lived >= retries) {
    text += fmt::format("  not recorded any more after {} graphs whose classes or functions soon died\n",
                        attempts.short_lived);
  }
  for (std::size_t number = 0; number < entry.executors.size(); ++number) {
    text += executor_text(number + 1, *entry.executors[number]);
  }
  for (const Measurements::OfSize& each : record.measurements.of(index)) {
    text += measured_text(entry, each);
  }
  return text;
}

}  // namespace

std::string explain(const CodeRecord& record) {
  const TracedCode& code = record.code;
  const Counters& counters = code.counters;
  const std::string file = cpython::readable(code.original()->co_filename);
  std::string text = fmt::format("{} ({}:{})\n", code.name(), file, code.original()->co_firstlineno);
  text += fmt::format("  {} recorded, {} hits, {} misses, {} exits, {} bridges, {} graphs\n", counters.records,
                      counters.hits, counters.misses, counters.exits, counters.bridges, code.entries.executor_count());
  for (std::size_t index = 0; index < kLeftOutTexts.size(); ++index) {
    if (const std::uint64_t calls = counters.left_out.at(index); calls != 0) {
      text += fmt::format("  {} calls ran as written, because {}\n", calls, kLeftOutTexts.at(index));
    }
  }
  if (record.last_recording.stop != recorder::Stop::kNone) {
    text +=
        fmt::format("  the last recording stopped in line {}: {} ({})\n", record.last_recording.stop_line,
                    recorder::stop_text(record.last_recording.stop), recorder::stop_name(record.last_recording.stop));
  }
  if (record.retirement.is_retired()) {
    text += record.retirement.waits_for_budget()
                ? "  retired: called often while the recording budget was used up\n"
                : fmt::format("  retired: a replay took about {} ns longer than the original instructions\n",
                              record.retirement.loss());
  }
  for (std::size_t index = 0; index < code.entries.size(); ++index) {
    text += entry_text(record, index);
  }
  for (const replay::LimitRow& row : replay::kLimitRows) {
    if (const std::uint64_t times = counters.limits.at(static_cast<std::size_t>(row.limit)); times != 0) {
      text +=
          fmt::format("  limit `{}` ({}), reached {} times: {}\n", row.name, code.limits().*row.value, times, row.text);
    }
  }
  return text;
}

}  // namespace tagalong::runtime
