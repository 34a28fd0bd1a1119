// Shows that no operation can overflow or make a NaN because the inputs are small. For that the largest magnitude of
// each input is computed once, however often the operations read the input.
#include <algorithm>
#include <array>
#include <bit>
#include <boost/container/static_vector.hpp>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "replay/arrays/fusion/in_place.h"
#include "replay/arrays/kernels/parallel.h"
#include "replay/arrays/numpy/float_policy.h"
#include "replay/arrays/simd/lanes.h"

namespace tagalong::array {
namespace {

constexpr std::uint64_t kMagnitude = 0x7FFFFFFFFFFFFFFFU;
constexpr double kMost = 1e300;  // bound of every value before rounding
constexpr Extent kPage = 4096;
constexpr std::size_t kPiece = 256U << 10U;  // bytes

// The bits of the largest magnitude, compared as integers, since comparisons of NaNs raise flags. NaNs are larger than
// all numbers.
std::uint64_t magnitude_scalar(const char* data, std::size_t bytes) {
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < bytes; i += sizeof(most)) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, data + i, sizeof(bits));
    most = std::max(most, bits & kMagnitude);
  }
  return most;
}

#if defined(__x86_64__)

// Magnitudes have no sign, so the signed comparisons, which more instruction sets have, are correct.
template <class Bits, int vector_bytes>
[[gnu::always_inline]] inline std::uint64_t magnitude_by_vectors(const char* data, std::size_t bytes) {
  using Vector [[gnu::vector_size(vector_bytes)]] = Bits;
  constexpr std::size_t kUnrolledBytes = 4 * sizeof(Vector);
  Vector one{};
  Vector two{};
  Vector three{};
  Vector four{};
  const auto scan = [](const char* from, Vector* most) {
    Vector bits;
    std::memcpy(&bits, from, sizeof(bits));
    bits &= static_cast<Bits>(kMagnitude);
    *most = bits > *most ? bits : *most;
  };
  std::size_t done = 0;
  for (; done + kUnrolledBytes <= bytes; done += kUnrolledBytes) {
    scan(data + done, &one);
    scan(data + done + sizeof(Vector), &two);
    scan(data + done + 2 * sizeof(Vector), &three);
    scan(data + done + 3 * sizeof(Vector), &four);
  }
  auto most = static_cast<Bits>(magnitude_scalar(data + done, bytes - done));
  for (std::size_t lane = 0; lane < sizeof(Vector) / sizeof(most); ++lane) {
    most = std::max({most, one[lane], two[lane], three[lane], four[lane]});
  }
  return static_cast<std::uint64_t>(most);
}

TAGALONG_AVX512 std::uint64_t magnitude_avx512(const char* data, std::size_t bytes) {
  return magnitude_by_vectors<std::int64_t, 64>(data, bytes);
}
TAGALONG_AVX2 std::uint64_t magnitude_avx2(const char* data, std::size_t bytes) {
  return magnitude_by_vectors<std::int64_t, 32>(data, bytes);
}

#endif

std::uint64_t largest_magnitude(const char* data, std::size_t bytes) {
#if defined(__x86_64__)
  static const auto scan = has_avx512() ? magnitude_avx512 : has_avx2() ? magnitude_avx2 : magnitude_scalar;
  return scan(data, bytes);
#else
  return magnitude_scalar(data, bytes);
#endif
}

// Whether the view's elements leave few gaps, and no gap so large that it may be unmapped memory.
bool is_dense(const View& view, const Bytes& bytes, Extent item_size) {
  using Axis = std::pair<Extent, Extent>;  // stride and length
  boost::container::static_vector<Axis, kMaxFusionDims> axes;
  for (int axis = 0; axis < view.shape.nd; ++axis) {
    axes.emplace_back(std::abs(view.strides[axis]), view.shape.dims[axis]);
  }
  std::ranges::make_heap(axes);  // a heap, since GCC warns that sort() may go beyond so few elements
  std::ranges::sort_heap(axes);
  Extent reached = item_size;
  for (const auto& [stride, length] : axes) {
    if (length > 1 && stride >= reached + kPage) {
      return false;
    }
    reached += stride * (length - 1);
  }
  return bytes.last - bytes.first <= 2 * view.shape.count() * item_size;
}

using AllBytes = boost::container::static_vector<Bytes, kMaxFusionInputs>;

