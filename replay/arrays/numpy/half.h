// float16 numbers as NumPy converts them, with its flags: it does so in integer arithmetic and raises overflow and
// underflow by hand. Quiet and signalling NaNs keep the bits for which there is room.
#pragma once

#include <bit>
#include <cfenv>
#include <cstdint>

namespace tagalong::array {

struct Half {
  std::uint16_t bits;
};

namespace detail {

// The layout of a longer type of floating point numbers.
template <class Bits, int fraction, int bias>
struct LongerFloat {
  static constexpr int kFraction = fraction;
  static constexpr int kBias = bias;
  static constexpr Bits kFractionBits = (Bits{1} << fraction) - 1;
  static constexpr Bits kSign = Bits{1} << (sizeof(Bits) * 8 - 1);
  static constexpr Bits kInfinity = kSign - (Bits{1} << fraction);
};
using FloatBits = LongerFloat<std::uint32_t, 23, 127>;
using DoubleBits = LongerFloat<std::uint64_t, 52, 1023>;

inline constexpr int kHalfFraction = 10;
inline constexpr int kHalfBias = 15;
inline constexpr std::uint16_t kHalfSign = 0x8000;
inline constexpr std::uint16_t kHalfInfinity = 0x7C00;

template <class Bits, class Longer>
[[nodiscard]] constexpr Bits longer_bits(Half half) {
  const Bits sign = static_cast<Bits>(half.bits & kHalfSign) << (sizeof(Bits) * 8 - 16);
  const int exponent = (half.bits & kHalfInfinity) >> kHalfFraction;
  auto fraction = static_cast<Bits>(half.bits & ((1U << kHalfFraction) - 1));
  constexpr int kShift = Longer::kFraction - kHalfFraction;
  if (exponent == kHalfInfinity >> kHalfFraction) {
    return sign | Longer::kInfinity | (fraction << kShift);
  }
  if (exponent != 0) {
    return sign | (static_cast<Bits>(exponent - kHalfBias + Longer::kBias) << Longer::kFraction) | (fraction << kShift);
  }
  if (fraction == 0) {
    return sign;
  }
  int shift = 0;  // a subnormal number
  for (; (fraction >> kHalfFraction) == 0; ++shift) {
    fraction <<= 1U;
  }
  fraction &= (Bits{1} << kHalfFraction) - 1;
  return sign | (static_cast<Bits>(1 - shift - kHalfBias + Longer::kBias) << Longer::kFraction) | (fraction << kShift);
}

template <class Bits, class Longer>
[[nodiscard]] inline Half rounded_bits(Bits bits) {
  const auto sign = static_cast<std::uint16_t>((bits & Longer::kSign) >> (sizeof(Bits) * 8 - 16));
  const auto made = [sign](unsigned rest) { return Half{static_cast<std::uint16_t>(sign | rest)}; };
  const Bits magnitude = bits & static_cast<Bits>(~Longer::kSign);
  constexpr int kShift = Longer::kFraction - kHalfFraction;
  if (magnitude > Longer::kInfinity) {
    const unsigned rest = kHalfInfinity + static_cast<unsigned>((bits & Longer::kFractionBits) >> kShift);
    return made(rest == kHalfInfinity ? rest + 1 : rest);
  }
  if (magnitude == Longer::kInfinity) {
    return made(kHalfInfinity);
  }
  const int exponent = static_cast<int>(magnitude >> Longer::kFraction) - Longer::kBias + kHalfBias;
  if (exponent > (kHalfInfinity >> kHalfFraction) - 1) {
    std::feraiseexcept(FE_OVERFLOW);
    return made(kHalfInfinity);
  }
  const int missing = exponent > 0 ? 0 : 1 - exponent;  // bits that a subnormal result does not have
  if (missing > kHalfFraction + 1) {
    if (magnitude != 0) {
      std::feraiseexcept(FE_UNDERFLOW);
    }
    return made(0);
  }
  const Bits fraction = (magnitude & Longer::kFractionBits) | (missing > 0 ? Bits{1} << Longer::kFraction : Bits{0});
  const int dropped = kShift + missing;
  const Bits rest = fraction & ((Bits{1} << dropped) - 1);
  const Bits tie = Bits{1} << (dropped - 1);
  if (missing > 0 && rest != 0) {
    std::feraiseexcept(FE_UNDERFLOW);
  }
  unsigned result = static_cast<unsigned>(fraction >> dropped) +
                    (missing > 0 ? 0U : static_cast<unsigned>(exponent) << kHalfFraction);
  if (rest > tie || (rest == tie && (result & 1U) != 0)) {
    ++result;
  }
  if (result == kHalfInfinity) {
    std::feraiseexcept(FE_OVERFLOW);
  }
  return made(result);
}

}  // namespace detail

[[nodiscard]] constexpr float float_of(Half half) {
  return std::bit_cast<float>(detail::longer_bits<std::uint32_t, detail::FloatBits>(half));
}
[[nodiscard]] constexpr double double_of(Half half) {
  return std::bit_cast<double>(detail::longer_bits<std::uint64_t, detail::DoubleBits>(half));
}
[[nodiscard]] inline Half half_of(float number) {
  return detail::rounded_bits<std::uint32_t, detail::FloatBits>(std::bit_cast<std::uint32_t>(number));
}
[[nodiscard]] inline Half half_of(double number) {
  return detail::rounded_bits<std::uint64_t, detail::DoubleBits>(std::bit_cast<std::uint64_t>(number));
}

}  // namespace tagalong::array
