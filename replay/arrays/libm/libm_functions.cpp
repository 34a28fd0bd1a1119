#include "replay/arrays/libm/libm_functions.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

#include "replay/arrays/libm/libm_constants.h"
#include "replay/arrays/libm/libm_samples.h"
#include "replay/arrays/libm/libm_steps.h"
#include "replay/arrays/numpy/float_status.h"

namespace tagalong::array {

LoopTally glibc_tally;

#if defined(__x86_64__) && defined(__GLIBC__)

namespace {

// Blocks that go to NumPy's loop at once, after a block with mostly uncovered elements (more than three in four).
constexpr unsigned kPausedBlocks = 15;

// Writes NumPy's results for the uncovered elements to their positions.
void put_back(double* out, Extent count, const LeftOver& left_over) {
  const double* from = left_over.out.data();
  for (Extent i = 0; i < count; i += kGlibcTogether * kLanes) {
    std::uint64_t lanes = 0;
    std::memcpy(&lanes, left_over.lanes.data() + i / kLanes, sizeof(lanes));
    for (; lanes != 0; lanes &= lanes - 1) {
      out[i + std::countr_zero(lanes)] = *from++;
    }
  }
}

struct Replacement {
  StridedLoop loop = nullptr;
  LibmSteps steps = nullptr;
  bool is_used = false;
  std::atomic<unsigned> paused = 0;  // blocks; threads share the count
};
template <GlibcFunction function>
Replacement replacement;

constexpr Extent kSize = sizeof(double);

// The pointers to the operands and the result, as NumPy's loops have them: without const.
template <GlibcFunction function>
std::array<char*, operand_count(function) + 1> loop_data(const Operands& in, double* out) {
  const auto bytes = [](const double* items) { return reinterpret_cast<char*>(const_cast<double*>(items)); };
  if constexpr (operand_count(function) == 1) {
    return {bytes(in[0]), bytes(out)};
  } else {
    return {bytes(in[0]), bytes(in[1]), bytes(out)};
  }
}

template <GlibcFunction function>
int glibc_block(MethodContext* context, const Operands& in, double* out, Extent count, void* auxdata) {
  constexpr std::array kContiguous{kSize, kSize, kSize};
  const auto call = [&](const Operands& from, double* to, Extent elements) {
    const std::array data = loop_data<function>(from, to);
    return replacement<function>.loop(context, data.data(), &elements, kContiguous.data(), auxdata);
  };
  std::atomic<unsigned>& paused = replacement<function>.paused;
  if (const unsigned pause = paused.load(std::memory_order_relaxed); pause > 0) {
    paused.store(pause - 1, std::memory_order_relaxed);
    return call(in, out, count);
  }
  LeftOver left_over;  // NOLINT(cppcoreguidelines-pro-type-member-init): written before it is read
  const Extent left = replacement<function>.steps(in, out, count, &left_over);
  glibc_tally.computed.add(static_cast<std::uint64_t>(count - left));
  if (left == 0) {
    return 0;
  }
  glibc_tally.left.add(static_cast<std::uint64_t>(left));
  if (left > count - count / 4) {
    paused.store(kPausedBlocks, std::memory_order_relaxed);
  }
  const int status = call({left_over.in[0].data(), left_over.in[1].data()}, left_over.out.data(), left);
  put_back(out, count, left_over);
  return status;
}

bool has_default_rounding() { return (_mm_getcsr() & glibc::kNonDefaultRounding) == 0; }

// Whether an operand does not overlap the result, or is the same memory.
bool is_apart(const char* operand, Extent stride, const char* out, Extent count) {
  const char* first = operand + std::min<Extent>(0, stride * (count - 1));
  const Extent length = std::abs(stride) * (count - 1) + kSize;
  return (operand == out && stride == kSize) || first + length <= out || out + count * kSize <= first;
}

template <GlibcFunction function>
bool can_take_steps(char* const* data, Extent count, const Extent* strides) {
  constexpr std::size_t kOperands = operand_count(function);
  bool can = count >= kLeastGlibc && strides[kOperands] == kSize && has_default_rounding();
  for (std::size_t n = 0; n < kOperands; ++n) {
    can = can && is_apart(data[n], strides[n], data[kOperands], count);
  }
  if constexpr (function == GlibcFunction::kPower) {
    // For such an exponent of a whole array NumPy may compute a reciprocal, root or square, whose bits are nearly
    // always those of pow. The trial would find other such shortcuts, which round more than once.
    constexpr std::array kShortcuts{-1.0, 0.0, 0.5, 1.0, 2.0};
    if (can && strides[1] == 0) {
      double exponent = 0;
      std::memcpy(&exponent, data[1], sizeof(exponent));
      can = std::ranges::find(kShortcuts, exponent) == kShortcuts.end();
    }
  }
  return can;
}

// A block of an operand's elements, copied where they do not lie side by side.
class Block {
 public:
  const double* operator()(const char* operand, Extent stride, Extent begin, Extent count) {
    const char* from = operand + begin * stride;
    if (stride == kSize) {
      return reinterpret_cast<const double*>(from);
    }
    if (stride != 0 || begin == 0) {
      for (Extent i = 0; i < count; ++i) {
        std::memcpy(&items_[static_cast<std::size_t>(i)], from + i * stride, sizeof(double));
      }
    }
    return items_.data();
  }

