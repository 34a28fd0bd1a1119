// glibc's functions with AVX2, four doubles at once: the instructions for libm_steps.inc.
#include <algorithm>
#include <array>
#include <bit>

#include "replay/arrays/libm/arcsine_tables.h"
#include "replay/arrays/libm/libm_steps.h"
#include "replay/arrays/libm/libm_tables.h"

namespace tagalong::array {

#if defined(__x86_64__) && defined(__GLIBC__)

namespace {

#define TAGALONG_LANES TAGALONG_AVX2
#define TAGALONG_VECTOR(name) _mm256_##name
#define TAGALONG_VECTOR_BITS(name) _mm256_##name##_si256

using Doubles = __m256d;
using Bits = __m256i;
using Mask = __m256d;  // each lane has all bits set or none
constexpr unsigned kWidth = 4;

#include "replay/arrays/libm/libm_vectors.inc"  // NOLINT(bugprone-suspicious-include)

TAGALONG_STEP Bits bits(std::uint64_t value) { return _mm256_set1_epi64x(static_cast<std::int64_t>(value)); }

TAGALONG_STEP Doubles floor(Doubles a) { return _mm256_round_pd(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }

TAGALONG_STEP Mask less(Bits a, Bits b) { return as_doubles(_mm256_cmpgt_epi64(b, a)); }
TAGALONG_STEP Mask equal(Bits a, Bits b) { return as_doubles(_mm256_cmpeq_epi64(a, b)); }
TAGALONG_STEP Mask negative(Bits a) { return less(a, _mm256_setzero_si256()); }
TAGALONG_STEP Mask both(Mask a, Mask b) { return _mm256_and_pd(a, b); }
// Zero in lanes that are not set.
TAGALONG_STEP Doubles where(Mask mask, Doubles value) { return _mm256_and_pd(mask, value); }
TAGALONG_STEP Doubles choose(Mask mask, Doubles yes, Doubles no) { return _mm256_blendv_pd(no, yes, mask); }
TAGALONG_STEP unsigned lanes_of(Mask mask) { return static_cast<unsigned>(_mm256_movemask_pd(mask)); }

// The table index of each element. Tables are read lane by lane: on many processors that is faster than a gather
// instruction.
struct Lanes {
  std::uint64_t first, second, third, fourth;
};

TAGALONG_STEP Lanes apart(Bits lanes) {
  const __m128i begin = _mm256_castsi256_si128(lanes);
  const __m128i end = _mm256_extracti128_si256(lanes, 1);
  const auto item = [](long long lane) { return static_cast<std::uint64_t>(lane); };
  return {item(_mm_cvtsi128_si64(begin)), item(_mm_extract_epi64(begin, 1)), item(_mm_cvtsi128_si64(end)),
          item(_mm_extract_epi64(end, 1))};
}
// The last bits of each number, as indices of a table of `count` items.
template <std::size_t count>
TAGALONG_STEP Lanes lanes_at(Bits place) {
  return apart(bits_and(place, bits(count - 1)));
}
// Computes the byte offsets of all four lanes at once.
template <std::size_t count>
TAGALONG_STEP Pairs look_up(const PairTable<count>& table, Bits place) {
  constexpr int kPairBits = 4;
  static_assert(sizeof(table.pairs[0]) == 1U << kPairBits);
  const Lanes offsets = apart(shifted_left<kPairBits>(bits_and(place, bits(count - 1))));
  const auto pair = [&](std::uint64_t offset) TAGALONG_LANES {
    return _mm_load_pd(reinterpret_cast<const double*>(reinterpret_cast<const char*>(table.pairs.data()) + offset));
  };
  const auto pairs = [&](std::uint64_t one, std::uint64_t two) TAGALONG_LANES {
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(pair(one)), pair(two), 1);
  };
  const Doubles even = pairs(offsets.first, offsets.third);
  const Doubles odd = pairs(offsets.second, offsets.fourth);
  return {_mm256_unpacklo_pd(even, odd), _mm256_unpackhi_pd(even, odd)};
}

template <std::size_t count>
TAGALONG_STEP Doubles look_up(const std::array<double, count>& table, const Lanes& lanes) {
  return _mm256_set_pd(table[lanes.fourth], table[lanes.third], table[lanes.second], table[lanes.first]);
}

// Transposes four rows of four.
TAGALONG_STEP Fours transposed(Doubles first, Doubles second, Doubles third, Doubles fourth) {
  const Doubles begin = _mm256_unpacklo_pd(first, second);
  const Doubles begin_next = _mm256_unpackhi_pd(first, second);
  const Doubles end = _mm256_unpacklo_pd(third, fourth);
  const Doubles end_next = _mm256_unpackhi_pd(third, fourth);
  constexpr int kFirstHalves = 0x20;
  constexpr int kLastHalves = 0x31;
  return {_mm256_permute2f128_pd(begin, end, kFirstHalves), _mm256_permute2f128_pd(begin_next, end_next, kFirstHalves),
          _mm256_permute2f128_pd(begin, end, kLastHalves), _mm256_permute2f128_pd(begin_next, end_next, kLastHalves)};
}

// Reads the rows of four at these byte offsets from the first one.
TAGALONG_STEP Fours rows_at(const double* first, Bits offsets) {
  const auto row = [&](std::uint64_t offset) TAGALONG_LANES {
    return load(reinterpret_cast<const double*>(reinterpret_cast<const char*>(first) + offset));
  };
  const Lanes lanes = apart(offsets);
  return transposed(row(lanes.first), row(lanes.second), row(lanes.third), row(lanes.fourth));
}

template <std::size_t four, std::size_t count>
TAGALONG_STEP Fours look_up(const std::array<ArcsineRow, count>& table, const Lanes& lanes) {
  const auto row = [&](std::uint64_t offset) TAGALONG_LANES {
    return load(reinterpret_cast<const double*>(reinterpret_cast<const char*>(table[0].fours[four].data()) + offset));
  };
  return transposed(row(lanes.first), row(lanes.second), row(lanes.third), row(lanes.fourth));
}

// For each set of lanes, the permutation of 32-bit halves that moves the chosen lanes to the front.
using Permutation = std::array<std::int32_t, 2 * kWidth>;
consteval std::array<Permutation, 1U << kWidth> permutations() {
  std::array<Permutation, 1U << kWidth> found{};
  for (unsigned chosen = 0; chosen < found.size(); ++chosen) {
    std::size_t next = 0;
    for (int lane = 0; lane < static_cast<int>(kWidth); ++lane) {
      if ((chosen >> static_cast<unsigned>(lane) & 1U) != 0) {
        found.at(chosen).at(next++) = 2 * lane;
        found.at(chosen).at(next++) = 2 * lane + 1;
      }
    }
  }
  return found;
}
alignas(32) constexpr std::array kPermutations = permutations();

// Stores a whole vector whose first lanes are the chosen ones.
TAGALONG_STEP void store_some(double* to, Doubles value, unsigned chosen) {
  const Bits permutation = _mm256_load_si256(reinterpret_cast<const Bits*>(kPermutations[chosen].data()));
  store(to, as_doubles(_mm256_permutevar8x32_epi32(as_bits(value), permutation)));
}

#include "replay/arrays/libm/libm_steps.inc"  // NOLINT(bugprone-suspicious-include)

}  // namespace

LibmSteps avx2_steps(GlibcFunction function) { return has_avx2() ? steps_of(function) : nullptr; }

#else

LibmSteps avx2_steps(GlibcFunction /*function*/) { return nullptr; }

#endif

}  // namespace tagalong::array
