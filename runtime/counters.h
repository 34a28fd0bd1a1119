// Internal counters of the engine: one table for tests, benchmarks and `python -m tagalong info --internal`. They are
// no part of the public interface.
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
  // Some counters count only after they were read once (array::Tally), to cost nothing before.
  std::uint64_t (*read)();
};

[[nodiscard]] std::span<const Counter> counters();
// How often array operations were not fused, a row for each reason; elsewhere their names have this prefix.
inline constexpr std::string_view kReasonPrefix = "not_fused_";
[[nodiscard]] std::span<const Counter> fusion_reason_counters();

}  // namespace tagalong::runtime
