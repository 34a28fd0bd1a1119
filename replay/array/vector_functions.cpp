#include "replay/array/vector_functions.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

#include "replay/array/exact_code.h"

namespace tagalong::array {
namespace {

constexpr Extent kItemSize = sizeof(double);
// Of so many elements together it is found out whether all of them can be computed here.
constexpr Extent kBlock = 256;

// One for each function.
template <Exact what>
struct Function {
  const ExactCode* code = nullptr;
  StridedLoop numpys = nullptr;
  bool is_used = false;
};
template <Exact what>
Function<what> function;

template <Exact what>
bool computed(const double* in, double* out, Extent count) {
  // The code's signature has no const.
  const std::array data{reinterpret_cast<char*>(const_cast<double*>(in)), reinterpret_cast<char*>(out)};
  return function<what>.code->run(data.data(), count);
}

template <Exact what>
int by_vectors(MethodContext* context, char* const* data, const Extent* dims, const Extent* strides, void* auxdata) {
  const Extent count = dims[0];
  const bool is_in_place = data[0] == data[1];
  const bool is_apart = is_in_place || std::abs(data[0] - data[1]) >= count * kItemSize;
  if (strides[0] != kItemSize || strides[1] != kItemSize || !is_apart) {
    return function<what>.numpys(context, data, dims, strides, auxdata);
  }
  std::array<double, kBlock> results;  // NOLINT(cppcoreguidelines-pro-type-member-init): written before it is read
  for (Extent i = 0; i < count; i += kBlock) {
    const Extent block = std::min(kBlock, count - i);
    const std::array places{data[0] + i * kItemSize, data[1] + i * kItemSize};
    const auto* in = reinterpret_cast<const double*>(places[0]);
    auto* out = reinterpret_cast<double*>(places[1]);
    if (computed<what>(in, is_in_place ? results.data() : out, block)) {
      if (is_in_place) {
        std::copy_n(results.data(), block, out);
      }
    } else if (function<what>.numpys(context, places.data(), &block, strides, auxdata) != 0) {
      return -1;
    }
  }
  return 0;
}

constexpr std::size_t kTried = 2048;  // not many: that is part of somebody's first call
using Samples = std::array<double, kTried>;

// Numbers of which SVML's log is not the correctly rounded one, by mpmath: one in 700. Whoever takes other steps has,
// like libm, one of the other doubles for almost all of them.
constexpr std::array kMisroundedLogs{
    0x1.5c02cd91c2320p-725, 0x1.c02c3c4b2ec46p-3,   0x1.6cd1b9884995ap-1,  0x1.9197d42903848p-1,  0x1.9ef35eadaf36ap-1,
    0x1.bc113e74bee26p-1,   0x1.c13caad5b2167p-1,   0x1.ca7c20a9fa062p-1,  0x1.ccf61f0961896p-1,  0x1.d4091f9fdef0ep-1,
    0x1.dd1e43e8d1fdep-1,   0x1.e0324cc8bf8efp-1,   0x1.e5c609cfc71f7p-1,  0x1.ebfab8de98e2ap-1,  0x1.f2b44a29b6b73p-1,
    0x1.0041bfc6dbd8dp+0,   0x1.014fce56272c6p+0,   0x1.0b372a2185e0dp+0,  0x1.222c351ab6f63p+0,  0x1.2afcfa0321df7p+0,
    0x1.5425810e53a66p+0,   0x1.5e4ae00225a24p+0,   0x1.6761220af96f4p+0,  0x1.8472d92260155p+0,  0x1.8c9e46334a01dp+0,
    0x1.bf5ba7fe7a51ap+0,   0x1.2a52a0b6748d0p+1,   0x1.38bba37c7031ep+1,  0x1.42f2e1f0e50c3p+1,  0x1.60e2e04ac62b9p+1,
    0x1.d77d639e6eb78p+1,   0x1.344bb73f66f0ep+2,   0x1.8f876dd4bfce7p+2,  0x1.d93487736c00fp+2,  0x1.4e8cb6f5e587bp+3,
    0x1.5f373ff7de8b8p+3,   0x1.6900f2809e054p+3,   0x1.94ee82266fafcp+3,  0x1.9f42e10a66d7ap+3,  0x1.abf75f857193fp+3,
    0x1.b6f2ddcee4d96p+3,   0x1.bd04edbde6ec8p+3,   0x1.1eb6522aeccc0p+4,  0x1.4ff67a6cf6388p+19, 0x1.ed9cbd58cab91p+92,
    0x1.340520bc88ad8p+129, 0x1.b28917b1437e9p+314, 0x1.6a3bb28d315a4p+329};

// Half of them what programs have, half of all magnitudes that are computed here. Of exp one result in twenty is not
// the correctly rounded one, so there are enough among them.
Samples samples(Exact what) {
  Samples made;
  std::uint64_t state = 1;
  for (double& sample : made) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;  // Knuth's
    const double uniform = static_cast<double>(static_cast<std::int64_t>(state)) * 0x1p-63;
    const bool is_usual = (state >> 9U & 1U) != 0;
    const auto power = static_cast<int>(state >> 10U & 0x3FFU);
    if (what == Exact::kExp) {
      sample = is_usual ? uniform * 10 : uniform * 700;
    } else {
      sample = is_usual ? std::abs(uniform) * 4 : std::ldexp(1 + std::abs(uniform), power * 2 - 1023);
    }
  }
  if (what == Exact::kLog) {
    std::ranges::copy(kMisroundedLogs, made.begin());
  }
  return made;
}

template <Exact what>
bool try_out(StridedLoop loop, MethodContext* context, void* auxdata) {
  constexpr std::array operations{ExactOperation{.what = what, .nin = 1, .in = {0}, .out = 1}};
  constexpr std::array inputs{ExactInput{.slot = 0, .place = ExactPlace::kDoubles}};
  constexpr std::array<std::uint8_t, 1> stored{1};
  // Never destroyed: threads may run it to the very end.
  static const auto* const code = new std::shared_ptr<const ExactCode>(ExactCode::make(operations, inputs, stored));
  if (*code == nullptr) {
    return false;
  }
  function<what>.code = code->get();
  function<what>.numpys = loop;
  Samples in = samples(what);
  Samples expected{};
  Samples out{};
  const auto count = static_cast<Extent>(kTried);
  const auto as_numpy = [&](Extent in_step, Extent out_step) {
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
  return computed<what>(in.data(), out.data(), count) && as_numpy(1, 1) && as_numpy(2, 1) && as_numpy(1, 2) &&
         as_numpy(3, 3);
}

template <Exact what>
StridedLoop take(StridedLoop loop, MethodContext* context, void* auxdata) {
  static const bool is_usable = [&] {
    std::fexcept_t flags{};
    std::fegetexceptflag(&flags, FE_ALL_EXCEPT);
    const bool found = try_out<what>(loop, context, auxdata);
    std::fesetexceptflag(&flags, FE_ALL_EXCEPT);
    function<what>.is_used = found;
    return found;
  }();
  return is_usable && function<what>.numpys == loop ? by_vectors<what> : loop;
}

}  // namespace

StridedLoop vector_loop(std::string_view name, StridedLoop loop, MethodContext* context, void* auxdata) {
  return name == "exp"   ? take<Exact::kExp>(loop, context, auxdata)
         : name == "log" ? take<Exact::kLog>(loop, context, auxdata)
                         : loop;
}

std::vector<std::string_view> vector_functions() {
  std::vector<std::string_view> names;
  if (function<Exact::kExp>.is_used) {
    names.emplace_back("exp");
  }
  if (function<Exact::kLog>.is_used) {
    names.emplace_back("log");
  }
  return names;
}

bool is_vector_loop(StridedLoop loop) { return loop == by_vectors<Exact::kExp> || loop == by_vectors<Exact::kLog>; }

}  // namespace tagalong::array
