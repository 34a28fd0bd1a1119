#include "replay/arrays/simd/row_argmin.h"

#include <algorithm>
#include <array>
#include <utility>

#include "replay/arrays/simd/argmin.h"
#include "replay/arrays/simd/columns.h"

namespace tagalong::array {

Tally argmin_in_rows;
Tally argmin_fused;

#if defined(__x86_64__)

TAGALONG_INTRINSICS_BEGIN

namespace {

// Intermediate result for eight rows.
struct Best {
  __m512d values;
  __m512i places;
  __mmask8 nans;
};

template <bool of_largest>
TAGALONG_AVX512 inline void reduce_column(const __m512d& values, Extent place, Best* best) {
  const __mmask8 is_new_best = _mm512_cmp_pd_mask(values, best->values, of_largest ? _CMP_GT_OQ : _CMP_LT_OQ);
  best->values = _mm512_mask_mov_pd(best->values, is_new_best, values);
  best->places = _mm512_mask_mov_epi64(best->places, is_new_best, _mm512_set1_epi64(place));
}

// Reduces `columns` more columns, from column `place` on.
template <bool of_largest, int columns, std::size_t... lane>
TAGALONG_AVX512 inline void reduce_columns(const double* data, Extent row, Extent place, Best* best,
                                           std::index_sequence<lane...> /*lanes*/) {
  constexpr auto kLoaded = static_cast<__mmask8>((1U << static_cast<unsigned>(columns)) - 1U);
  Columns values{{_mm512_maskz_loadu_pd(kLoaded, data + static_cast<Extent>(lane) * row)...}};
  transpose(&values);
  if (place == 0) {
    best->values = values.of[0];
  }
  (static_cast<void>(lane < columns &&
                     (reduce_column<of_largest>(values.of[lane], place + static_cast<Extent>(lane), best), true)),
   ...);
  // One comparison checks two columns for NaNs.
  constexpr std::size_t kLast = columns - 1;
  ((best->nans |= lane % 2 == 0 && lane < columns
                      ? _mm512_cmp_pd_mask(values.of[lane], values.of[std::min(lane + 1, kLast)], _CMP_UNORD_Q)
                      : __mmask8{0}),
   ...);
}

template <bool of_largest>
void find_one(const double* data, Extent row, std::int64_t* place) {
  const StridedLoop loop = argmin_loop(kDouble, of_largest);
  auto* result = reinterpret_cast<char*>(place);
  const std::array<char*, 3> places{result, reinterpret_cast<char*>(const_cast<double*>(data)), result};
  const std::array<Extent, 3> strides{0, static_cast<Extent>(sizeof(double)), 0};
  loop(nullptr, places.data(), &row, strides.data(), nullptr);
}

template <bool of_largest, int last>
TAGALONG_AVX512 void find_eight(const double* data, Extent row, std::int64_t* places) {
  constexpr auto kAll = std::make_index_sequence<static_cast<std::size_t>(kLanes)>();
  Best best{.values = _mm512_setzero_pd(), .places = _mm512_setzero_si512(), .nans = 0};
  Extent place = 0;
  for (; place + kLanes < row; place += kLanes) {
    reduce_columns<of_largest, kLanes>(data + place, row, place, &best, kAll);
  }
  reduce_columns<of_largest, last>(data + place, row, place, &best, kAll);
  _mm512_storeu_si512(places, best.places);
  for (unsigned left = best.nans; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    find_one<of_largest>(data + lane * row, row, places + lane);
  }
}

template <bool of_largest, int last>
void find(const char* data, Extent row, Extent rows, char* results) {
  const auto* values = reinterpret_cast<const double*>(data);
  auto* places = reinterpret_cast<std::int64_t*>(results);
  for (Extent i = 0; i < rows && rows < kLanes; ++i) {
    find_one<of_largest>(values + i * row, row, places + i);
  }
  for (Extent done = 0; done < rows && rows >= kLanes; done += kLanes) {
    const Extent first = std::min(done, rows - kLanes);  // the last group may overlap the one before
    find_eight<of_largest, last>(values + first * row, row, places + first);
  }
}

template <bool of_largest>
void find_together(const char* data, Extent row, Extent rows, char* results) {
  constexpr std::array<RowArgmin, kLanes> kByLast{find<of_largest, 8>, find<of_largest, 1>, find<of_largest, 2>,
                                                  find<of_largest, 3>, find<of_largest, 4>, find<of_largest, 5>,
                                                  find<of_largest, 6>, find<of_largest, 7>};
  argmin_in_rows.add(static_cast<std::uint64_t>(rows));
  kByLast[static_cast<std::size_t>(row % kLanes)](data, row, rows, results);
}

template <bool of_largest>
void find_one_by_one(const char* data, Extent row, Extent rows, char* results) {
  const auto* values = reinterpret_cast<const double*>(data);
  auto* places = reinterpret_cast<std::int64_t*>(results);
  for (Extent i = 0; i < rows; ++i) {
    find_one<of_largest>(values + i * row, row, places + i);
  }
}

}  // namespace

TAGALONG_INTRINSICS_END
#endif

RowArgmin row_places(unsigned type, bool of_largest) {
#if defined(__x86_64__)
  if (type == kDouble && has_avx512()) {
    return of_largest ? find_together<true> : find_together<false>;
  }
  if (type == kDouble && has_avx2()) {  // a fallback: a fused kernel usually contains the argmin
    return of_largest ? find_one_by_one<true> : find_one_by_one<false>;
  }
#endif
  static_cast<void>(type);
  static_cast<void>(of_largest);
  return nullptr;
}

}  // namespace tagalong::array
