// exp and log of doubles by the steps of glibc's functions, as in near_steps.inc (near_numbers.h explains their
// numbers), four at once, between other operations. No step here can raise a flag that the function does not. Where
// there is a number among the four that these steps are not for (of exp a large one, of log zero or a negative one, for
// example), libm's function is called for them: such numbers often are few, as where exp has nothing left, and because
// of them all the rest of the region would be computed otherwise.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "replay/arrays/libm/near_numbers.h"
#include "replay/arrays/libm/near_tables.h"
#include "replay/codegen/vector/exact_narrow.h"

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
constexpr Bits from(Bits first) { return near::kSign - first; }
constexpr Bits last_within(Bits first, Bits end) { return near::kSign + (end - first) - 1; }

constexpr Bits bits(double number) { return std::bit_cast<Bits>(number); }

// In the order of the constants.
constexpr std::array kNumbers{~near::kSign,
                              bits(near::kToInteger),
                              kInTable,
                              bits(1.0),
                              near::kExpEnd - 1,
                              near::kExpSmallest - 1,
                              bits(near::kPerLn2),
                              bits(near::kLn2Part),
                              bits(near::kLn2PartLow),
                              bits(near::kExponential[0]),
                              bits(near::kExponential[1]),
                              bits(near::kExponential[2]),
                              bits(near::kExponential[3]),
                              from(near::kLeastNormal),
                              last_within(near::kLeastNormal, near::kInfinity),
                              near::kLogFirst,
                              near::kExponentBits,
                              near::kExponentBias,
                              near::kIntegerBits,
                              bits(near::kOfInteger),
                              bits(near::kLn2),
                              bits(near::kLn2Low),
                              bits(near::kLogarithm[0]),
                              bits(near::kLogarithm[1]),
                              bits(near::kLogarithm[2]),
                              bits(near::kLogarithm[3]),
                              bits(near::kLogarithm[4]),
                              from(near::kBesideOne),
                              last_within(near::kBesideOne, near::kBehindOne),
                              bits(near::kSplit),
                              bits(near::kLogarithmBesideOne[0]),
                              bits(near::kLogarithmBesideOne[1]),
                              bits(near::kLogarithmBesideOne[2]),
                              bits(near::kLogarithmBesideOne[3]),
                              bits(near::kLogarithmBesideOne[4]),
                              bits(near::kLogarithmBesideOne[5]),
                              bits(near::kLogarithmBesideOne[6]),
                              bits(near::kLogarithmBesideOne[7]),
                              bits(near::kLogarithmBesideOne[8]),
                              bits(near::kLogarithmBesideOne[9]),
                              bits(near::kLogarithmBesideOne[10])};
static_assert(kNumbers.size() ==
              static_cast<std::size_t>(Constant::kNone) - static_cast<std::size_t>(Constant::kFirstNear));

}  // namespace

std::span<const std::uint64_t> near_bits_of(Constant constant) {
  const auto index = static_cast<std::size_t>(constant) - static_cast<std::size_t>(Constant::kFirstNear);
  return std::span(kNumbers).subspan(index, 1);
}

// Those that wait for nothing else first: what is added to is read into a register anyway.
std::span<const Constant> kept_near_constants(Exact what) {
  using enum Constant;
  static constexpr std::array kOfExp{kNearToInteger,  kNearLn2Part, kNearLn2PartLow, kNearExp0,
                                     kNearExp2,       kNearInTable, kNearMagnitude,  kNearExpLast,
                                     kNearExpSmaller, kNearPerLn2,  kNearExp1,       kNearExp3};
  static constexpr std::array kOfLog{
      kNearInTable, kNearLogFirst,  kNearOne,          kNearLn2,          kNearLog0,        kNearLog1,      kNearLog3,
      kNearLn2Low,  kNearOfInteger, kNearExponentBits, kNearExponentBias, kNearIntegerBits, kNearFromNormal};
  return what == Exact::kNearExp ? std::span<const Constant>(kOfExp) : kOfLog;
}

// At once, beside the operand and the result.
std::size_t NarrowEmitter::near_registers(Exact what) {
  constexpr std::size_t kOfExp = 5;
  constexpr std::size_t kOfLog = 8;
  return what == Exact::kNearExp ? kOfExp : what == Exact::kNearLog ? kOfLog : 0;
}

NarrowEmitter::Number NarrowEmitter::number(Constant constant) {
  const int place = kept_place(constant);
  return place >= 0 ? Number(Vector(place)) : Number(ptr[pooled(constant)]);
}

NarrowEmitter::Vector NarrowEmitter::taken(Constant constant) {
  const Vector vector = taken();
  vmovapd(vector, number(constant));
  return vector;
}

