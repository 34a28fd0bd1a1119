// exp and log of doubles, AVX-512: a table for sixteenths and a polynomial for the rest of the argument (P. T. P. Tang,
// "Table-driven implementation of the exponential function in IEEE floating-point arithmetic", ACM TOMS 15, 1989, and
// "... of the logarithm function ...", ACM TOMS 16, 1990). A result has NumPy's bits only where each step is rounded as
// in the function that NumPy calls. So the constants and the order of the steps are those of that function, Intel's
// SVML (github.com/numpy/SVML, svml_z0_exp_d_ha and svml_z0_log_d_ha).
//
// No step raises a flag, not even for lanes without an element. Where SVML takes its special path for some lanes (large
// numbers, zeros, negative numbers, infinities), the code ends and reports an ambiguous result.
#include "replay/codegen/vector/avx512_emitter.h"

#ifdef __x86_64__

#include <bit>

namespace tagalong::array {
namespace {

using Bits = std::uint64_t;
using Table = std::array<Bits, 8>;

template <class... Numbers>
constexpr std::array<Bits, sizeof...(Numbers)> bits(Numbers... numbers) {
  return {std::bit_cast<Bits>(numbers)...};
}

constexpr auto kOneOf = bits(-0.0, 1.0, -1.0, 0.75);
// Twice the bits of the largest magnitude that the steps cover: a left shift drops the sign.
constexpr std::array kExpLimitBits{std::bit_cast<Bits>(0x1.61da04cbafe44p+9) << 1U};
constexpr auto kExpPerLn2Bits = bits(0x1.71547652b82fep+0);
// Adding this to a number rounds it to sixteenths, as an integer in the last bits: the last four bits are the table
// index j, the bits in front of them are the integer part, which is added to the exponent.
constexpr auto kExpToPartBits = bits(0x1.8000000003ff0p+48);
constexpr auto kExpLn2Bits = bits(0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56);
constexpr auto kExpPolynomial = bits(0x1.fffffffffff70p-1, 0x1.000000000d008p-1, 0x1.5555553939732p-3,
                                     0x1.55557242d68fep-5, 0x1.1101cbbc265c0p-7, 0x1.7411836940c04p-10);
// 2^(j/16), less the bits of j (shifted by kIndexShift) and of the exponent 0, which the shifted integer adds again;
// and its relative rounding error.
constexpr int kIndexShift = 48;  // moves the last four bits of an index to the first four of a fraction
template <class... Numbers>
constexpr std::array<Bits, sizeof...(Numbers)> powers(Bits first, Numbers... numbers) {
  std::array<Bits, sizeof...(Numbers)> each = bits(numbers...);
  for (Bits j = 0; j < each.size(); ++j) {
    each.at(j) -= std::bit_cast<Bits>(1.0) + ((first + j) << static_cast<unsigned>(kIndexShift));
  }
  return each;
}
constexpr Table kPowers =
    powers(0, 0x1.0000000000000p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0,
           0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0);
constexpr Table kPowersEnd =
    powers(8, 0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0,
           0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0);
constexpr Table kPowersLow =
    bits(0x0.0p+0, 0x1.79aa65d837b6dp-54, -0x1.01b15eaa59348p-55, 0x1.68efde3a8a894p-54, 0x1.34d754db0abb6p-55,
         0x1.59f48a72a4c6dp-55, 0x1.690cebb7aafb0p-56, 0x1.063e1e21c5409p-54);
constexpr Table kPowersLowEnd =
    bits(-0x1.3b3efbf5e2228p-54, -0x1.b32dcb94da51dp-56, 0x1.db72fc1f0eab4p-55, 0x1.1affc2b91ce27p-56,
         0x1.c1a7792cb3387p-55, 0x1.36eae30af0cb3p-56, 0x1.4a385a63d07a7p-56, -0x1.ff7128fd391f0p-55);

constexpr auto kLogLn2Bits = bits(0x1.62e42fefa0000p-1, 0x1.cf79abc9e0000p-40);
constexpr auto kLogPolynomial =
    bits(-0x1.fffffffffffc6p-2, 0x1.5555555555466p-2, -0x1.00000000c05bdp-2, 0x1.9999999cc9f5cp-3,
         -0x1.55553fb28db06p-3, 0x1.249229cee81efp-3, -0x1.007357e93af62p-3, 0x1.c81cd309d7c70p-4);
// -log(c) in two parts, for the reciprocals c from 1/2 to 1, multiples of 1/32. For those below 3/4 it is -log(2 c),
// and the exponent is larger by one.
constexpr Table kLogs =
    bits(0x0.0p+0, -0x1.f0a30c0120000p-5, -0x1.e27076e2b0000p-4, -0x1.5ff3070a78000p-3, -0x1.c8ff7c79a8000p-3,
         -0x1.1675cababc000p-2, -0x1.4618bc21c4000p-2, -0x1.739d7f6bbc000p-2);
constexpr Table kLogsEnd = bits(0x1.269621134c000p-2, 0x1.f991c6cb38000p-3, 0x1.a93ed3c8b0000p-3, 0x1.5bf406b540000p-3,
                                0x1.1178e82280000p-3, 0x1.9335e5d590000p-4, 0x1.08598b59e0000p-4, 0x1.0415d89e80000p-5);
constexpr Table kLogsLow =
    bits(0x0.0p+0, 0x1.3ab33d066d1d2p-42, 0x1.a342c2af0003cp-45, -0x1.3d3c873e20a07p-43, -0x1.a21ac25d81ef3p-43,
         0x1.9f1fc63382a8fp-42, -0x1.ec27d0b7b37b3p-42, -0x1.0069ce24c53fbp-42);
constexpr Table kLogsLowEnd =
    bits(0x1.b92783beb7677p-42, 0x1.9bcbecca0cdf3p-42, -0x1.30e486a0ac42dp-42, 0x1.ed8fdc149767ep-42,
         -0x1.b8421cc74be04p-43, 0x1.2622b8757a8fbp-42, 0x1.d034451fecdfbp-43, -0x1.77771fd187145p-42);

constexpr int kNotLess = 0x05;       // vpcmpuq
constexpr int kLess = 0x11;          // vcmppd
constexpr int kNotPositive = 0xDF;   // vfpclasspd: everything but positive finite numbers
constexpr int kFromOneToTwo = 0x08;  // vgetmantpd
constexpr int kToPartsOf32 = 0x58;   // vrndscalepd: to the nearest 32nd, without flags

using Xbyak::Zmm;

}  // namespace

std::span<const std::uint64_t> bits_of(Constant constant) {
  using enum Constant;
  if (is_glibc_number(constant)) {
    return glibc_bits_of(constant);
  }
  const auto item = [&](const auto& items, Constant first) {
    return std::span(items).subspan(static_cast<std::size_t>(constant) - static_cast<std::size_t>(first), 1);
  };
  switch (constant) {
    case kSignBit:
    case kOne:
    case kMinusOne:
    case kThreeQuarters:
      return item(kOneOf, kSignBit);
    case kExpLimit:
      return kExpLimitBits;
    case kExpPerLn2:
      return kExpPerLn2Bits;
    case kExpToPart:
      return kExpToPartBits;
    case kExpLn2:
    case kExpLn2Low:
      return item(kExpLn2Bits, kExpLn2);
    case kExp0:
    case kExp1:
    case kExp2:
    case kExp3:
    case kExp4:
    case kExp5:
      return item(kExpPolynomial, kExp0);
    case kExpPower:
      return kPowers;
    case kExpPowerEnd:
      return kPowersEnd;
    case kExpPowerLow:
      return kPowersLow;
    case kExpPowerLowEnd:
      return kPowersLowEnd;
    case kLogLn2:
    case kLogLn2Low:
      return item(kLogLn2Bits, kLogLn2);
    case kLog0:
    case kLog1:
    case kLog2:
    case kLog3:
    case kLog4:
    case kLog5:
    case kLog6:
    case kLog7:
      return item(kLogPolynomial, kLog0);
    case kLogOf:
      return kLogs;
    case kLogOfEnd:
      return kLogsEnd;
    case kLogOfLow:
      return kLogsLow;
    case kLogOfLowEnd:
      return kLogsLowEnd;
    default:
      break;
  }
  return {};
}

std::span<const Constant> kept_constants(VectorOp what) {
  using enum Constant;
  static constexpr std::array kOfExp{kExpLimit, kExpToPart, kExpLn2,      kExpLn2Low,     kExp0,
                                     kExp2,     kExp4,      kExpPowerEnd, kExpPowerLowEnd};
  static constexpr std::array kOfLog{kOne,  kThreeQuarters, kLogLn2, kLogLn2Low, kLog0,
                                     kLog2, kLog4,          kLog6,   kLogOfEnd,  kLogOfLowEnd};
  switch (what) {
    case VectorOp::kGlibcExp:
    case VectorOp::kGlibcLog:
      return kept_glibc_constants(what);
    case VectorOp::kExp:
      return kOfExp;
    case VectorOp::kLog:
      return kOfLog;
    default:
      return {};
  }
}

// An FMA instruction with embedded rounding, which Xbyak rejects: emits vscalefpd, whose encoding differs in the opcode
// byte only, and replaces that byte.
void Avx512Emitter::fused(Fused what, const Zmm& out, const Zmm& one, const Zmm& two) {
  vscalefpd(out, one, two);
  rewrite(getSize() - 2, static_cast<std::uint64_t>(what), 1);
}

void Avx512Emitter::fused(Fused what, const ZmmGroup& out, const ZmmGroup& one, const ZmmGroup& two) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    fused(what, out[i], one[i], two[i] | T_rn_sae);
  }
}

