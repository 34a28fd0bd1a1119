// The interface between libm_functions.cpp and the vector code of the functions, and the types of its tables.
// libm_steps.inc has the functions; libm_avx2.cpp and libm_avx512.cpp include it with their instructions.
#pragma once

#include <array>
#include <cstdint>

#include "replay/arrays/simd/lanes.h"

namespace tagalong::array {

enum class GlibcFunction : std::uint8_t { kSine, kCosine, kArcsine, kExp, kLog, kPower };

constexpr std::size_t operand_count(GlibcFunction function) { return function == GlibcFunction::kPower ? 2 : 1; }
// The first elements of the operands, which lie side by side; a function of one operand has no second.
using Operands = std::array<const double*, 2>;

inline constexpr Extent kGlibcBlock = 1024;  // elements
inline constexpr Extent kLeastGlibc = 8;     // smallest block; at least a vector
inline constexpr Extent kGlibcTogether = 8;  // bytes of LeftOver::lanes that are read at once

// Elements of a block that the steps do not cover: their values, packed, and their positions.
struct LeftOver {
  using Items = std::array<double, kGlibcBlock + kLanes>;
  std::array<Items, 2> in;  // of each operand
  Items out;
  std::array<std::uint8_t, kGlibcBlock / kLanes> lanes;  // one bit for each element of the block
};

// A table of doubles and their rounding errors, as two arrays and as an array of pairs.
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

// sin and cos of a number, or cos and -sin; `_low` are the rounding errors.
struct SineRow {
  double one, one_low, other, other_low;
};

// One part of the range of the power's base: a reciprocal c, and -log c with its rounding error.
struct alignas(32) LogarithmRow {
  double reciprocal, logarithm, low;
  double unused = 0;  // rows are read as a whole
};

// One part of the argument's range: the first coefficient of its polynomial, the arcsine of its middle (low part, then
// high part), and the other coefficients.
struct alignas(32) ArcsineRow {
  std::array<std::array<double, 4>, 3> fours;
};
inline constexpr std::size_t kPartsOfOne = 256;
inline constexpr std::size_t kFirstArcsinePart = kPartsOfOne / 8;
inline constexpr std::size_t kArcsineParts = 216;  // the parts from 1/8 to 31/32
inline constexpr std::size_t kInverseRootParts = 128;

// Computes the elements that the steps cover into `out`, which may be one of the operands. Returns the number of other
// elements; sets `lanes` if there is one.
using LibmSteps = Extent (*)(Operands in, double* out, Extent count, LeftOver* left_over);
// Null: not implemented for this processor.
LibmSteps avx512_steps(GlibcFunction function);
LibmSteps avx2_steps(GlibcFunction function);

}  // namespace tagalong::array