 private:
  std::array<double, kGlibcBlock> items_;
};

template <GlibcFunction function>
int glibc_strided(MethodContext* context, char* const* data, const Extent* dims, const Extent* strides, void* auxdata) {
  constexpr std::size_t kOperands = operand_count(function);
  const Extent count = dims[0];
  if (!can_take_steps<function>(data, count, strides)) {
    return replacement<function>.loop(context, data, dims, strides, auxdata);
  }
  std::array<Block, kOperands> blocks;  // NOLINT(cppcoreguidelines-pro-type-member-init): written before they are read
  auto* out = reinterpret_cast<double*>(data[kOperands]);
  for (Extent i = 0, block = 0; i < count; i += block) {
    const Extent left = count - i;
    block = left <= kGlibcBlock ? left : std::min(kGlibcBlock, left - kLeastGlibc);
    Operands in{};
    for (std::size_t n = 0; n < kOperands; ++n) {
      in[n] = blocks[n](data[n], strides[n], i, block);
    }
    if (glibc_block<function>(context, in, out + i, block, auxdata) != 0) {
      return -1;
    }
  }
  return 0;
}

using Libm = double (*)(double, double);  // functions of one argument ignore the second

constexpr Extent kSampleCount = 512;  // the comparison takes part of the program's first call
using Samples = std::array<double, kSampleCount>;

// Arguments of all magnitudes that the steps cover and some others, half of them common in programs; and chosen ones
// that distinguish libm's function from NumPy's other loops and from the same steps with other roundings.
Samples samples(GlibcFunction function) {
  Samples made;
  std::uint64_t state = 1;
  for (double& sample : made) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;  // Knuth's MMIX generator
    const double uniform = static_cast<double>(static_cast<std::int64_t>(state)) * 0x1p-63;
    const auto power = static_cast<int>(state >> 10U & 63U);
    sample = (state >> 9U & 1U) != 0 ? uniform * 10 : std::ldexp(uniform, power - 24);
    sample = function == GlibcFunction::kLog ? std::abs(sample) : sample;
  }
  if (function == GlibcFunction::kArcsine) {
    // Two arguments of each 256th up to 1, and some small ones.
    constexpr Extent kParts = kSampleCount / 2;
    for (std::size_t i = 0; i < kSampleCount; ++i) {
      const double fraction = std::abs(std::fmod(made[i], 1.0));
      const std::size_t part = i / 2;
      const double length = (static_cast<double>(part) + fraction) / static_cast<double>(kParts);
      made[i] = std::copysign(i % 16 == 0 ? std::ldexp(fraction, -static_cast<int>(i / 16)) : length, made[i]);
    }
    std::ranges::copy(kFusedArcsines, made.begin());
  } else if (function == GlibcFunction::kSine || function == GlibcFunction::kCosine) {
    std::ranges::copy(kFusedSines, made.begin());
  } else if (function == GlibcFunction::kExp) {
    std::ranges::copy(kFusedExps, made.begin());
  } else if (function == GlibcFunction::kLog) {
    std::ranges::copy(kFusedLogs, std::ranges::copy(kMisroundedLogs, made.begin()).out);
  }
  return made;
}

constexpr Extent kNumbers = 8;  // samples that are each compared as the exponent of all bases and as the base

// The samples of each operand. Bases are of all magnitudes. Most exponents are small, or such that the logarithm of the
// result is up to 700.
std::array<Samples, 2> sample_operands(GlibcFunction function) {
  std::array<Samples, 2> made{samples(function)};
  if (function != GlibcFunction::kPower) {
    return made;
  }
  made[1] = made[0];
  std::ranges::reverse(made[1]);
  for (std::size_t i = 0; i < kSampleCount; ++i) {
    made[0][i] = std::abs(i % 4 == 0 ? std::ldexp(made[0][i], static_cast<int>(i)) : made[0][i]);
    const double most = 700 / std::abs(std::log(made[0][i]));
    made[1][i] = i % 2 == 0 ? made[1][i] : std::fmod(made[1][i], 1.0) * most;
  }
  constexpr std::array<double, kNumbers> kExponents{3.0, -2.0, 1.5, -0.5, 4.0, 1.0 / 3.0, 2.5, -3.0};
  std::ranges::copy(kExponents, made[1].begin());
  made[0][0] = 2;
  made[0][1] = 10;
  for (std::size_t i = 0; i < kFusedPowers.size(); ++i) {
    made[0][kNumbers + i] = kFusedPowers[i].base;
    made[1][kNumbers + i] = kFusedPowers[i].exponent;
  }
  return made;
}

// Compares bits and flags for arguments for which machine code calls libm (glibc_code.cpp). Any NaN equals any other:
// the code reports NaNs as ambiguous.
bool matches_libm(Libm libm, StridedLoop loop, MethodContext* context, void* auxdata) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kSignalling = std::numeric_limits<double>::signaling_NaN();
  constexpr std::array kSpecial{kInfinite, -kInfinite, kNan, -kNan,  kSignalling, 0.0,    -0.0,      -1.0,
                                -1e300,    1e300,      710., -708.5, -745.0,      -746.0, 0x1p-1030, 0x1p-1074};
  constexpr int kReported = FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID;
  return std::ranges::all_of(kSpecial, [&](double special) {
    double result = 0;
    constexpr std::array<Extent, 2> kStrides{sizeof(double), sizeof(double)};
    constexpr Extent kOne = 1;
    const std::array data{reinterpret_cast<char*>(&special), reinterpret_cast<char*>(&result)};
    std::feclearexcept(FE_ALL_EXCEPT);
    const bool is_done = loop(context, data.data(), &kOne, kStrides.data(), auxdata) == 0;
    const int numpy_flags = std::fetestexcept(kReported);
    std::feclearexcept(FE_ALL_EXCEPT);
    const double expected = libm(special, special);
    return is_done && std::fetestexcept(kReported) == numpy_flags &&
           (std::bit_cast<std::uint64_t>(expected) == std::bit_cast<std::uint64_t>(result) ||
            (std::isnan(expected) && std::isnan(result)));
  });
}

