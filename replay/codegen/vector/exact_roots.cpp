// Square roots of doubles without vsqrtpd, which takes Intel's processors 18 cycles for eight where the rest of a loop
// takes a few. From the processor's approximation of the reciprocal root, of 14 bits, Goldschmidt's iteration makes the
// root g and half its reciprocal h in two steps, and the remainder x - g * g, which is exact, corrects g (P. Markstein,
// "Computation of elementary functions on the IBM RISC System/6000 processor", IBM J. Res. Dev. 34, 1990).
//
// Before it is rounded the last sum is within 2^-104 of the root, relatively: g and h are wrong by less than 2^-52
// each, and what remains is half of g's error squared, and the product of both. No root of a double is a middle m
// between two doubles, and x - m * m is a multiple of 2^-106 (of roots from 1 to 2). So where the rounding could go
// wrong, that is k * 2^-106 with |k| < 64. m * m = -k modulo 2^54 (or 2^55, for x from 2 to 4) has four solutions, so
// there are some thirty such numbers. Each is tried out on the processor at hand, which may have another approximation,
// and with them those up to |k| = 127; other exponents only scale what happens. (Cornea-Hasegan, Golliver and
// Markstein, "Correctness proofs outline for Newton-Raphson based floating-point divide and square root algorithms",
// ARITH 1999.)
//
// The steps keep the units busy that multiply and add, which the instruction leaves alone: it has one of its own. So in
// rounds of three vectors it takes the root of one, beside the steps of the two others.
#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <vector>

#include "replay/arrays/simd/lanes.h"
#include "replay/codegen/vector/exact_code.h"
#include "replay/codegen/vector/exact_leaves.h"

#ifdef __x86_64__

#include "replay/codegen/vector/exact_wide.h"

namespace tagalong::array {

int quick_roots = 1;
Tally rooted_blocks;

namespace {

constexpr unsigned kRounding = 0x6000;  // of the control register; 0: to the nearest
constexpr int kNotLess = 0x05;          // vpcmpuq

// One of the numbers whose square is this modulo 2^bits: 1 modulo 8 has some.
std::uint64_t root_modulo(std::uint64_t square, unsigned bits) {
  constexpr unsigned kKnown = 3;
  std::uint64_t root = 1;
  for (unsigned bit = kKnown; bit < bits; ++bit) {
    root += ((root * root - square) >> bit & 1U) << (bit - 1U);
  }
  return root;
}

// Whose roots are closest to the middle between two doubles.
std::vector<double> hardest_roots() {
  constexpr std::uint64_t kFirst = std::uint64_t{1} << 53U;  // middles from 1 to 2
  constexpr int kMost = 127;
  constexpr int kOdd = 8;
  std::vector<double> found;
  for (const unsigned bits : {54U, 55U}) {
    const std::uint64_t modulus = std::uint64_t{1} << bits;
    for (int square = 1 - kOdd * ((kMost + 1) / kOdd); square <= kMost; square += kOdd) {
      const std::uint64_t root = root_modulo(static_cast<std::uint64_t>(square), bits);
      for (const std::uint64_t middle : {root, 0 - root, root + modulus / 2, modulus / 2 - root}) {
        const std::uint64_t m = middle % modulus;
        __extension__ using Wide = unsigned __int128;
        const auto x = static_cast<std::uint64_t>((Wide{m} * m - static_cast<Wide>(square)) >> bits);
        if (m >= kFirst && m < 2 * kFirst && x >= kFirst / 2 && x < kFirst) {
          found.push_back(std::ldexp(static_cast<double>(x), static_cast<int>(bits) - 106));
        }
      }
    }
  }
  return found;
}

}  // namespace

// Nothing is raised but by vsqrtpd, for the lanes that are left to it. They mean nothing before.
void WideEmitter::quick_roots(const Places& out, const Places& in) {
  constexpr int kSteps = 2;
  Wide root = vectors_of(out);
  Wide x = vectors_of(in);
  if (x.size() == kVectorsOfRoots) {
    vsqrtpd(root.back(), x.back());
    root.pop_back();
    x.pop_back();
  }
  const std::size_t vectors = x.size();
  const Wide half = taken_each(vectors);
  const Wide rest = taken_each(vectors);
  const auto each = [&](const auto& step) {
    for (std::size_t i = 0; i < vectors; ++i) {
      step(i);
    }
  };
  // Into a mask of each, those that are left to the instruction.
  const auto find_left = [&] {
    each([&](std::size_t i) { vpsubq(rest[i], x[i], ptr_b[pooled(Constant::kLeastRooted)]); });
    each([&](std::size_t i) { vpcmpuq(compared(i), rest[i], ptr_b[pooled(Constant::kRootedRange)], kNotLess); });
  };
  const bool is_pair = vectors == 2;
  if (is_pair) {  // whether there are any, of both together
    vcmppd(k3, x[0], ptr_b[pooled(Constant::kLeastRooted)], kCompareGreaterEqual);
    vcmppd(k3 | k3, x[1], ptr_b[pooled(Constant::kLeastRooted)], kCompareGreaterEqual);
  } else {
    find_left();
  }
  each([&](std::size_t i) { vrsqrt14pd(half[i], x[i]); });
  each([&](std::size_t i) { vmulpd(root[i], x[i], half[i] | T_rn_sae); });
  each([&](std::size_t i) { vmulpd(half[i], half[i], ptr_b[pooled(Constant::kHalf)]); });
  for (int step = 0; step < kSteps; ++step) {
    load_each(rest, Constant::kHalf);
    fused(Fused::kNegatedAdd231, rest, root, half);
    fused(Fused::kAdd231, root, root, rest);
    fused(Fused::kAdd231, half, half, rest);
  }
  each([&](std::size_t i) { vmovapd(rest[i], x[i]); });
  fused(Fused::kNegatedAdd231, rest, root, root);
  fused(Fused::kAdd231, root, rest, half);
  Xbyak::Label end;
  if (is_pair) {
    vcmppd(k3 | k3, rest[0], rest[1], kCompareOrdered);  // of infinities it is a NaN
    kortestb(k3, k3);
    jc(end);
    find_left();
  } else {
    kortestw(k3, k3);
    jz(end);
  }
  each([&](std::size_t i) { vsqrtpd(root[i] | (i == 0 ? k3 : k4), x[i]); });
  L(end);
  release(half);
  release(rest);
}

bool ExactCode::are_roots_exact() {
  static const bool are_exact = [] {
    Made root{.lanes = kWideVectors.lanes,
              .operations = {{.what = Exact::kSqrt, .nin = 1, .in = {0}, .out = 1}},
              .inputs = {{.slot = 0, .place = ExactPlace::kDoubles}},
              .stored = {1}};
    const Code code = place(root, {}, true);
    if (code.memory == nullptr) {
      return false;
    }
    std::vector<double> numbers = hardest_roots();
    std::vector<double> roots(numbers.size());
    const auto take_roots = [&] {
      constexpr std::size_t kAtOnce = 2UL * kLanes;  // less than a round, which leaves some to the instruction
      for (std::size_t begin = 0; begin < numbers.size(); begin += kAtOnce) {
        const std::array data{reinterpret_cast<char*>(&numbers[begin]), reinterpret_cast<char*>(&roots[begin])};
        code.run(data.data(), static_cast<Extent>(std::min(kAtOnce, numbers.size() - begin)), 1, nullptr);
      }
    };
    bool is_exact = !numbers.empty();
    for (const double scale : {1.0, 0x1p-898, 0x1p1020}) {
      for (double& number : numbers) {
        number *= scale;
      }
      take_roots();
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        is_exact =
            is_exact && std::bit_cast<std::uint64_t>(roots[i]) == std::bit_cast<std::uint64_t>(std::sqrt(numbers[i]));
        numbers[i] /= scale;
      }
    }
    remove(code);
    return is_exact;
  }();
  return are_exact;
}

