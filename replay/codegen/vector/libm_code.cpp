// exp and log of doubles by the steps of glibc's functions, as in libm_steps.inc (libm_constants.h explains their
// numbers), four at once, between other operations. No step here can raise a flag that the function does not. Where
// there is a number among the four that these steps are not for (of exp a large one, of log zero or a negative one, for
// example), libm's function is called for them: such numbers often are few, as where exp has nothing left, and because
// of them all the rest of the fusion group would be computed otherwise.
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

// Where in a table of 128 pairs something is, in bytes.
constexpr int kPairBits = 4;
constexpr Bits kInTable = (kPowersOfTwo.pairs.size() - 1) << static_cast<unsigned>(kPairBits);
static_assert(sizeof(kPowersOfTwo.pairs[0]) == 1U << static_cast<unsigned>(kPairBits) &&
              kLogarithms.pairs.size() == kPowersOfTwo.pairs.size());
constexpr int kAllLanes = 15;
constexpr int kVectorBytes = 32;

constexpr LibmFunction kExp = std::exp;
constexpr LibmFunction kLog = std::log;

// Returns whether there are NaNs.
int of_four(LibmFunction function, const double* x, double* results) {
  constexpr std::size_t kFour = 4;
  libms_vectors.add();
  std::transform(x, x + kFour, results, function);
  return std::any_of(results, results + kFour, [](double result) { return std::isnan(result); }) ? 1 : 0;
}

// A number without a sign is from `first` to before `end`, if this plus the number is not more, as a number with a
// sign, than what last_within() is.
constexpr Bits from(Bits first) { return glibc::kSign - first; }
constexpr Bits last_within(Bits first, Bits end) { return glibc::kSign + (end - first) - 1; }

constexpr Bits bits(double number) { return std::bit_cast<Bits>(number); }

// In the order of the constants.
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
                              from(glibc::kBesideOne),
                              last_within(glibc::kBesideOne, glibc::kBehindOne),
                              bits(glibc::kSplit),
                              bits(glibc::kLogarithmBesideOne[0]),
                              bits(glibc::kLogarithmBesideOne[1]),
                              bits(glibc::kLogarithmBesideOne[2]),
                              bits(glibc::kLogarithmBesideOne[3]),
                              bits(glibc::kLogarithmBesideOne[4]),
                              bits(glibc::kLogarithmBesideOne[5]),
                              bits(glibc::kLogarithmBesideOne[6]),
                              bits(glibc::kLogarithmBesideOne[7]),
                              bits(glibc::kLogarithmBesideOne[8]),
                              bits(glibc::kLogarithmBesideOne[9]),
                              bits(glibc::kLogarithmBesideOne[10])};
static_assert(kNumbers.size() ==
              static_cast<std::size_t>(Constant::kNone) - static_cast<std::size_t>(Constant::kFirstGlibc));

}  // namespace

std::span<const std::uint64_t> glibc_bits_of(Constant constant) {
  const auto index = static_cast<std::size_t>(constant) - static_cast<std::size_t>(Constant::kFirstGlibc);
  return std::span(kNumbers).subspan(index, 1);
}

// Those that wait for nothing else first: what is added to is read into a register anyway.
std::span<const Constant> kept_glibc_constants(VectorOp what) {
  using enum Constant;
  static constexpr std::array kOfExp{kGlibcToInteger,  kGlibcLn2Part, kGlibcLn2PartLow, kGlibcExp0,
                                     kGlibcExp2,       kGlibcInTable, kGlibcMagnitude,  kGlibcExpLast,
                                     kGlibcExpSmaller, kGlibcPerLn2,  kGlibcExp1,       kGlibcExp3};
  static constexpr std::array kOfLog{kGlibcInTable,   kGlibcLogFirst,     kGlibcOne,          kGlibcLn2,
                                     kGlibcLog0,      kGlibcLog1,         kGlibcLog3,         kGlibcLn2Low,
                                     kGlibcOfInteger, kGlibcExponentBits, kGlibcExponentBias, kGlibcIntegerBits,
                                     kGlibcFromNormal};
  return what == VectorOp::kGlibcExp ? std::span<const Constant>(kOfExp) : kOfLog;
}

// At once, beside the operand and the result.
std::size_t Avx2Emitter::glibc_registers(VectorOp what) {
  constexpr std::size_t kOfExp = 5;
  constexpr std::size_t kOfLog = 8;
  return what == VectorOp::kGlibcExp ? kOfExp : what == VectorOp::kGlibcLog ? kOfLog : 0;
}

