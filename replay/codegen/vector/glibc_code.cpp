#include "replay/codegen/vector/glibc_code.h"

#ifdef __x86_64__

#include <algorithm>
#include <array>
#include <cmath>

#include "replay/arrays/libm/libm_constants.h"
#include "replay/arrays/libm/libm_tables.h"

namespace tagalong::array {
namespace {

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

}  // namespace

std::size_t GlibcCode::registers_of(VectorOp what) {
  constexpr std::size_t kOfExp = 5;
  constexpr std::size_t kOfLog = 8;
  return what == VectorOp::kGlibcExp ? kOfExp : what == VectorOp::kGlibcLog ? kOfLog : 0;
}

// Stores MXCSR in the red zone below the stack.
void GlibcCode::check_rounding_mode() {
  if (std::ranges::none_of(spec_.operations, is_glibc, &VectorOperation::what)) {
    return;
  }
  constexpr int kSize = 4;
  Label is_default;
  asm_.stmxcsr(dword[rsp - kSize]);
  asm_.test(dword[rsp - kSize], glibc::kNonDefaultRounding);
  asm_.jz(is_default);
  asm_.mov(eax, 1);
  asm_.ret();
  asm_.L(is_default);
}

void GlibcCode::compute(VectorOp what, int out, int x) {
  if (what == VectorOp::kGlibcExp) {
    exponential(Vector(out), Vector(x));
  } else {
    logarithm(Vector(out), Vector(x));
  }
}

GlibcCode::Number GlibcCode::number(Constant constant) {
  const int reg = values_.kept_register(constant);
  return reg >= 0 ? Number(Vector(reg)) : Number(ptr[memory_.operand(constant)]);
}

Vector GlibcCode::temporary(Constant constant) {
  const Vector vector = temporary();
  asm_.vmovapd(vector, number(constant));
  return vector;
}

GlibcCode::ColdPath& GlibcCode::jump_if_any(const Vector& lanes, LibmFunction function, const Vector& out,
                                            const Vector& x) {
  ColdPath& cold_path = cold_paths_.emplace_back();
  cold_path.function = function;
  cold_path.x = x.getIdx();
  cold_path.out = out.getIdx();
  asm_.vmovmskpd(ecx, lanes);
  asm_.test(ecx, ecx);
  asm_.jnz(cold_path.begin);
  return cold_path;
}

void GlibcCode::emit_cold_paths() {
  for (const LibmFunction function : {kExp, kLog}) {
    Label call_function;
    bool is_called = false;
    for (ColdPath& cold_path : cold_paths_) {
      if (cold_path.function != function) {
        continue;
      }
      is_called = true;
      asm_.L(cold_path.begin);
      asm_.mov(ecx, cold_path.x * kVectorBytes);
      asm_.mov(edx, cold_path.out * kVectorBytes);
      asm_.call(call_function);
      asm_.test(ecx, ecx);
      asm_.jz(cold_path.end);
      asm_.mark_all();
      asm_.jmp(cold_path.end);
    }
    if (is_called) {
      asm_.L(call_function);
      call_libm(function);
    }
  }
}

// Emits a function that saves all vector registers to the stack, computes the register at byte offset rdx from the one
// at rcx, and restores them. Sets ecx to whether a result is a NaN.
void GlibcCode::call_libm(LibmFunction function) {
  const std::array saved{rax, rsi, rdi, r8, r9, r10, r11, rbp};
  for (const Xbyak::Reg64& number : saved) {
    asm_.push(number);
  }
  asm_.mov(rbp, rsp);
  asm_.sub(rsp, asm_.unit().registers * kVectorBytes);
  asm_.and_(rsp, -kVectorBytes);
  for (int reg = 0; reg < asm_.unit().registers; ++reg) {
    asm_.vmovapd(ptr[rsp + reg * kVectorBytes], Vector(reg));
  }
  asm_.lea(rsi, ptr[rsp + rcx]);
  asm_.lea(rdx, ptr[rsp + rdx]);
  asm_.mov(rdi, reinterpret_cast<std::size_t>(function));
  asm_.mov(rax, reinterpret_cast<std::size_t>(&call_four));
  asm_.vzeroupper();
  asm_.call(rax);
  asm_.mov(ecx, eax);
  for (int reg = 0; reg < asm_.unit().registers; ++reg) {
    asm_.vmovapd(Vector(reg), ptr[rsp + reg * kVectorBytes]);
  }
  asm_.mov(rsp, rbp);
  for (std::size_t i = saved.size(); i-- > 0;) {
    asm_.pop(saved.at(i));
  }
  asm_.ret();
}

Vector GlibcCode::linear(Constant first, Constant second, const Vector& x) {
  const Vector sum = temporary(second);
  asm_.vfmadd213pd(sum, x, number(first));
  return sum;
}

// Loads lane by lane: on many processors that is faster than a gather instruction.
void GlibcCode::look_up(const void* table, const Vector& offsets, const Vector& second) {
  const Vector first = temporary();
  const Xmm index(offsets.getIdx());
  asm_.mov(rdx, reinterpret_cast<std::size_t>(table));
  asm_.vmovq(rcx, index);
  asm_.vmovapd(Xmm(first.getIdx()), ptr[rdx + rcx]);
  asm_.vpextrq(rcx, index, 1);
  asm_.vmovapd(Xmm(second.getIdx()), ptr[rdx + rcx]);
  asm_.vextracti128(index, offsets, 1);
  asm_.vmovq(rcx, index);
  asm_.vinsertf128(first, first, ptr[rdx + rcx], 1);
  asm_.vpextrq(rcx, index, 1);
  asm_.vinsertf128(second, second, ptr[rdx + rcx], 1);
  asm_.vunpcklpd(offsets, first, second);
  asm_.vunpckhpd(second, first, second);
  release(first);
}

void GlibcCode::exponential(const Vector& out, const Vector& x) {
  using enum Constant;
  const Vector r = temporary();
  asm_.vandpd(r, x, number(kGlibcMagnitude));
  asm_.vpcmpgtq(out, r, number(kGlibcExpLast));
  ColdPath& cold_path = jump_if_any(out, kExp, out, x);
  asm_.vpcmpgtq(r, r, number(kGlibcExpSmaller));
  asm_.vandpd(r, r, x);  // exp of a tiny number is 1, as exp of zero

  const Vector index = temporary(kGlibcPerLn2);
  asm_.vfmadd213pd(index, x, number(kGlibcToInteger));
  asm_.vsubpd(out, index, number(kGlibcToInteger));
  asm_.vfnmadd231pd(r, out, number(kGlibcLn2Part));
  asm_.vfnmadd231pd(r, out, number(kGlibcLn2PartLow));
  const Vector scale = temporary();
  const Vector sum = temporary();
  asm_.vpsllq(scale, index, kPairBits);
  asm_.vpand(scale, scale, number(kGlibcInTable));
  look_up(kPowersByPlace.pairs.data(), scale, sum);
  asm_.vpsllq(index, index, glibc::kMantissaBits - glibc::kPartBits);
  asm_.vpaddq(scale, scale, index);
  release(index);

  asm_.vmulpd(out, r, r);
  asm_.vaddpd(sum, sum, r);
  const Vector first = linear(kGlibcExp0, kGlibcExp1, r);
  const Vector second = linear(kGlibcExp2, kGlibcExp3, r);
  release(r);
  asm_.vfmadd231pd(sum, first, out);
  asm_.vmulpd(out, out, out);
  asm_.vfmadd231pd(sum, out, second);
  asm_.vmovapd(out, scale);
  asm_.vfmadd231pd(out, scale, sum);
  for (const Vector& each : {scale, sum, first, second}) {
    release(each);
  }
  asm_.L(cold_path.end);
}

void GlibcCode::logarithm(const Vector& out, const Vector& x) {
  using enum Constant;
  asm_.vpaddq(out, x, number(kGlibcNormalOffset));
  asm_.vpcmpgtq(out, out, number(kGlibcNormalLast));
  ColdPath& cold_path = jump_if_any(out, kLog, out, x);

  const Vector exponent = temporary();
  const Vector c = temporary();
  const Vector whole = temporary();
  asm_.vpsubq(exponent, x, number(kGlibcLogFirst));
  asm_.vpsrlq(c, exponent, glibc::kLogShift - kPairBits);
  asm_.vpand(c, c, number(kGlibcInTable));
  look_up(kLogarithms.pairs.data(), c, whole);
  const Vector r = temporary();
  asm_.vpand(r, exponent, number(kGlibcExponentBits));
  asm_.vpsubq(r, x, r);
  asm_.vfmsub213pd(r, c, number(kGlibcOne));
  asm_.vpaddq(exponent, exponent, number(kGlibcExponentBias));
  asm_.vpsrlq(exponent, exponent, glibc::kMantissaBits);
  asm_.vpor(exponent, exponent, number(kGlibcIntegerBits));
  asm_.vsubpd(exponent, exponent, number(kGlibcOfInteger));

  asm_.vfmadd231pd(whole, exponent, number(kGlibcLn2));
  const Vector& high = c;
  asm_.vaddpd(high, whole, r);
  asm_.vsubpd(whole, whole, high);
  asm_.vaddpd(whole, whole, r);
  asm_.vfmadd231pd(whole, exponent, number(kGlibcLn2Low));
  const Vector& square = exponent;
  asm_.vmulpd(square, r, r);
  asm_.vfmadd231pd(whole, square, number(kGlibcLog0));
  const Vector low_terms = linear(kGlibcLog1, kGlibcLog2, r);
  const Vector high_terms = linear(kGlibcLog3, kGlibcLog4, r);
  asm_.vfmadd231pd(low_terms, high_terms, square);
  asm_.vmulpd(r, r, square);
  asm_.vfmadd231pd(whole, r, low_terms);
  asm_.vaddpd(out, whole, high);
  for (const Vector& each : {exponent, c, whole, r, low_terms, high_terms}) {
    release(each);
  }

  Label none_near_one;
  const Vector is_not_near_one = temporary();
  asm_.vpaddq(is_not_near_one, x, number(kGlibcNearOneOffset));
  asm_.vpcmpgtq(is_not_near_one, is_not_near_one, number(kGlibcNearOneLast));
  asm_.vmovmskpd(ecx, is_not_near_one);
  asm_.cmp(ecx, kAllLanes);
  asm_.je(none_near_one);
  logarithm_near_one(out, x, is_not_near_one);
  asm_.L(none_near_one);
  release(is_not_near_one);
  asm_.L(cold_path.end);
}

void GlibcCode::logarithm_near_one(const Vector& out, const Vector& x, const Vector& is_not_near_one) {
  using enum Constant;
  const Vector r = temporary();
  asm_.vblendvpd(r, x, number(kGlibcOne), is_not_near_one);  // a cube of another number may overflow
  asm_.vsubpd(r, r, number(kGlibcOne));
  const Vector square = temporary();
  const Vector cube = temporary();
  asm_.vmulpd(square, r, r);
  asm_.vmulpd(cube, r, square);
  const auto three = [&](Constant first, Constant second, Constant third) {
    const Vector sum = linear(first, second, r);
    asm_.vfmadd231pd(sum, square, number(third));
    return sum;
  };
  const Vector sum = three(kGlibcNearOne7, kGlibcNearOne8, kGlibcNearOne9);
  asm_.vfmadd231pd(sum, cube, number(kGlibcNearOne10));
  const Vector second = three(kGlibcNearOne4, kGlibcNearOne5, kGlibcNearOne6);
  asm_.vfmadd213pd(sum, cube, second);
  release(second);
  const Vector first = three(kGlibcNearOne1, kGlibcNearOne2, kGlibcNearOne3);
  asm_.vfmadd213pd(sum, cube, first);
  release(first);
  release(square);

  const Vector high = temporary(kGlibcSplit);
  asm_.vfmadd213pd(high, r, r);
  asm_.vfnmadd231pd(high, r, number(kGlibcSplit));
  const Vector high_square = temporary();
  asm_.vmulpd(high_square, high, high);
  const Vector result = temporary();
  const Vector low = temporary();
  asm_.vmovapd(result, r);
  asm_.vfmadd231pd(result, high_square, number(kGlibcNearOne0));
  asm_.vsubpd(low, r, result);
  asm_.vfmadd231pd(low, high_square, number(kGlibcNearOne0));
  const Vector& rest = high_square;
  asm_.vsubpd(rest, r, high);
  asm_.vmulpd(rest, rest, number(kGlibcNearOne0));
  asm_.vaddpd(high, r, high);
  asm_.vfmadd231pd(low, rest, high);
  asm_.vfmadd231pd(low, sum, cube);
  asm_.vaddpd(result, result, low);
  asm_.vblendvpd(out, result, out, is_not_near_one);
  for (const Vector& each : {r, cube, sum, high, high_square, result, low}) {
    release(each);
  }
}

}  // namespace tagalong::array

#endif
