// A loop of many elements in parts, each by whoever has time for it.
//
//   if (const std::size_t parts = loop_parts(kernel, count); parts > 1) errors = run_loop_parts(kernel, call, parts);
#pragma once

#include <array>
#include <cstddef>

#include "replay/arrays/kernels/kernel.h"

namespace tagalong::array {

// How many are worth their cutting; 1: it is better called as it is, or has to be.
[[nodiscard]] std::size_t loop_parts(const Kernel& kernel, Extent count);

struct LoopCall {
  const std::array<char*, kMaxInputs + 1>* data;
  const std::array<Extent, kMaxInputs + 1>* strides;
  Extent count;
};

// NumPy's bits for what they have raised, which stands in nobody's flags any more. Needs no GIL. An output may be an
// input, but must not lie across one.
[[nodiscard]] int run_loop_parts(const Kernel& kernel, const LoopCall& call, std::size_t parts);

}  // namespace tagalong::array
