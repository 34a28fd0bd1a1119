// How often something happened in the engine: one table for tests, benchmarks and `python -m tagalong info --internal`.
// These are no part of the public interface: names come and go with what they count.
//
//   for (const Counter& counter : counters()) { ... counter.name, counter.documentation, counter.read() ... }
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tagalong::runtime {

struct Counter {
  std::string_view name;
  std::string_view documentation;
  // Some count only after the first reading (array::Tally): until then they cost nothing.
  std::uint64_t (*read)();
};

[[nodiscard]] std::span<const Counter> counters();
// How often array operations were not run as one, a row for each reason; elsewhere their names have this prefix.
inline constexpr std::string_view kReasonPrefix = "not_fused_";
[[nodiscard]] std::span<const Counter> fusion_reason_counters();

}  // namespace tagalong::runtime