void Avx512Emitter::fused(Fused what, const ZmmGroup& out, const ZmmGroup& one, const Zmm& two) {
  fused(what, out, one, ZmmGroup(out.size(), two));
}

Avx512Emitter::ZmmGroup Avx512Emitter::temporaries(std::size_t vectors) {
  ZmmGroup each;
  while (each.size() < vectors) {
    each.push_back(temporary());
  }
  return each;
}

Avx512Emitter::ZmmGroup Avx512Emitter::temporaries(std::size_t vectors, Constant constant) {
  ZmmGroup each = temporaries(vectors);
  load_each(each, constant);
  return each;
}

void Avx512Emitter::load_each(const ZmmGroup& each, Constant constant) {
  load(each[0].getIdx(), constant);
  for (std::size_t i = 1; i < each.size(); ++i) {
    vmovapd(each[i], each[0]);
  }
}

Zmm Avx512Emitter::constant(Constant constant, const Zmm& scratch) {
  if (const int reg = kept_register(constant); reg >= 0) {
    return Zmm(reg);
  }
  load(scratch.getIdx(), constant);
  return scratch;
}

void Avx512Emitter::end_if_compared(std::size_t vectors) {
  kortestw(k3, vectors > 1 ? k4 : k3);
  jnz(ambiguous_);
}

