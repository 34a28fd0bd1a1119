#include "replay/arrays/simd/nans.h"

#include <cstdint>
#include <cstring>

#include "replay/arrays/simd/lanes.h"

namespace tagalong::array {

namespace {

constexpr int kBaselineBytes = 16;  // a vector of the baseline instruction set
constexpr std::uint16_t kHalfInfinity = 0x7C00U;
constexpr std::uint32_t kFloatInfinity = 0x7F800000U;
constexpr std::uint64_t kDoubleInfinity = 0x7FF0000000000000U;

template <class Bits, int vector_bytes>
[[gnu::always_inline]] inline bool find(const char* data, Extent stride, Extent count, Bits infinity) {
  constexpr auto kSign = static_cast<Bits>(Bits{1} << (sizeof(Bits) * 8 - 1));
  const auto load = [&](Extent i) {
    Bits bits;
    std::memcpy(&bits, data + i, sizeof(bits));
    return bits;
  };
  // First a test for numbers that are not finite, in integer arithmetic, because a floating point comparison would
  // raise a flag: adding one to an exponent of all ones carries into the sign bit.
  using Vector [[gnu::vector_size(vector_bytes)]] = Bits;
  constexpr auto kItem = static_cast<Extent>(sizeof(Bits));
  constexpr auto kItems = static_cast<Extent>(sizeof(Vector)) / kItem;
  const auto last_bit = static_cast<Bits>(infinity & (~infinity + 1));
  Vector even{};
  Vector odd{};
  Extent done = 0;
  for (; stride == kItem && done + 2 * kItems <= count; done += 2 * kItems) {
    Vector one;
    Vector two;
    std::memcpy(&one, data + done * kItem, sizeof(one));
    std::memcpy(&two, data + (done + kItems) * kItem, sizeof(two));
    even |= (one & infinity) + last_bit;
    odd |= (two & infinity) + last_bit;
  }
  even |= odd;
  Bits carry = 0;
  for (Extent lane = 0; lane < kItems; ++lane) {
    carry |= even[lane];
  }
  for (; done < count; ++done) {
    carry |= static_cast<Bits>((load(done * stride) & infinity) + last_bit);
  }
  if ((carry & kSign) == 0) [[likely]] {
    return false;
  }
  bool found = false;
  for (Extent i = 0; i < count; ++i) {
    found = found || static_cast<Bits>(load(i * stride) & static_cast<Bits>(~kSign)) > infinity;
  }
  return found;
}

#if defined(__x86_64__)

TAGALONG_AVX2 bool find_avx2(const char* data, Extent stride, Extent count) {
  constexpr int kBytes = 32;
  return find<std::uint64_t, kBytes>(data, stride, count, kDoubleInfinity);
}

// vfpclasspd raises no flags.
TAGALONG_AVX512 bool find_avx512(const char* data, Extent count) {
  constexpr int kNans = 0x81;  // quiet and signalling NaNs
  const auto* values = reinterpret_cast<const double*>(data);
  unsigned found = 0;
  Extent done = 0;
  for (; done + 2 * kLanes <= count; done += 2 * kLanes) {
    found |= _mm512_fpclass_pd_mask(_mm512_loadu_pd(values + done), kNans);
    found |= _mm512_fpclass_pd_mask(_mm512_loadu_pd(values + done + kLanes), kNans);
  }
  for (; done < count; done += kLanes) {
    const __mmask8 mask = mask_of(count - done);
    found |= _mm512_fpclass_pd_mask(_mm512_maskz_loadu_pd(mask, values + done), kNans);
  }
  return found != 0;
}

#endif

}  // namespace

bool has_nan(unsigned type, const char* data, Extent stride, Extent count) {
  if (type == kComplexFloat || type == kComplexDouble) {
    const unsigned part = type == kComplexFloat ? kFloat : kDouble;
    const Extent item = part == kFloat ? sizeof(float) : sizeof(double);
    return stride == 2 * item ? has_nan(part, data, item, 2 * count)
                              : has_nan(part, data, stride, count) || has_nan(part, data + item, stride, count);
  }
  if (type == kFloat) {
    return find<std::uint32_t, kBaselineBytes>(data, stride, count, kFloatInfinity);
  }
  if (type == kHalf) {
    return find<std::uint16_t, kBaselineBytes>(data, stride, count, kHalfInfinity);
  }
  if (type != kDouble) {
    return false;
  }
#if defined(__x86_64__)
  if (stride == static_cast<Extent>(sizeof(double)) && has_avx512()) {
    return find_avx512(data, count);
  }
  if (has_avx2()) {
    return find_avx2(data, stride, count);
  }
#endif
  return find<std::uint64_t, kBaselineBytes>(data, stride, count, kDoubleInfinity);
}

}  // namespace tagalong::array
