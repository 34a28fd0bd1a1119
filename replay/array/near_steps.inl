// The functions of near_functions.h for as many elements at once as a vector has. Whoever includes it has defined, in a
// namespace of its own, what it is written in: Doubles, Bits, Mask, Lanes, the operations on them, and TAGALONG_LANES, the
// attribute of functions that may use the instructions.

// x = n * pi/16 + t, |t| <= pi/32. Numbers up to 2^20 only: then the first step below is exact, and what the second
// constant leaves of pi/16 (2^-111) does not matter to any t from 2^-20 on. Smaller ones are left to NumPy's loop, and
// with them zeros and whatever could underflow.
constexpr std::uint64_t kSmallest = 0x3EB0000000000000;  // 2^-20
constexpr std::uint64_t kEnd = 0x4130000000000000;       // 2^20
constexpr double kSmallestResult = 0x1p-20;              // of what is only the rest
// All constants are from mpmath with 400 bits: pi/16 as two doubles (Cody and Waite, "Software manual for the
// elementary functions", 1980), sines of multiples of it as two doubles, and polynomials through the Chebyshev nodes of
// t^2 in [0, (pi/32)^2], for (sin t - t) / t^3 and for (cos t - 1 + t^2/2) / t^4.
constexpr double kPer = 0x1.45f306dc9c883p+2;  // 16/pi
constexpr double kPart = 0x1.921fb54442d18p-3;
constexpr double kPartLow = 0x1.1a62633145c07p-57;
constexpr double kToInteger = 0x1.8p52;  // added to a small number: its integer is in the last bits
constexpr std::array kSine{-0x1.5555555555555p-3, 0x1.1111111110471p-7, -0x1.a01a0139c243ep-13, 0x1.71cda2e360c49p-19};
constexpr std::array kCosine{0x1.5555555555555p-5, -0x1.6c16c16c163acp-10, 0x1.a01a015bdf3c1p-16,
                             -0x1.27d9ebcd60b63p-22};

constexpr int kSixteenths = 16;  // of a half turn
constexpr int kQuarterTurn = kSixteenths / 2;
struct Sine {
  double high;
  double low;
};
constexpr std::array<Sine, kQuarterTurn + 1> kFirstSines{{{0.0, 0.0},
                                                          {0x1.8f8b83c69a60bp-3, -0x1.26d19b9ff8d82p-57},
                                                          {0x1.87de2a6aea963p-2, -0x1.72cedd3d5a610p-57},
                                                          {0x1.1c73b39ae68c8p-1, 0x1.b25dd267f6600p-55},
                                                          {0x1.6a09e667f3bcdp-1, -0x1.bdd3413b26456p-55},
                                                          {0x1.a9b66290ea1a3p-1, 0x1.9f630e8b6dac8p-60},
                                                          {0x1.d906bcf328d46p-1, 0x1.457e610231ac2p-56},
                                                          {0x1.f6297cff75cb0p-1, 0x1.562172a361fd3p-56},
                                                          {1.0, 0.0}}};
// For n = 0 to 15.
using SineTable = PairTable<kSixteenths>;
consteval SineTable sine_table(bool of_cosine) {
  SineTable::Items high{};
  SineTable::Items low{};
  for (int n = 0; n < kSixteenths; ++n) {
    const int place = of_cosine ? kQuarterTurn - n : n > kQuarterTurn ? kSixteenths - n : n;
    const Sine& sine = kFirstSines[static_cast<std::size_t>(place < 0 ? -place : place)];
    high[static_cast<std::size_t>(n)] = place < 0 ? -sine.high : sine.high;
    low[static_cast<std::size_t>(n)] = place < 0 ? -sine.low : sine.low;
  }
  return {high, low};
}
constexpr SineTable kSines = sine_table(false);
constexpr SineTable kCosines = sine_table(true);

// x = n ln(2)/64 + r; the first constant has so few bits that its multiples are exact. (P. T. P. Tang, "Table-driven
// implementation of the exponential function in IEEE floating-point arithmetic", ACM TOMS 15, 1989.) Below r is at most
// ln(2)/128, and r^8/8! below 2^-75. No result is subnormal.
constexpr std::uint64_t kExpSmallest = 0x3D70000000000000;  // 2^-40; and zero
constexpr std::uint64_t kExpEnd = 0x4085E00000000000;       // 700
constexpr double kPerLn2 = 0x1.71547652b82fep+6;
constexpr double kLn2Part = 0x1.62e42fefa0000p-7;
constexpr double kLn2PartLow = 0x1.cf79abc9e3b3ap-46;
constexpr std::uint64_t kInPart = 63;
constexpr int kPartBits = 6;
constexpr std::array kExponential{1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040};