Avx512Emitter::ZmmGroup Avx512Emitter::linear(Constant first, Constant second, const ZmmGroup& x, const Zmm& scratch) {
  ZmmGroup sum = temporaries(x.size(), second);
  fused(Fused::kAdd213, sum, x, constant(first, scratch));
  return sum;
}

Avx512Emitter::ZmmGroup Avx512Emitter::looked_up(Constant first_half, Constant second_half, const ZmmGroup& indices,
                                                 const Zmm& scratch) {
  ZmmGroup found = temporaries(indices.size());
  look_up(found, first_half, second_half, indices, scratch);
  return found;
}

void Avx512Emitter::look_up(const ZmmGroup& found, Constant first_half, Constant second_half, const ZmmGroup& indices,
                            const Zmm& scratch) {
  load_each(found, first_half);
  const Zmm end = constant(second_half, scratch);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    vpermt2pd(found[i], indices[i], end);
  }
}

// x = n ln 2 + r, n a multiple of 1/16:  exp(x) = T + T * (r P(r) + t), T = 2^n, t the relative error of T. SVML scales
// by 2^floor(n) at the end. No result is subnormal here, so scaling T gives the same bits and is faster.
void Avx512Emitter::exponential(const Registers& out, const Registers& in) {
  using enum Constant;
  const std::size_t vectors = in.size();
  const ZmmGroup x = vectors_of(in);
  const Zmm scratch = temporary();
  const ZmmGroup n = temporaries(vectors);
  const Zmm limit = constant(kExpLimit, scratch);
  for (std::size_t i = 0; i < vectors; ++i) {
    vpaddq(n[i], x[i], x[i]);
    vpcmpuq(compared(i), n[i], limit, kNotLess);
  }
  end_if_compared(vectors);

  const ZmmGroup index = temporaries(vectors, kExpPerLn2);
  const Zmm to_part = constant(kExpToPart, scratch);
  const ZmmGroup r = temporaries(vectors);
  for (std::size_t i = 0; i < vectors; ++i) {
    fused(Fused::kAdd213, index[i], x[i], to_part | T_rz_sae);
  }
  for (std::size_t i = 0; i < vectors; ++i) {
    vsubpd(n[i], index[i], to_part | T_rn_sae);
    vmovapd(r[i], x[i]);
  }
  fused(Fused::kNegatedAdd231, r, n, constant(kExpLn2, scratch));
  fused(Fused::kNegatedAdd231, r, n, constant(kExpLn2Low, scratch));
  release(n);

  const ZmmGroup sum = linear(kExp4, kExp5, r, scratch);
  const ZmmGroup second = linear(kExp2, kExp3, r, scratch);
  const ZmmGroup square = temporaries(vectors);
  for (std::size_t i = 0; i < vectors; ++i) {
    vmulpd(square[i], r[i], r[i] | T_rn_sae);
  }
  fused(Fused::kAdd213, sum, square, second);
  release(second);
  const ZmmGroup first = linear(kExp0, kExp1, r, scratch);
  fused(Fused::kAdd213, sum, square, first);
  release(first);
  release(square);
  const ZmmGroup low = looked_up(kExpPowerLow, kExpPowerLowEnd, index, scratch);
  fused(Fused::kAdd213, sum, r, low);
  release(low);
  release(r);
  const ZmmGroup power = vectors_of(out);
  look_up(power, kExpPower, kExpPowerEnd, index, scratch);
  for (std::size_t i = 0; i < vectors; ++i) {
    vpsllq(index[i], index[i], kIndexShift);
    vpaddq(power[i], power[i], index[i]);
  }
  for (std::size_t i = 0; i < vectors; ++i) {
    fused(Fused::kAdd231, masked(out[i]), power[i], sum[i] | T_rn_sae);
  }
  for (const ZmmGroup& each : {ZmmGroup(1, scratch), index, sum}) {
    release(each);
  }
}