// Past the caches a loop waits for memory, and asks for it later the more instructions there are.
bool ExactCode::wants_quick_roots(std::span<const ExactOperation> operations, bool is_streamed) {
  const auto is_root = [](const ExactOperation& operation) { return operation.what == Exact::kSqrt; };
  return quick_roots > (__builtin_cpu_is("intel") != 0 && !is_streamed ? 0 : 1) &&
         std::ranges::any_of(operations, is_root) && (_mm_getcsr() & kRounding) == 0 && are_roots_exact();
}

// While the processor takes a root it may do something else, if there is enough of that: tried out on some numbers.
bool ExactCode::roots_pay(const Made& made, const Code& plain, const Code& rooting) {
  constexpr Extent kCount = 1024;
  constexpr Extent kMostSlots = 256;  // each begins an element later, so that differences are not all zero
  constexpr int kRounds = 4;
  constexpr double kLeastGain = 1.03;
  if (quick_roots > 1) {
    return true;
  }
  alignas(64) static std::array<double, kCount + kMostSlots> numbers;
  alignas(64) static std::array<double, kCount + kMostSlots> results;
  static ExactLeaves leaves;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = 1.0 + static_cast<double>(i) / (kCount + kMostSlots);
  }
  std::array<char*, kMostSlots> data;
  for (std::size_t slot = 0; slot < data.size(); ++slot) {
    data[slot] = reinterpret_cast<char*>(&numbers[slot]);
  }
  for (const std::uint8_t slot : made.stored) {
    data[slot] = reinterpret_cast<char*>(results.data());
  }
  if (made.sum.leaves >= 0) {
    leaves.cut(kCount);
    data[static_cast<std::size_t>(made.sum.leaves)] = reinterpret_cast<char*>(leaves.begin());
  }
  const unsigned control = _mm_getcsr();
  using Clock = std::chrono::steady_clock;
  const auto taken = [&](const Code& code) {
    const auto start = Clock::now();
    static_cast<void>(code.run(data.data(), kCount, 1, nullptr));
    return Clock::now() - start;
  };
  auto with_instruction = Clock::duration::max();
  auto with_steps = Clock::duration::max();
  for (int round = 0; round < kRounds; ++round) {
    with_instruction = std::min(with_instruction, taken(plain));
    with_steps = std::min(with_steps, taken(rooting));
  }
  _mm_setcsr(control);
  return static_cast<double>(with_instruction.count()) >= kLeastGain * static_cast<double>(with_steps.count());
}

const ExactCode::Code& ExactCode::with_roots(Extent count) const {
  if (count < kLeastRoots || (_mm_getcsr() & kRounding) != 0) {
    return plain_;
  }
  rooted_blocks.add();
  return rooting_;
}

}  // namespace tagalong::array

#else

namespace tagalong::array {

int quick_roots = 0;
Tally rooted_blocks;

const ExactCode::Code& ExactCode::with_roots(Extent /*count*/) const { return plain_; }

}  // namespace tagalong::array

#endif
