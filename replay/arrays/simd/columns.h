// Eight rows of doubles at once, a lane each: their elements one column after the other.
#pragma once

#include "replay/arrays/simd/lanes.h"

namespace tagalong::array {

#if defined(__x86_64__)

TAGALONG_INTRINSICS_BEGIN

struct Columns {
  __m512d of[kLanes];
};

// Eight rows of eight become eight columns.
TAGALONG_AVX512 inline void turn(Columns* rows) {
  const auto& [a, b, c, d, e, f, g, h] = rows->of;
  // Elements of neighbours side by side: even ones, odd ones.
  const __m512d ab0 = _mm512_unpacklo_pd(a, b);
  const __m512d ab1 = _mm512_unpackhi_pd(a, b);
  const __m512d cd0 = _mm512_unpacklo_pd(c, d);
  const __m512d cd1 = _mm512_unpackhi_pd(c, d);
  const __m512d ef0 = _mm512_unpacklo_pd(e, f);
  const __m512d ef1 = _mm512_unpackhi_pd(e, f);
  const __m512d gh0 = _mm512_unpacklo_pd(g, h);
  const __m512d gh1 = _mm512_unpackhi_pd(g, h);
  // Quarters 0 and 2, or 1 and 3, of four rows; then of eight.
  constexpr int kEven = 0x88;
  constexpr int kOdd = 0xDD;
  const __m512d near04 = _mm512_shuffle_f64x2(ab0, cd0, kEven);
  const __m512d near15 = _mm512_shuffle_f64x2(ab1, cd1, kEven);
  const __m512d near26 = _mm512_shuffle_f64x2(ab0, cd0, kOdd);
  const __m512d near37 = _mm512_shuffle_f64x2(ab1, cd1, kOdd);
  const __m512d far04 = _mm512_shuffle_f64x2(ef0, gh0, kEven);
  const __m512d far15 = _mm512_shuffle_f64x2(ef1, gh1, kEven);
  const __m512d far26 = _mm512_shuffle_f64x2(ef0, gh0, kOdd);
  const __m512d far37 = _mm512_shuffle_f64x2(ef1, gh1, kOdd);
  *rows = {{_mm512_shuffle_f64x2(near04, far04, kEven), _mm512_shuffle_f64x2(near15, far15, kEven),
            _mm512_shuffle_f64x2(near26, far26, kEven), _mm512_shuffle_f64x2(near37, far37, kEven),
            _mm512_shuffle_f64x2(near04, far04, kOdd), _mm512_shuffle_f64x2(near15, far15, kOdd),
            _mm512_shuffle_f64x2(near26, far26, kOdd), _mm512_shuffle_f64x2(near37, far37, kOdd)}};
}

TAGALONG_INTRINSICS_END

#endif

}  // namespace tagalong::array
