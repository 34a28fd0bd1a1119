// Transposition of eight rows of doubles, for code that processes eight rows at once with one lane for each.
#pragma once

#include "replay/arrays/simd/lanes.h"

namespace tagalong::array {

#if defined(__x86_64__)

TAGALONG_INTRINSICS_BEGIN

struct Columns {
  __m512d of[kLanes];
};

// Transposes a matrix of eight by eight.
TAGALONG_AVX512 inline void transpose(Columns* rows) {
  const auto& [a, b, c, d, e, f, g, h] = rows->of;
  // Interleave neighbouring rows: elements with even, then with odd indices.
  const __m512d ab0 = _mm512_unpacklo_pd(a, b);
  const __m512d ab1 = _mm512_unpackhi_pd(a, b);
  const __m512d cd0 = _mm512_unpacklo_pd(c, d);
  const __m512d cd1 = _mm512_unpackhi_pd(c, d);
  const __m512d ef0 = _mm512_unpacklo_pd(e, f);
  const __m512d ef1 = _mm512_unpackhi_pd(e, f);
  const __m512d gh0 = _mm512_unpacklo_pd(g, h);
  const __m512d gh1 = _mm512_unpackhi_pd(g, h);
  // Collect the 128-bit quarters 0 and 2, or 1 and 3, of four rows, then of eight.
  constexpr int kQuarters02 = 0x88;
  constexpr int kQuarters13 = 0xDD;
  const __m512d first04 = _mm512_shuffle_f64x2(ab0, cd0, kQuarters02);
  const __m512d first15 = _mm512_shuffle_f64x2(ab1, cd1, kQuarters02);
  const __m512d first26 = _mm512_shuffle_f64x2(ab0, cd0, kQuarters13);
  const __m512d first37 = _mm512_shuffle_f64x2(ab1, cd1, kQuarters13);
  const __m512d last04 = _mm512_shuffle_f64x2(ef0, gh0, kQuarters02);
  const __m512d last15 = _mm512_shuffle_f64x2(ef1, gh1, kQuarters02);
  const __m512d last26 = _mm512_shuffle_f64x2(ef0, gh0, kQuarters13);
  const __m512d last37 = _mm512_shuffle_f64x2(ef1, gh1, kQuarters13);
  *rows = {{_mm512_shuffle_f64x2(first04, last04, kQuarters02), _mm512_shuffle_f64x2(first15, last15, kQuarters02),
            _mm512_shuffle_f64x2(first26, last26, kQuarters02), _mm512_shuffle_f64x2(first37, last37, kQuarters02),
            _mm512_shuffle_f64x2(first04, last04, kQuarters13), _mm512_shuffle_f64x2(first15, last15, kQuarters13),
            _mm512_shuffle_f64x2(first26, last26, kQuarters13), _mm512_shuffle_f64x2(first37, last37, kQuarters13)}};
}

TAGALONG_INTRINSICS_END

#endif

}  // namespace tagalong::array
