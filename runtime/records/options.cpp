#include "runtime/records/options.h"

#include <algorithm>
#include <array>

#include "recorder/deferred/preparation.h"
#include "replay/arrays/fusion/fusion_plan.h"
#include "replay/arrays/kernels/parallel.h"
#include "replay/arrays/simd/non_temporal.h"
#include "replay/codegen/vector/vector_code.h"

namespace tagalong::runtime {

namespace {

struct OptionRow {
  std::string_view name;
  void (*set)(long value);
};

constexpr std::array kRows{
    OptionRow{"fusion", [](long value) { array::fusion_enabled = static_cast<int>(value); }},
    OptionRow{"stress", [](long value) { options().stress = value != 0; }},
    OptionRow{"measuring", [](long value) { options().measuring = value != 0; }},
    OptionRow{"every_hook", [](long value) { options().every_hook = value != 0; }},
    OptionRow{"min_part", [](long value) { array::min_part = value; }},
    OptionRow{"min_deferred", [](long value) { recorder::min_deferred = value; }},
    OptionRow{"most_lanes", [](long value) { array::most_lanes = static_cast<int>(value); }},
    OptionRow{"min_non_temporal", [](long value) { array::min_non_temporal = value; }},
    OptionRow{"min_prefetch", [](long value) { array::min_prefetch = value; }},
    OptionRow{"min_in_place", [](long value) { array::min_in_place = value; }},
    OptionRow{"threads", [](long value) { array::set_threads(static_cast<unsigned>(value)); }},
};

}  // namespace

bool set_limit(recorder::Limits* limits, std::string_view name, long value) {
  const auto limit = std::ranges::find(replay::kLimitRows, name, &replay::LimitRow::name);
  if (limit != std::ranges::end(replay::kLimitRows)) {
    limits->*limit->value = static_cast<int>(value);
    return true;
  }
  if (name == "loops" || name == "fusion") {
    (name == "loops" ? limits->loops : limits->groups) = static_cast<int>(value);
    return true;
  }
  return false;
}

bool set_option(std::string_view name, long value) {
  if (name != "fusion" && set_limit(&options().limits, name, value)) {
    return true;
  }
  const auto* row = std::ranges::find(kRows, name, &OptionRow::name);
  if (row == kRows.end()) {
    return false;
  }
  row->set(value);
  return true;
}

}  // namespace tagalong::runtime
