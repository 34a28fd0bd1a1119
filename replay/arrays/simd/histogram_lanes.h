// The loops of np.bincount with AVX2, for few bins. No label and no sum goes through memory: a counter there can be
// read again only after it has been written, and where processors guess which write a read follows, labels in no order
// make them guess wrong (some runs of the same program then take twice as long).
//
//   Extent i = count_few(labels, count, size, bins);
//   for (; i < count; ++i) ++bins[labels[i]];
#pragma once

#include <cstdint>

#include "replay/arrays/numpy/numpy_abi.h"

namespace tagalong::array {

// Labels from 0 up to size - 1. How many of the first ones have been counted: none where there are more bins than the
// loop is for, or without AVX2.
[[nodiscard]] Extent count_few(const std::int64_t* labels, Extent count, Extent size, std::int64_t* bins);

// The same for sums of weights, each added in the order of the elements.
[[nodiscard]] Extent add_few(const std::int64_t* labels, const double* weights, Extent count, Extent size,
                             double* bins);

}  // namespace tagalong::array
