#include "replay/codegen/vector/svml_code.h"

#ifdef __x86_64__

namespace tagalong::array {
namespace {

constexpr int kNotLess = 0x05;       // vpcmpuq
constexpr int kLess = 0x11;          // vcmppd
constexpr int kNotPositive = 0xDF;   // vfpclasspd: everything but positive finite numbers
constexpr int kFromOneToTwo = 0x08;  // vgetmantpd
constexpr int kToPartsOf32 = 0x58;   // vrndscalepd: to the nearest 32nd, without flags

}  // namespace

std::size_t SvmlCode::registers_of(VectorOp what) {
  constexpr std::size_t kOfExp = 5;
  constexpr std::size_t kOfLog = 7;
  return what == VectorOp::kExp ? kOfExp : what == VectorOp::kLog ? kOfLog : 0;
}

SvmlCode::ZmmGroup SvmlCode::vectors_of(const KernelRegisters& registers) {
  ZmmGroup vectors;
  for (const int reg : registers) {
    vectors.emplace_back(reg);
  }
  return vectors;
}

void SvmlCode::release(const ZmmGroup& vectors) {
  for (const Zmm& vector : vectors) {
    release(vector.getIdx());
  }
}

// An FMA instruction with embedded rounding, which Xbyak rejects: emits vscalefpd, whose encoding differs in the opcode
// byte only, and replaces that byte.
void SvmlCode::fused(Fused what, const Vector& out, const Zmm& one, const Zmm& two) {
  asm_.vscalefpd(out, one, two);
  asm_.rewrite(asm_.getSize() - 2, static_cast<std::uint64_t>(what), 1);
}

void SvmlCode::fused(Fused what, const ZmmGroup& out, const ZmmGroup& one, const ZmmGroup& two) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    fused(what, out[i], one[i], two[i] | T_rn_sae);
  }
}

void SvmlCode::fused(Fused what, const ZmmGroup& out, const ZmmGroup& one, const Zmm& two) {
  fused(what, out, one, ZmmGroup(out.size(), two));
}

SvmlCode::ZmmGroup SvmlCode::temporaries(std::size_t vectors) {
  ZmmGroup each;
  while (each.size() < vectors) {
    each.push_back(temporary());
  }
  return each;
}

SvmlCode::ZmmGroup SvmlCode::temporaries(std::size_t vectors, Constant constant) {
  ZmmGroup each = temporaries(vectors);
  load_each(each, constant);
  return each;
}

void SvmlCode::load_each(const ZmmGroup& each, Constant constant) {
  memory_.load(each[0].getIdx(), constant);
  for (std::size_t i = 1; i < each.size(); ++i) {
    asm_.vmovapd(each[i], each[0]);
  }
}

Zmm SvmlCode::constant(Constant constant, const Zmm& scratch) {
  if (const int reg = values_.kept_register(constant); reg >= 0) {
    return Zmm(reg);
  }
  memory_.load(scratch.getIdx(), constant);
  return scratch;
}

void SvmlCode::end_if_compared(std::size_t vectors) {
  asm_.kortestw(k3, vectors > 1 ? k4 : k3);
  asm_.jnz(ambiguous_);
}

SvmlCode::ZmmGroup SvmlCode::linear(Constant first, Constant second, const ZmmGroup& x, const Zmm& scratch) {
  ZmmGroup sum = temporaries(x.size(), second);
  fused(Fused::kAdd213, sum, x, constant(first, scratch));
  return sum;
}

SvmlCode::ZmmGroup SvmlCode::looked_up(Constant first_half, Constant second_half, const ZmmGroup& indices,
                                       const Zmm& scratch) {
  ZmmGroup found = temporaries(indices.size());
  look_up(found, first_half, second_half, indices, scratch);
  return found;
}

void SvmlCode::look_up(const ZmmGroup& found, Constant first_half, Constant second_half, const ZmmGroup& indices,
                       const Zmm& scratch) {
  load_each(found, first_half);
  const Zmm end = constant(second_half, scratch);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    asm_.vpermt2pd(found[i], indices[i], end);
  }
}

void SvmlCode::compute(VectorOp what, const KernelRegisters& out, const KernelRegisters& in) {
  if (what == VectorOp::kExp) {
    exponential(out, in);
  } else {
    logarithm(out, in);
  }
}

