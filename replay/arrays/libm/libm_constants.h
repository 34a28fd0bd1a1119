// Constants of glibc's exp, log and pow, in its build for processors with FMA. libm_steps.inc and the machine code of
// glibc_code.cpp share them.
#pragma once

#include <array>
#include <cstdint>

#include "replay/arrays/simd/lanes.h"

namespace tagalong::array::glibc {

// Bits of MXCSR that are set where the processor does not round to nearest, or flushes subnormal numbers.
inline constexpr unsigned kNonDefaultRounding = 0x6000 | kSubnormalsAreZeros;

inline constexpr std::uint64_t kSign = 1ULL << 63U;
inline constexpr double kToInteger = 0x1.8p52;  // adding it rounds a small number to an integer, in the last bits

// glibc has exp, log and pow from ARM's Optimized Routines, by S. Nagy, and so are these constants.
//
// exp: x = n ln(2)/128 + r, 2^(n/128) from a table (P. T. P. Tang, "Table-driven implementation of the exponential
// function in IEEE floating-point arithmetic", ACM TOMS 15, 1989).
inline constexpr std::uint64_t kExpSmallest = 0x3C90000000000000;  // 2^-54: the result for smaller arguments is 1
inline constexpr std::uint64_t kExpEnd = 0x4080000000000000;       // 512
inline constexpr double kPerLn2 = 0x1.71547652b82fep+7;
inline constexpr double kLn2Part = 0x1.62e42fefa0000p-8;
inline constexpr double kLn2PartLow = 0x1.cf79abc9e3b3ap-47;
inline constexpr int kPartBits = 7;
inline constexpr std::array kExponential{0x1.ffffffffffdbdp-2, 0x1.555555555543cp-3, 0x1.55555cf172b91p-5,
                                         0x1.1111167a4d017p-7};

// log: x = 2^e m, m from 11/16 to 11/8, r = m c - 1 with a reciprocal c from a table:
// log(x) = e ln 2 - log c + log(1 + r). (Tang, "Table-driven implementation of the logarithm function in IEEE
// floating-point arithmetic", ACM TOMS 16, 1990.) Near 1 it is a longer polynomial in x - 1, whose square is computed
// in two parts.
inline constexpr std::uint64_t kLeastNormal = 0x0010000000000000;
inline constexpr std::uint64_t kInfinity = 0x7FF0000000000000;
inline constexpr std::uint64_t kLogFirst = 0x3FE6000000000000;  // 11/16
inline constexpr int kLogShift = 45;
inline constexpr std::uint64_t kExponentBits = 0xFFF0000000000000;
inline constexpr int kMantissaBits = 52;
inline constexpr std::uint64_t kExponentBias = std::uint64_t{1024} << 52U;  // makes exponents non-negative
inline constexpr std::uint64_t kIntegerBits = 0x4330000000000000;           // the bits of 2^52
inline constexpr double kOfInteger = 0x1p52 + 1024;
inline constexpr double kLn2 = 0x1.62e42fefa3800p-1;
inline constexpr double kLn2Low = 0x1.ef35793c76730p-45;
inline constexpr std::array kLogarithm{-0x1.0000000000001p-1, 0x1.555555551305bp-2, -0x1.fffffffeb4590p-3,
                                       0x1.999b324f10111p-3, -0x1.55575e506c89fp-3};
inline constexpr std::uint64_t kNearOneBegin = 0x3FEE000000000000;  // 15/16
inline constexpr std::uint64_t kNearOneEnd = 0x3FF1090000000000;    // 1 + 265/4096
inline constexpr double kSplit = 0x1p27;
inline constexpr std::array kLogarithmNearOne{-0.5,
                                              0x1.5555555555577p-2,
                                              -0x1.ffffffffffdcbp-3,
                                              0x1.999999995dd0cp-3,
                                              -0x1.55555556745a7p-3,
                                              0x1.24924a344de30p-3,
                                              -0x1.fffffa4423d65p-4,
                                              0x1.c7184282ad6cap-4,
                                              -0x1.999eb43b068ffp-4,
                                              0x1.78182f7afd085p-4,
                                              -0x1.5521375d145cdp-4};

// pow: x^y = exp(y log x). The logarithm is a sum of two doubles. Its steps are those of log, with the rounding errors
// of large sums, and with a c of so few bits that r is exact. The polynomial is in r and -r^2/2, so its factors are
// multiplied by powers of -2.
inline constexpr std::uint64_t kPowerFirst = 0x3FE6955500000000;     // about 0.706
inline constexpr std::uint64_t kPowerSmallest = 0x3BE0000000000000;  // 2^-65: the result for a smaller y is 1
inline constexpr std::uint64_t kPowerEnd = 0x43E0000000000000;       // 2^63
inline constexpr std::uint64_t kWholeEnd = 0x4320000000000000;  // 2^51: adding kToInteger to larger numbers rounds them
inline constexpr std::array kPowerLogarithm{-0.5,
                                            -0x1.5555555555560p-1,
                                            0x1.0000000000006p-1,
                                            0x1.999999959554ep-1,
                                            -0x1.555555529a47ap-1,
                                            -0x1.2495b9b4845e9p+0,
                                            0x1.0002b8b263fc3p+0};

}  // namespace tagalong::array::glibc
