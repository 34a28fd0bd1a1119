// The named limits on everything that can grow (limits.inc), their values, and counts of how often each was reached.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tagalong::replay {

// A value other than 0 and 1: the process-wide setting decides whether array operations are fused.
inline constexpr int kProcessFusion = -1;

struct Limits {
#define TAGALONG_LIMIT(name, value, text) int name = value;
#include "replay/ir/limits.inc"
#undef TAGALONG_LIMIT
};

enum class Limit : std::uint8_t {
#define TAGALONG_LIMIT(name, value, text) k_##name,
#include "replay/ir/limits.inc"
#undef TAGALONG_LIMIT
};

struct LimitRow {
  Limit limit;
  const char* name;
  int Limits::*value;
  const char* text;  // what happened when the limit was reached
};

inline constexpr auto kLimitRows = std::to_array<LimitRow>({
#define TAGALONG_LIMIT(name, value, text) {Limit::k_##name, #name, &Limits::name, text},
#include "replay/ir/limits.inc"
#undef TAGALONG_LIMIT
});

// How often each limit was reached.
using Reached = std::array<std::uint64_t, kLimitRows.size()>;
inline std::uint64_t& times(Reached& reached, Limit limit) { return reached.at(static_cast<std::size_t>(limit)); }

}  // namespace tagalong::replay
