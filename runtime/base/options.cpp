#include "runtime/base/options.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "recorder/deferred/preparation.h"
#include "replay/arrays/fusion/fusion_plan.h"
#include "replay/arrays/kernels/parallel.h"
#include "replay/arrays/simd/non_temporal.h"
#include "replay/codegen/vector/vector_code.h"
#include "replay/ir/stages.h"

namespace tagalong::runtime {

namespace {

constexpr std::array kPlainKnobs{
    Knob{"loops", "1: loops are replayed as loops; 0: their rounds are written out (TAGALONG_LOOPS)",
         [] { return long{options().limits.loops}; },
         [](long value) { options().limits.loops = static_cast<int>(value); }},
    Knob{"fusion",
         "0: array operations run one by one; 1: in fusion groups where that pays; 2: also where it does not pay "
         "(TAGALONG_FUSION)",
         [] { return long{array::fusion_enabled}; },
         [](long value) { array::fusion_enabled = static_cast<int>(value); }},
    Knob{"threads", "threads for large arrays; 0: one for each processor (TAGALONG_THREADS)",
         [] { return long{array::threads_option()}; },
         [](long value) { array::set_threads(static_cast<unsigned>(value)); }},
    Knob{"stress", "1: every Python function of the process is traced (TAGALONG_STRESS)",
         [] { return long{options().stress}; }, [](long value) { options().stress = value != 0; }},
    Knob{"measuring", "1: measured times decide which functions are retired; 0: estimates alone",
         [] { return long{options().measuring}; }, [](long value) { options().measuring = value != 0; }},
    Knob{"every_hook", "1: record() has hooks around each instruction; 0: only where traced functions have them",
         [] { return long{options().every_hook}; }, [](long value) { options().every_hook = value != 0; }},
    Knob{"min_part", "elements of a fusion group from which threads share it", [] { return array::min_part; },
         [](long value) { array::min_part = value; }},
    Knob{"min_deferred", "bytes of an array from which its operations are deferred while they are recorded",
         [] { return recorder::min_deferred; }, [](long value) { recorder::min_deferred = value; }},
    Knob{"most_lanes", "doubles that one vector instruction takes: at most 8, 4, or 0 for no vector code",
         [] { return long{array::most_lanes}; }, [](long value) { array::most_lanes = static_cast<int>(value); }},
    Knob{"min_non_temporal", "bytes of a fusion group's results from which they are written past the caches",
         [] { return array::min_non_temporal; }, [](long value) { array::min_non_temporal = value; }},
    Knob{"min_prefetch", "bytes of a row from which memory is asked for before it is read",
         [] { return array::min_prefetch; }, [](long value) { array::min_prefetch = value; }},
    Knob{"min_in_place", "bytes of a row from which a target may be computed in place",
         [] { return array::min_in_place; }, [](long value) { array::min_in_place = value; }},
    Knob{"function_limit", "only the first so many functions that come to it are recorded",
         [] { return replay::function_quota.limit; }, [](long value) { replay::function_quota.limit = value; }},
    Knob{"group_limit", "only the first so many fusion groups are formed in replays",
         [] { return replay::group_quota.limit; }, [](long value) { replay::group_quota.limit = value; }},
};

template <std::size_t kPlace>
constexpr Knob stage_knob() {
  constexpr const replay::StageRow& kRow = replay::kStageRows[kPlace];
  return {kRow.name, kRow.text, [] { return static_cast<long>(replay::stage_switch(kRow.stage)); },
          [](long value) {
            const auto most = static_cast<long>(replay::StageSwitch::kFaulty);
            replay::stage_switch(kRow.stage) = static_cast<replay::StageSwitch>(std::clamp(value, 0L, most));
          }};
}

template <std::size_t... kPlaces>
constexpr auto all_knobs(std::index_sequence<kPlaces...> /*stages*/) {
  std::array<Knob, kPlainKnobs.size() + sizeof...(kPlaces)> knobs{};
  std::ranges::copy(kPlainKnobs, knobs.begin());
  std::ranges::copy(std::array{stage_knob<kPlaces>()...}, knobs.begin() + kPlainKnobs.size());
  return knobs;
}
constexpr auto kKnobs = all_knobs(std::make_index_sequence<replay::kStageRows.size()>());

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

std::span<const Knob> knobs() { return kKnobs; }

bool set_option(std::string_view name, long value) {
  const auto* knob = std::ranges::find(kKnobs, name, &Knob::name);
  if (knob == kKnobs.end()) {
    return set_limit(&options().limits, name, value);
  }
  knob->set(value);
  return true;
}

}  // namespace tagalong::runtime