template <GlibcFunction function>
bool has_same_bits(Libm libm, StridedLoop loop, MethodContext* context, void* auxdata) {
  constexpr std::size_t kOperands = operand_count(function);
  const std::array<Samples, 2> in = sample_operands(function);
  // Compares the results for every first_step-th sample of the first operand and every last_step-th one of the last
  // operand. With a step of 0 that operand is a number.
  const auto agrees = [&](StridedLoop tried, Extent first_step, Extent last_step, Extent out_step, Extent number = 0) {
    Samples out{};
    const Extent count = kSampleCount / std::max({first_step, last_step, out_step});
    const std::array operands{in[0].data() + (first_step == 0 ? number : 0),
                              in[1].data() + (last_step == 0 ? number : 0)};
    const std::array data = loop_data<function>(operands, out.data());
    std::array<Extent, kOperands + 1> strides{first_step * kSize};
    strides[kOperands - 1] = last_step * kSize;
    strides[kOperands] = out_step * kSize;
    bool same = tried(context, data.data(), &count, strides.data(), auxdata) == 0;
    for (Extent i = 0; i < count; ++i) {
      const double expected = libm(operands[0][i * first_step], operands[1][i * last_step]);
      same = same && std::bit_cast<std::uint64_t>(expected) ==
                         std::bit_cast<std::uint64_t>(out[static_cast<std::size_t>(i * out_step)]);
    }
    return same;
  };
  const LibmSteps steps = has_avx512() ? avx512_steps(function) : avx2_steps(function);
  const bool is_fused = function == GlibcFunction::kExp || function == GlibcFunction::kLog;
  if (is_fused && !matches_libm(libm, loop, context, auxdata)) {
    return false;
  }
  if (steps == nullptr || !agrees(loop, 1, 1, 1) || !agrees(loop, 2, 2, 1) || !agrees(loop, 1, 1, 2) ||
      !agrees(loop, 3, 3, 3)) {
    return false;
  }
  for (Extent number = 0; kOperands > 1 && number < kNumbers; ++number) {
    if (!agrees(loop, 0, 1, 1, number) || !agrees(loop, 1, 0, 1, number)) {
      return false;
    }
  }
  replacement<function>.loop = loop;
  replacement<function>.steps = steps;
  return agrees(glibc_strided<function>, 1, 1, 1);
}

