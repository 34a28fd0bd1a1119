// Loops for np.exp and np.log of float64 that take the steps of Intel's SVML, which NumPy calls on processors with
// AVX-512, so they have NumPy's bits. Fused kernels (vector_code.h) contain the same steps.
//
//   kernel.loop = svml_loop(UfuncName::kExp, kernel.loop, kernel.context, kernel.auxdata);
#pragma once

#include <string_view>
#include <vector>

#include "replay/arrays/numpy/numpy_abi.h"

namespace tagalong::array {

// Returns a loop to call in place of NumPy's `loop`, with the same context and auxdata, for this ufunc from
// float64 to float64. Returns `loop` itself where there is none or where its bits differ. Needs the GIL.
[[nodiscard]] StridedLoop svml_loop(UfuncName ufunc, StridedLoop loop, MethodContext* context, void* auxdata);

// Names of the functions that have replaced NumPy's loops so far.
[[nodiscard]] std::vector<std::string_view> svml_functions();

// Whether svml_loop() has returned this loop, so the function may be part of a fused kernel.
[[nodiscard]] bool is_vector_loop(StridedLoop loop);

}  // namespace tagalong::array