// x = 2^e m, m from 11/16 to 11/8, c a reciprocal of m of eight bits, r = m c - 1, which is exact: log x = e ln 2 - log c
// + log(1 + r). (Tang, "Table-driven implementation of the logarithm function in IEEE floating-point arithmetic", ACM
// TOMS 16, 1990.) |r| is at most 2^-7: r^10/10 is below 2^-66 of r.
constexpr std::uint64_t kLeastNormal = 0x0010000000000000;
constexpr std::uint64_t kInfinity = 0x7FF0000000000000;
constexpr std::uint64_t kLogFirst = 0x3FE6000000000000;  // 11/16
constexpr std::size_t kLogParts = 128;
constexpr int kLogShift = 45;
constexpr std::uint64_t kExponentBits = 0xFFF0000000000000;
constexpr int kMantissaBits = 52;
constexpr std::uint64_t kExponentBias = std::uint64_t{1024} << 52U;  // so that none is negative
constexpr std::uint64_t kIntegerBits = 0x4330000000000000;           // of 2^52
constexpr double kOfInteger = 0x1p52 + 1024;
constexpr double kLn2 = 0x1.62e42fefa3800p-1;
constexpr double kLn2Low = 0x1.ef35793c76730p-45;
constexpr std::array kLogarithm{1.0 / 3, -1.0 / 4, 1.0 / 5, -1.0 / 6, 1.0 / 7, -1.0 / 8, 1.0 / 9};

constexpr std::uint64_t kSign = 1ULL << 63U;
constexpr std::uint64_t kMantissa = (1ULL << 52U) - 1;

// Horner's rule for four factors, where it is short; otherwise what is done at the same time is halved (G. Estrin,
// "Organization of computer systems", 1960).
template <std::size_t first, std::size_t last, std::size_t count>
[[gnu::always_inline]] TAGALONG_LANES inline Doubles polynomial(Doubles x, Doubles x2, Doubles x4,
                                                                const std::array<double, count>& factors) {
  if constexpr (last - first > 4) {
    return fused_add(polynomial<first + 4, last>(x, x2, x4, factors), x4,
                     polynomial<first, first + 4>(x, x2, x4, factors));
  } else if constexpr (last - first > 2) {
    return fused_add(polynomial<first + 2, last>(x, x2, x4, factors), x2,
                     polynomial<first, first + 2>(x, x2, x4, factors));
  } else if constexpr (last - first == 2) {
    return fused_add(all(factors[first + 1]), x, all(factors[first]));
  } else {
    return all(factors[first]);
  }
}
template <std::size_t count>
[[gnu::always_inline]] TAGALONG_LANES inline Doubles polynomial(Doubles x, Doubles x2,
                                                                const std::array<double, count>& factors) {
  return polynomial<0, count>(x, x2, x2 * x2, factors);
}
[[gnu::always_inline]] TAGALONG_LANES inline Doubles polynomial(Doubles x, const std::array<double, 4>& factors) {
  const Doubles first = fused_add(all(factors[3]), x, all(factors[2]));
  return fused_add(fused_add(first, x, all(factors[1])), x, all(factors[0]));
}

// What libm has before it rounds is not farther from this sum than `libm` says, and rounding is monotonic: where both
// ends of that interval round to the same double so does libm. A sum of two doubles is rounded once. Elements for which
// it is so are taken from `certain`.
[[gnu::always_inline]] TAGALONG_LANES inline Doubles rounded(Doubles sum, Doubles low, const Deviation& libm,
                                                             Mask* certain) {
  const Doubles magnitude = as_doubles(bits_and(as_bits(sum), bits(~(kSign | kMantissa))));  // down to a power of two
  const Doubles off = smaller(magnitude * all(libm.relative), all(libm.absolute));
  const Doubles one_end = sum + (low - off);
  const Doubles other_end = sum + (low + off);
  *certain = both(*certain, equal(one_end, other_end));
  return one_end;
}

