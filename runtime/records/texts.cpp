#include "runtime/records/texts.h"

#include <fmt/format.h>

#include <algorithm>

#include "replay/arrays/forming/printer.h"
#include "replay/executor/printer.h"
#include "replay/ir/printer.h"
#include "replay/steps/printer.h"
#include "rewriter/base/lines.h"
#include "runtime/base/events.h"

namespace tagalong::runtime {

std::string step_text(const replay::Executor& executor, const replay::Step& step) {
  return replay::print_node(executor.graph(), static_cast<std::size_t>(step.node));
}

std::vector<std::string> guard_texts(const replay::Executor& executor) {
  std::vector<std::string> texts;
  for (const replay::Step& step : executor.steps()) {
    if (replay::info(step.op).is_guard()) {
      texts.push_back(
          fmt::format("{}{}", step_text(executor, step), step.in_entry_check ? " (entry check)" : " (side exit)"));
    }
  }
  return texts;
}

std::vector<std::string> failure_texts(const replay::Executor& executor) {
  std::vector<std::string> texts;
  for (const replay::Step& step : executor.steps()) {
    if (step.failures != 0) {
      const char* what = step.in_entry_check && replay::info(step.op).is_guard() ? "missed" : "left";
      texts.push_back(
          fmt::format("line {}: {} {} times at {}", step.line, what, step.failures, step_text(executor, step)));
    }
  }
  return texts;
}

std::vector<std::string> fusion_texts(const replay::Executor& executor) {
  struct Row {
    int line;
    const replay::PlannedGroup* group;
    std::uint64_t runs;
  };
  std::vector<Row> rows;
  const auto is_same = [](const Row& row, int line, const replay::PlannedGroup& group) {
    return row.line == line && row.group->last_line == group.last_line && row.group->end == group.end &&
           row.group->plan->operation_count() == group.plan->operation_count();
  };
  const replay::Straight* straight = executor.straight();
  for (std::size_t index = 0; straight != nullptr && index < straight->site.groups.size(); ++index) {
    const replay::PlannedGroup& group = *straight->site.groups[index];
    if (group.runs != 0) {
      rows.push_back({straight->line, &group, group.runs});
    }
  }
  const auto wholes = static_cast<std::ptrdiff_t>(rows.size());
  struct Refused {
    int first_line, last_line;
    std::size_t reason;
    std::uint64_t times;
    std::string text;
  };
  std::vector<Refused> refused;  // neighbouring lines with the same reason are one row
  const auto refuse = [&](const Refused& row) {
    const auto same = std::ranges::find_if(refused, [&](const Refused& other) {
      return other.text == row.text && other.first_line <= row.first_line && row.last_line <= other.last_line + 1;
    });
    if (same == refused.end()) {
      refused.push_back(row);
      return;
    }
    same->last_line = std::max(same->last_line, row.last_line);
    same->times += row.times;
  };
  for (const replay::Step& step : executor.steps()) {
    if (!step.group) {
      continue;
    }
    for (const auto& group : step.group->groups) {
      // A group that is the whole trace, and one that has the same lines, are one row.
      const auto same = std::find_if(rows.begin(), rows.begin() + wholes,
                                     [&](const Row& row) { return is_same(row, step.line, *group); });
      if (same != rows.begin() + wholes) {
        same->runs += group->runs;
      } else {
        rows.push_back({step.line, group.get(), group->runs});
      }
    }
    for (std::size_t number = 1; number < array::kFusionReasons.size(); ++number) {
      if (step.group->reasons.of.at(number) != 0) {
        const auto reason = static_cast<array::FusionReason>(number);
        const replay::GroupEnd& last = step.group->unplanned;
        const replay::GroupEnd end = last.reason == reason ? last : replay::GroupEnd{.reason = reason};
        refuse({step.line, step.line, number, step.group->reasons.of.at(number),
                replay::print_end(executor.lowered(), end)});
      }
    }
  }
  std::vector<std::string> texts;
  texts.reserve(rows.size() + refused.size());
  for (const auto& [line, group, runs] : rows) {
    if (runs == 0) {
      continue;  // each run was refused, or an earlier group contains these operations
    }
    texts.push_back(fmt::format("{}: {} array operations as one, {} times; then: {}",
                                lines_text(line, group->last_line), group->plan->operation_count(), runs,
                                replay::print_end(executor.lowered(), group->end)));
  }
  for (const Refused& row : refused) {
    texts.push_back(fmt::format("{}: array operations one by one, {} times: {} ({})",
                                lines_text(row.first_line, row.last_line), row.times, row.text,
                                array::row_of(static_cast<array::FusionReason>(row.reason)).name));
  }
  return texts;
}

Dumps dumps_of(const replay::Executor& executor, bool disassembles) {
  Dumps dumps{.graph = replay::print(executor.graph()),
              .guards = guard_texts(executor),
              .steps = replay::print_steps(executor.lowered()),
              .loop = replay::print_loop(executor.lowered()),
              .kernels = replay::print_kernels(executor),
              .code = {}};
  for (const replay::native::PlacedCode& code : replay::placed_code(executor)) {
    dumps.code.push_back(disassembles ? replay::native::print_code(code) : replay::native::dump_code(code));
  }
  return dumps;
}

void log_recorded(const replay::Executor& executor, const std::string& function, recorder::Stop stop) {
  if (is_logged(Topic::kRecord)) {
    log(Topic::kRecord,
        fmt::format("{}: {} nodes, {}", function, executor.graph().nodes.size(), recorder::stop_text(stop)));
  }
  if (is_logged(Topic::kGraph)) {
    log(Topic::kGraph, replay::print(executor.graph()));
  }
  if (is_logged(Topic::kGuards)) {
    for (const std::string& guard : guard_texts(executor)) {
      log(Topic::kGuards, fmt::format("{}: {}", function, guard));
    }
  }
  log_lowered(executor);
}

void log_lowered(const replay::Executor& executor) {
  if (is_logged(Topic::kSteps)) {
    log(Topic::kSteps, replay::print_steps(executor.lowered()));
  }
  if (is_logged(Topic::kLoops)) {
    if (const std::string loop = replay::print_loop(executor.lowered()); !loop.empty()) {
      log(Topic::kLoops, loop);
    }
  }
}

}  // namespace tagalong::runtime