NarrowEmitter::Aside& NarrowEmitter::aside_if_any(const Vector& lanes, LibmFunction function, const Vector& out,
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

void NarrowEmitter::aside() {
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
void NarrowEmitter::call_libm(LibmFunction function) {
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

NarrowEmitter::Vector NarrowEmitter::linear(Constant first, Constant second, const Vector& x) {
  const Vector sum = taken(second);
  vfmadd213pd(sum, x, number(first));
  return sum;
}

// One by one: on many processors that takes less time than the instruction for four.
void NarrowEmitter::look_up(const void* table, const Vector& places, const Vector& second) {
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

void NarrowEmitter::exponential(const Vector& out, const Vector& x) {
  using enum Constant;
  const Vector r = taken();
  vandpd(r, x, number(kNearMagnitude));
  vpcmpgtq(out, r, number(kNearExpLast));
  Aside& aside = aside_if_any(out, kExp, out, x);
  vpcmpgtq(r, r, number(kNearExpSmaller));
  vandpd(r, r, x);  // the result of zero is 1, too

  const Vector place = taken(kNearPerLn2);
  vfmadd213pd(place, x, number(kNearToInteger));
  vsubpd(out, place, number(kNearToInteger));
  vfnmadd231pd(r, out, number(kNearLn2Part));
  vfnmadd231pd(r, out, number(kNearLn2PartLow));
  const Vector scale = taken();
  const Vector sum = taken();
  vpsllq(scale, place, kPairBits);
  vpand(scale, scale, number(kNearInTable));
  look_up(kPowersByPlace.pairs.data(), scale, sum);
  vpsllq(place, place, near::kMantissaBits - near::kPartBits);
  vpaddq(scale, scale, place);
  release(place);

  vmulpd(out, r, r);
  vaddpd(sum, sum, r);
  const Vector first = linear(kNearExp0, kNearExp1, r);
  const Vector second = linear(kNearExp2, kNearExp3, r);
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

void NarrowEmitter::logarithm(const Vector& out, const Vector& x) {
  using enum Constant;
  vpaddq(out, x, number(kNearFromNormal));
  vpcmpgtq(out, out, number(kNearNormals));
  Aside& aside = aside_if_any(out, kLog, out, x);

  const Vector exponent = taken();
  const Vector c = taken();
  const Vector whole = taken();
  vpsubq(exponent, x, number(kNearLogFirst));
  vpsrlq(c, exponent, near::kLogShift - kPairBits);
  vpand(c, c, number(kNearInTable));
  look_up(kLogarithms.pairs.data(), c, whole);
  const Vector r = taken();
  vpand(r, exponent, number(kNearExponentBits));
  vpsubq(r, x, r);
  vfmsub213pd(r, c, number(kNearOne));
  vpaddq(exponent, exponent, number(kNearExponentBias));
  vpsrlq(exponent, exponent, near::kMantissaBits);
  vpor(exponent, exponent, number(kNearIntegerBits));
  vsubpd(exponent, exponent, number(kNearOfInteger));

  vfmadd231pd(whole, exponent, number(kNearLn2));
  const Vector& high = c;
  vaddpd(high, whole, r);
  vsubpd(whole, whole, high);
  vaddpd(whole, whole, r);
  vfmadd231pd(whole, exponent, number(kNearLn2Low));
  const Vector& square = exponent;
  vmulpd(square, r, r);
  vfmadd231pd(whole, square, number(kNearLog0));
  const Vector near = linear(kNearLog1, kNearLog2, r);
  const Vector far = linear(kNearLog3, kNearLog4, r);
  vfmadd231pd(near, far, square);
  vmulpd(r, r, square);
  vfmadd231pd(whole, r, near);
  vaddpd(out, whole, high);
  for (const Vector& each : {exponent, c, whole, r, near, far}) {
    release(each);
  }

  Label are_elsewhere;
  const Vector is_elsewhere = taken();
  vpaddq(is_elsewhere, x, number(kNearFromBeside));
  vpcmpgtq(is_elsewhere, is_elsewhere, number(kNearBesides));
  vmovmskpd(ecx, is_elsewhere);
  cmp(ecx, kAllLanes);
  je(are_elsewhere);
  logarithm_beside_one(out, x, is_elsewhere);
  L(are_elsewhere);
  release(is_elsewhere);
  L(aside.end);
}

void NarrowEmitter::logarithm_beside_one(const Vector& out, const Vector& x, const Vector& is_elsewhere) {
  using enum Constant;
  const Vector r = taken();
  vblendvpd(r, x, number(kNearOne), is_elsewhere);  // of others a cube may overflow
  vsubpd(r, r, number(kNearOne));
  const Vector square = taken();
  const Vector cube = taken();
  vmulpd(square, r, r);
  vmulpd(cube, r, square);
  const auto three = [&](Constant first, Constant second, Constant third) {
    const Vector sum = linear(first, second, r);
    vfmadd231pd(sum, square, number(third));
    return sum;
  };
  const Vector sum = three(kNearBeside7, kNearBeside8, kNearBeside9);
  vfmadd231pd(sum, cube, number(kNearBeside10));
  const Vector second = three(kNearBeside4, kNearBeside5, kNearBeside6);
  vfmadd213pd(sum, cube, second);
  release(second);
  const Vector first = three(kNearBeside1, kNearBeside2, kNearBeside3);
  vfmadd213pd(sum, cube, first);
  release(first);
  release(square);

  const Vector high = taken(kNearSplit);
  vfmadd213pd(high, r, r);
  vfnmadd231pd(high, r, number(kNearSplit));
  const Vector high_square = taken();
  vmulpd(high_square, high, high);
  const Vector result = taken();
  const Vector low = taken();
  vmovapd(result, r);
  vfmadd231pd(result, high_square, number(kNearBeside0));
  vsubpd(low, r, result);
  vfmadd231pd(low, high_square, number(kNearBeside0));
  const Vector& rest = high_square;
  vsubpd(rest, r, high);
  vmulpd(rest, rest, number(kNearBeside0));
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
