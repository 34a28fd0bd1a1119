#include "replay/arrays/kernels/loop_parts.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "replay/arrays/kernels/costs.h"
#include "replay/arrays/kernels/parallel.h"
#include "replay/arrays/numpy/float_status.h"

namespace tagalong::array {
namespace {

constexpr Extent kUnit = 1024;             // elements; parts end at multiples, where vectors of any size end
constexpr std::size_t kPartsOfThread = 2;  // smaller parts shorten the wait for a thread that starts late

int run_part(const Kernel& kernel, const LoopCall& call, Extent begin, Extent end) {
  std::array<char*, kMaxInputs + 1> data = *call.data;
  for (std::size_t i = 0; i <= kernel.nin; ++i) {
    data.at(i) += begin * call.strides->at(i);
  }
  const Extent count = end - begin;
  forget_float_status(kernel.float_units);
  static_cast<void>(kernel.loop(kernel.context, data.data(), &count, call.strides->data(), kernel.auxdata));
  return collect_float_status(kernel.float_units);
}

}  // namespace

std::size_t loop_parts(const Kernel& kernel, Extent count) {
  // A loop of integer powers may set an exception, which needs the GIL.
  const bool may_be_cut =
      kernel.splittable && !kernel.has_complex &&
      (!has(kernel.known, ufunc_trait::kRaisesForIntegers) || kernel.out_type == kFloat || kernel.out_type == kDouble);
  if (!may_be_cut || count < 2 * kUnit) {
    return 1;
  }
  const Extent most = std::min(count * static_cast<Extent>(loop_cost(kernel)) / min_part, count / kUnit);
  const std::size_t threads = most < 2 ? 1 : thread_count();
  return threads == 1 ? 1 : std::min(threads * kPartsOfThread, static_cast<std::size_t>(most));
}

int run_loop_parts(const Kernel& kernel, const LoopCall& call, std::size_t parts) {
  const Extent units = (call.count + kUnit - 1) / kUnit;
  const auto place = [&](std::size_t number) {
    return std::min(call.count, units * static_cast<Extent>(number) / static_cast<Extent>(parts) * kUnit);
  };
  std::atomic<int> errors = 0;
  std::vector<char> is_done(parts, 0);
  const auto run = [&](std::size_t number) {
    errors |= run_part(kernel, call, place(number), place(number + 1));
    is_done[number] = 1;
  };
  if (!run_parts(parts, run)) {
    for (std::size_t number = 0; number < parts; ++number) {
      if (is_done[number] == 0) {  // a part must not run twice: its output may be its input
        run(number);
      }
    }
  }
  return errors;
}

}  // namespace tagalong::array