Avx2Emitter::Number Avx2Emitter::number(Constant constant) {
  const int place = kept_place(constant);
  return place >= 0 ? Number(Vector(place)) : Number(ptr[pooled(constant)]);
}

Avx2Emitter::Vector Avx2Emitter::taken(Constant constant) {
  const Vector vector = taken();
  vmovapd(vector, number(constant));
  return vector;
}

Avx2Emitter::Aside& Avx2Emitter::aside_if_any(const Vector& lanes, LibmFunction function, const Vector& out,
                                              const Vector& x) {
  Aside& aside = asides_.emplace_back();
  aside.function = function;
  aside.x = x.getIdx();
  aside.out = out.getIdx();
  vmovmskpd(ecx, lanes);
  test(ecx, ecx);
  jnz(aside.begin);
  return aside;
}

void Avx2Emitter::aside() {
  for (const LibmFunction function : {kExp, kLog}) {
    Label call_function;
    bool is_called = false;
    for (Aside& aside : asides_) {
      if (aside.function != function) {
        continue;
      }
      is_called = true;
      L(aside.begin);
      mov(ecx, aside.x * kVectorBytes);
      mov(edx, aside.out * kVectorBytes);
      call(call_function);
      test(ecx, ecx);
      jz(aside.end);
      vpcmpeqq(Vector(open_), Vector(open_), Vector(open_));
      jmp(aside.end);
    }
    if (is_called) {
      L(call_function);
      call_libm(function);
    }
  }
}

// All registers are as they were, but the one that is at rdx when they are in memory, which becomes the function of
// what is at rcx. Into ecx: whether there are NaNs.
void Avx2Emitter::call_libm(LibmFunction function) {
  const std::array saved{rax, rsi, rdi, r8, r9, r10, r11, rbp};
  for (const Xbyak::Reg64& number : saved) {
    push(number);
  }
  mov(rbp, rsp);
  sub(rsp, machine_.registers * kVectorBytes);
  and_(rsp, -kVectorBytes);
  for (int place = 0; place < machine_.registers; ++place) {
    vmovapd(ptr[rsp + place * kVectorBytes], Vector(place));
  }
  lea(rsi, ptr[rsp + rcx]);
  lea(rdx, ptr[rsp + rdx]);
  mov(rdi, reinterpret_cast<std::size_t>(function));
  mov(rax, reinterpret_cast<std::size_t>(&of_four));
  vzeroupper();
  call(rax);
  mov(ecx, eax);
  for (int place = 0; place < machine_.registers; ++place) {
    vmovapd(Vector(place), ptr[rsp + place * kVectorBytes]);
  }
  mov(rsp, rbp);
  for (std::size_t i = saved.size(); i-- > 0;) {
    pop(saved.at(i));
  }
  ret();
}

Avx2Emitter::Vector Avx2Emitter::linear(Constant first, Constant second, const Vector& x) {
  const Vector sum = taken(second);
  vfmadd213pd(sum, x, number(first));
  return sum;
}

// One by one: on many processors that takes less time than the instruction for four.
void Avx2Emitter::look_up(const void* table, const Vector& places, const Vector& second) {
  const Vector first = taken();
  const Xmm place(places.getIdx());
  mov(rdx, reinterpret_cast<std::size_t>(table));
  vmovq(rcx, place);
  vmovapd(Xmm(first.getIdx()), ptr[rdx + rcx]);
  vpextrq(rcx, place, 1);
  vmovapd(Xmm(second.getIdx()), ptr[rdx + rcx]);
  vextracti128(place, places, 1);
  vmovq(rcx, place);
  vinsertf128(first, first, ptr[rdx + rcx], 1);
  vpextrq(rcx, place, 1);
  vinsertf128(second, second, ptr[rdx + rcx], 1);
  vunpcklpd(places, first, second);
  vunpckhpd(second, first, second);
  release(first);
}

