#include "replay/codegen/vector/vector_assembler.h"

#ifdef __x86_64__

#include "replay/codegen/code_allocator.h"

namespace tagalong::array {
namespace {

constexpr int kSelectBits = 0xCA;  // vpternlog, bitwise: a ? b : c
constexpr int kAllBits = 0xFF;     // vpternlog: ones
constexpr int kInvertBits = 0x55;  // vpternlog: not c
constexpr int kSixteenLanes = 16;
constexpr std::uint8_t kRoundToNearest = 0;  // vcvtps2ph
constexpr int kMostLanes = 64;

// Four mask bits times kBitsToBytes have one mask bit in the lowest bit of each of four bytes (kFirstBits).
constexpr int kBitsToBytes = 0x00204081;
constexpr int kFirstBits = 0x01010101;
constexpr int kMaskedBytes = 4;

}  // namespace

VectorAssembler::VectorAssembler(const VectorUnit& unit, VectorRegisters& registers)
    : CodeGenerator(Xbyak::DEFAULT_MAX_CODE_SIZE, Xbyak::AutoGrow, replay::native::CodeAllocator::instance()),
      unit_(unit),
      lanes_(instructions_of(unit.item_bytes)),
      registers_(registers) {
  setDefaultJmpNEAR(true);
}

void VectorAssembler::mask_elements(bool has_parts) {
  if (has_parts) {
    lea(edx, ptr[rcx + rcx]);
    xchg(ecx, edx);
    push(rdx);
    mov(edx, 1);
    shl(rdx, cl);
    dec(rdx);
    kmovw(k5, edx);
    shr(rdx, static_cast<std::uint8_t>(unit_.lanes));
    kmovw(k6, edx);
    pop(rcx);
  }
  if (unit_.lanes <= kSixteenLanes) {
    mov(edx, 1);
    shl(edx, cl);
    dec(edx);
    kmovw(k1, edx);
    return;
  }
  mov(edx, kMostLanes);
  sub(edx, ecx);
  mov(ecx, edx);
  mov(rdx, -1);
  shr(rdx, cl);
  kmovq(k1, rdx);
}

void VectorAssembler::load_numbers(int reg, const Xbyak::RegExp& from) {
  if (is_remainder_ && !unit_.has_masks) {
    broadcast(reg, ptr[from]);
  } else {
    lanes_.load(*this, result(reg), ptr[from]);
  }
}

void VectorAssembler::load_bools(int reg, const Xbyak::RegExp& from) {
  if (unit_.has_masks) {
    lanes_.from_bytes(*this, result(reg), ptr[from]);
    lanes_.test(*this, k3, vector(reg), vector(reg));
    lanes_.from_mask(*this, vector(reg), k3);
    return;
  }
  const int scratch = registers_.allocate();
  if (is_remainder_) {
    movzx(edx, byte[from]);
    vmovd(Xmm(reg), edx);
    lanes_.broadcast_number(*this, vector(reg), Xmm(reg));
  } else {
    lanes_.from_bytes(*this, vector(reg), ptr[from]);
  }
  vpxor(vector(scratch), vector(scratch), vector(scratch));
  lanes_.equal_bits(*this, vector(reg), vector(reg), vector(scratch));
  lanes_.equal_bits(*this, vector(scratch), vector(scratch), vector(scratch));
  vpxor(vector(reg), vector(reg), vector(scratch));
  registers_.release(scratch);
}

void VectorAssembler::extend(const Xmm& out, const Xbyak::Operand& from, LaneType type, int to_bytes) {
  const bool is_signed = info(type).kind == LaneKind::kSigned;
  const int bytes = info(type).bytes;
  if (bytes == 1 && to_bytes == 2) {
    is_signed ? vpmovsxbw(out, from) : vpmovzxbw(out, from);
  } else if (bytes == 1 && to_bytes == 4) {
    is_signed ? vpmovsxbd(out, from) : vpmovzxbd(out, from);
  } else if (bytes == 1) {
    is_signed ? vpmovsxbq(out, from) : vpmovzxbq(out, from);
  } else if (bytes == 2 && to_bytes == 4) {
    is_signed ? vpmovsxwd(out, from) : vpmovzxwd(out, from);
  } else if (bytes == 2) {
    is_signed ? vpmovsxwq(out, from) : vpmovzxwq(out, from);
  } else {
    is_signed ? vpmovsxdq(out, from) : vpmovzxdq(out, from);
  }
}

// With AVX2 a single element is loaded into all lanes first. Integers of one and two bytes become floats by way of
// integers of four bytes.
void VectorAssembler::load_widened(int reg, const Xbyak::RegExp& from, LaneType type, LaneType to) {
  const Xbyak::Address memory = ptr[from];
  const Xmm lower = half(reg);
  const bool is_one = is_remainder_ && !unit_.has_masks;
  if (is_one) {
    instructions_of(info(type).bytes).broadcast(*this, Vector(reg), memory);
  }
  const Xmm lowest(reg);
  const Xbyak::Operand& source = is_one ? static_cast<const Xbyak::Operand&>(lower) : memory;
  const Xbyak::Operand& quarter = is_one ? static_cast<const Xbyak::Operand&>(lowest) : memory;
  const int four = info(LaneType::kInt32).bytes;
  if (type == LaneType::kFloat16) {
    if (to == LaneType::kFloat32) {
      return vcvtph2ps(result(reg), source);
    }
    vcvtph2ps(is_masked() ? lower | k1 | T_z : lower, quarter);
    vcvtps2pd(result(reg), lower);
  } else if (!is_float(to)) {
    extend(result(reg), info(type).bytes * 2 == info(to).bytes ? source : quarter, type, info(to).bytes);
  } else if (to == LaneType::kFloat32) {
    extend(result(reg), info(type).bytes == 2 ? source : quarter, type, four);
    vcvtdq2ps(result(reg), vector(reg));
  } else if (info(type).bytes < four) {
    extend(is_masked() ? lower | k1 | T_z : lower, quarter, type, four);
    vcvtdq2pd(result(reg), lower);
  } else if (is_float(type)) {
    vcvtps2pd(result(reg), source);
  } else if (type == LaneType::kUInt32) {
    vcvtudq2pd(result(reg), source);
  } else {
    vcvtdq2pd(result(reg), source);
  }
}

// Packing saturates, so the upper bits become zero first.
int VectorAssembler::truncated(int reg, int from_bytes, int to_bytes) {
  constexpr std::uint8_t kEvenFloats = 0x88;
  constexpr std::uint8_t kWord = 16, kByte = 8;
  const int out = registers_.allocate();
  const int other = registers_.allocate();
  const Xmm low(out);
  const Xmm high(other);
  vextracti128(high, vector(reg), 1);
  vmovdqa(low, Xmm(reg));
  bool is_whole = true;  // both registers hold lanes
  if (from_bytes == 8) {
    vshufps(low, low, high, kEvenFloats);
    is_whole = false;
    from_bytes /= 2;
  }
  const auto narrow = [&](const auto& clear, const auto& pack) {
    clear(low);
    if (is_whole) {
      clear(high);
    }
    pack(low, is_whole ? high : low);
    is_whole = false;
    from_bytes /= 2;
  };
  if (from_bytes == 4 && to_bytes < 4) {
    narrow(
        [&](const Xmm& lanes) {
          vpslld(lanes, lanes, kWord);
          vpsrld(lanes, lanes, kWord);
        },
        [&](const Xmm& one, const Xmm& two) { vpackusdw(one, one, two); });
  }
  if (from_bytes == 2 && to_bytes < 2) {
    narrow(
        [&](const Xmm& lanes) {
          vpsllw(lanes, lanes, kByte);
          vpsrlw(lanes, lanes, kByte);
        },
        [&](const Xmm& one, const Xmm& two) { vpackuswb(one, one, two); });
  }
  registers_.release(other);
  return out;
}

void VectorAssembler::store_narrowed(int reg, const Xbyak::RegExp& to, LaneType type, LaneType shorter) {
  const int from_bytes = info(type).bytes;
  const int to_bytes = info(shorter).bytes;
  const Xbyak::Address memory = unit_.has_masks && is_remainder_ ? ptr[to] | k1 : ptr[to];
  if (is_float(type)) {
    const int scratch = registers_.allocate();
    vcvtpd2ps(half(scratch), vector(reg));
    if (is_remainder_ && !unit_.has_masks) {
      vmovss(ptr[to], Xmm(scratch));
    } else {
      vmovups(memory, half(scratch));
    }
    registers_.release(scratch);
    return;
  }
  const Vector lanes = vector(reg);
  if (unit_.has_masks) {
    if (from_bytes == 8) {
      to_bytes == 4 ? vpmovqd(memory, lanes) : to_bytes == 2 ? vpmovqw(memory, lanes) : vpmovqb(memory, lanes);
    } else if (from_bytes == 4) {
      to_bytes == 2 ? vpmovdw(memory, lanes) : vpmovdb(memory, lanes);
    } else {
      vpmovwb(memory, lanes);
    }
    return;
  }
  if (is_remainder_) {
    to_bytes == 4   ? vpextrd(memory, Xmm(reg), 0)
    : to_bytes == 2 ? vpextrw(memory, Xmm(reg), 0)
                    : vpextrb(memory, Xmm(reg), 0);
    return;
  }
  const int scratch = truncated(reg, from_bytes, to_bytes);
  switch (unit_.lanes * to_bytes) {
    case 4:
      vmovd(memory, Xmm(scratch));
      break;
    case 8:
      vmovq(memory, Xmm(scratch));
      break;
    default:
      vmovdqu(memory, Xmm(scratch));
      break;
  }
  registers_.release(scratch);
}

void VectorAssembler::broadcast_half(int reg, const Xbyak::Address& from) {
  vpbroadcastw(half(reg), from);
  vcvtph2ps(vector(reg), half(reg));
}

void VectorAssembler::store_half(int reg, const Xbyak::RegExp& to) {
  if (!is_remainder_) {
    vcvtps2ph(ptr[to], vector(reg), kRoundToNearest);
  } else if (unit_.has_masks) {
    vcvtps2ph(ptr[to] | k1, vector(reg), kRoundToNearest);
  } else {
    const int scratch = registers_.allocate();
    vcvtps2ph(Xmm(scratch), vector(reg), kRoundToNearest);
    vpextrw(ptr[to], Xmm(scratch), 0);
    registers_.release(scratch);
  }
}

void VectorAssembler::round_half(int out, int one) {
  vcvtps2ph(half(out), vector(one), kRoundToNearest);
  vcvtph2ps(vector(out), half(out));
}

void VectorAssembler::store_numbers(int reg, const Xbyak::RegExp& to) {
  if (!is_remainder_) {
    lanes_.store(*this, ptr[to], vector(reg));
  } else if (unit_.has_masks) {
    lanes_.store(*this, ptr[to] | k1, vector(reg));
  } else {
    lanes_.store_one(*this, ptr[to], Xmm(reg));
  }
}

void VectorAssembler::shuffle_pieces(int out, int one, int two, std::uint8_t order) {
  if (unit_.has_masks) {
    vshuff64x2(Zmm(out), Zmm(one), Zmm(two), order);
  } else {
    vperm2f128(vector(out), vector(one), vector(two), order);
  }
}

void VectorAssembler::unpack_parts(int out, int one, int two, bool are_high) {
  const bool are_doubles = unit_.item_bytes == static_cast<int>(sizeof(double));
  if (are_high) {
    are_doubles ? vunpckhpd(vector(out), vector(one), vector(two)) : vunpckhps(vector(out), vector(one), vector(two));
  } else {
    are_doubles ? vunpcklpd(vector(out), vector(one), vector(two)) : vunpcklps(vector(out), vector(one), vector(two));
  }
}

// First one register gets the even pieces of two vectors, and another one the odd pieces. Then both parts are in order.
void VectorAssembler::load_parts(int real, int imaginary, const Xbyak::RegExp& from) {
  constexpr std::uint8_t kEvenPieces = 0x88, kOddPieces = 0xDD;  // also of the floats in a piece
  constexpr int kPiece = 16;
  if (is_remainder_ && !unit_.has_masks) {
    broadcast(real, ptr[from]);
    broadcast(imaginary, ptr[from + unit_.item_bytes]);
    return;
  }
  const int even = registers_.allocate();
  if (unit_.has_masks) {
    lanes_.load(*this, is_remainder_ ? vector(real) | k5 | T_z : vector(real), ptr[from]);
    lanes_.load(*this, is_remainder_ ? vector(imaginary) | k6 | T_z : vector(imaginary), ptr[from + vector_bytes()]);
    shuffle_pieces(even, real, imaginary, kEvenPieces);
    shuffle_pieces(imaginary, real, imaginary, kOddPieces);
  } else {
    vmovups(Xmm(even), ptr[from]);
    vinsertf128(vector(even), vector(even), ptr[from + 2 * kPiece], 1);
    vmovups(Xmm(imaginary), ptr[from + kPiece]);
    vinsertf128(vector(imaginary), vector(imaginary), ptr[from + 3 * kPiece], 1);
  }
  if (unit_.item_bytes == static_cast<int>(sizeof(double))) {
    vunpcklpd(vector(real), vector(even), vector(imaginary));
    vunpckhpd(vector(imaginary), vector(even), vector(imaginary));
  } else {
    vshufps(vector(real), vector(even), vector(imaginary), kEvenPieces);
    vshufps(vector(imaginary), vector(even), vector(imaginary), kOddPieces);
  }
  registers_.release(even);
}

void VectorAssembler::store_parts(int real, int imaginary, const Xbyak::RegExp& to, bool is_non_temporal) {
  constexpr std::uint8_t kLowPieces = 0x44, kHighPieces = 0xEE, kInTurn = 0xD8;
  constexpr std::uint8_t kBothLow = 0x20, kBothHigh = 0x31;
  if (is_remainder_ && !unit_.has_masks) {
    lanes_.store_one(*this, ptr[to], Xmm(real));
    lanes_.store_one(*this, ptr[to + unit_.item_bytes], Xmm(imaginary));
    return;
  }
  const int even = registers_.allocate();
  const int odd = registers_.allocate();
  const int out = registers_.allocate();
  unpack_parts(even, real, imaginary, false);
  unpack_parts(odd, real, imaginary, true);
  for (const bool is_second : {false, true}) {
    if (unit_.has_masks) {
      shuffle_pieces(out, even, odd, is_second ? kHighPieces : kLowPieces);
      shuffle_pieces(out, out, out, kInTurn);
    } else {
      shuffle_pieces(out, even, odd, is_second ? kBothHigh : kBothLow);
    }
    const Xbyak::RegExp place = is_second ? to + vector_bytes() : to;
    if (is_non_temporal) {
      store_non_temporal(out, place);
    } else if (is_remainder_) {
      lanes_.store(*this, is_second ? ptr[place] | k6 : ptr[place] | k5, vector(out));
    } else {
      lanes_.store(*this, ptr[place], vector(out));
    }
  }
  registers_.release(out);
  registers_.release(odd);
  registers_.release(even);
}

int VectorAssembler::bytes_of(int reg) {
  if (unit_.has_masks) {
    const int scratch = registers_.allocate();
    lanes_.first_bits(*this, vector(scratch), vector(reg));
    return scratch;
  }
  if (!is_remainder_ && unit_.lanes > kMaskedBytes) {
    const int scratch = registers_.allocate();
    if (unit_.lanes == kSixteenLanes / 2) {
      vextracti128(Xmm(scratch), vector(reg), 1);
      vpackssdw(Xmm(scratch), Xmm(reg), Xmm(scratch));
      vpacksswb(Xmm(scratch), Xmm(scratch), Xmm(scratch));
    } else if (unit_.lanes == kSixteenLanes) {
      vextracti128(Xmm(scratch), vector(reg), 1);
      vpacksswb(Xmm(scratch), Xmm(reg), Xmm(scratch));
    }
    vpabsb(vector(scratch), vector(unit_.lanes > kSixteenLanes ? reg : scratch));
    return scratch;
  }
  lanes_.sign_bits(*this, ecx, vector(reg));
  if (!is_remainder_) {
    imul(ecx, ecx, kBitsToBytes);
  }
  and_(ecx, kFirstBits);
  return kUnassigned;
}

void VectorAssembler::store_bytes(int bytes, const Xbyak::RegExp& to) {
  if (unit_.has_masks) {
    lanes_.to_bytes(*this, is_remainder_ ? ptr[to] | k1 : ptr[to], vector(bytes));
    registers_.release(bytes);
  } else if (is_remainder_) {
    mov(byte[to], cl);
  } else if (bytes >= 0) {
    if (unit_.lanes < kSixteenLanes) {
      vmovq(ptr[to], Xmm(bytes));
    } else {
      vmovdqu(ptr[to], unit_.lanes == kSixteenLanes ? Xmm(bytes) : vector(bytes));
    }
    registers_.release(bytes);
  } else {
    mov(dword[to], ecx);
  }
}

void VectorAssembler::store_non_temporal(int reg, const Xbyak::RegExp& to) {
  constexpr int kPart = static_cast<int>(VectorCode::kNonTemporalBytes);
  const int scratch = registers_.allocate();
  vmovntpd(ptr[to], Xmm(reg));
  for (int part = 1; part < vector_bytes() / kPart; ++part) {
    if (unit_.has_masks) {
      vextractf64x2(Xmm(scratch), vector(reg), static_cast<std::uint8_t>(part));
    } else {
      vextractf128(Xmm(scratch), vector(reg), static_cast<std::uint8_t>(part));
    }
    vmovntpd(ptr[to + part * kPart], Xmm(scratch));
  }
  registers_.release(scratch);
}

void VectorAssembler::bit_and(int out, int one, int two) {
  unit_.has_masks ? vpandq(vector(out), vector(one), vector(two)) : vandpd(vector(out), vector(one), vector(two));
}

void VectorAssembler::bit_or(int out, int one, int two) {
  unit_.has_masks ? vporq(vector(out), vector(one), vector(two)) : vorpd(vector(out), vector(one), vector(two));
}

void VectorAssembler::bit_xor(int out, int one, int two) {
  unit_.has_masks ? vpxorq(vector(out), vector(one), vector(two)) : vxorpd(vector(out), vector(one), vector(two));
}

void VectorAssembler::bit_and_not(int out, int inverted, int two) {
  unit_.has_masks ? vpandnq(vector(out), vector(inverted), vector(two))
                  : vandnpd(vector(out), vector(inverted), vector(two));
}

void VectorAssembler::ones(int reg) {
  if (unit_.has_masks) {
    vpternlogq(vector(reg), vector(reg), vector(reg), kAllBits);
  } else {
    vpcmpeqq(vector(reg), vector(reg), vector(reg));
  }
}

void VectorAssembler::bit_not(int out, int one) {
  if (unit_.has_masks) {
    vpternlogq(vector(out), vector(one), vector(one), kInvertBits);
  } else {
    vpcmpeqq(vector(out), vector(out), vector(out));
    vxorpd(vector(out), vector(out), vector(one));
  }
}

void VectorAssembler::select(int out, int condition, int yes, int no) {
  if (unit_.has_masks) {
    copy(out, condition);
    vpternlogq(vector(out), vector(yes), vector(no), kSelectBits);
  } else {
    lanes_.blend(*this, vector(out), vector(no), vector(yes), vector(condition));
  }
}

// The bits of 1.0 are a run of ones, which ends below the exponent's first bit.
void VectorAssembler::from_bool(int out, int one, LaneType to) {
  constexpr std::uint8_t kDropped = 54, kFraction = 52, kFloatDropped = 25, kFloatFraction = 23;
  if (to == LaneType::kFloat64) {
    vpsrlq(vector(out), vector(one), kDropped);
    vpsllq(vector(out), vector(out), kFraction);
  } else if (to == LaneType::kFloat32) {
    vpsrld(vector(out), vector(one), kFloatDropped);
    vpslld(vector(out), vector(out), kFloatFraction);
  } else {
    lanes_.first_bits(*this, vector(out), vector(one));
  }
}

void VectorAssembler::compare(int out, int one, int two, int predicate) {
  if (unit_.has_masks) {
    compare_to_mask(one, vector(two), predicate);
    lanes_.from_mask(*this, vector(out), k3);
  } else {
    lanes_.compare(*this, vector(out), vector(one), vector(two), static_cast<std::uint8_t>(predicate));
  }
}

void VectorAssembler::sign(int out, int one, int zero, int plus_one, int minus_one) {
  if (unit_.has_masks) {
    lanes_.compare_to_mask(*this, k3, vector(one), vector(zero), kCompareGreater);
    lanes_.compare_to_mask(*this, k4, vector(one), vector(zero), kCompareLess);
    lanes_.move(*this, vector(out) | k3 | T_z, vector(plus_one));
    lanes_.move(*this, vector(out) | k4, vector(minus_one));
    return;
  }
  const int negative = registers_.allocate();
  compare(negative, one, zero, kCompareLess);
  compare(out, one, zero, kCompareGreater);
  bit_and(negative, negative, minus_one);
  bit_and(out, out, plus_one);
  bit_or(out, out, negative);
  registers_.release(negative);
}

void VectorAssembler::replace_best(int best, int best_index, int value, const Xbyak::Address& index, int predicate) {
  if (unit_.has_masks) {
    vcmppd(k3, vector(value), vector(best), static_cast<std::uint8_t>(predicate));
    vmovapd(vector(best) | k3, vector(value));
    vpbroadcastq(vector(best_index) | k3, index);
    return;
  }
  const int is_better = registers_.allocate();
  const int number = registers_.allocate();
  compare(is_better, value, best, predicate);
  select(best, is_better, value, best);
  broadcast(number, index);
  select(best_index, is_better, number, best_index);
  registers_.release(number);
  registers_.release(is_better);
}

void VectorAssembler::begin_marks() {
  if (unit_.has_masks) {
    kxnorw(k2, k2, k2);
  } else {
    marks_ = registers_.allocate();
    zero(marks_);
  }
}

void VectorAssembler::end_marks() {
  if (unit_.has_masks) {
    if (unit_.lanes > kSixteenLanes) {  // integers are not ambiguous
      xor_(eax, eax);
      return;
    }
    if (unit_.lanes < kSixteenLanes) {
      kmovb(eax, k2);
    } else {
      kmovw(eax, k2);
    }
    xor_(eax, (1 << unit_.lanes) - 1);
  } else {
    lanes_.sign_bits(*this, eax, vector(marks_));
  }
}

void VectorAssembler::mark_all() {
  if (unit_.has_masks) {
    kxorw(k2, k2, k2);
  } else {
    vpcmpeqq(vector(marks_), vector(marks_), vector(marks_));
  }
}

void VectorAssembler::mark_nans(int one, const Xbyak::Operand& two) {
  if (!unit_.has_masks) {
    const int scratch = registers_.allocate();
    lanes_.compare(*this, vector(scratch), vector(one), two, kCompareUnordered);
    mark(scratch);
    registers_.release(scratch);
  } else if (is_remainder_) {
    compare_to_mask(one, two, kCompareUnordered);
    kandnw(k2, k3, k2);
  } else {
    lanes_.compare_to_mask(*this, k2 | k2, vector(one), two, kCompareOrdered);
  }
}

void VectorAssembler::mark_nans(int one, int two, int scratch) {
  if (unit_.has_masks) {
    compare_to_mask(one, vector(two), kCompareUnordered);
    kandnw(k2, k3, k2);
  } else {
    compare(scratch, one, two, kCompareUnordered);
    mark(scratch);
  }
}

void VectorAssembler::mark_small(int magnitude, int limit, int scratch, int other_scratch) {
  if (unit_.has_masks) {
    compare_to_mask(magnitude, vector(limit), kCompareLess);
    lanes_.test(*this, k3 | k3, vector(magnitude), vector(magnitude));
    kandnw(k2, k3, k2);
  } else {
    zero(scratch);
    compare(scratch, magnitude, scratch, kCompareNotEqual);
    compare(other_scratch, magnitude, limit, kCompareLess);
    bit_and(scratch, scratch, other_scratch);
    mark(scratch);
  }
}

void VectorAssembler::mark_different_zeros(int one, int two, int scratch, int other_scratch) {
  if (unit_.has_masks) {
    compare_to_mask(one, vector(two), kCompareEqual);
    bit_xor(scratch, one, two);
    lanes_.test(*this, k3 | k3, vector(scratch), vector(scratch));
    kandnw(k2, k3, k2);
  } else {
    compare(other_scratch, one, two, kCompareEqual);
    bit_xor(scratch, one, two);
    bit_and(scratch, scratch, other_scratch);
    mark(scratch);
  }
}

}  // namespace tagalong::array

#endif
