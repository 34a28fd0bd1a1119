// glibc's functions with AVX-512, eight doubles at once: the instructions for libm_steps.inc.
#include <algorithm>
#include <array>
#include <bit>

#include "replay/arrays/libm/arcsine_tables.h"
#include "replay/arrays/libm/libm_steps.h"
#include "replay/arrays/libm/libm_tables.h"

namespace tagalong::array {

#if defined(__x86_64__) && defined(__GLIBC__)

namespace {

#define TAGALONG_LANES TAGALONG_AVX512
#define TAGALONG_VECTOR(name) _mm512_##name
#define TAGALONG_VECTOR_BITS(name) _mm512_##name##_si512

using Doubles = __m512d;
using Bits = __m512i;
using Mask = __mmask8;
constexpr unsigned kWidth = 8;

TAGALONG_INTRINSICS_BEGIN

#include "replay/arrays/libm/libm_vectors.inc"  // NOLINT(bugprone-suspicious-include)

TAGALONG_STEP Bits bits(std::uint64_t value) { return _mm512_set1_epi64(static_cast<std::int64_t>(value)); }

TAGALONG_STEP Doubles floor(Doubles a) { return _mm512_roundscale_pd(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }

TAGALONG_STEP Mask less(Bits a, Bits b) { return _mm512_cmplt_epi64_mask(a, b); }
TAGALONG_STEP Mask equal(Bits a, Bits b) { return _mm512_cmpeq_epi64_mask(a, b); }
TAGALONG_STEP Mask negative(Bits a) { return _mm512_movepi64_mask(a); }
TAGALONG_STEP Mask both(Mask a, Mask b) { return static_cast<Mask>(a & b); }
// Zero in lanes that are not set.
TAGALONG_STEP Doubles where(Mask mask, Doubles value) { return _mm512_maskz_mov_pd(mask, value); }
TAGALONG_STEP Doubles choose(Mask mask, Doubles yes, Doubles no) { return _mm512_mask_blend_pd(mask, no, yes); }
TAGALONG_STEP unsigned lanes_of(Mask mask) { return mask; }

using Lanes = Bits;  // the table index of each element

// Rows are read lane by lane, as in libm_avx2.cpp: four gather instructions are slower than eight loads.
struct Offsets {
  alignas(64) std::array<std::uint64_t, kWidth> each;
};
TAGALONG_STEP Offsets apart(Bits offsets) {
  Offsets found;
  _mm512_store_si512(found.each.data(), offsets);
  return found;
}

// Transposes eight rows of four, at these byte offsets from the first row.
TAGALONG_STEP Fours columns_at(const double* first, const Offsets& offsets) {
  const auto row = [&](std::size_t lane) TAGALONG_LANES {
    return _mm256_loadu_pd(reinterpret_cast<const double*>(reinterpret_cast<const char*>(first) + offsets.each[lane]));
  };
  // Unpacking works within 128-bit quarters, so rows(lane) pairs the rows in the order that the last shuffles need.
  const auto rows = [&](std::size_t lane) TAGALONG_LANES {
    return _mm512_insertf64x4(_mm512_castpd256_pd512(row(lane)), row(lane + 2), 1);
  };
  const Doubles a = rows(0);
  const Doubles b = rows(1);
  const Doubles c = rows(4);
  const Doubles d = rows(5);
  const Doubles begin = _mm512_unpacklo_pd(a, b);
  const Doubles begin_next = _mm512_unpackhi_pd(a, b);
  const Doubles end = _mm512_unpacklo_pd(c, d);
  const Doubles end_next = _mm512_unpackhi_pd(c, d);
  constexpr int kQuarters02 = 0x88;
  constexpr int kQuarters13 = 0xDD;
  return {_mm512_shuffle_f64x2(begin, end, kQuarters02), _mm512_shuffle_f64x2(begin_next, end_next, kQuarters02),
          _mm512_shuffle_f64x2(begin, end, kQuarters13), _mm512_shuffle_f64x2(begin_next, end_next, kQuarters13)};
}

// The last bits of each number, as indices of a table of `count` items.
template <std::size_t count>
TAGALONG_STEP Lanes lanes_at(Bits place) {
  return bits_and(place, bits(count - 1));
}
template <std::size_t count>
TAGALONG_STEP Doubles look_up(const std::array<double, count>& table, Lanes lanes) {
  constexpr int kItem = sizeof(double);
  return _mm512_i64gather_pd(lanes, table.data(), kItem);
}
template <std::size_t count>
TAGALONG_STEP Pairs look_up(const PairTable<count>& table, Bits place) {
  const Lanes lanes = lanes_at<count>(place);
  return {look_up(table.high, lanes), look_up(table.low, lanes)};
}

// Reads the rows of four at these byte offsets from the first one.
TAGALONG_STEP Fours rows_at(const double* first, Bits offsets) { return columns_at(first, apart(offsets)); }

template <std::size_t four, std::size_t count>
TAGALONG_STEP Fours look_up(const std::array<ArcsineRow, count>& table, const Offsets& offsets) {
  return columns_at(table[0].fours[four].data(), offsets);
}

// Stores a whole vector whose first lanes are the chosen ones.
TAGALONG_STEP void store_some(double* to, Doubles value, unsigned chosen) {
  store(to, _mm512_maskz_compress_pd(static_cast<Mask>(chosen), value));
}

#include "replay/arrays/libm/libm_steps.inc"  // NOLINT(bugprone-suspicious-include)

TAGALONG_INTRINSICS_END

}  // namespace

LibmSteps avx512_steps(GlibcFunction function) { return has_avx512() ? steps_of(function) : nullptr; }

#else

LibmSteps avx512_steps(GlibcFunction /*function*/) { return nullptr; }

#endif

}  // namespace tagalong::array