// x = n ln 2 + r, n a multiple of 1/16:  exp(x) = T + T * (r P(r) + t), T = 2^n, t the relative error of T. SVML scales
// by 2^floor(n) at the end. No result is subnormal here, so scaling T gives the same bits and is faster.
void SvmlCode::exponential(const KernelRegisters& out, const KernelRegisters& in) {
  using enum Constant;
  const std::size_t vectors = in.size();
  const ZmmGroup x = vectors_of(in);
  const Zmm scratch = temporary();
  const ZmmGroup n = temporaries(vectors);
  const Zmm limit = constant(kExpLimit, scratch);
  for (std::size_t i = 0; i < vectors; ++i) {
    asm_.vpaddq(n[i], x[i], x[i]);
    asm_.vpcmpuq(compared(i), n[i], limit, kNotLess);
  }
  end_if_compared(vectors);

  const ZmmGroup index = temporaries(vectors, kExpPerLn2);
  const Zmm to_part = constant(kExpToPart, scratch);
  const ZmmGroup r = temporaries(vectors);
  for (std::size_t i = 0; i < vectors; ++i) {
    fused(Fused::kAdd213, index[i], x[i], to_part | T_rz_sae);
  }
  for (std::size_t i = 0; i < vectors; ++i) {
    asm_.vsubpd(n[i], index[i], to_part | T_rn_sae);
    asm_.vmovapd(r[i], x[i]);
  }
  fused(Fused::kNegatedAdd231, r, n, constant(kExpLn2, scratch));
  fused(Fused::kNegatedAdd231, r, n, constant(kExpLn2Low, scratch));
  release(n);

  const ZmmGroup sum = linear(kExp4, kExp5, r, scratch);
  const ZmmGroup second = linear(kExp2, kExp3, r, scratch);
  const ZmmGroup square = temporaries(vectors);
  for (std::size_t i = 0; i < vectors; ++i) {
    asm_.vmulpd(square[i], r[i], r[i] | T_rn_sae);
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
    asm_.vpsllq(index[i], index[i], kIndexShift);
    asm_.vpaddq(power[i], power[i], index[i]);
  }
  for (std::size_t i = 0; i < vectors; ++i) {
    fused(Fused::kAdd231, asm_.result(out[i]), power[i], sum[i] | T_rn_sae);
  }
  for (const ZmmGroup& each : {ZmmGroup(1, scratch), index, sum}) {
    release(each);
  }
}

// x = 2^e m, c a short reciprocal of m, r = m c - 1:  log(x) = e ln 2 - log c + r + r^2 P(r).
void SvmlCode::logarithm(const KernelRegisters& out, const KernelRegisters& in) {
  using enum Constant;
  const std::size_t vectors = in.size();
  const ZmmGroup x = vectors_of(in);
  for (std::size_t i = 0; i < vectors; ++i) {
    asm_.vfpclasspd(compared(i), x[i], kNotPositive);
  }
  end_if_compared(vectors);

  const Zmm scratch = temporary();
  const ZmmGroup r = temporaries(vectors);
  const ZmmGroup exponent = temporaries(vectors);
  const ZmmGroup c = temporaries(vectors);
  for (std::size_t i = 0; i < vectors; ++i) {
    asm_.vgetmantpd(r[i], x[i] | T_sae, kFromOneToTwo);
    asm_.vgetexppd(exponent[i], x[i] | T_sae);
    asm_.vrcp14pd(c[i], r[i]);
    asm_.vrndscalepd(c[i], c[i] | T_sae, kToPartsOf32);
  }
  const Zmm three_quarters = constant(kThreeQuarters, scratch);
  for (std::size_t i = 0; i < vectors; ++i) {
    asm_.vcmppd(i == 0 ? k3 : k4, c[i], three_quarters | T_sae, kLess);
  }
  const Zmm one = constant(kOne, scratch);
  fused(Fused::kSubtract213, r, c, one);
  for (std::size_t i = 0; i < vectors; ++i) {
    asm_.vaddpd(exponent[i] | (i == 0 ? k3 : k4), exponent[i], one | T_rn_sae);
    asm_.vpsrlq(c[i], c[i], kIndexShift);
  }

  const ZmmGroup high = looked_up(kLogOf, kLogOfEnd, c, scratch);
  const ZmmGroup low = looked_up(kLogOfLow, kLogOfLowEnd, c, scratch);
  release(c);
  fused(Fused::kAdd231, high, exponent, constant(kLogLn2, scratch));
  fused(Fused::kAdd231, low, exponent, constant(kLogLn2Low, scratch));
  release(exponent);

  const ZmmGroup power = temporaries(vectors);
  for (std::size_t i = 0; i < vectors; ++i) {
    asm_.vmulpd(power[i], r[i], r[i] | T_rn_sae);
  }
  const ZmmGroup fourth = linear(kLog6, kLog7, r, scratch);
  const ZmmGroup third = linear(kLog4, kLog5, r, scratch);
  fused(Fused::kAdd213, fourth, power, third);
  release(third);
  const ZmmGroup second = linear(kLog2, kLog3, r, scratch);
  const ZmmGroup first = linear(kLog0, kLog1, r, scratch);
  fused(Fused::kAdd213, second, power, first);
  for (std::size_t i = 0; i < vectors; ++i) {
    asm_.vmulpd(first[i], power[i], power[i] | T_rn_sae);
  }
  fused(Fused::kAdd213, fourth, first, second);
  release(first);

  // high + r, and its rounding error.
  const ZmmGroup& sum = second;
  for (std::size_t i = 0; i < vectors; ++i) {
    asm_.vaddpd(sum[i], high[i], r[i] | T_rn_sae);
  }
  for (std::size_t i = 0; i < vectors; ++i) {
    asm_.vsubpd(high[i], sum[i], high[i] | T_rn_sae);
  }
  for (std::size_t i = 0; i < vectors; ++i) {
    asm_.vsubpd(r[i], r[i], high[i] | T_rn_sae);
  }
  fused(Fused::kAdd213, fourth, power, r);
  for (std::size_t i = 0; i < vectors; ++i) {
    asm_.vaddpd(fourth[i], fourth[i], low[i] | T_rn_sae);
  }
  for (std::size_t i = 0; i < vectors; ++i) {
    asm_.vaddpd(asm_.result(out[i]), sum[i], fourth[i] | T_rn_sae);
  }
  for (const ZmmGroup& each : {ZmmGroup(1, scratch), r, high, low, power, fourth, sum}) {
    release(each);
  }
}

}  // namespace tagalong::array

#endif