// x = 2^e m, c a short reciprocal of m, r = m c - 1:  log(x) = e ln 2 - log c + r + r^2 P(r).
void Avx512Emitter::logarithm(const Registers& out, const Registers& in) {
  using enum Constant;
  const std::size_t vectors = in.size();
  const ZmmGroup x = vectors_of(in);
  for (std::size_t i = 0; i < vectors; ++i) {
    vfpclasspd(compared(i), x[i], kNotPositive);
  }
  end_if_compared(vectors);

  const Zmm scratch = temporary();
  const ZmmGroup r = temporaries(vectors);
  const ZmmGroup exponent = temporaries(vectors);
  const ZmmGroup c = temporaries(vectors);
  for (std::size_t i = 0; i < vectors; ++i) {
    vgetmantpd(r[i], x[i] | T_sae, kFromOneToTwo);
    vgetexppd(exponent[i], x[i] | T_sae);
    vrcp14pd(c[i], r[i]);
    vrndscalepd(c[i], c[i] | T_sae, kToPartsOf32);
  }
  const Zmm three_quarters = constant(kThreeQuarters, scratch);
  for (std::size_t i = 0; i < vectors; ++i) {
    vcmppd(i == 0 ? k3 : k4, c[i], three_quarters | T_sae, kLess);
  }
  const Zmm one = constant(kOne, scratch);
  fused(Fused::kSubtract213, r, c, one);
  for (std::size_t i = 0; i < vectors; ++i) {
    vaddpd(exponent[i] | (i == 0 ? k3 : k4), exponent[i], one | T_rn_sae);
    vpsrlq(c[i], c[i], kIndexShift);
  }

  const ZmmGroup high = looked_up(kLogOf, kLogOfEnd, c, scratch);
  const ZmmGroup low = looked_up(kLogOfLow, kLogOfLowEnd, c, scratch);
  release(c);
  fused(Fused::kAdd231, high, exponent, constant(kLogLn2, scratch));
  fused(Fused::kAdd231, low, exponent, constant(kLogLn2Low, scratch));
  release(exponent);

  const ZmmGroup power = temporaries(vectors);
  for (std::size_t i = 0; i < vectors; ++i) {
    vmulpd(power[i], r[i], r[i] | T_rn_sae);
  }
  const ZmmGroup fourth = linear(kLog6, kLog7, r, scratch);
  const ZmmGroup third = linear(kLog4, kLog5, r, scratch);
  fused(Fused::kAdd213, fourth, power, third);
  release(third);
  const ZmmGroup second = linear(kLog2, kLog3, r, scratch);
  const ZmmGroup first = linear(kLog0, kLog1, r, scratch);
  fused(Fused::kAdd213, second, power, first);
  for (std::size_t i = 0; i < vectors; ++i) {
    vmulpd(first[i], power[i], power[i] | T_rn_sae);
  }
  fused(Fused::kAdd213, fourth, first, second);
  release(first);

  // high + r, and its rounding error.
  const ZmmGroup& sum = second;
  for (std::size_t i = 0; i < vectors; ++i) {
    vaddpd(sum[i], high[i], r[i] | T_rn_sae);
  }
  for (std::size_t i = 0; i < vectors; ++i) {
    vsubpd(high[i], sum[i], high[i] | T_rn_sae);
  }
  for (std::size_t i = 0; i < vectors; ++i) {
    vsubpd(r[i], r[i], high[i] | T_rn_sae);
  }
  fused(Fused::kAdd213, fourth, power, r);
  for (std::size_t i = 0; i < vectors; ++i) {
    vaddpd(fourth[i], fourth[i], low[i] | T_rn_sae);
  }
  for (std::size_t i = 0; i < vectors; ++i) {
    vaddpd(masked(out[i]), sum[i], fourth[i] | T_rn_sae);
  }
  for (const ZmmGroup& each : {ZmmGroup(1, scratch), r, high, low, power, fourth, sum}) {
    release(each);
  }
}

}  // namespace tagalong::array

#endif