template <GlibcFunction function>
StridedLoop replace_loop(Libm libm, StridedLoop loop, MethodContext* context, void* auxdata) {
  static const bool is_usable = [&] {
    const FloatStatusScope scope;  // the samples raise flags
    replacement<function>.is_used = has_same_bits<function>(libm, loop, context, auxdata);
    return replacement<function>.is_used;
  }();
  return is_usable && replacement<function>.loop == loop ? glibc_strided<function> : loop;
}

}  // namespace

StridedLoop glibc_loop(UfuncName ufunc, StridedLoop loop, MethodContext* context, void* auxdata) {
  switch (ufunc) {
#define TAGALONG_GLIBC(id, steps, function, operation) \
  case UfuncName::id:                                  \
    return replace_loop<GlibcFunction::steps>([](double x, double) { return function(x); }, loop, context, auxdata);
#define TAGALONG_GLIBC_OF_TWO(id, steps, function)                                                              \
  case UfuncName::id:                                                                                           \
    return replace_loop<GlibcFunction::steps>([](double x, double y) { return function(x, y); }, loop, context, \
                                              auxdata);
#include "replay/arrays/numpy/ufuncs.def"
    default:
      return loop;
  }
}

std::vector<std::string_view> glibc_functions() {
  std::vector<std::string_view> names;
#define TAGALONG_GLIBC(id, steps, function, operation) \
  if (replacement<GlibcFunction::steps>.is_used) {     \
    names.emplace_back(name_of(UfuncName::id));        \
  }
#define TAGALONG_GLIBC_OF_TWO(id, steps, function) TAGALONG_GLIBC(id, steps, function, kNone)
#include "replay/arrays/numpy/ufuncs.def"
  return names;
}

#else

std::vector<std::string_view> glibc_functions() { return {}; }

StridedLoop glibc_loop(UfuncName, StridedLoop loop, MethodContext*, void*) { return loop; }

#endif

}  // namespace tagalong::array
