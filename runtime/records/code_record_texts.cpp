// What explain() says of one code object.
#include <fmt/format.h>

#include "rewriter/base/text.h"
#include "runtime/records/code_record.h"
#include "runtime/records/texts.h"

namespace tagalong::runtime {

using recorder::DecodedCode;

std::string CodeRecord::explain() const {
  const std::string file = cpython::readable(decoded_->shape->code->co_filename);
  std::string text = fmt::format("{} ({}:{})\n", name(), file, decoded_->shape->code->co_firstlineno);
  text += fmt::format("  {} recorded, {} hits, {} misses, {} exits, {} bridges, {} graphs\n", counters.records,
                      counters.hits, counters.misses, counters.exits, counters.bridges, executor_count());
  for (std::size_t index = 0; index < kLeftOutTexts.size(); ++index) {
    if (const std::uint64_t calls = counters.left_out.at(index); calls != 0) {
      text += fmt::format("  {} calls ran as written, because {}\n", calls, kLeftOutTexts.at(index));
    }
  }
  if (last_stop != recorder::Stop::kNone) {
    text += fmt::format("  the last recording stopped in line {}: {} ({})\n", last_stop_line,
                        recorder::stop_text(last_stop), recorder::stop_name(last_stop));
  }
  if (is_retired_) {
    text += is_put_off_
                ? "  retired: called again and again while recordings had cost as much as they may\n"
                : fmt::format("  retired: a replay took about {} ns longer than the original instructions\n", lost_);
  }
  for (std::size_t index = 0; index < entries.size(); ++index) {
    explain_entry(index, text);
  }
  for (const replay::LimitRow& row : replay::kLimitRows) {
    if (const std::uint64_t times = counters.limits.at(static_cast<std::size_t>(row.limit)); times != 0) {
      text += fmt::format("  limit `{}` ({}), reached {} times: {}\n", row.name, limits_->*row.value, times, row.text);
    }
  }
  return text;
}

void CodeRecord::explain_measured(const Entry& entry, const Entry::Measured& each, std::string& text) {
  const MeasuredSpeed& gain = each.gain;
  if (gain.trials() == 0) {
    return;
  }
  const bool is_call = entry.place.place == DecodedCode::Place::kCall;
  const std::string sizes =
      each.size_class == 0 ? "" : fmt::format(", arrays below {} elements", std::uint64_t{1} << each.size_class);
  const bool is_replayed = gain.usual() == Way::kReplay;
  // What is decided is what most of several comparisons say; the last one alone may say something else.
  const bool says_so = is_replayed == (gain.replay_time() < gain.written_time());
  text += fmt::format("  measured{}: a {} takes {} ns replayed and {} ns as written{}, so it {}\n", sizes,
                      is_call ? "call" : "round", gain.replay_time(), gain.written_time(),
                      says_so ? "" : " in the last of several comparisons, most of which say otherwise",
                      is_replayed ? "is replayed" : "runs as written");
}

void CodeRecord::explain_entry(std::size_t index, std::string& text) const {
  const Entry& entry = entries[index];
  if (entry.place.place != DecodedCode::Place::kCall && entry.executors.empty() && entry.failures == 0) {
    return;
  }
  const auto line_of = [this](int instruction) {
    return decoded_->assembly.instructions[static_cast<std::size_t>(instruction)].position.line;
  };
  switch (entry.place.place) {
    case DecodedCode::Place::kCall:
      break;
    case DecodedCode::Place::kYield:
      text += fmt::format("  after the yield in line {}:\n", line_of(entry.place.resume));
      break;
    case DecodedCode::Place::kHeader:
      text += fmt::format("  at the loop of line {}:\n", line_of(entry.place.first));
      break;
    case DecodedCode::Place::kExit:
      text += fmt::format("  after exits to line {}:\n", line_of(entry.place.first));
      break;
  }
  if (entry.costs > 0) {
    text += fmt::format("  left as written: a round would take about {} ns longer\n", entry.costs);
  } else if (entry.failures >= limits_->retries) {
    text += fmt::format("  given up after {} recordings in vain or in part\n", entry.failures);
  }
  if (entry.short_lived >= limits_->retries) {
    text += fmt::format("  given up after {} graphs whose classes or functions soon died\n", entry.short_lived);
  }
  for (std::size_t number = 0; number < entry.executors.size(); ++number) {
    const replay::Executor& executor = *entry.executors[number];
    text += fmt::format("  graph {}: {} nodes, {} hits, {} exits\n", number + 1, executor.graph().nodes.size(),
                        executor.hits, executor.exits);
    for (const std::string& line : failure_texts(executor)) {
      text += "    " + line + "\n";
    }
    for (const std::string& line : fusion_texts(executor)) {
      text += "    " + line + "\n";
    }
  }
  for (const Entry::Measured& each : entry.measured) {
    explain_measured(entry, each, text);
  }
}
}  // namespace tagalong::runtime