// The largest magnitude in all ranges, which are sorted and merged here: most operands are parts of one array.
std::uint64_t largest_magnitude(AllBytes* all, std::size_t parts) {
  std::ranges::sort(*all, {}, &Bytes::first);
  AllBytes merged;
  for (const Bytes& bytes : *all) {
    if (!merged.empty() && bytes.first <= merged.back().last) {
      merged.back().last = std::max(merged.back().last, bytes.last);
    } else {
      merged.push_back(bytes);
    }
  }
  const auto length = [](const Bytes& bytes) { return static_cast<std::size_t>(bytes.last - bytes.first); };
  if (merged.size() == 1 && length(merged[0]) <= kPiece) {
    return largest_magnitude(merged[0].first, length(merged[0]));
  }
  std::vector<Bytes> pieces;
  for (const Bytes& bytes : merged) {
    for (const char* from = bytes.first; from < bytes.last; from = pieces.back().last) {
      pieces.push_back({from, from + std::min<std::size_t>(kPiece, static_cast<std::size_t>(bytes.last - from))});
    }
  }
  std::vector<std::uint64_t> most(parts);
  // In reverse, so that the computation begins with the memory that was read last and is in the caches.
  std::ranges::reverse(pieces);
  const auto scan = [&](std::size_t number) {
    for (std::size_t i = number; i < pieces.size(); i += parts) {
      most[number] = std::max(most[number], largest_magnitude(pieces[i].first, length(pieces[i])));
    }
  };
  PyThreadState* state = PyEval_SaveThread();
  bool is_done = true;
  if (parts > 1) {
    is_done = run_parts(parts, scan);
  } else {
    scan(0);
  }
  PyEval_RestoreThread(state);
  constexpr std::uint64_t kNan = ~std::uint64_t{0};
  return is_done ? *std::ranges::max_element(most) : kNan;
}

}  // namespace

// Whether every value stays below kMost if all inputs are at most `most`.
bool InPlaceTargets::are_bounded(double most) const {
  std::array<double, kMaxFusionSlots> bounds{};
  for (const PlanInput& input : plan_.inputs) {
    bounds.at(input.slot) = most;
  }
  const auto read = [&](Slot slot) {
    double number = 0;
    std::memcpy(&number, state_.data[slot], sizeof(number));
    bounds.at(slot) = std::abs(number);
    return bounds.at(slot) <= kMost;  // false for NaN
  };
  if (most > kMost || !std::ranges::all_of(plan_.scalars, read, &PlanScalar::slot) ||
      !std::ranges::all_of(plan_.constants, read, &PlanConstant::slot)) {
    return false;
  }
  for (const PlanOperation& operation : plan_.operations) {
    const double one = bounds.at(operation.slots[0]);
    const double two = bounds.at(operation.slots[1]);
    double& bound = bounds.at(operation.slots[operation.nin]);
    switch (operation.vector_op) {
      case VectorOp::kAdd:
      case VectorOp::kSubtract:
        bound = one + two;
        break;
      case VectorOp::kMultiply:
        bound = one * two;
        break;
      case VectorOp::kSquare:
        bound = one * one;
        break;
      default:
        bound = one;
    }
    if (!(bound <= kMost)) {
      return false;
    }
  }
  return true;
}

bool InPlaceTargets::cannot_raise(std::size_t parts) const {
  const auto is_bounded = [](const PlanOperation& operation) { return info(operation.vector_op).bounded; };
  const auto is_double = [](const PlanInput& input) { return input.type == kDouble; };
  if (!std::ranges::all_of(plan_.operations, is_bounded) || !std::ranges::all_of(plan_.inputs, is_double)) {
    return false;
  }
  constexpr Extent kDoubleSize = sizeof(double);
  AllBytes read;
  for (const View& view : space_->inputs) {
    read.push_back(bytes_of(view, kDoubleSize));
    if (!view.is_aligned || !is_dense(view, read.back(), kDoubleSize)) {
      return false;
    }
  }
  // Products may underflow within any bounds.
  if (!are_bounded(1.0) || !ignores_float_errors(np_, kUnderflow)) {
    return false;
  }
  const std::uint64_t bits = largest_magnitude(&read, parts);
  return bits <= std::bit_cast<std::uint64_t>(kMost) && are_bounded(std::bit_cast<double>(bits));
}

}  // namespace tagalong::array
