// exp and log of doubles inside fused kernels, by the steps of glibc's functions (libm_steps.inc; libm_constants.h
// explains the constants), for vectors of four. No step raises a flag that glibc's function does not. Where the steps
// do not cover one of the four numbers (a large one for exp; zero or a negative one for log), the code calls libm's
// function for the vector. Such numbers are often few, and without the call one of them would send the whole block of
// the fusion group to NumPy's loops.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "replay/arrays/libm/libm_constants.h"
#include "replay/arrays/libm/libm_tables.h"
#include "replay/codegen/vector/avx2_emitter.h"

#ifdef __x86_64__

namespace tagalong::array {
namespace {

using Bits = std::uint64_t;
using Xbyak::Label;
using Xbyak::Xmm;

// Byte offsets in a table of 128 pairs.
constexpr int kPairBits = 4;
constexpr Bits kInTable = (kPowersOfTwo.pairs.size() - 1) << static_cast<unsigned>(kPairBits);
static_assert(sizeof(kPowersOfTwo.pairs[0]) == 1U << static_cast<unsigned>(kPairBits) &&
              kLogarithms.pairs.size() == kPowersOfTwo.pairs.size());
constexpr int kAllLanes = 15;
constexpr int kVectorBytes = 32;

constexpr LibmFunction kExp = std::exp;
constexpr LibmFunction kLog = std::log;

// Applies a libm function to four numbers. Returns whether a result is a NaN.
int call_four(LibmFunction function, const double* x, double* results) {
  constexpr std::size_t kFour = 4;
  libms_vectors.add();
  std::transform(x, x + kFour, results, function);
  return std::any_of(results, results + kFour, [](double result) { return std::isnan(result); }) ? 1 : 0;
}

// Range check of unsigned numbers with a signed comparison: n is in [first, end) if from(first) + n <=
// last_within(first, end), where the sum wraps around.
constexpr Bits from(Bits first) { return glibc::kSign - first; }
constexpr Bits last_within(Bits first, Bits end) { return glibc::kSign + (end - first) - 1; }

constexpr Bits bits(double number) { return std::bit_cast<Bits>(number); }

// The numbers of the constants, in the order of the enumerators from kFirstGlibc on.
constexpr std::array kNumbers{~glibc::kSign,
                              bits(glibc::kToInteger),
                              kInTable,
                              bits(1.0),
                              glibc::kExpEnd - 1,
                              glibc::kExpSmallest - 1,
                              bits(glibc::kPerLn2),
                              bits(glibc::kLn2Part),
                              bits(glibc::kLn2PartLow),
                              bits(glibc::kExponential[0]),
                              bits(glibc::kExponential[1]),
                              bits(glibc::kExponential[2]),
                              bits(glibc::kExponential[3]),
                              from(glibc::kLeastNormal),
                              last_within(glibc::kLeastNormal, glibc::kInfinity),
                              glibc::kLogFirst,
                              glibc::kExponentBits,
                              glibc::kExponentBias,
                              glibc::kIntegerBits,
                              bits(glibc::kOfInteger),
                              bits(glibc::kLn2),
                              bits(glibc::kLn2Low),
                              bits(glibc::kLogarithm[0]),
                              bits(glibc::kLogarithm[1]),
                              bits(glibc::kLogarithm[2]),
                              bits(glibc::kLogarithm[3]),
                              bits(glibc::kLogarithm[4]),
                              from(glibc::kNearOneBegin),
                              last_within(glibc::kNearOneBegin, glibc::kNearOneEnd),
                              bits(glibc::kSplit),
                              bits(glibc::kLogarithmNearOne[0]),
                              bits(glibc::kLogarithmNearOne[1]),
                              bits(glibc::kLogarithmNearOne[2]),
                              bits(glibc::kLogarithmNearOne[3]),
                              bits(glibc::kLogarithmNearOne[4]),
                              bits(glibc::kLogarithmNearOne[5]),
                              bits(glibc::kLogarithmNearOne[6]),
                              bits(glibc::kLogarithmNearOne[7]),
                              bits(glibc::kLogarithmNearOne[8]),
                              bits(glibc::kLogarithmNearOne[9]),
                              bits(glibc::kLogarithmNearOne[10])};
static_assert(kNumbers.size() ==
              static_cast<std::size_t>(Constant::kNone) - static_cast<std::size_t>(Constant::kFirstGlibc));

}  // namespace

std::span<const std::uint64_t> glibc_bits_of(Constant constant) {
  const auto index = static_cast<std::size_t>(constant) - static_cast<std::size_t>(Constant::kFirstGlibc);
  return std::span(kNumbers).subspan(index, 1);
}

// Most valuable first. Constants that start a polynomial come last, because the steps copy them to a register anyway.
std::span<const Constant> kept_glibc_constants(VectorOp what) {
  using enum Constant;
  static constexpr std::array kOfExp{kGlibcToInteger,  kGlibcLn2Part, kGlibcLn2PartLow, kGlibcExp0,
                                     kGlibcExp2,       kGlibcInTable, kGlibcMagnitude,  kGlibcExpLast,
                                     kGlibcExpSmaller, kGlibcPerLn2,  kGlibcExp1,       kGlibcExp3};
  static constexpr std::array kOfLog{kGlibcInTable,     kGlibcLogFirst,     kGlibcOne,          kGlibcLn2,
                                     kGlibcLog0,        kGlibcLog1,         kGlibcLog3,         kGlibcLn2Low,
                                     kGlibcOfInteger,   kGlibcExponentBits, kGlibcExponentBias, kGlibcIntegerBits,
                                     kGlibcNormalOffset};
  return what == VectorOp::kGlibcExp ? std::span<const Constant>(kOfExp) : kOfLog;
}

// Temporary registers that are live at once.
std::size_t Avx2Emitter::glibc_registers(VectorOp what) {
  constexpr std::size_t kOfExp = 5;
  constexpr std::size_t kOfLog = 8;
  return what == VectorOp::kGlibcExp ? kOfExp : what == VectorOp::kGlibcLog ? kOfLog : 0;
}

Avx2Emitter::Number Avx2Emitter::number(Constant constant) {
  const int reg = kept_register(constant);
  return reg >= 0 ? Number(Vector(reg)) : Number(ptr[pooled(constant)]);
}

Avx2Emitter::Vector Avx2Emitter::temporary(Constant constant) {
  const Vector vector = temporary();
  vmovapd(vector, number(constant));
  return vector;
}

Avx2Emitter::ColdPath& Avx2Emitter::jump_if_any(const Vector& lanes, LibmFunction function, const Vector& out,
                                                const Vector& x) {
  ColdPath& cold_path = cold_paths_.emplace_back();
  cold_path.function = function;
  cold_path.x = x.getIdx();
  cold_path.out = out.getIdx();
  vmovmskpd(ecx, lanes);
  test(ecx, ecx);
  jnz(cold_path.begin);
  return cold_path;
}

void Avx2Emitter::emit_cold_paths() {
  for (const LibmFunction function : {kExp, kLog}) {
    Label call_function;
    bool is_called = false;
    for (ColdPath& cold_path : cold_paths_) {
      if (cold_path.function != function) {
        continue;
      }
      is_called = true;
      L(cold_path.begin);
      mov(ecx, cold_path.x * kVectorBytes);
      mov(edx, cold_path.out * kVectorBytes);
      call(call_function);
      test(ecx, ecx);
      jz(cold_path.end);
      vpcmpeqq(Vector(ambiguous_lanes_), Vector(ambiguous_lanes_), Vector(ambiguous_lanes_));
      jmp(cold_path.end);
    }
    if (is_called) {
      L(call_function);
      call_libm(function);
    }
  }
}

// Emits a function that saves all vector registers to the stack, computes the register at byte offset rdx from the one
// at rcx, and restores them. Sets ecx to whether a result is a NaN.
void Avx2Emitter::call_libm(LibmFunction function) {
  const std::array saved{rax, rsi, rdi, r8, r9, r10, r11, rbp};
  for (const Xbyak::Reg64& number : saved) {
    push(number);
  }
  mov(rbp, rsp);
  sub(rsp, machine_.registers * kVectorBytes);
  and_(rsp, -kVectorBytes);
  for (int reg = 0; reg < machine_.registers; ++reg) {
    vmovapd(ptr[rsp + reg * kVectorBytes], Vector(reg));
  }
  lea(rsi, ptr[rsp + rcx]);
  lea(rdx, ptr[rsp + rdx]);
  mov(rdi, reinterpret_cast<std::size_t>(function));
  mov(rax, reinterpret_cast<std::size_t>(&call_four));
  vzeroupper();
  call(rax);
  mov(ecx, eax);
  for (int reg = 0; reg < machine_.registers; ++reg) {
    vmovapd(Vector(reg), ptr[rsp + reg * kVectorBytes]);
  }
  mov(rsp, rbp);
  for (std::size_t i = saved.size(); i-- > 0;) {
    pop(saved.at(i));
  }
  ret();
}

Avx2Emitter::Vector Avx2Emitter::linear(Constant first, Constant second, const Vector& x) {
  const Vector sum = temporary(second);
  vfmadd213pd(sum, x, number(first));
  return sum;
}

// Loads lane by lane: on many processors that is faster than a gather instruction.
void Avx2Emitter::look_up(const void* table, const Vector& offsets, const Vector& second) {
  const Vector first = temporary();
  const Xmm index(offsets.getIdx());
  mov(rdx, reinterpret_cast<std::size_t>(table));
  vmovq(rcx, index);
  vmovapd(Xmm(first.getIdx()), ptr[rdx + rcx]);
  vpextrq(rcx, index, 1);
  vmovapd(Xmm(second.getIdx()), ptr[rdx + rcx]);
  vextracti128(index, offsets, 1);
  vmovq(rcx, index);
  vinsertf128(first, first, ptr[rdx + rcx], 1);
  vpextrq(rcx, index, 1);
  vinsertf128(second, second, ptr[rdx + rcx], 1);
  vunpcklpd(offsets, first, second);
  vunpckhpd(second, first, second);
  release(first);
}

void Avx2Emitter::exponential(const Vector& out, const Vector& x) {
  using enum Constant;
  const Vector r = temporary();
  vandpd(r, x, number(kGlibcMagnitude));
  vpcmpgtq(out, r, number(kGlibcExpLast));
  ColdPath& cold_path = jump_if_any(out, kExp, out, x);
  vpcmpgtq(r, r, number(kGlibcExpSmaller));
  vandpd(r, r, x);  // exp of a tiny number is 1, as exp of zero

  const Vector index = temporary(kGlibcPerLn2);
  vfmadd213pd(index, x, number(kGlibcToInteger));
  vsubpd(out, index, number(kGlibcToInteger));
  vfnmadd231pd(r, out, number(kGlibcLn2Part));
  vfnmadd231pd(r, out, number(kGlibcLn2PartLow));
  const Vector scale = temporary();
  const Vector sum = temporary();
  vpsllq(scale, index, kPairBits);
  vpand(scale, scale, number(kGlibcInTable));
  look_up(kPowersByPlace.pairs.data(), scale, sum);
  vpsllq(index, index, glibc::kMantissaBits - glibc::kPartBits);
  vpaddq(scale, scale, index);
  release(index);

  vmulpd(out, r, r);
  vaddpd(sum, sum, r);
  const Vector first = linear(kGlibcExp0, kGlibcExp1, r);
  const Vector second = linear(kGlibcExp2, kGlibcExp3, r);
  release(r);
  vfmadd231pd(sum, first, out);
  vmulpd(out, out, out);
  vfmadd231pd(sum, out, second);
  vmovapd(out, scale);
  vfmadd231pd(out, scale, sum);
  for (const Vector& each : {scale, sum, first, second}) {
    release(each);
  }
  L(cold_path.end);
}

void Avx2Emitter::logarithm(const Vector& out, const Vector& x) {
  using enum Constant;
  vpaddq(out, x, number(kGlibcNormalOffset));
  vpcmpgtq(out, out, number(kGlibcNormalLast));
  ColdPath& cold_path = jump_if_any(out, kLog, out, x);

  const Vector exponent = temporary();
  const Vector c = temporary();
  const Vector whole = temporary();
  vpsubq(exponent, x, number(kGlibcLogFirst));
  vpsrlq(c, exponent, glibc::kLogShift - kPairBits);
  vpand(c, c, number(kGlibcInTable));
  look_up(kLogarithms.pairs.data(), c, whole);
  const Vector r = temporary();
  vpand(r, exponent, number(kGlibcExponentBits));
  vpsubq(r, x, r);
  vfmsub213pd(r, c, number(kGlibcOne));
  vpaddq(exponent, exponent, number(kGlibcExponentBias));
  vpsrlq(exponent, exponent, glibc::kMantissaBits);
  vpor(exponent, exponent, number(kGlibcIntegerBits));
  vsubpd(exponent, exponent, number(kGlibcOfInteger));

  vfmadd231pd(whole, exponent, number(kGlibcLn2));
  const Vector& high = c;
  vaddpd(high, whole, r);
  vsubpd(whole, whole, high);
  vaddpd(whole, whole, r);
  vfmadd231pd(whole, exponent, number(kGlibcLn2Low));
  const Vector& square = exponent;
  vmulpd(square, r, r);
  vfmadd231pd(whole, square, number(kGlibcLog0));
  const Vector low_terms = linear(kGlibcLog1, kGlibcLog2, r);
  const Vector high_terms = linear(kGlibcLog3, kGlibcLog4, r);
  vfmadd231pd(low_terms, high_terms, square);
  vmulpd(r, r, square);
  vfmadd231pd(whole, r, low_terms);
  vaddpd(out, whole, high);
  for (const Vector& each : {exponent, c, whole, r, low_terms, high_terms}) {
    release(each);
  }

  Label none_near_one;
  const Vector is_not_near_one = temporary();
  vpaddq(is_not_near_one, x, number(kGlibcNearOneOffset));
  vpcmpgtq(is_not_near_one, is_not_near_one, number(kGlibcNearOneLast));
  vmovmskpd(ecx, is_not_near_one);
  cmp(ecx, kAllLanes);
  je(none_near_one);
  logarithm_near_one(out, x, is_not_near_one);
  L(none_near_one);
  release(is_not_near_one);
  L(cold_path.end);
}

void Avx2Emitter::logarithm_near_one(const Vector& out, const Vector& x, const Vector& is_not_near_one) {
  using enum Constant;
  const Vector r = temporary();
  vblendvpd(r, x, number(kGlibcOne), is_not_near_one);  // a cube of another number may overflow
  vsubpd(r, r, number(kGlibcOne));
  const Vector square = temporary();
  const Vector cube = temporary();
  vmulpd(square, r, r);
  vmulpd(cube, r, square);
  const auto three = [&](Constant first, Constant second, Constant third) {
    const Vector sum = linear(first, second, r);
    vfmadd231pd(sum, square, number(third));
    return sum;
  };
  const Vector sum = three(kGlibcNearOne7, kGlibcNearOne8, kGlibcNearOne9);
  vfmadd231pd(sum, cube, number(kGlibcNearOne10));
  const Vector second = three(kGlibcNearOne4, kGlibcNearOne5, kGlibcNearOne6);
  vfmadd213pd(sum, cube, second);
  release(second);
  const Vector first = three(kGlibcNearOne1, kGlibcNearOne2, kGlibcNearOne3);
  vfmadd213pd(sum, cube, first);
  release(first);
  release(square);

  const Vector high = temporary(kGlibcSplit);
  vfmadd213pd(high, r, r);
  vfnmadd231pd(high, r, number(kGlibcSplit));
  const Vector high_square = temporary();
  vmulpd(high_square, high, high);
  const Vector result = temporary();
  const Vector low = temporary();
  vmovapd(result, r);
  vfmadd231pd(result, high_square, number(kGlibcNearOne0));
  vsubpd(low, r, result);
  vfmadd231pd(low, high_square, number(kGlibcNearOne0));
  const Vector& rest = high_square;
  vsubpd(rest, r, high);
  vmulpd(rest, rest, number(kGlibcNearOne0));
  vaddpd(high, r, high);
  vfmadd231pd(low, rest, high);
  vfmadd231pd(low, sum, cube);
  vaddpd(result, result, low);
  vblendvpd(out, result, out, is_not_near_one);
  for (const Vector& each : {r, cube, sum, high, high_square, result, low}) {
    release(each);
  }
}

}  // namespace tagalong::array

#endif