// Sines of x + `turn` * pi/16; those that are certain.
template <int turn>
[[gnu::always_inline]] TAGALONG_LANES inline Doubles sine_of(Doubles given, const Deviation& libm, Mask* certain) {
  // Other numbers do not enter any arithmetic, which could raise flags.
  const Bits magnitude = bits_and(as_bits(given), bits(~kSign));
  *certain = below(subtract(magnitude, bits(kSmallest)), bits(kEnd - kSmallest));
  const Doubles x = choose(*certain, given, all(1.0));

  const Doubles shifted = fused_add(x, all(kPer), all(kToInteger + turn));
  const Bits place = as_bits(shifted);
  const Doubles n = shifted - all(kToInteger + turn);
  // Exact: a multiple of 2^-56 below 2^-3.
  const Doubles rest = fused_from(n, all(kPart), x);
  const Doubles t = fused_from(n, all(kPartLow), rest);
  const Doubles t_low = fused_from(n, all(kPartLow), rest - t);

  const Lanes lanes = lanes_at<kSixteenths>(place);
  const auto [sine, sine_low] = look_up(kSines, lanes);
  const auto [cosine, cosine_low] = look_up(kCosines, lanes);

  // sine + t * (cosine - sine * t/2) + [sine * (cos t - 1 + t^2/2) + cosine * (sin t - t)]; in two doubles what is
  // before the bracket, which is below 2^-9 of the whole.
  const Doubles half = sine * all(0.5);
  const Doubles slope = fused_from(half, t, cosine);
  const Doubles difference = cosine - slope;
  const Doubles slope_low = fused_from(half, t, difference) + cosine_low;
  const Doubles derivative = slope - difference;
  const Doubles product = slope * t;
  const Doubles product_low = fused_subtract(slope, t, product);
  const Doubles sum = sine + product;
  const Doubles sum_low = (sine - sum) + product;  // |sine| > |product|, or zero

  const Doubles t2 = t * t;
  const Doubles bracket =
      fused_add(cosine * t, polynomial(t2, kSine), (sine * t2) * polynomial(t2, kCosine));  // / t^2
  Doubles low = fused_add(slope_low, t, product_low + sine_low);
  low = fused_add(derivative, t_low, low);
  low = fused_add(bracket, t2, low + sum_low);

  const Doubles result = rounded(sum, low, libm, certain);
  const Bits magnitude_of_sum = bits_and(as_bits(sum), bits(~kSign));
  *certain = but_not(*certain, below(magnitude_of_sum, as_bits(all(kSmallestResult))));
  // Another sign every other half turn: the fifth bit of the place.
  return as_doubles(bits_xor(as_bits(result), bits_and(shifted_left<59>(place), bits(kSign))));
}

// T + T * (r + r^2 P(r)), T = 2^(n/64); scaled by a power of two when it has been rounded.
[[gnu::always_inline]] TAGALONG_LANES inline Doubles exp_of(Doubles given, const Deviation& libm, Mask* certain) {
  const Bits magnitude = bits_and(as_bits(given), bits(~kSign));
  *certain = either(below(subtract(magnitude, bits(kExpSmallest)), bits(kExpEnd - kExpSmallest)),
                    below(magnitude, bits(1)));
  const Doubles x = choose(*certain, given, all(1.0));

  const Doubles shifted = fused_add(x, all(kPerLn2), all(kToInteger));
  const Bits place = as_bits(shifted);
  const Doubles n = shifted - all(kToInteger);
  // Exact: where n is not 0, both are multiples of 2^-60, and what is left is below 2^-7.
  const Doubles rest = fused_from(n, all(kLn2Part), x);
  const Doubles r = fused_from(n, all(kLn2PartLow), rest);
  const Doubles r_low = fused_from(n, all(kLn2PartLow), rest - r);

  const auto [power, power_low] = look_up(kPowersOfTwo, lanes_at<kInPart + 1>(place));
  const Doubles square = r * r;
  const Doubles curved = square * polynomial(r, square, kExponential);
  const Doubles product = power * r;
  const Doubles product_low = fused_subtract(power, r, product);
  const Doubles sum = power + product;
  const Doubles sum_low = (power - sum) + product;
  const Doubles low =
      fused_add(power, curved + r_low, product_low) + (sum_low + fused_add(power_low, r, power_low));

  const Doubles result = rounded(sum, low, libm, certain);
  const Bits exponent = shifted_left<kMantissaBits - kPartBits>(bits_and(place, bits(~kInPart)));
  return as_doubles(add(as_bits(result), exponent));
}

