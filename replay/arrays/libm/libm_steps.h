// What libm_functions.h computes of one block, by vectors of four or eight doubles: libm_steps.inc, which
// libm_avx2.cpp and libm_avx512.cpp give their instructions.
#pragma once

#include <array>
#include <cstdint>

#include "replay/arrays/simd/lanes.h"

namespace tagalong::array {

enum class GlibcFunction : std::uint8_t { kSine, kCosine, kArcsine, kExp, kLog };

inline constexpr Extent kGlibcBlock = 1024;  // elements
inline constexpr Extent kLeastGlibc = 8;     // of a block; a vector at least
inline constexpr Extent kGlibcTogether = 8;  // bytes of lanes that are looked at together

// Elements of a block that are not certain, one after another, and where they were.
struct LeftOver {
  std::array<double, kGlibcBlock + kLanes> in;
  std::array<double, kGlibcBlock + kLanes> out;
  std::array<std::uint8_t, kGlibcBlock / kLanes> lanes;  // a bit each; of what is not there: none
};

// Doubles, and what they lack of the exact values: of each by itself, and in pairs.
template <std::size_t count>
struct PairTable {
  using Items = std::array<double, count>;
  struct Pair {
    double high, low;
  };
  constexpr PairTable(const Items& all_high, const Items& all_low) : high(all_high), low(all_low) {
    for (std::size_t i = 0; i < count; ++i) {
      pairs[i] = {all_high[i], all_low[i]};
    }
  }
  alignas(64) Items high;
  alignas(64) Items low;
  alignas(64) std::array<Pair, count> pairs{};
};

// The sine of a number, then its cosine; or its cosine, then its sine with the other sign. And what they lack of the
// exact values.
struct SineRow {
  double one, one_low, other, other_low;
};

// Of one part: the first factor of its polynomial, the arcsine of its middle (the low part of it, then what is
// nearest), and the other factors.
struct alignas(32) ArcsineRow {
  std::array<std::array<double, 4>, 3> fours;
};
inline constexpr std::size_t kPartsOfOne = 256;
inline constexpr std::size_t kFirstArcsinePart = kPartsOfOne / 8;
inline constexpr std::size_t kArcsineParts = 216;  // as many as are up to 31/32
inline constexpr std::size_t kInverseRootParts = 128;

// Into `out`, which may be `in`, whatever is certain. Returns how many are left over; `lanes` are set if any is.
using LibmSteps = Extent (*)(const double* in, double* out, Extent count, LeftOver* left_over);
// Null: there are none for this machine.
LibmSteps avx512_steps(GlibcFunction function);
LibmSteps avx2_steps(GlibcFunction function);

}  // namespace tagalong::array
