#include "replay/arrays/simd/broadcast.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "replay/arrays/simd/lanes.h"

namespace tagalong::array {

Tally columns_broadcast;

namespace {

constexpr auto kItem = static_cast<Extent>(sizeof(std::uint64_t));

template <class T, Extent row>
void broadcast_short(const char* from, Extent stride, Extent rows, char* to) {
  constexpr auto kSize = static_cast<Extent>(sizeof(T));
  for (Extent i = 0; i < rows; ++i) {
    T value;
    std::memcpy(&value, from + i * stride, kSize);
    for (Extent place = 0; place < row; ++place) {
      std::memcpy(to + (i * row + place) * kSize, &value, kSize);
    }
  }
}

// Calls `broadcast` with the length as a type if the row has one of these lengths. Returns whether it has.
template <int... length, class Broadcast>
bool with_length(Extent row, const Broadcast& broadcast) {
  return ((row == length && (broadcast(std::integral_constant<int, length>()), true)) || ...);
}

template <class T>
bool broadcast_scalar(const char* from, Extent stride, Extent row, Extent rows, char* to) {
  return with_length<2, 3, 4, 8, 16>(row, [&]<int length>(std::integral_constant<int, length> /*row*/) {
    broadcast_short<T, length>(from, stride, rows, to);
  });
}

#if defined(__x86_64__)

TAGALONG_INTRINSICS_BEGIN

// Source lanes of output vector `number`: eight elements become `row` vectors.
template <int row, int number>
TAGALONG_AVX512 inline __m512i sources() {
  constexpr long long kFirst = number * kLanes;
  return _mm512_set_epi64((kFirst + 7) / row, (kFirst + 6) / row, (kFirst + 5) / row, (kFirst + 4) / row,
                          (kFirst + 3) / row, (kFirst + 2) / row, (kFirst + 1) / row, kFirst / row);
}

template <int row, int... number>
TAGALONG_AVX512 void broadcast_lanes(const std::uint64_t* from, Extent rows, std::uint64_t* to,
                                     std::integer_sequence<int, number...> /*vectors*/) {
  Extent done = 0;
  for (; done + kLanes <= rows; done += kLanes) {
    const __m512i values = _mm512_loadu_si512(from + done);
    (_mm512_storeu_si512(to + done * row + number * kLanes, _mm512_permutexvar_epi64(sources<row, number>(), values)),
     ...);
  }
  if (done < rows) {
    const __m512i values = _mm512_maskz_loadu_epi64(mask_of(rows - done), from + done);
    const Extent left = (rows - done) * row;
    (_mm512_mask_storeu_epi64(to + done * row + number * kLanes, mask_of(std::max<Extent>(left - number * kLanes, 0)),
                              _mm512_permutexvar_epi64(sources<row, number>(), values)),
     ...);
  }
}

TAGALONG_AVX512 void broadcast_vector(const char* from, Extent stride, Extent rows, std::uint64_t* to) {
  for (Extent i = 0; i < rows; ++i) {
    std::int64_t value;
    std::memcpy(&value, from + i * stride, sizeof(value));
    _mm512_storeu_si512(to + i * kLanes, _mm512_set1_epi64(value));
  }
}

// A row's last vector may write into the next row, which is written later.
TAGALONG_AVX512 void broadcast_vectors(const char* from, Extent stride, Extent row, Extent rows, std::uint64_t* to) {
  for (Extent i = 0; i < rows; ++i, to += row) {
    std::uint64_t value;
    std::memcpy(&value, from + i * stride, sizeof(value));
    const __m512i values = _mm512_set1_epi64(static_cast<std::int64_t>(value));
    Extent done = 0;
    for (; done + kLanes <= row; done += kLanes) {
      _mm512_storeu_si512(to + done, values);
    }
    if (done == row) {
      continue;
    }
    if (i + 1 < rows) {
      _mm512_storeu_si512(to + done, values);
    } else {
      _mm512_mask_storeu_epi64(to + done, mask_of(row - done), values);
    }
  }
}

bool broadcast_avx512(const char* from, Extent stride, Extent row, Extent rows, char* to) {
  const auto* elements = reinterpret_cast<const std::uint64_t*>(from);
  auto* out = reinterpret_cast<std::uint64_t*>(to);
  if (row == kLanes) {
    broadcast_vector(from, stride, rows, out);
    return true;
  }
  if (row > kLanes) {
    broadcast_vectors(from, stride, row, rows, out);
    return true;
  }
  return stride == kItem &&
         with_length<2, 3, 4, 5, 6, 7>(row, [&]<int length>(std::integral_constant<int, length> /*row*/) {
           broadcast_lanes<length>(elements, rows, out, std::make_integer_sequence<int, length>());
         });
}

TAGALONG_INTRINSICS_END
#endif

}  // namespace

bool broadcast(const char* from, Extent stride, std::size_t item_size, Extent row, Extent rows, char* to) {
#if defined(__x86_64__)
  if (item_size == kItem && has_avx512() && broadcast_avx512(from, stride, row, rows, to)) {
    columns_broadcast.add();
    return true;
  }
#endif
  switch (item_size) {
    case sizeof(std::uint8_t):
      return broadcast_scalar<std::uint8_t>(from, stride, row, rows, to);
    case sizeof(std::uint16_t):
      return broadcast_scalar<std::uint16_t>(from, stride, row, rows, to);
    case sizeof(std::uint32_t):
      return broadcast_scalar<std::uint32_t>(from, stride, row, rows, to);
    case sizeof(std::uint64_t):
      return broadcast_scalar<std::uint64_t>(from, stride, row, rows, to);
    default:
      return false;
  }
}

}  // namespace tagalong::array
