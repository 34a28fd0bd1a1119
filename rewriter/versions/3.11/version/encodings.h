// How CPython 3.11 packs arguments of instructions.
#pragma once

#include <cstdint>

namespace tagalong::version {

// The comparison lies above so many bits of COMPARE_OP's argument, which hold flags.
inline constexpr unsigned kComparisonShift = 0;
// The flags with which the compiler makes the comparison, which comes from Py_LT to Py_GE.
constexpr std::uint32_t comparison_flags(std::uint32_t /*comparison*/) { return 0; }

// Whether the result of COMPARE_OP with this argument is a bool: the truth of what the objects give.
constexpr bool compares_to_bool(std::uint32_t /*argument*/) { return false; }

}  // namespace tagalong::version
