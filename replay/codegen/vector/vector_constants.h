// Constants of fused kernels: sign bit and units, and the limits, coefficients and tables of the functions
// (svml_code.cpp, glibc_code.cpp). They are in memory behind the code. A table of 16 is two constants of eight numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "replay/codegen/vector/vector_code.h"

namespace tagalong::array {

enum class Constant : std::uint8_t {
  kSignBit,
  kOne,
  kMinusOne,
  kThreeQuarters,
  // the same for floats
  kFloatSignBit,
  kFloatOne,
  kFloatMinusOne,
  kFloatSmallestHalf,  // the smallest normal float16
  // int64 to float64 (AVX2)
  kLowHalfBits,   // 2^52: the fraction is the lower half
  kHighHalfBits,  // 2^84, and the sign of the higher half, which is the fraction's beginning
  kHalvesBits,    // 2^84 + 2^63 + 2^52
  // exp (SVML's steps)
  kExpLimit,
  kExpPerLn2,
  kExpToPart,
  kExpLn2,
  kExpLn2Low,
  kExp0,
  kExp1,
  kExp2,
  kExp3,
  kExp4,
  kExp5,
  kExpPower,
  kExpPowerEnd,
  kExpPowerLow,
  kExpPowerLowEnd,
  // log (SVML's steps)
  kLogLn2,
  kLogLn2Low,
  kLog0,
  kLog1,
  kLog2,
  kLog3,
  kLog4,
  kLog5,
  kLog6,
  kLog7,
  kLogOf,
  kLogOfEnd,
  kLogOfLow,
  kLogOfLowEnd,
  // exp and log (glibc's steps); in memory each is repeated for all lanes
  kFirstGlibc,
  kGlibcMagnitude = kFirstGlibc,
  kGlibcToInteger,
  kGlibcInTable,
  kGlibcOne,
  kGlibcExpLast,
  kGlibcExpSmaller,
  kGlibcPerLn2,
  kGlibcLn2Part,
  kGlibcLn2PartLow,
  kGlibcExp0,
  kGlibcExp1,
  kGlibcExp2,
  kGlibcExp3,
  kGlibcNormalOffset,
  kGlibcNormalLast,
  kGlibcLogFirst,
  kGlibcExponentBits,
  kGlibcExponentBias,
  kGlibcIntegerBits,
  kGlibcOfInteger,
  kGlibcLn2,
  kGlibcLn2Low,
  kGlibcLog0,
  kGlibcLog1,
  kGlibcLog2,
  kGlibcLog3,
  kGlibcLog4,
  kGlibcNearOneOffset,
  kGlibcNearOneLast,
  kGlibcSplit,
  kGlibcNearOne0,
  kGlibcNearOne1,
  kGlibcNearOne2,
  kGlibcNearOne3,
  kGlibcNearOne4,
  kGlibcNearOne5,
  kGlibcNearOne6,
  kGlibcNearOne7,
  kGlibcNearOne8,
  kGlibcNearOne9,
  kGlibcNearOne10,
  kNone
};
inline constexpr auto kConstants = static_cast<std::size_t>(Constant::kNone);
constexpr bool is_glibc_number(Constant constant) {
  return constant >= Constant::kFirstGlibc && constant < Constant::kNone;
}

inline constexpr int kIndexShift =
    48;                              // moves the last four bits of an SVML table index to the first four of a fraction
inline constexpr int kPairBits = 4;  // glibc's tables have pairs of doubles, which are 16 bytes

// The bits of a constant: one number for all lanes, or one for each lane. Those of a float are the lower half.
[[nodiscard]] std::span<const std::uint64_t> bits_of(Constant constant);
// Constants that follow an operation's operands.
[[nodiscard]] std::span<const Constant> operands_of(const VectorOperation& operation);
// Constants of a function that gain most from a register, the most valuable first: its steps read and do not overwrite
// them.
[[nodiscard]] std::span<const Constant> kept_constants(VectorOp what);

}  // namespace tagalong::array
