// Switches and quotas for narrowing down a wrong replay (scripts/bisect): one switch for each stage (stages.def), and
// "only the first N" functions or fusion groups. They are set before the program runs.
//
//   if (is_on(Stage::fold)) { ... }
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace tagalong::replay {

enum class Stage : std::uint8_t {
#define TAGALONG_STAGE(name, text) name,
#include "replay/ir/stages.def"
#undef TAGALONG_STAGE
};

struct StageRow {
  Stage stage;
  std::string_view name;
  std::string_view text;  // what happens without it
};

inline constexpr auto kStageRows = std::to_array<StageRow>({
#define TAGALONG_STAGE(name, text) {Stage::name, "stage_" #name, "0: " text},
#include "replay/ir/stages.def"
#undef TAGALONG_STAGE
});

// kFaulty: the stage changes an addition on purpose, so that a test can check whether the bisection finds the fault.
enum class StageSwitch : std::uint8_t { kOff, kOn, kFaulty };

namespace detail {
inline constinit auto stage_switches = [] {
  std::array<StageSwitch, kStageRows.size()> all{};
  all.fill(StageSwitch::kOn);
  return all;
}();
}  // namespace detail

inline StageSwitch& stage_switch(Stage stage) { return detail::stage_switches[static_cast<std::size_t>(stage)]; }
inline bool is_on(Stage stage) { return stage_switch(stage) != StageSwitch::kOff; }
inline bool is_faulty(Stage stage) { return stage_switch(stage) == StageSwitch::kFaulty; }

// Allows only the first `limit` items. Used under the GIL.
struct Quota {
  long limit = std::numeric_limits<long>::max();
  long taken = 0;
  bool take() {
    const bool is_within = taken < limit;
    taken += is_within ? 1 : 0;
    return is_within;
  }
  // Whether the item that was just taken is the last one allowed.
  [[nodiscard]] bool is_used_up() const { return taken == limit; }
};
inline constinit Quota function_quota;  // functions that are recorded
inline constinit Quota group_quota;     // fusion groups that replays form

}  // namespace tagalong::replay
