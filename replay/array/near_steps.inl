// The functions of near_functions.h for as many elements at once as a vector has. Whoever includes it has defined, in a
// namespace of its own, what it is written in: Doubles, Bits, Mask, Lanes, the operations on them, and TAGALONG_LANES, the
// attribute of functions that may use the instructions.

// x = n * pi/16 + t, |t| <= pi/32. Numbers up to 2^20 only: then the first step below is exact, and what the second
// constant leaves of pi/16 (2^-111) does not matter to any t from 2^-20 on. Smaller ones are left to NumPy's loop, and
// with them zeros and whatever could underflow.
constexpr std::uint64_t kSmallest = 0x3EB0000000000000;  // 2^-20
constexpr std::uint64_t kEnd = 0x4130000000000000;       // 2^20
constexpr double kBelowResults = 0x1p-21;                // powers of two; of what is only the rest
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

// exp and log take the steps of glibc's functions (from ARM's optimized routines, by S. Nagy; the numbers are theirs),
// in its build for processors that fuse multiplications and additions. That each step is rounded as there is found out
// at the first use (near_samples.h).
//
// exp: x = n ln(2)/128 + r, 2^(n/128) from a table (P. T. P. Tang, "Table-driven implementation of the exponential function
// in IEEE floating-point arithmetic", ACM TOMS 15, 1989).
constexpr std::uint64_t kExpSmallest = 0x3C90000000000000;  // 2^-54: the results of what is smaller are 1
constexpr std::uint64_t kExpEnd = 0x4080000000000000;       // 512
constexpr double kPerLn2 = 0x1.71547652b82fep+7;
constexpr double kLn2Part = 0x1.62e42fefa0000p-8;
constexpr double kLn2PartLow = 0x1.cf79abc9e3b3ap-47;
constexpr std::uint64_t kInPart = 127;
constexpr int kPartBits = 7;
constexpr std::array kExponential{0x1.ffffffffffdbdp-2, 0x1.555555555543cp-3, 0x1.55555cf172b91p-5,
                                  0x1.1111167a4d017p-7};

// log: x = 2^e m, m from 11/16 to 11/8, r = m c - 1 with a reciprocal c of a table: e ln 2 - log c + log(1 + r). (Tang,
// "Table-driven implementation of the logarithm function in IEEE floating-point arithmetic", ACM TOMS 16, 1990.) Beside
// 1 it is a longer polynomial of x - 1, of whose square the first part is exact.
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
constexpr std::array kLogarithm{-0x1.0000000000001p-1, 0x1.555555551305bp-2, -0x1.fffffffeb4590p-3,
                                0x1.999b324f10111p-3, -0x1.55575e506c89fp-3};
constexpr std::uint64_t kBesideOne = 0x3FEE000000000000;  // 15/16
constexpr std::uint64_t kBehindOne = 0x3FF1090000000000;  // 1 + 265/4096
constexpr double kSplit = 0x1p27;
constexpr std::array kLogarithmBesideOne{-0.5,
                                         0x1.5555555555577p-2,
                                         -0x1.ffffffffffdcbp-3,
                                         0x1.999999995dd0cp-3,
                                         -0x1.55555556745a7p-3,
                                         0x1.24924a344de30p-3,
                                         -0x1.fffffa4423d65p-4,
                                         0x1.c7184282ad6cap-4,
                                         -0x1.999eb43b068ffp-4,
                                         0x1.78182f7afd085p-4,
                                         -0x1.5521375d145cdp-4};

constexpr std::uint64_t kSign = 1ULL << 63U;
constexpr std::uint64_t kMantissa = (1ULL << 52U) - 1;

[[gnu::always_inline]] TAGALONG_LANES inline Doubles polynomial(Doubles x, const std::array<double, 4>& factors) {
  const Doubles first = fused_add(all(factors[3]), x, all(factors[2]));
  return fused_add(fused_add(first, x, all(factors[1])), x, all(factors[0]));
}

