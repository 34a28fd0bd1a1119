#include "replay/codegen/vector/svml_functions.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

#include "replay/arrays/libm/libm_samples.h"
#include "replay/arrays/numpy/float_status.h"
#include "replay/codegen/vector/vector_code.h"

namespace tagalong::array {
namespace {

constexpr Extent kItemSize = sizeof(double);
// If the steps do not cover one element, NumPy's loop computes the whole block.
constexpr Extent kBlock = 256;

template <VectorOp what>
struct Function {
  const VectorCode* code = nullptr;
  StridedLoop numpy_loop = nullptr;
  bool is_used = false;
};
template <VectorOp what>
Function<what> function;  // NOLINT(modernize-avoid-c-style-cast): clang-tidy takes its initial value for one

template <VectorOp what>
bool computed(const double* in, double* out, Extent count) {
  // The parameters of the generated code have no const.
  const std::array data{reinterpret_cast<char*>(const_cast<double*>(in)), reinterpret_cast<char*>(out)};
  return function<what>.code->run(data.data(), count);
}

template <VectorOp what>
int strided(MethodContext* context, char* const* data, const Extent* dims, const Extent* strides, void* auxdata) {
  const Extent count = dims[0];
  const bool is_in_place = data[0] == data[1];
  const bool is_apart = is_in_place || std::abs(data[0] - data[1]) >= count * kItemSize;
  if (strides[0] != kItemSize || strides[1] != kItemSize || !is_apart) {
    return function<what>.numpy_loop(context, data, dims, strides, auxdata);
  }
  std::array<double, kBlock> results;  // NOLINT(cppcoreguidelines-pro-type-member-init): written before it is read
  for (Extent i = 0; i < count; i += kBlock) {
    const Extent block = std::min(kBlock, count - i);
    const std::array pointers{data[0] + i * kItemSize, data[1] + i * kItemSize};
    const auto* in = reinterpret_cast<const double*>(pointers[0]);
    auto* out = reinterpret_cast<double*>(pointers[1]);
    if (computed<what>(in, is_in_place ? results.data() : out, block)) {
      if (is_in_place) {
        std::copy_n(results.data(), block, out);
      }
    } else if (function<what>.numpy_loop(context, pointers.data(), &block, strides, auxdata) != 0) {
      return -1;
    }
  }
  return 0;
}

constexpr std::size_t kSampleCount = 2048;  // the comparison takes part of the program's first call
using Samples = std::array<double, kSampleCount>;

// Arguments that distinguish SVML's function from others. Half have magnitudes that are common in programs, half are
// from the whole range that the steps cover. Many results of SVML's exp are not correctly rounded, so random arguments
// suffice for it; log needs chosen ones.
Samples samples(VectorOp what) {
  Samples made;
  std::uint64_t state = 1;
  for (double& sample : made) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;  // Knuth's MMIX generator
    const double uniform = static_cast<double>(static_cast<std::int64_t>(state)) * 0x1p-63;
    const bool is_typical = (state >> 9U & 1U) != 0;
    const auto power = static_cast<int>(state >> 10U & 0x3FFU);
    if (what == VectorOp::kExp) {
      sample = is_typical ? uniform * 10 : uniform * 700;
    } else {
      sample = is_typical ? std::abs(uniform) * 4 : std::ldexp(1 + std::abs(uniform), power * 2 - 1023);
    }
  }
  if (what == VectorOp::kLog) {
    std::ranges::copy(kMisroundedLogs, made.begin());
  }
  return made;
}

template <VectorOp what>
bool has_same_bits(StridedLoop loop, MethodContext* context, void* auxdata) {
  constexpr std::array operations{VectorOperation{.what = what, .nin = 1, .in = {0}, .out = 1}};
  constexpr std::array inputs{VectorInput{.slot = 0, .place = InputKind::kNumbers}};
  constexpr std::array<Slot, 1> stored{1};
  // Never destroyed: a thread may run it while the process exits.
  static const auto* const code = new std::shared_ptr<const VectorCode>(VectorCode::make(operations, inputs, stored));
  if (*code == nullptr) {
    return false;
  }
  function<what>.code = code->get();
  function<what>.numpy_loop = loop;
  Samples in = samples(what);
  Samples expected{};
  Samples out{};
  const auto count = static_cast<Extent>(kSampleCount);
  const auto agrees_with_numpy = [&](Extent in_step, Extent out_step) {
    const Extent elements = count / std::max(in_step, out_step);
    const std::array data{reinterpret_cast<char*>(in.data()), reinterpret_cast<char*>(expected.data())};
    const std::array strides{in_step * kItemSize, out_step * kItemSize};
    bool is_same = loop(context, data.data(), &elements, strides.data(), auxdata) == 0;
    for (Extent i = 0; i < elements; ++i) {
      is_same = is_same && std::bit_cast<std::uint64_t>(expected[static_cast<std::size_t>(i * out_step)]) ==
                               std::bit_cast<std::uint64_t>(out[static_cast<std::size_t>(i * in_step)]);
    }
    return is_same;
  };
  return computed<what>(in.data(), out.data(), count) && agrees_with_numpy(1, 1) && agrees_with_numpy(2, 1) &&
         agrees_with_numpy(1, 2) && agrees_with_numpy(3, 3);
}

template <VectorOp what>
StridedLoop replace_loop(StridedLoop loop, MethodContext* context, void* auxdata) {
  static const bool is_usable = [&] {
    const FloatStatusScope scope;  // the samples raise flags
    function<what>.is_used = has_same_bits<what>(loop, context, auxdata);
    return function<what>.is_used;
  }();
  return is_usable && function<what>.numpy_loop == loop ? strided<what> : loop;
}

}  // namespace

StridedLoop svml_loop(UfuncName ufunc, StridedLoop loop, MethodContext* context, void* auxdata) {
  switch (ufunc) {
#define TAGALONG_SVML(id, operation) \
  case UfuncName::id:                \
    return replace_loop<VectorOp::operation>(loop, context, auxdata);
#include "replay/arrays/numpy/ufuncs.def"
    default:
      return loop;
  }
}

std::vector<std::string_view> svml_functions() {
  std::vector<std::string_view> names;
#define TAGALONG_SVML(id, operation)            \
  if (function<VectorOp::operation>.is_used) {  \
    names.emplace_back(name_of(UfuncName::id)); \
  }
#include "replay/arrays/numpy/ufuncs.def"
  return names;
}

bool is_vector_loop(StridedLoop loop) {
#define TAGALONG_SVML(id, operation)          \
  if (loop == strided<VectorOp::operation>) { \
    return true;                              \
  }
#include "replay/arrays/numpy/ufuncs.def"
  return false;
}

}  // namespace tagalong::array
