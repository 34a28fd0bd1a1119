#include "runtime/base/events.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include "recorder/deferred/printer.h"
#include "replay/arrays/forming/printer.h"
#include "replay/executor/printer.h"
#include "replay/ir/stages.h"
#include "rewriter/base/text.h"

namespace tagalong::runtime {
namespace {

// All of this is used under the GIL. Events are kept from start_events() to stop_events().
std::optional<std::vector<std::string>> g_events;
unsigned g_topics = 0;

constexpr std::array<const char*, 10> kTopicNames = {"record", "graph", "guards", "replay",  "exits",
                                                     "cache",  "steps", "loops",  "kernels", "code"};
static_assert(kTopicNames.size() == static_cast<std::size_t>(Topic::kCode) + 1);

class PlanLog final : public replay::PlanListener {
 public:
  void planned(const replay::Executor& executor, const replay::PlannedGroup& group,
               const replay::Step& first) override {
    log(Topic::kKernels, replay::print_group(executor.lowered(), group, first));
  }
  void not_planned(const replay::Executor& executor, array::FusionReason reason, const replay::Step& first) override {
    const array::FusionReasonRow& row = array::row_of(reason);
    log(Topic::kKernels,
        fmt::format("{}, line {}: no fusion group: {} ({})", executor.graph().name, first.line, row.text, row.name));
  }
};
PlanLog g_plan_log;

void log_recorded_group(const std::string& text) { log(Topic::kKernels, text); }

void log_code(const replay::native::PlacedCode& code) { log(Topic::kCode, replay::native::print_code(code)); }

void note(std::string text) {
  if (g_events.has_value()) {
    g_events->push_back(std::move(text));
  }
}

}  // namespace

Counters& totals() {
  static Counters counters;
  return counters;
}

void count(Counters& counters, Event event) {
  const auto bump = [&](std::uint64_t Counters::*field, const char* name) {
    ++(counters.*field);
    ++(totals().*field);
    if (g_events.has_value()) {
      note(name);
    }
  };
  switch (event) {
    case Event::kRecord:
      totals().functions_recorded += counters.records == 0 ? 1 : 0;
      return bump(&Counters::records, "record");
    case Event::kHit:
      totals().functions_replayed += counters.hits == 0 ? 1 : 0;
      return bump(&Counters::hits, "hit");
    case Event::kBridge:
      return bump(&Counters::bridges, "bridge");
    case Event::kTraceLink:
      return bump(&Counters::hits, "stitch");
    case Event::kMiss:
      return bump(&Counters::misses, "miss");
    case Event::kExit:
      return bump(&Counters::exits, "exit");
    case Event::kRetire:
      return bump(&Counters::retired, "retire");
    case Event::kGrow:
      return bump(&Counters::grown, "grow");
  }
}

void count_stop(Counters& counters, recorder::Stop stop) {
  if (stop == recorder::Stop::kNone) {
    return;
  }
  ++counters.stops.at(static_cast<std::size_t>(stop));
  ++totals().stops.at(static_cast<std::size_t>(stop));
  note(fmt::format("stop:{}", recorder::stop_name(stop)));
  if (stop == recorder::Stop::k_unroll_limit || stop == recorder::Stop::k_node_limit) {
    count_limit(counters, stop == recorder::Stop::k_node_limit ? replay::Limit::k_nodes : replay::Limit::k_unroll);
  }
}

void count_left_out(Counters& counters, LeftOut reason) {
  const auto index = static_cast<std::size_t>(reason);
  if (counters.left_out.at(index)++ == 0) {
    ++totals().functions_left_out.at(index);
  }
  ++totals().left_out.at(index);
}

void count_first_call_left_out() {
  ++totals().left_out.at(static_cast<std::size_t>(LeftOut::kFirstCallStack));
  ++totals().functions_left_out.at(static_cast<std::size_t>(LeftOut::kFirstCallStack));
}

std::vector<std::string> left_out_texts() {
  std::vector<std::string> texts;
  for (std::size_t index = 0; index < kLeftOutTexts.size(); ++index) {
    if (const std::uint64_t calls = totals().left_out.at(index); calls != 0) {
      const std::uint64_t functions = totals().functions_left_out.at(index);
      const std::string named = fmt::format("{} function{}", functions, functions == 1 ? "" : "s");
      const std::string what = index == static_cast<std::size_t>(LeftOut::kFirstCallStack)
                                   ? fmt::format("all calls of {} run", named)
                                   : fmt::format("{} call{} of {} ran", calls, calls == 1 ? "" : "s", named);
      texts.push_back(fmt::format("{} as written, because {}", what, kLeftOutTexts.at(index)));
    }
  }
  return texts;
}

void count_limit(Counters& counters, replay::Limit limit, std::uint64_t times) {
  replay::times(counters.limits, limit) += times;
  replay::times(totals().limits, limit) += times;
}

void log_last_group() {
  replay::on_last_group = [](PyCodeObject* code, std::int32_t last_line) {
    if (is_logged(Topic::kRecord)) {
      log(Topic::kRecord,
          fmt::format("{}: the last fusion group that is formed, it ends in line {} of {}",
                      cpython::readable(code->co_qualname), last_line, cpython::readable(code->co_filename)));
    }
  };
}

void start_events() { g_events.emplace(); }

std::vector<std::string> stop_events() {
  return std::exchange(g_events, std::nullopt).value_or(std::vector<std::string>{});
}

void set_log(const std::vector<std::string>& topics) {
  g_topics = 0;
  for (std::size_t index = 0; index < kTopicNames.size(); ++index) {
    for (const std::string& topic : topics) {
      if (topic == "all" || topic == kTopicNames.at(index)) {
        g_topics |= 1U << index;
      }
    }
  }
  replay::plan_listener = is_logged(Topic::kKernels) ? &g_plan_log : nullptr;
  recorder::recorded_group_listener = is_logged(Topic::kKernels) ? log_recorded_group : nullptr;
  replay::native::code_listener = is_logged(Topic::kCode) ? log_code : nullptr;
}

bool is_logged(Topic topic) { return ((g_topics >> static_cast<unsigned>(topic)) & 1U) != 0; }

void log(Topic topic, const std::string& text) {
  fmt::print(stderr, "tagalong {}: {}\n", kTopicNames.at(static_cast<std::size_t>(topic)), text);
}

}  // namespace tagalong::runtime
