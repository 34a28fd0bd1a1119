#include "replay/arrays/kernels/complex_loops.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <utility>

namespace tagalong::array {
namespace {

// The steps of vector code (complex_code.h).
template <class T>
std::complex<T> product(std::complex<T> one, std::complex<T> two) {
  return {std::fma(one.real(), two.real(), -(one.imag() * two.imag())),
          std::fma(one.real(), two.imag(), one.imag() * two.real())};
}

template <class T>
T modulus(std::complex<T> one) {
  const T larger = std::max(std::abs(one.real()), std::abs(one.imag()));
  const T smaller = std::min(std::abs(one.real()), std::abs(one.imag()));
  const T ratio = larger == 0 ? 0 : smaller / larger;
  return std::sqrt(std::fma(ratio, ratio, T{1})) * larger;
}

constexpr std::size_t kElements = 37;  // whole vectors of all sizes, and a rest
constexpr std::size_t kGap = 2;        // of operands that are not contiguous
constexpr std::size_t kBehind = 8;  // elements between operands, since NumPy's loops take adjacent ones for overlapping

// Runs the loop of a product, a square or an absolute value in the ways in which eager execution and fusion groups run
// it, on numbers whose results differ with the roundings.
template <class T>
class Trial {
 public:
  explicit Trial(const Kernel& kernel) : kernel_(kernel), is_real_(kernel.known == UfuncName::kAbsolute) {
    std::uint32_t seed = 1;
    const auto next = [&seed] {
      constexpr std::uint32_t kFactor = 1664525;
      constexpr std::uint32_t kTerm = 1013904223;
      seed = seed * kFactor + kTerm;
      return static_cast<T>(static_cast<std::int32_t>(seed)) / static_cast<T>(1 << 30);
    };
    for (Numbers* numbers : {&one_, &two_}) {
      for (std::complex<T>& number : *numbers) {
        const T real = next();
        number = {real, next()};
      }
    }
    one_[3] = {};
  }

  bool passes() const {
    constexpr Extent kAll = kElements;
    const std::array<Extent, 2> steps{1, 1};
    bool is_same = runs_as_expected(kAll, steps, 1, -1) && runs_as_expected(1, steps, 1, -1) &&
                   runs_as_expected(kAll, {kGap, kGap}, 1, -1) && runs_as_expected(kAll, {1, kGap}, 1, -1);
    if (is_real_) {
      return is_same;
    }
    is_same = is_same && runs_as_expected(kAll, steps, kGap, -1) && runs_as_expected(kAll, steps, 1, 0);
    if (kernel_.nin == 1) {
      return is_same;
    }
    return is_same && runs_as_expected(kAll, {0, 1}, 1, -1) && runs_as_expected(kAll, {1, 0}, 1, -1) &&
           runs_as_expected(1, {1, 0}, 1, -1) && runs_as_expected(kAll, {0, 1}, 1, 1) &&
           runs_as_expected(kAll, {1, 0}, 1, 0) && runs_as_expected(kAll, steps, 1, 1) &&
           runs_as_expected(kAll, {kGap, kGap}, kGap, 0) && runs_as_expected(kAll, {kGap, 1}, kGap, 0);
  }

 private:
  using Numbers = std::array<std::complex<T>, kElements * kGap + kBehind>;

  // `block`: elements of a call; `into`: the operand that is overwritten, or -1. Steps count elements.
  bool runs_as_expected(Extent block, const std::array<Extent, 2>& steps, Extent out_step, int into) const {
    std::array<Numbers, 3> memory{one_, two_, Numbers{}};
    constexpr auto kItem = static_cast<Extent>(sizeof(std::complex<T>));
    const Extent out_item = is_real_ ? static_cast<Extent>(sizeof(T)) : kItem;
    const auto place = [&](std::size_t number) { return reinterpret_cast<char*>(memory.at(number).data()); };
    std::array<Extent, kMaxInputs + 1> strides{};
    std::array<char*, kMaxInputs + 1> data{};
    for (std::size_t operand = 0; operand < kernel_.nin; ++operand) {
      strides.at(operand) = steps.at(operand) * kItem;
      data.at(operand) = place(operand);
    }
    strides.at(kernel_.nin) = into < 0 ? out_step * out_item : strides.at(static_cast<std::size_t>(into));
    data.at(kernel_.nin) = place(into < 0 ? 2 : static_cast<std::size_t>(into));
    const char* const results = data.at(kernel_.nin);
    for (Extent done = 0; done < static_cast<Extent>(kElements); done += block) {
      static_cast<void>(kernel_.loop(kernel_.context, data.data(), &block, strides.data(), kernel_.auxdata));
      for (std::size_t operand = 0; operand <= kernel_.nin; ++operand) {
        data.at(operand) += block * strides.at(operand);
      }
    }
    for (std::size_t i = 0; i < kElements; ++i) {
      const auto element = [&](const Numbers& numbers, Extent step) {
        return numbers.at(i * static_cast<std::size_t>(step));
      };
      const std::complex<T> one = element(one_, steps[0]);
      const std::complex<T> result =
          is_real_ ? modulus(one) : product(one, kernel_.nin == 1 ? one : element(two_, steps[1]));
      std::complex<T> found{};
      std::memcpy(&found, results + static_cast<Extent>(i) * strides.at(kernel_.nin),
                  static_cast<std::size_t>(out_item));
      if (std::memcmp(&found, &result, static_cast<std::size_t>(out_item)) != 0) {
        return false;
      }
    }
    return true;
  }

  const Kernel& kernel_;
  bool is_real_;
  Numbers one_{};
  Numbers two_{};
};

}  // namespace

bool splits_complex(const Kernel& kernel) {
  if (kernel.known != UfuncName::kMultiply && kernel.known != UfuncName::kSquare &&
      kernel.known != UfuncName::kAbsolute) {
    return true;
  }
  const bool passes =
      kernel.in_type[0] == kComplexFloat ? Trial<float>(kernel).passes() : Trial<double>(kernel).passes();
  clear_float_status();
  return passes;
}

}  // namespace tagalong::array
