// How CPython 3.13 packs arguments of instructions.
#pragma once

#include <array>
#include <cstdint>

namespace tagalong::version {

// The comparison lies above so many bits of COMPARE_OP's argument, which hold flags.
inline constexpr unsigned kComparisonShift = 5;
// The flags with which the compiler makes the comparison, which comes from Py_LT to Py_GE.
constexpr std::uint32_t comparison_flags(std::uint32_t comparison) {
  // Which of less, equal and greater are true, as the specialised instructions ask for it; unordered is never.
  constexpr std::array<std::uint32_t, 6> kFlags{2, 10, 8, 7, 4, 12};
  return kFlags[comparison];
}

// Whether the result of COMPARE_OP with this argument is a bool: the truth of what the objects give.
constexpr bool compares_to_bool(std::uint32_t argument) { return (argument & 16U) != 0; }

}  // namespace tagalong::version
