// The ufuncs of which something is known, derived from the one table ufuncs.def, which describes the columns. What the
// vector code and the C library have of them is in kernels/ufunc_info.h.
#pragma once

#include <array>
#include <cstdint>

namespace tagalong::array {

enum class UfuncName : std::uint8_t {
#define TAGALONG_UFUNC(id, ...) id,
#include "replay/arrays/numpy/ufuncs.def"
  kCount,  // another one
};

inline constexpr std::array kUfuncNames = {
#define TAGALONG_UFUNC(id, name, ...) name,
#include "replay/arrays/numpy/ufuncs.def"
};
static_assert(kUfuncNames.size() == static_cast<std::size_t>(UfuncName::kCount));

[[nodiscard]] constexpr const char* name_of(UfuncName ufunc) { return kUfuncNames[static_cast<std::size_t>(ufunc)]; }

using UfuncTraits = std::uint8_t;
namespace ufunc_trait {
inline constexpr UfuncTraits kPlain = 0;
inline constexpr UfuncTraits kOperator = 1U << 0U;
inline constexpr UfuncTraits kKeepsFlags = 1U << 1U;
inline constexpr UfuncTraits kQuotient = 1U << 2U;
inline constexpr UfuncTraits kRaisesForIntegers = 1U << 3U;
inline constexpr UfuncTraits kShowsSigns = 1U << 4U;
inline constexpr UfuncTraits kIgnoresStrides = 1U << 5U;
}  // namespace ufunc_trait

namespace detail {
inline constexpr std::array kUfuncTraits = [] {
  using namespace ufunc_trait;
  return std::array<UfuncTraits, kUfuncNames.size() + 1>{
#define TAGALONG_UFUNC(id, name, numbers, bools, raises, cost_double, cost_float, cost_integer, traits) traits,
#include "replay/arrays/numpy/ufuncs.def"
      kPlain};
}();
}  // namespace detail

[[nodiscard]] constexpr bool has(UfuncName ufunc, UfuncTraits wanted) {
  return (detail::kUfuncTraits[static_cast<std::size_t>(ufunc)] & wanted) != 0;
}

}  // namespace tagalong::array
