#include "replay/arrays/simd/argmin.h"

#include <cmath>
#include <cstring>
#include <type_traits>

#include "replay/arrays/simd/lanes.h"

namespace tagalong::array {

namespace {

template <class T>
T load(const char* place) {
  T value;
  std::memcpy(&value, place, sizeof(value));
  return value;
}

// Quiet comparisons, which raise no flag for NaNs.
template <class T, bool of_largest>
bool is_better(T one, T other) {
  if constexpr (std::is_floating_point_v<T>) {
    return of_largest ? std::isgreater(one, other) : std::isless(one, other);
  } else {
    return of_largest ? one > other : one < other;
  }
}

template <class T, bool of_largest>
int find(MethodContext* /*context*/, char* const* data, const Extent* dims, const Extent* strides, void* /*aux*/) {
  const char* row = data[1];
  T best = load<T>(row);
  Extent place = 0;
  bool has_nan = false;
  for (Extent i = 0; i < dims[0]; ++i) {
    const T value = load<T>(row + i * strides[1]);
    if constexpr (std::is_floating_point_v<T>) {
      has_nan |= std::isunordered(value, value);
    }
    const bool is_new_best = is_better<T, of_largest>(value, best);
    best = is_new_best ? value : best;
    place = is_new_best ? i : place;
  }
  if constexpr (std::is_floating_point_v<T>) {
    const auto is_nan = [&](Extent i) {
      const T value = load<T>(row + i * strides[1]);
      return std::isunordered(value, value);
    };
    place = has_nan ? 0 : place;
    while (has_nan && !is_nan(place)) {
      ++place;
    }
  }
  std::memcpy(data[2], &place, sizeof(place));
  return 0;
}

#if defined(__x86_64__)

TAGALONG_INTRINSICS_BEGIN

// Contiguous doubles: each of eight lanes finds its first best element; the best lane with the lowest index wins.
template <bool of_largest>
TAGALONG_AVX512 int find_avx512(MethodContext* context, char* const* data, const Extent* dims, const Extent* strides,
                                void* aux) {
  const Extent count = dims[0];
  if (strides[1] != static_cast<Extent>(sizeof(double))) {
    return find<double, of_largest>(context, data, dims, strides, aux);
  }
  const auto* row = reinterpret_cast<const double*>(data[1]);
  const __mmask8 first = mask_of(count);
  const __m512d begin = _mm512_set1_pd(row[0]);
  __m512d best = _mm512_mask_loadu_pd(begin, first, row);
  __m512i places = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
  __m512i next = places;
  __mmask8 nans = _mm512_cmp_pd_mask(best, best, _CMP_UNORD_Q);
  for (Extent i = kLanes; i < count; i += kLanes) {
    const __mmask8 mask = mask_of(count - i);
    const __m512d values = _mm512_mask_loadu_pd(best, mask, row + i);
    next = _mm512_add_epi64(next, _mm512_set1_epi64(kLanes));
    nans |= _mm512_cmp_pd_mask(values, values, _CMP_UNORD_Q);
    const __mmask8 is_new_best = _mm512_cmp_pd_mask(values, best, of_largest ? _CMP_GT_OQ : _CMP_LT_OQ);
    best = _mm512_mask_mov_pd(best, is_new_best, values);
    places = _mm512_mask_mov_epi64(places, is_new_best, next);
  }
  if (nans != 0) {
    return find<double, of_largest>(context, data, dims, strides, aux);
  }
  const double found = of_largest ? _mm512_reduce_max_pd(best) : _mm512_reduce_min_pd(best);
  const __mmask8 lanes = _mm512_cmp_pd_mask(best, _mm512_set1_pd(found), _CMP_EQ_OQ);
  const Extent place = count <= kLanes ? static_cast<Extent>(__builtin_ctz(lanes))
                                       : static_cast<Extent>(_mm512_mask_reduce_min_epi64(lanes, places));
  std::memcpy(data[2], &place, sizeof(place));
  return 0;
}

TAGALONG_INTRINSICS_END
#endif

template <bool of_largest>
StridedLoop loop_of(unsigned type) {
  switch (type) {
    case kInt8:
      return find<std::int8_t, of_largest>;
    case kUInt8:
      return find<std::uint8_t, of_largest>;
    case kInt16:
      return find<std::int16_t, of_largest>;
    case kUInt16:
      return find<std::uint16_t, of_largest>;
    case kIntC:
      return find<std::int32_t, of_largest>;
    case kUIntC:
      return find<std::uint32_t, of_largest>;
    case kLong:
    case kLongLong:
      return find<std::int64_t, of_largest>;
    case kULong:
    case kULongLong:
      return find<std::uint64_t, of_largest>;
    case kFloat:
      return find<float, of_largest>;
    case kDouble:
#if defined(__x86_64__)
      if (has_avx512()) {
        return find_avx512<of_largest>;
      }
#endif
      return find<double, of_largest>;
    default:
      return nullptr;
  }
}

}  // namespace

StridedLoop argmin_loop(unsigned type, bool of_largest) {
  return of_largest ? loop_of<true>(type) : loop_of<false>(type);
}

}  // namespace tagalong::array
