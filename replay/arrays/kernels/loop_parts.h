// A single loop of many elements, split into parts for several threads.
//
//   if (const std::size_t parts = loop_parts(kernel, count); parts > 1) errors = run_loop_parts(kernel, call, parts);
#pragma once

#include <array>
#include <cstddef>

#include "replay/arrays/kernels/kernel.h"

namespace tagalong::array {

// The number of parts that pays; 1: the loop should not or cannot be split.
[[nodiscard]] std::size_t loop_parts(const Kernel& kernel, Extent count);

struct LoopCall {
  const std::array<char*, kMaxInputs + 1>* data;
  const std::array<Extent, kMaxInputs + 1>* strides;
  Extent count;
};

// Runs the parts. Returns NumPy's error bits for the flags that they raised; the flags themselves are cleared. Needs no
// GIL. An output may be an input, but must not partially overlap one.
[[nodiscard]] int run_loop_parts(const Kernel& kernel, const LoopCall& call, std::size_t parts);

}  // namespace tagalong::array
