// NumPy's loops for complex numbers. Products, squares and absolute values take other steps, with other roundings, in
// loops that use vectors than in loops for one element after another. Which loop runs depends on the version of NumPy,
// on the processor, and sometimes on the strides. A trial at the first use shows whether a loop always takes the steps
// that vector code takes: then the result of an element does not depend on how an array is split.
//
//   kernel->splittable = splits_complex(*kernel);
#pragma once

#include "replay/arrays/kernels/kernel.h"

namespace tagalong::array {

// Whether the result of each element depends on this element only, in arrays with strides that are not negative. Runs
// the loop; needs a known ufunc of NumPy's own. The floating point flags are cleared.
[[nodiscard]] bool splits_complex(const Kernel& kernel);

}  // namespace tagalong::array
