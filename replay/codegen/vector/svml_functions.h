// np.exp and np.log of float64 as loops of our own that take the steps of NumPy's, whose bits they have, without a call
// for each vector; and the same within joined machine code (vector_code.h).
//
//   kernel.loop = svml_loop("exp", kernel.loop, kernel.context, kernel.auxdata);   // or what it was
#pragma once

#include <string_view>
#include <vector>

#include "replay/arrays/numpy/numpy_abi.h"

namespace tagalong::array {

// A loop to be called with the same context and auxdata instead of NumPy's `loop` for a ufunc of this name from float64
// to float64; `loop` itself where there is none, or where NumPy's takes other steps on this machine. Needs the GIL.
[[nodiscard]] StridedLoop svml_loop(std::string_view name, StridedLoop loop, MethodContext* context, void* auxdata);

// Those that are used in place of NumPy's so far.
[[nodiscard]] std::vector<std::string_view> svml_functions();

// Whether it is one of these, so that the function may be a part of joined code.
[[nodiscard]] bool is_vector_loop(StridedLoop loop);

}  // namespace tagalong::array