// What libm has before it rounds is not farther from this sum than `off`, and rounding is monotonic: where both ends of
// that interval round to the same double so does libm. A sum of two doubles is rounded once. Elements for which it is so
// are taken from `certain`.
[[gnu::always_inline]] TAGALONG_LANES inline Doubles rounded(Doubles sum, Doubles low, Doubles off, Mask* certain) {
  const Doubles one_end = sum + (low - off);
  const Doubles other_end = sum + (low + off);
  *certain = both(*certain, equal(one_end, other_end));
  return one_end;
}

// Down to a power of two.
[[gnu::always_inline]] TAGALONG_LANES inline Doubles magnitude_of(Doubles value) {
  return as_doubles(bits_and(as_bits(value), bits(~(kSign | kMantissa))));
}

// The sine of x + `turn` * pi/16 as two doubles, but for its sign every other half turn: the fifth bit of the place.
struct SineOf {
  Doubles sum, low;
  Bits place;
};
template <int turn>
[[gnu::always_inline]] TAGALONG_LANES inline SineOf sine_in_two(Doubles x) {
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

  return {sum, low, place};
}

// Those that are certain.
template <int turn>
[[gnu::always_inline]] TAGALONG_LANES inline Doubles sine_of(Doubles given, const Deviation& libm, Mask* certain) {
  // Other numbers do not enter any arithmetic, which could raise flags.
  const Bits magnitude = bits_and(as_bits(given), bits(~kSign));
  *certain = both(less(magnitude, bits(kEnd)), less(bits(kSmallest - 1), magnitude));
  const auto [sum, low, place] = sine_in_two<turn>(choose(*certain, given, all(1.0)));
  const Doubles result_magnitude = magnitude_of(sum);
  const Doubles off = smaller(result_magnitude * all(libm.relative), all(libm.absolute));
  *certain = both(*certain, less(as_bits(all(kBelowResults)), as_bits(result_magnitude)));
  const Doubles result = rounded(sum, low, off, certain);
  return as_doubles(bits_xor(as_bits(result), bits_and(shifted_left<59>(place), bits(kSign))));
}

[[gnu::always_inline]] TAGALONG_LANES inline Doubles exp_of(Doubles given, Mask* certain) {
  const Bits magnitude = bits_and(as_bits(given), bits(~kSign));
  *certain = less(magnitude, bits(kExpEnd));
  const Doubles x = where(both(*certain, less(bits(kExpSmallest - 1), magnitude)), given);

  const Doubles shifted = fused_add(x, all(kPerLn2), all(kToInteger));
  const Bits place = as_bits(shifted);
  const Doubles n = shifted - all(kToInteger);
  const Doubles r = fused_from(n, all(kLn2PartLow), fused_from(n, all(kLn2Part), x));
  const auto [power, power_low] = look_up(kPowersOfTwo, lanes_at<kInPart + 1>(place));
  const Doubles square = r * r;
  const Doubles first = fused_add(all(kExponential[1]), r, all(kExponential[0]));
  const Doubles second = fused_add(all(kExponential[3]), r, all(kExponential[2]));
  const Doubles sum = fused_add(square * square, second, fused_add(first, square, r + power_low));
  const Bits exponent = shifted_left<kMantissaBits - kPartBits>(bits_and(place, bits(~kInPart)));
  const Doubles scale = as_doubles(add(as_bits(power), exponent));
  return fused_add(scale, sum, scale);
}