void Avx2Emitter::exponential(const Vector& out, const Vector& x) {
  using enum Constant;
  const Vector r = taken();
  vandpd(r, x, number(kGlibcMagnitude));
  vpcmpgtq(out, r, number(kGlibcExpLast));
  Aside& aside = aside_if_any(out, kExp, out, x);
  vpcmpgtq(r, r, number(kGlibcExpSmaller));
  vandpd(r, r, x);  // the result of zero is 1, too

  const Vector place = taken(kGlibcPerLn2);
  vfmadd213pd(place, x, number(kGlibcToInteger));
  vsubpd(out, place, number(kGlibcToInteger));
  vfnmadd231pd(r, out, number(kGlibcLn2Part));
  vfnmadd231pd(r, out, number(kGlibcLn2PartLow));
  const Vector scale = taken();
  const Vector sum = taken();
  vpsllq(scale, place, kPairBits);
  vpand(scale, scale, number(kGlibcInTable));
  look_up(kPowersByPlace.pairs.data(), scale, sum);
  vpsllq(place, place, glibc::kMantissaBits - glibc::kPartBits);
  vpaddq(scale, scale, place);
  release(place);

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
  L(aside.end);
}

void Avx2Emitter::logarithm(const Vector& out, const Vector& x) {
  using enum Constant;
  vpaddq(out, x, number(kGlibcFromNormal));
  vpcmpgtq(out, out, number(kGlibcNormals));
  Aside& aside = aside_if_any(out, kLog, out, x);

  const Vector exponent = taken();
  const Vector c = taken();
  const Vector whole = taken();
  vpsubq(exponent, x, number(kGlibcLogFirst));
  vpsrlq(c, exponent, glibc::kLogShift - kPairBits);
  vpand(c, c, number(kGlibcInTable));
  look_up(kLogarithms.pairs.data(), c, whole);
  const Vector r = taken();
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
  const Vector glibc = linear(kGlibcLog1, kGlibcLog2, r);
  const Vector far = linear(kGlibcLog3, kGlibcLog4, r);
  vfmadd231pd(glibc, far, square);
  vmulpd(r, r, square);
  vfmadd231pd(whole, r, glibc);
  vaddpd(out, whole, high);
  for (const Vector& each : {exponent, c, whole, r, glibc, far}) {
    release(each);
  }

  Label are_elsewhere;
  const Vector is_elsewhere = taken();
  vpaddq(is_elsewhere, x, number(kGlibcFromBeside));
  vpcmpgtq(is_elsewhere, is_elsewhere, number(kGlibcBesides));
  vmovmskpd(ecx, is_elsewhere);
  cmp(ecx, kAllLanes);
  je(are_elsewhere);
  logarithm_beside_one(out, x, is_elsewhere);
  L(are_elsewhere);
  release(is_elsewhere);
  L(aside.end);
}

void Avx2Emitter::logarithm_beside_one(const Vector& out, const Vector& x, const Vector& is_elsewhere) {
  using enum Constant;
  const Vector r = taken();
  vblendvpd(r, x, number(kGlibcOne), is_elsewhere);  // of others a cube may overflow
  vsubpd(r, r, number(kGlibcOne));
  const Vector square = taken();
  const Vector cube = taken();
  vmulpd(square, r, r);
  vmulpd(cube, r, square);
  const auto three = [&](Constant first, Constant second, Constant third) {
    const Vector sum = linear(first, second, r);
    vfmadd231pd(sum, square, number(third));
    return sum;
  };
  const Vector sum = three(kGlibcBeside7, kGlibcBeside8, kGlibcBeside9);
  vfmadd231pd(sum, cube, number(kGlibcBeside10));
  const Vector second = three(kGlibcBeside4, kGlibcBeside5, kGlibcBeside6);
  vfmadd213pd(sum, cube, second);
  release(second);
  const Vector first = three(kGlibcBeside1, kGlibcBeside2, kGlibcBeside3);
  vfmadd213pd(sum, cube, first);
  release(first);
  release(square);

  const Vector high = taken(kGlibcSplit);
  vfmadd213pd(high, r, r);
  vfnmadd231pd(high, r, number(kGlibcSplit));
  const Vector high_square = taken();
  vmulpd(high_square, high, high);
  const Vector result = taken();
  const Vector low = taken();
  vmovapd(result, r);
  vfmadd231pd(result, high_square, number(kGlibcBeside0));
  vsubpd(low, r, result);
  vfmadd231pd(low, high_square, number(kGlibcBeside0));
  const Vector& rest = high_square;
  vsubpd(rest, r, high);
  vmulpd(rest, rest, number(kGlibcBeside0));
  vaddpd(high, r, high);
  vfmadd231pd(low, rest, high);
  vfmadd231pd(low, sum, cube);
  vaddpd(result, result, low);
  vblendvpd(out, result, out, is_elsewhere);
  for (const Vector& each : {r, cube, sum, high, high_square, result, low}) {
    release(each);
  }
}

}  // namespace tagalong::array

#endif
