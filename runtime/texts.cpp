#include "runtime/texts.h"

#include <fmt/format.h>

#include "replay/printer.h"

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

std::vector<std::string> region_texts(const replay::Executor& executor) {
  std::vector<std::string> texts;
  for (const replay::Step& step : executor.steps()) {
    if (!step.region) {
      continue;
    }
    for (const auto& region : step.region->regions) {
      texts.push_back(fmt::format("lines {} to {}: {} array operations as one, {} times; then: {}", step.line,
                                  region->last_line, region->plan->operation_count(), region->runs,
                                  array::row_of(region->end).text));
    }
    for (std::size_t number = 1; number < array::kRegionReasons.size(); ++number) {
      if (step.region->reasons.of.at(number) != 0) {
        texts.push_back(fmt::format("line {}: array operations one by one, {} times: {} ({})", step.line,
                                    step.region->reasons.of.at(number), array::kRegionReasons.at(number).text,
                                    array::kRegionReasons.at(number).name));
      }
    }
  }
  return texts;
}

}  // namespace tagalong::runtime