[[gnu::always_inline]] TAGALONG_LANES inline Doubles log_beside_one(Doubles x) {
  const auto& factors = kLogarithmBesideOne;
  const Doubles r = x - all(1.0);
  const Doubles square = r * r;
  const Doubles cube = r * square;
  const auto three = [&](std::size_t begin) TAGALONG_LANES {
    return fused_add(square, all(factors[begin + 2]), fused_add(r, all(factors[begin + 1]), all(factors[begin])));
  };
  Doubles sum = fused_add(cube, all(factors[10]), three(7));
  sum = fused_add(sum, cube, three(4));
  sum = fused_add(sum, cube, three(1));
  const Doubles high = fused_from(all(kSplit), r, fused_add(r, all(kSplit), r));
  const Doubles rest = r - high;
  const Doubles high_square = high * high;
  const Doubles first = fused_add(high_square, all(factors[0]), r);
  Doubles low = fused_add(high_square, all(factors[0]), r - first);
  low = fused_add(all(factors[0]) * rest, r + high, low);
  return first + fused_add(sum, cube, low);
}

[[gnu::always_inline]] TAGALONG_LANES inline Doubles log_of(Doubles given, Mask* certain) {
  *certain = both(less(as_bits(given), bits(kInfinity)), less(bits(kLeastNormal - 1), as_bits(given)));
  const Doubles x = choose(*certain, given, all(2.0));
  const Bits x_bits = as_bits(x);

  const Bits from_first = subtract(x_bits, bits(kLogFirst));
  const auto [c, logarithm] = look_up(kLogarithms, lanes_at<kLogParts>(shifted_right<kLogShift>(from_first)));
  const Doubles m = as_doubles(subtract(x_bits, bits_and(from_first, bits(kExponentBits))));
  const Bits biased = shifted_right<kMantissaBits>(add(from_first, bits(kExponentBias)));
  const Doubles e = as_doubles(bits_or(biased, bits(kIntegerBits))) - all(kOfInteger);

  const Doubles r = fused_subtract(m, c, all(1.0));
  const Doubles whole = fused_add(e, all(kLn2), logarithm);
  const Doubles first = whole + r;
  const Doubles square = r * r;
  Doubles low = fused_add(e, all(kLn2Low), (whole - first) + r);
  low = fused_add(square, all(kLogarithm[0]), low);
  const Doubles near = fused_add(r, all(kLogarithm[2]), all(kLogarithm[1]));
  const Doubles far = fused_add(r, all(kLogarithm[4]), all(kLogarithm[3]));
  const Doubles result = fused_add(r * square, fused_add(far, square, near), low) + first;
  const Mask is_beside = both(less(bits(kBesideOne - 1), x_bits), less(x_bits, bits(kBehindOne)));
  if (lanes_of(is_beside) == 0) {
    return result;
  }
  return choose(is_beside, log_beside_one(choose(is_beside, x, all(1.0))), result);  // of others a cube may overflow
}

template <Near function>
[[gnu::always_inline]] TAGALONG_LANES inline Doubles value_of(Doubles x, const Deviation& libm, Mask* certain) {
  switch (function) {
    case Near::kSine:
      return sine_of<0>(x, libm, certain);
    case Near::kCosine:
      return sine_of<kQuarterTurn>(x, libm, certain);
    case Near::kExp:
      return exp_of(x, certain);
    case Near::kLog:
      return log_of(x, certain);
  }
}

// What is no whole eight is computed as one, elsewhere.
template <Near function>
TAGALONG_LANES Extent steps(const double* in, double* out, Extent count, const Deviation& libm, LeftOver* left_over) {
  constexpr bool is_left_often = function == Near::kSine || function == Near::kCosine;  // so that no branch foresees it
  Extent found = 0;
  std::uint8_t* lanes = left_over->lanes.data();
  const auto eight = [&](const double* from, double* to, unsigned there) TAGALONG_LANES {
    unsigned left = 0;
    for (unsigned lane = 0; lane < kLanes; lane += kWidth) {
      const Doubles x = load(from + lane);
      Mask certain;
      store(to + lane, value_of<function>(x, libm, &certain));
      const unsigned own = ~lanes_of(certain) & (there >> lane) & ((1U << kWidth) - 1U);
      if (is_left_often || own != 0) {
        store_some(left_over->in.data() + found, x, own);
        found += std::popcount(own);
      }
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