[[gnu::always_inline]] TAGALONG_LANES inline Doubles log_of(Doubles given, const Deviation& libm, Mask* certain) {
  *certain = below(subtract(as_bits(given), bits(kLeastNormal)), bits(kInfinity - kLeastNormal));
  const Bits x = as_bits(choose(*certain, given, all(1.0)));

  const Bits from_first = subtract(x, bits(kLogFirst));
  const Lanes part = lanes_at<kLogParts>(shifted_right<kLogShift>(from_first));
  const Doubles m = as_doubles(subtract(x, bits_and(from_first, bits(kExponentBits))));
  const Bits biased = shifted_right<kMantissaBits>(add(from_first, bits(kExponentBias)));
  const Doubles e = as_doubles(bits_or(biased, bits(kIntegerBits))) - all(kOfInteger);

  const Doubles r = fused_subtract(m, look_up(kReciprocals, part), all(1.0));
  const auto [logarithm, logarithm_low] = look_up(kLogarithms, part);
  const Doubles whole = fused_add(e, all(kLn2), logarithm);  // exact: multiples of 2^-42
  const Doubles whole_low = fused_add(e, all(kLn2Low), logarithm_low);
  // whole + r - r^2/2 as two doubles. The whole may be the smaller one, but for half a square that is the other.
  const Doubles first = whole + r;
  const Doubles of_r = first - whole;
  const Doubles first_low = (whole - (first - of_r)) + (r - of_r);
  const Doubles square = r * r;
  const Doubles square_low = fused_subtract(r, r, square);
  const Doubles sum = fused_from(all(0.5), square, first);
  const Doubles sum_low = fused_from(all(0.5), square, first - sum);
  const Doubles cubic = (square * r) * polynomial(r, square, kLogarithm);
  const Doubles low = cubic + (whole_low + (first_low + fused_from(all(0.5), square_low, sum_low)));
  return rounded(sum, low, libm, certain);
}

template <Near function>
[[gnu::always_inline]] TAGALONG_LANES inline Doubles value_of(Doubles x, const Deviation& libm, Mask* certain) {
  switch (function) {
    case Near::kSine:
      return sine_of<0>(x, libm, certain);
    case Near::kCosine:
      return sine_of<kQuarterTurn>(x, libm, certain);
    case Near::kExp:
      return exp_of(x, libm, certain);
    case Near::kLog:
      return log_of(x, libm, certain);
  }
}

// What is no whole eight is computed as one, elsewhere.
template <Near function>
TAGALONG_LANES Extent steps(const double* in, double* out, Extent count, const Deviation& libm, LeftOver* left_over) {
  Extent found = 0;
  std::uint8_t* lanes = left_over->lanes.data();
  const auto eight = [&](const double* from, double* to, unsigned there) TAGALONG_LANES {
    unsigned left = 0;
    for (unsigned lane = 0; lane < kLanes; lane += kWidth) {
      const Doubles x = load(from + lane);
      Mask certain;
      store(to + lane, value_of<function>(x, libm, &certain));
      const unsigned own = ~lanes_of(certain) & (there >> lane) & ((1U << kWidth) - 1U);
      store_some(left_over->in.data() + found, x, own);
      found += std::popcount(own);
      left |= own << lane;
    }
    *lanes++ = static_cast<std::uint8_t>(left);
  };
  Extent i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    eight(in + i, out + i, (1U << static_cast<unsigned>(kLanes)) - 1U);
  }
  if (i < count) {
    std::array<double, kLanes> some;
    some.fill(1.0);
    std::copy_n(in + i, count - i, some.begin());
    eight(some.data(), some.data(), (1U << static_cast<unsigned>(count - i)) - 1U);
    std::copy_n(some.begin(), count - i, out + i);
  }
  for (; (lanes - left_over->lanes.data()) % kNearTogether != 0; ++lanes) {
    *lanes = 0;
  }
  return found;
}

NearSteps steps_of(Near function) {
  constexpr std::array<NearSteps, 4> kEach{steps<Near::kSine>, steps<Near::kCosine>, steps<Near::kExp>,
                                           steps<Near::kLog>};
  return kEach.at(static_cast<std::size_t>(function));
}
