#include "replay/codegen/vector/avx512_emitter.h"

#include "replay/ir/stages.h"

#ifdef __x86_64__

#include <algorithm>

namespace tagalong::array {
namespace {

using Xbyak::Label;
using Xbyak::Xmm;
using Xbyak::Zmm;

constexpr int kVectorBytes = 64;
constexpr int kAllLanes = 0xFF;
constexpr int kSelectBits = 0xCA;  // vpternlog, bitwise: a ? b : c
constexpr int kSelectLast = 0xD8;  // c ? b : a

constexpr std::size_t kOfArgmin = 3;

}  // namespace

std::size_t Avx512Emitter::fixed_registers() const {
  return (sum_.result >= 0 ? 1 : 0) + 2 * divisors_.size() + (divisors_.empty() ? 0 : 1) +
         (argmin_.result >= 0 ? kOfArgmin : 0);
}

std::size_t Avx512Emitter::registers_of(VectorOp what) const {
  constexpr std::size_t kOfExp = 5;
  constexpr std::size_t kOfLog = 7;
  switch (what) {
    case VectorOp::kExp:
      return kOfExp;
    case VectorOp::kLog:
      return kOfLog;
    default:
      return 0;
  }
}

void Avx512Emitter::begin_code() {
  prepare_divisors();
  kxnorw(k2, k2, k2);
}

void Avx512Emitter::end_code() {
  kmovb(eax, k2);
  xor_(eax, kAllLanes);
}

void Avx512Emitter::emit_remainder(const Label& end) {
  Label remaining;
  L(remaining);
  mov(rcx, rsi);
  sub(rcx, rax);
  jle(end);
  mov(edx, machine_.lanes);
  cmp(rcx, rdx);
  cmovg(rcx, rdx);
  mov(edx, 1);
  shl(edx, cl);
  dec(edx);
  kmovw(k1, edx);
  is_remainder_ = true;
  body(1);
  if (vectors_ > 1 && sum_.result < 0) {
    add(rax, machine_.lanes);
    jmp(remaining);
  }
}

void Avx512Emitter::broadcast(int reg, const Xbyak::Address& from) { vbroadcastsd(Zmm(reg), from); }

void Avx512Emitter::load_vector(int reg, const Xbyak::Address& from) { vmovupd(Zmm(reg), from); }

void Avx512Emitter::load_doubles(int reg, const Xbyak::RegExp& from) { vmovupd(masked(reg), ptr[from]); }

void Avx512Emitter::load_bools(int reg, const Xbyak::RegExp& from) {
  vpmovzxbq(masked(reg), ptr[from]);
  vptestmq(k3, Zmm(reg), Zmm(reg));
  vpmovm2q(Zmm(reg), k3);
}

void Avx512Emitter::store_doubles(int reg, const Xbyak::RegExp& to) {
  if (is_remainder_) {
    vmovupd(ptr[to] | k1, Zmm(reg));
  } else {
    vmovupd(ptr[to], Zmm(reg));
  }
}

void Avx512Emitter::store_bools(int reg, const Value& value) {
  const int scratch = allocate();
  vpsrlq(Zmm(scratch), Zmm(reg), kItemBytes * kItemBytes - 1);
  if (is_remainder_) {
    vpmovqb(ptr[address(value)] | k1, Zmm(scratch));
  } else {
    vpmovqb(ptr[address(value)], Zmm(scratch));
  }
  release(scratch);
}

void Avx512Emitter::store_non_temporal(int reg, const Xbyak::RegExp& to) {
  constexpr int kQuarter = static_cast<int>(VectorCode::kNonTemporalBytes);
  const int scratch = allocate();
  vmovntpd(ptr[to], Xmm(reg));
  for (int quarter = 1; quarter < kVectorBytes / kQuarter; ++quarter) {
    vextractf64x2(Xmm(scratch), Zmm(reg), quarter);
    vmovntpd(ptr[to + quarter * kQuarter], Xmm(scratch));
  }
  release(scratch);
}

void Avx512Emitter::mark_nans(int one, const Xbyak::Operand& two) {
  if (is_remainder_) {
    vcmppd(compared(), Zmm(one), two, kCompareUnordered);
    kandnw(k2, k3, k2);
  } else {
    vcmppd(k2 | k2, Zmm(one), two, kCompareOrdered);
  }
}

void Avx512Emitter::compute_batch(VectorOp what, const Registers& out, const Registers& in) {
  if (what == VectorOp::kExp) {
    exponential(out, in);
  } else {
    logarithm(out, in);
  }
}

void Avx512Emitter::begin_sums() {
  sum_register_ = allocate();
  load(sum_register_, Constant::kSignBit);  // -0.0, the neutral element of addition
}

void Avx512Emitter::add_to_sums(int reg) {
  if (is_remainder_) {
    mov(rdx, ptr[rsp]);
    vmovupd(ptr[rdx], Zmm(reg));
  } else {
    vaddpd(Zmm(sum_register_), Zmm(sum_register_), Zmm(reg));
  }
}

void Avx512Emitter::store_sums(const Xbyak::Reg64& leaf) { vmovupd(ptr[leaf], Zmm(sum_register_)); }

void Avx512Emitter::leaf_loop() {
  Label loop;
  Label one;
  Label end;
  if (vectors_ > 1) {
    const auto others = static_cast<std::uint32_t>(vectors_ - 1) * static_cast<std::uint32_t>(machine_.lanes);
    sub(rsi, others);
    cmp(rax, rsi);
    jg(one);
    L(loop);
    body(vectors_);
    add(rax, others + static_cast<std::uint32_t>(machine_.lanes));
    cmp(rax, rsi);
    jle(loop);
    L(one);
    add(rsi, others);
    cmp(rax, rsi);
    jg(end);
  }
  Label last;
  L(last);
  body(1);
  add(rax, machine_.lanes);
  cmp(rax, rsi);
  jle(last);
  L(end);
}

void Avx512Emitter::begin_row() { vpxorq(Zmm(best_.index), Zmm(best_.index), Zmm(best_.index)); }

void Avx512Emitter::copy(int to, int from) { vmovapd(Zmm(to), Zmm(from)); }

void Avx512Emitter::update_best(int reg) {
  const Zmm value(reg);
  vcmppd(k3, value, Zmm(best_.value), argmin_.of_largest ? kCompareGreater : kCompareLess);
  vmovapd(Zmm(best_.value) | k3, value);
  vpbroadcastq(Zmm(best_.index) | k3, ptr[rip + numbers_ + static_cast<int>(item_) * kItemBytes]);
}

void Avx512Emitter::prepare_divisors() {
  for (const std::uint8_t slot : divisors_) {
    const Value& value = values_[value_of(slot)];
    if (!value.is_hoisted) {
      is_out_of_registers_ = true;  // the caller then uses the code with divisions
      return;
    }
    const Reciprocal made{.of = value.reg, .high = allocate(), .low = allocate()};
    load(made.low, Constant::kOne);
    vdivpd(Zmm(made.high), Zmm(made.low), Zmm(made.of));
    vfnmadd231pd(Zmm(made.low), Zmm(made.high), Zmm(made.of));
    vmulpd(Zmm(made.low), Zmm(made.low), Zmm(made.high));
    reciprocals_.push_back(made);
  }
  if (!divisors_.empty()) {
    sign_register_ = allocate();
    load(sign_register_, Constant::kSignBit);
  }
}

void Avx512Emitter::divide(int out, int one, int two) {
  const auto known = std::ranges::find(reciprocals_, two, &Reciprocal::of);
  if (known == reciprocals_.end()) {
    vdivpd(masked(out), Zmm(one), Zmm(two));
    return;
  }
  const int remainder = allocate();
  const Zmm quotient = is_remainder_ ? Zmm(out) | k1 : Zmm(out);
  const Zmm left = is_remainder_ ? Zmm(remainder) | k1 : Zmm(remainder);
  vmulpd(masked(out), Zmm(one), Zmm(known->low));
  vfmadd231pd(quotient, Zmm(one), Zmm(known->high));
  vmovapd(Zmm(remainder), Zmm(one));
  vfnmadd231pd(left, Zmm(out), Zmm(two));
  vfmadd231pd(quotient, Zmm(remainder), Zmm(known->high));
  vpternlogq(Zmm(out), Zmm(one), Zmm(sign_register_), kSelectLast);
  release(remainder);
}

void Avx512Emitter::compare(int out, int one, int two, int how) {
  vcmppd(compared(), Zmm(one), Zmm(two), how);
  vpmovm2q(Zmm(out), k3);
}

void Avx512Emitter::extreme(bool is_maximum, int out, int one, int two) {
  vcmppd(compared(), Zmm(one), Zmm(two), kCompareUnordered);
  kandnw(k2, k3, k2);
  const int scratch = allocate();
  vcmppd(compared(), Zmm(one), Zmm(two), kCompareEqual);
  vpxorq(Zmm(scratch), Zmm(one), Zmm(two));
  vptestmq(k3 | k3, Zmm(scratch), Zmm(scratch));
  kandnw(k2, k3, k2);
  release(scratch);
  if (is_maximum) {
    vmaxpd(masked(out), Zmm(one), Zmm(two));
  } else {
    vminpd(masked(out), Zmm(one), Zmm(two));
  }
}

void Avx512Emitter::sign(int out, int one, int literal_one, int minus_one) {
  vcmppd(compared(), Zmm(one), Zmm(one), kCompareUnordered);
  kandnw(k2, k3, k2);
  const int zero = allocate();
  vpxorq(Zmm(zero), Zmm(zero), Zmm(zero));
  vcmppd(k3, Zmm(one), Zmm(zero), kCompareGreater);
  vcmppd(k4, Zmm(one), Zmm(zero), kCompareLess);
  vmovapd(Zmm(out) | k3 | T_z, Zmm(literal_one));
  vmovapd(Zmm(out) | k4, Zmm(minus_one));
  release(zero);
}

void Avx512Emitter::compute(VectorOp what, int out, std::span<const int> in) {
  const Zmm one(in[0]);
  const Zmm two(in.size() > 1 ? in[1] : in[0]);
  switch (what) {
    case VectorOp::kAdd:
      if (replay::is_faulty(replay::Stage::vector_code)) {
        return vsubpd(masked(out), one, two);
      }
      return vaddpd(masked(out), one, two);
    case VectorOp::kSubtract:
      return vsubpd(masked(out), one, two);
    case VectorOp::kMultiply:
      return vmulpd(masked(out), one, two);
    case VectorOp::kDivide:
      return divide(out, in[0], in[1]);
    case VectorOp::kSqrt:
      return vsqrtpd(masked(out), one);
    case VectorOp::kSquare:
      return vmulpd(masked(out), one, one);
    case VectorOp::kReciprocal:
      return vdivpd(masked(out), two, one);
    case VectorOp::kNegative:
      return vpxorq(Zmm(out), one, two);
    case VectorOp::kAbsolute:
      return vpandnq(Zmm(out), two, one);
    case VectorOp::kSign:
      return sign(out, in[0], in[1], in[2]);
    case VectorOp::kMaximum:
    case VectorOp::kMinimum:
      return extreme(what == VectorOp::kMaximum, out, in[0], in[1]);
    case VectorOp::kLess:
      return compare(out, in[0], in[1], kCompareLess);
    case VectorOp::kLessEqual:
      return compare(out, in[0], in[1], kCompareLessEqual);
    case VectorOp::kEqual:
      return compare(out, in[0], in[1], kCompareEqual);
    case VectorOp::kNotEqual:
      return compare(out, in[0], in[1], kCompareNotEqual);
    case VectorOp::kGreater:
      return compare(out, in[0], in[1], kCompareGreater);
    case VectorOp::kGreaterEqual:
      return compare(out, in[0], in[1], kCompareGreaterEqual);
    case VectorOp::kAnd:
      return vpandq(Zmm(out), one, two);
    case VectorOp::kOr:
      return vporq(Zmm(out), one, two);
    case VectorOp::kNot:
      return vpternlogq(Zmm(out), one, one, 0x55);
    case VectorOp::kSelect:
      vmovapd(Zmm(out), one);
      return vpternlogq(Zmm(out), two, Zmm(in[2]), kSelectBits);
    case VectorOp::kCopy:
      return vmovapd(Zmm(out), one);
    case VectorOp::kExp:  // see compute_batch()
    case VectorOp::kLog:
    case VectorOp::kGlibcExp:  // AVX2 only
    case VectorOp::kGlibcLog:
    case VectorOp::kNone:
      break;
  }
}

}  // namespace tagalong::array

#endif
