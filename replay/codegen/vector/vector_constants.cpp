#include "replay/codegen/vector/vector_constants.h"

#ifdef __x86_64__

#include <array>
#include <bit>

#include "replay/arrays/libm/libm_constants.h"
#include "replay/arrays/libm/libm_tables.h"

namespace tagalong::array {
namespace {

// --- SVML

using Bits = std::uint64_t;
using Table = std::array<Bits, 8>;

template <class... Numbers>
constexpr std::array<Bits, sizeof...(Numbers)> all_bits(Numbers... numbers) {
  return {std::bit_cast<Bits>(numbers)...};
}

constexpr auto kOneOf = all_bits(-0.0, 1.0, -1.0, 0.75);
constexpr auto kOneOfFloats =
    std::array<Bits, 4>{std::bit_cast<std::uint32_t>(-0.0F), std::bit_cast<std::uint32_t>(1.0F),
                        std::bit_cast<std::uint32_t>(-1.0F), std::bit_cast<std::uint32_t>(0x1p-14F)};
constexpr std::array<Bits, 3> kHalvesOf{0x4330000000000000, 0x4530000080000000, 0x4530000080100000};
// Twice the bits of the largest magnitude that the steps cover: a left shift drops the sign.
constexpr std::array kExpLimitBits{std::bit_cast<Bits>(0x1.61da04cbafe44p+9) << 1U};
constexpr auto kExpPerLn2Bits = all_bits(0x1.71547652b82fep+0);
// Adding this to a number rounds it to sixteenths, as an integer in the last bits: the last four bits are the table
// index j, the bits in front of them are the integer part, which is added to the exponent.
constexpr auto kExpToPartBits = all_bits(0x1.8000000003ff0p+48);
constexpr auto kExpLn2Bits = all_bits(0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56);
constexpr auto kExpPolynomial = all_bits(0x1.fffffffffff70p-1, 0x1.000000000d008p-1, 0x1.5555553939732p-3,
                                         0x1.55557242d68fep-5, 0x1.1101cbbc265c0p-7, 0x1.7411836940c04p-10);
// 2^(j/16), less the bits of j (shifted by kIndexShift) and of the exponent 0, which the shifted integer adds again;
// and its relative rounding error.
template <class... Numbers>
constexpr std::array<Bits, sizeof...(Numbers)> powers(Bits first, Numbers... numbers) {
  std::array<Bits, sizeof...(Numbers)> each = all_bits(numbers...);
  for (Bits j = 0; j < each.size(); ++j) {
    each.at(j) -= std::bit_cast<Bits>(1.0) + ((first + j) << static_cast<unsigned>(kIndexShift));
  }
  return each;
}
constexpr Table kPowers =
    powers(0, 0x1.0000000000000p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0,
           0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0);
constexpr Table kPowersEnd =
    powers(8, 0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0,
           0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0);
constexpr Table kPowersLow =
    all_bits(0x0.0p+0, 0x1.79aa65d837b6dp-54, -0x1.01b15eaa59348p-55, 0x1.68efde3a8a894p-54, 0x1.34d754db0abb6p-55,
             0x1.59f48a72a4c6dp-55, 0x1.690cebb7aafb0p-56, 0x1.063e1e21c5409p-54);
constexpr Table kPowersLowEnd =
    all_bits(-0x1.3b3efbf5e2228p-54, -0x1.b32dcb94da51dp-56, 0x1.db72fc1f0eab4p-55, 0x1.1affc2b91ce27p-56,
             0x1.c1a7792cb3387p-55, 0x1.36eae30af0cb3p-56, 0x1.4a385a63d07a7p-56, -0x1.ff7128fd391f0p-55);

constexpr auto kLogLn2Bits = all_bits(0x1.62e42fefa0000p-1, 0x1.cf79abc9e0000p-40);
constexpr auto kLogPolynomial =
    all_bits(-0x1.fffffffffffc6p-2, 0x1.5555555555466p-2, -0x1.00000000c05bdp-2, 0x1.9999999cc9f5cp-3,
             -0x1.55553fb28db06p-3, 0x1.249229cee81efp-3, -0x1.007357e93af62p-3, 0x1.c81cd309d7c70p-4);
// -log(c) in two parts, for the reciprocals c from 1/2 to 1, multiples of 1/32. For those below 3/4 it is -log(2 c),
// and the exponent is larger by one.
constexpr Table kLogs =
    all_bits(0x0.0p+0, -0x1.f0a30c0120000p-5, -0x1.e27076e2b0000p-4, -0x1.5ff3070a78000p-3, -0x1.c8ff7c79a8000p-3,
             -0x1.1675cababc000p-2, -0x1.4618bc21c4000p-2, -0x1.739d7f6bbc000p-2);
constexpr Table kLogsEnd =
    all_bits(0x1.269621134c000p-2, 0x1.f991c6cb38000p-3, 0x1.a93ed3c8b0000p-3, 0x1.5bf406b540000p-3,
             0x1.1178e82280000p-3, 0x1.9335e5d590000p-4, 0x1.08598b59e0000p-4, 0x1.0415d89e80000p-5);
constexpr Table kLogsLow =
    all_bits(0x0.0p+0, 0x1.3ab33d066d1d2p-42, 0x1.a342c2af0003cp-45, -0x1.3d3c873e20a07p-43, -0x1.a21ac25d81ef3p-43,
             0x1.9f1fc63382a8fp-42, -0x1.ec27d0b7b37b3p-42, -0x1.0069ce24c53fbp-42);
constexpr Table kLogsLowEnd =
    all_bits(0x1.b92783beb7677p-42, 0x1.9bcbecca0cdf3p-42, -0x1.30e486a0ac42dp-42, 0x1.ed8fdc149767ep-42,
             -0x1.b8421cc74be04p-43, 0x1.2622b8757a8fbp-42, 0x1.d034451fecdfbp-43, -0x1.77771fd187145p-42);

// --- glibc (libm_constants.h explains the numbers)

constexpr Bits kInTable = (kPowersOfTwo.pairs.size() - 1) << static_cast<unsigned>(kPairBits);
static_assert(sizeof(kPowersOfTwo.pairs[0]) == 1U << static_cast<unsigned>(kPairBits) &&
              kLogarithms.pairs.size() == kPowersOfTwo.pairs.size());
// Range check of unsigned numbers with a signed comparison: n is in [first, end) if from(first) + n <=
// last_within(first, end), where the sum wraps around.
constexpr Bits from(Bits first) { return glibc::kSign - first; }
constexpr Bits last_within(Bits first, Bits end) { return glibc::kSign + (end - first) - 1; }

constexpr Bits bits(double number) { return std::bit_cast<Bits>(number); }

// The numbers of the constants, in the order of the enumerators from kFirstGlibc on.
constexpr std::array kGlibcNumbers{~glibc::kSign,
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
static_assert(kGlibcNumbers.size() ==
              static_cast<std::size_t>(Constant::kNone) - static_cast<std::size_t>(Constant::kFirstGlibc));

}  // namespace

std::span<const std::uint64_t> bits_of(Constant constant) {
  using enum Constant;
  if (is_glibc_number(constant)) {
    return std::span(kGlibcNumbers)
        .subspan(static_cast<std::size_t>(constant) - static_cast<std::size_t>(kFirstGlibc), 1);
  }
  const auto item = [&](const auto& items, Constant first) {
    return std::span(items).subspan(static_cast<std::size_t>(constant) - static_cast<std::size_t>(first), 1);
  };
  switch (constant) {
    case kSignBit:
    case kOne:
    case kMinusOne:
    case kThreeQuarters:
      return item(kOneOf, kSignBit);
    case kFloatSignBit:
    case kFloatSmallestHalf:
    case kFloatOne:
    case kFloatMinusOne:
      return item(kOneOfFloats, kFloatSignBit);
    case kLowHalfBits:
    case kHighHalfBits:
    case kHalvesBits:
      return item(kHalvesOf, kLowHalfBits);
    case kExpLimit:
      return kExpLimitBits;
    case kExpPerLn2:
      return kExpPerLn2Bits;
    case kExpToPart:
      return kExpToPartBits;
    case kExpLn2:
    case kExpLn2Low:
      return item(kExpLn2Bits, kExpLn2);
    case kExp0:
    case kExp1:
    case kExp2:
    case kExp3:
    case kExp4:
    case kExp5:
      return item(kExpPolynomial, kExp0);
    case kExpPower:
      return kPowers;
    case kExpPowerEnd:
      return kPowersEnd;
    case kExpPowerLow:
      return kPowersLow;
    case kExpPowerLowEnd:
      return kPowersLowEnd;
    case kLogLn2:
    case kLogLn2Low:
      return item(kLogLn2Bits, kLogLn2);
    case kLog0:
    case kLog1:
    case kLog2:
    case kLog3:
    case kLog4:
    case kLog5:
    case kLog6:
    case kLog7:
      return item(kLogPolynomial, kLog0);
    case kLogOf:
      return kLogs;
    case kLogOfEnd:
      return kLogsEnd;
    case kLogOfLow:
      return kLogsLow;
    case kLogOfLowEnd:
      return kLogsLowEnd;
    default:
      break;
  }
  return {};
}

namespace {

// Constants of one type of floats.
struct OperandConstants {
  std::array<Constant, 1> of_signs, of_reciprocal;
  std::array<Constant, 2> of_sign, of_modulus;
};
constexpr OperandConstants kOfDoubles{.of_signs{Constant::kSignBit},
                                      .of_reciprocal{Constant::kOne},
                                      .of_sign{Constant::kOne, Constant::kMinusOne},
                                      .of_modulus{Constant::kSignBit, Constant::kOne}};
constexpr OperandConstants kOfFloats{.of_signs{Constant::kFloatSignBit},
                                     .of_reciprocal{Constant::kFloatOne},
                                     .of_sign{Constant::kFloatOne, Constant::kFloatMinusOne},
                                     .of_modulus{Constant::kFloatSignBit, Constant::kFloatOne}};

constexpr std::array kOfHalves{Constant::kLowHalfBits, Constant::kHighHalfBits, Constant::kHalvesBits};
constexpr std::array kOfRounding{Constant::kFloatSignBit, Constant::kFloatSmallestHalf};

}  // namespace

std::span<const Constant> operands_of(const VectorOperation& operation) {
  if (operation.what == VectorOp::kToFloat && vector_lanes() == kAvx2Lanes &&
      info(operation.type).bytes == info(LaneType::kInt64).bytes) {
    return kOfHalves;
  }
  if (!is_float(operation.type)) {
    return {};
  }
  const OperandConstants& constants = operation.type == LaneType::kFloat32 ? kOfFloats : kOfDoubles;
  switch (operation.what) {
    case VectorOp::kNegative:
    case VectorOp::kAbsolute:
      return constants.of_signs;
    case VectorOp::kReciprocal:
      return constants.of_reciprocal;
    case VectorOp::kSign:
      return constants.of_sign;
    case VectorOp::kModulus:
      return constants.of_modulus;
    case VectorOp::kRoundHalf:
      return kOfRounding;
    default:
      return {};
  }
}

std::span<const Constant> kept_constants(VectorOp what) {
  using enum Constant;
  static constexpr std::array kOfExp{kExpLimit, kExpToPart, kExpLn2,      kExpLn2Low,     kExp0,
                                     kExp2,     kExp4,      kExpPowerEnd, kExpPowerLowEnd};
  static constexpr std::array kOfLog{kOne,  kThreeQuarters, kLogLn2, kLogLn2Low, kLog0,
                                     kLog2, kLog4,          kLog6,   kLogOfEnd,  kLogOfLowEnd};
  // Constants that start a polynomial come last, because glibc's steps copy them to a register anyway.
  static constexpr std::array kOfGlibcExp{kGlibcToInteger,  kGlibcLn2Part, kGlibcLn2PartLow, kGlibcExp0,
                                          kGlibcExp2,       kGlibcInTable, kGlibcMagnitude,  kGlibcExpLast,
                                          kGlibcExpSmaller, kGlibcPerLn2,  kGlibcExp1,       kGlibcExp3};
  static constexpr std::array kOfGlibcLog{kGlibcInTable,     kGlibcLogFirst,     kGlibcOne,          kGlibcLn2,
                                          kGlibcLog0,        kGlibcLog1,         kGlibcLog3,         kGlibcLn2Low,
                                          kGlibcOfInteger,   kGlibcExponentBits, kGlibcExponentBias, kGlibcIntegerBits,
                                          kGlibcNormalOffset};
  switch (what) {
    case VectorOp::kExp:
      return kOfExp;
    case VectorOp::kLog:
      return kOfLog;
    case VectorOp::kGlibcExp:
      return kOfGlibcExp;
    case VectorOp::kGlibcLog:
      return kOfGlibcLog;
    default:
      return {};
  }
}

}  // namespace tagalong::array

#endif
