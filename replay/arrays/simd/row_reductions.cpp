#include "replay/arrays/simd/row_reductions.h"

#include <algorithm>
#include <utility>

#include "replay/arrays/simd/columns.h"
#include "replay/arrays/simd/pairwise.h"

namespace tagalong::array {

Tally rows_reduced_together;

#if defined(__x86_64__)

TAGALONG_INTRINSICS_BEGIN

namespace {

using Lanes = std::make_integer_sequence<Extent, kLanes>;

// Loads the last columns of eight rows, fewer than a vector.
template <Extent... lane>
TAGALONG_AVX512 inline Columns load_left(const double* data, Extent row, Extent columns,
                                         std::integer_sequence<Extent, lane...> /*lanes*/) {
  const __mmask8 taken = mask_of(columns);
  return {{_mm512_maskz_loadu_pd(taken, data + lane * row)...}};
}

// NumPy's leaf for each row: eight partial sums, each of every eighth element; the others are added one after another.
template <Extent... lane>
TAGALONG_AVX512 inline __m512d sum_of_eight(const double* data, Extent row,
                                            std::integer_sequence<Extent, lane...> lanes) {
  const Extent left = row % kLanes;
  __m512d sum = _mm512_set1_pd(-0.0);
  if (row >= kLanes) {
    Columns sums{{_mm512_loadu_pd(data + lane * row)...}};
    for (Extent done = kLanes; done + kLanes <= row; done += kLanes) {
      ((sums.of[lane] = _mm512_add_pd(sums.of[lane], _mm512_loadu_pd(data + lane * row + done))), ...);
    }
    transpose(&sums);
    const auto& [a, b, c, d, e, f, g, h] = sums.of;
    sum = _mm512_add_pd(_mm512_add_pd(_mm512_add_pd(a, b), _mm512_add_pd(c, d)),
                        _mm512_add_pd(_mm512_add_pd(e, f), _mm512_add_pd(g, h)));
  }
  if (left != 0) {
    Columns values = load_left(data + row - left, row, left, lanes);
    transpose(&values);
    ((sum = lane < left ? _mm512_add_pd(sum, values.of[lane]) : sum), ...);
  }
  return sum;
}

// Sets `nans` to whether there is a NaN; the result is then invalid.
template <bool of_largest, Extent... lane>
TAGALONG_AVX512 inline __m512d extreme_of_eight(const double* data, Extent row, bool* nans,
                                                std::integer_sequence<Extent, lane...> lanes) {
  Columns best{};
  __mmask8 unordered = 0;
  const auto check = [&](const Columns& values) TAGALONG_AVX512 {
    ((unordered |=
      lane % 2 == 0 ? _mm512_cmp_pd_mask(values.of[lane], values.of[(lane + 1) % kLanes], _CMP_UNORD_Q) : __mmask8{0}),
     ...);
  };
  const auto reduce = [&](const Columns& values) TAGALONG_AVX512 {
    check(values);
    ((best.of[lane] = better<of_largest>(best.of[lane], values.of[lane])), ...);
  };
  const Extent left = row % kLanes;
  __m512d result;
  if (row >= kLanes) {
    best = {{_mm512_loadu_pd(data + lane * row)...}};
    check(best);
    for (Extent done = kLanes; done + kLanes <= row; done += kLanes) {
      reduce({{_mm512_loadu_pd(data + lane * row + done)...}});
    }
    if (left != 0) {  // overlaps elements that are done
      reduce({{_mm512_loadu_pd(data + lane * row + row - kLanes)...}});
    }
    transpose(&best);
    const auto& [a, b, c, d, e, f, g, h] = best.of;
    result = better<of_largest>(better<of_largest>(better<of_largest>(a, b), better<of_largest>(c, d)),
                                better<of_largest>(better<of_largest>(e, f), better<of_largest>(g, h)));
  } else {
    best = load_left(data, row, left, lanes);
    check(best);
    transpose(&best);
    result = best.of[0];
    ((result = lane < left ? better<of_largest>(result, best.of[lane]) : result), ...);
  }
  *nans = unordered != 0;
  return result;
}

// Calls eight(first) for groups of eight rows that cover all rows. There are at least eight.
template <class Eight>
TAGALONG_AVX512 inline void for_groups(Extent rows, const Eight& eight) {
  for (Extent done = 0; done < rows; done += kLanes) {
    eight(std::min(done, rows - kLanes));  // the last group may overlap the one before
  }
}

TAGALONG_AVX512 void sums(const ReductionKernel& /*kernel*/, const char* data, Extent row, Extent rows, char* results) {
  const auto* values = reinterpret_cast<const double*>(data);
  auto* sums = reinterpret_cast<double*>(results);
  rows_reduced_together.add(static_cast<std::uint64_t>(rows));
  for_groups(rows, [&](Extent first) TAGALONG_AVX512 {
    const __m512d sum = sum_of_eight(values + first * row, row, Lanes());
    _mm512_storeu_pd(sums + first, _mm512_add_pd(_mm512_setzero_pd(), sum));
  });
}

// NumPy's loop reduces rows with a NaN or a zero result again: their bits depend on the order.
template <bool of_largest>
TAGALONG_AVX512 void extremes(const ReductionKernel& kernel, const char* data, Extent row, Extent rows, char* results) {
  const auto* values = reinterpret_cast<const double*>(data);
  auto* extremes = reinterpret_cast<double*>(results);
  rows_reduced_together.add(static_cast<std::uint64_t>(rows));
  const unsigned control = _mm_getcsr();
  bool is_any_nan = false;
  for_groups(rows, [&](Extent first) TAGALONG_AVX512 {
    bool nans = false;
    const __m512d best = extreme_of_eight<of_largest>(values + first * row, row, &nans, Lanes());
    _mm512_storeu_pd(extremes + first, best);
    is_any_nan |= nans;
    unsigned ambiguous = nans ? 0xFF : _mm512_cmp_pd_mask(best, _mm512_setzero_pd(), _CMP_EQ_OQ);
    for (; ambiguous != 0; ambiguous &= ambiguous - 1) {
      const Extent one = first + __builtin_ctz(ambiguous);
      static_cast<void>(reduce_row(kernel, of_largest ? Reduction::kMax : Reduction::kMin,
                                   reinterpret_cast<const char*>(values + one * row), sizeof(double), row,
                                   reinterpret_cast<char*>(extremes + one)));
    }
  });
  if (is_any_nan) {
    _mm_setcsr(control);  // NumPy's loop raises no flags for NaNs
  }
}

}  // namespace

TAGALONG_INTRINSICS_END
#endif

RowsTogether rows_together(const ReductionKernel& kernel, Reduction reduction) {
#if defined(__x86_64__)
  if (kernel.type == kDouble && kernel.from == kDouble && has_avx512()) {
    if (kernel.has_known_order) {
      return sums;
    }
    if (begins_with_element(reduction)) {
      return reduction == Reduction::kMax ? extremes<true> : extremes<false>;
    }
  }
#endif
  static_cast<void>(kernel);
  static_cast<void>(reduction);
  return nullptr;
}

}  // namespace tagalong::array
