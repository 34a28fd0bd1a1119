#include "replay/codegen/vector/avx2_emitter.h"

#include <algorithm>

#include "replay/arrays/libm/libm_constants.h"
#include "replay/ir/stages.h"

#ifdef __x86_64__

namespace tagalong::array {
namespace {

using Xbyak::Label;
using Xbyak::Xmm;
using Xbyak::Ymm;

// Four mask bits times kBitsToBytes have one mask bit in the lowest bit of each of four bytes (kFirstBits).
constexpr int kBitsToBytes = 0x00204081;
constexpr int kFirstBits = 0x01010101;

}  // namespace

std::size_t Avx2Emitter::fixed_registers() const {
  constexpr std::size_t kOfState = 2;
  constexpr std::size_t kOfArgmin = 3;
  // Functions are emitted for one vector after another, so all share the registers.
  std::size_t of_functions = 0;
  for (const VectorOperation& operation : operations_) {
    of_functions = std::max(of_functions, glibc_registers(operation.what));
  }
  return kOfState + (sum_.result >= 0 ? sums_.size() : 0) + (argmin_.result >= 0 ? kOfArgmin : 0) + of_functions;
}

std::size_t Avx2Emitter::registers_of(VectorOp /*what*/) const { return 0; }

// Stores MXCSR in the red zone below the stack.
void Avx2Emitter::check_rounding_mode() {
  if (std::ranges::none_of(operations_, is_glibc, &VectorOperation::what)) {
    return;
  }
  constexpr int kSize = 4;
  Label is_default;
  stmxcsr(dword[rsp - kSize]);
  test(dword[rsp - kSize], glibc::kNonDefaultRounding);
  jz(is_default);
  mov(eax, 1);
  ret();
  L(is_default);
}

void Avx2Emitter::begin_code() {
  ambiguous_lanes_ = allocate();
  vxorpd(Ymm(ambiguous_lanes_), Ymm(ambiguous_lanes_), Ymm(ambiguous_lanes_));
}

void Avx2Emitter::end_code() { vmovmskpd(eax, Ymm(ambiguous_lanes_)); }

void Avx2Emitter::mark_ambiguous(int lanes) { vorpd(Ymm(ambiguous_lanes_), Ymm(ambiguous_lanes_), Ymm(lanes)); }

void Avx2Emitter::emit_remainder(const Label& end) {
  if (sum_.result < 0 && vectors_ > 1) {
    Label next;
    Label one_by_one;
    L(next);
    lea(rcx, ptr[rax + machine_.lanes]);
    cmp(rcx, rsi);
    jg(one_by_one);
    body(1);
    add(rax, machine_.lanes);
    jmp(next);
    L(one_by_one);
  }
  Label remaining;
  L(remaining);
  cmp(rax, rsi);
  jge(end);
  is_remainder_ = true;
  body(1);
  inc(rax);
  jmp(remaining);
}

void Avx2Emitter::broadcast(int reg, const Xbyak::Address& from) { vbroadcastsd(Ymm(reg), from); }

void Avx2Emitter::load_vector(int reg, const Xbyak::Address& from) { vmovupd(Ymm(reg), from); }

void Avx2Emitter::load_doubles(int reg, const Xbyak::RegExp& from) {
  if (is_remainder_) {
    vbroadcastsd(Ymm(reg), ptr[from]);
  } else {
    vmovupd(Ymm(reg), ptr[from]);
  }
}

void Avx2Emitter::load_bools(int reg, const Xbyak::RegExp& from) {
  const int scratch = allocate();
  if (is_remainder_) {
    movzx(edx, byte[from]);
    vmovd(Xmm(reg), edx);
    vpbroadcastq(Ymm(reg), Xmm(reg));
  } else {
    vpmovzxbq(Ymm(reg), dword[from]);
  }
  vpxor(Ymm(scratch), Ymm(scratch), Ymm(scratch));
  vpcmpeqq(Ymm(reg), Ymm(reg), Ymm(scratch));
  vpcmpeqq(Ymm(scratch), Ymm(scratch), Ymm(scratch));
  vpxor(Ymm(reg), Ymm(reg), Ymm(scratch));
  release(scratch);
}

void Avx2Emitter::store_doubles(int reg, const Xbyak::RegExp& to) {
  if (is_remainder_) {
    vmovsd(ptr[to], Xmm(reg));
  } else {
    vmovupd(ptr[to], Ymm(reg));
  }
}

void Avx2Emitter::store_bools(int reg, const Value& value) {
  vmovmskpd(ecx, Ymm(reg));
  if (!is_remainder_) {
    imul(ecx, ecx, kBitsToBytes);
  }
  and_(ecx, kFirstBits);
  const Xbyak::RegExp to = address(value);
  if (is_remainder_) {
    mov(byte[to], cl);
  } else {
    mov(dword[to], ecx);
  }
}

void Avx2Emitter::store_non_temporal(int reg, const Xbyak::RegExp& to) {
  const int scratch = allocate();
  vmovntpd(ptr[to], Xmm(reg));
  vextractf128(Xmm(scratch), Ymm(reg), 1);
  vmovntpd(ptr[to + static_cast<int>(VectorCode::kNonTemporalBytes)], Xmm(scratch));
  release(scratch);
}

void Avx2Emitter::mark_nans(int one, const Xbyak::Operand& two) {
  const int scratch = allocate();
  vcmppd(Ymm(scratch), Ymm(one), two, kCompareUnordered);
  mark_ambiguous(scratch);
  release(scratch);
}

// This backend has no such operations.
void Avx2Emitter::compute_batch(VectorOp /*what*/, const Registers& /*out*/, const Registers& /*in*/) {}

void Avx2Emitter::begin_sums() {
  for (int& sum : sums_) {
    sum = allocate();
    load(sum, Constant::kSignBit);  // -0.0, the neutral element of addition
  }
}

void Avx2Emitter::add_to_sums(int reg) {
  if (is_remainder_) {
    mov(rdx, ptr[rsp]);
    vmovsd(ptr[rdx], Xmm(reg));
    add(qword[rsp], kItemBytes);
  } else {
    const Ymm sum(sums_.at(vectors_ > 1 ? vector_ : half_));
    vaddpd(sum, sum, Ymm(reg));
  }
}

void Avx2Emitter::store_sums(const Xbyak::Reg64& leaf) {
  vmovupd(ptr[leaf], Ymm(sums_[0]));
  vmovupd(ptr[leaf + machine_.lanes * kItemBytes], Ymm(sums_[1]));
}

void Avx2Emitter::leaf_loop() {
  Label loop;
  L(loop);
  if (vectors_ > 1) {
    body(2);
    add(rax, kLeafLanes);
  } else {
    for (half_ = 0; half_ < sums_.size(); ++half_) {
      body(1);
      add(rax, machine_.lanes);
    }
  }
  cmp(rax, rsi);
  jle(loop);
}

void Avx2Emitter::begin_row() { vxorpd(Ymm(best_.index), Ymm(best_.index), Ymm(best_.index)); }

void Avx2Emitter::copy(int to, int from) { vmovapd(Ymm(to), Ymm(from)); }

void Avx2Emitter::update_best(int reg) {
  const Ymm value(reg);
  const int is_better = allocate();
  const int number = allocate();
  vcmppd(Ymm(is_better), value, Ymm(best_.value), argmin_.of_largest ? kCompareGreater : kCompareLess);
  vblendvpd(Ymm(best_.value), Ymm(best_.value), value, Ymm(is_better));
  vbroadcastsd(Ymm(number), ptr[rip + numbers_ + static_cast<int>(item_) * kItemBytes]);
  vblendvpd(Ymm(best_.index), Ymm(best_.index), Ymm(number), Ymm(is_better));
  release(number);
  release(is_better);
}

// Marks NaNs, and zeros of different signs: equal numbers can differ in nothing but the sign.
void Avx2Emitter::extreme(bool is_maximum, int out, int one, int two) {
  vcmppd(Ymm(out), Ymm(one), Ymm(two), kCompareUnordered);
  mark_ambiguous(out);
  const int scratch = allocate();
  vcmppd(Ymm(out), Ymm(one), Ymm(two), kCompareEqual);
  vxorpd(Ymm(scratch), Ymm(one), Ymm(two));
  vandpd(Ymm(scratch), Ymm(scratch), Ymm(out));
  mark_ambiguous(scratch);
  release(scratch);
  if (is_maximum) {
    vmaxpd(Ymm(out), Ymm(one), Ymm(two));
  } else {
    vminpd(Ymm(out), Ymm(one), Ymm(two));
  }
}

void Avx2Emitter::sign(int out, int one, int literal_one, int minus_one) {
  vcmppd(Ymm(out), Ymm(one), Ymm(one), kCompareUnordered);
  mark_ambiguous(out);
  const int zero = allocate();
  const int negative = allocate();
  vxorpd(Ymm(zero), Ymm(zero), Ymm(zero));
  vcmppd(Ymm(negative), Ymm(one), Ymm(zero), kCompareLess);
  vcmppd(Ymm(out), Ymm(one), Ymm(zero), kCompareGreater);
  vandpd(Ymm(negative), Ymm(negative), Ymm(minus_one));
  vandpd(Ymm(out), Ymm(out), Ymm(literal_one));
  vorpd(Ymm(out), Ymm(out), Ymm(negative));
  release(negative);
  release(zero);
}

void Avx2Emitter::compute(VectorOp what, int reg, std::span<const int> in) {
  const Ymm out(reg);
  const Ymm one(in[0]);
  const Ymm two(in.size() > 1 ? in[1] : in[0]);
  switch (what) {
    case VectorOp::kAdd:
      if (replay::is_faulty(replay::Stage::vector_code)) {
        return vsubpd(out, one, two);
      }
      return vaddpd(out, one, two);
    case VectorOp::kSubtract:
      return vsubpd(out, one, two);
    case VectorOp::kMultiply:
      return vmulpd(out, one, two);
    case VectorOp::kDivide:
      return vdivpd(out, one, two);
    case VectorOp::kSqrt:
      return vsqrtpd(out, one);
    case VectorOp::kSquare:
      return vmulpd(out, one, one);
    case VectorOp::kReciprocal:
      return vdivpd(out, two, one);
    case VectorOp::kNegative:
      return vxorpd(out, one, two);
    case VectorOp::kAbsolute:
      return vandnpd(out, two, one);
    case VectorOp::kSign:
      return sign(reg, in[0], in[1], in[2]);
    case VectorOp::kMaximum:
    case VectorOp::kMinimum:
      return extreme(what == VectorOp::kMaximum, reg, in[0], in[1]);
    case VectorOp::kLess:
      return vcmppd(out, one, two, kCompareLess);
    case VectorOp::kLessEqual:
      return vcmppd(out, one, two, kCompareLessEqual);
    case VectorOp::kEqual:
      return vcmppd(out, one, two, kCompareEqual);
    case VectorOp::kNotEqual:
      return vcmppd(out, one, two, kCompareNotEqual);
    case VectorOp::kGreater:
      return vcmppd(out, one, two, kCompareGreater);
    case VectorOp::kGreaterEqual:
      return vcmppd(out, one, two, kCompareGreaterEqual);
    case VectorOp::kAnd:
      return vandpd(out, one, two);
    case VectorOp::kOr:
      return vorpd(out, one, two);
    case VectorOp::kNot:
      vpcmpeqq(out, out, out);
      return vxorpd(out, out, one);
    case VectorOp::kSelect:
      return vblendvpd(out, Ymm(in[2]), two, one);
    case VectorOp::kCopy:
      return vmovapd(out, one);
    case VectorOp::kGlibcExp:
      return exponential(out, one);
    case VectorOp::kGlibcLog:
      return logarithm(out, one);
    case VectorOp::kExp:  // AVX-512 only
    case VectorOp::kLog:
    case VectorOp::kNone:
      break;
  }
}

}  // namespace tagalong::array

#endif
