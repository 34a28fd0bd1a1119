// The loops of np.bincount with AVX2, for few bins, with counters and sums in registers. A counter in memory makes each
// increment wait for the previous one of the same bin (store-to-load forwarding), and random labels make the processor
// mispredict these dependences.
//
//   Extent i = count_few(labels, count, size, bins);
//   for (; i < count; ++i) ++bins[labels[i]];
#pragma once

#include <cstdint>

#include "replay/arrays/numpy/numpy_abi.h"

namespace tagalong::array {

// Counts labels from 0 to size - 1. Returns how many labels it has counted, from the first on: 0 where there are too
// many bins, or without AVX2.
[[nodiscard]] Extent count_few(const std::int64_t* labels, Extent count, Extent size, std::int64_t* bins);

// Adds the weights of each bin, in the order of the elements. Returns how many labels it has processed.
[[nodiscard]] Extent add_few(const std::int64_t* labels, const double* weights, Extent count, Extent size,
                             double* bins);

}  // namespace tagalong::array
