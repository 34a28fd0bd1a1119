// Limits of fusion groups.
#pragma once

#include <cstddef>

#include "replay/codegen/vector/slot.h"

namespace tagalong::array {

inline constexpr unsigned kMaxFusionOperations = 384;
inline constexpr unsigned kMaxFusionSlots = 512;
static_assert(kMaxFusionSlots == kImaginaryPart);
inline constexpr unsigned kMaxFusionScalars = 32;
inline constexpr unsigned kMaxFusionOutputs = 32;
inline constexpr unsigned kMaxFusionInputs = 32;
inline constexpr unsigned kMaxFusionReductions = 4;
inline constexpr unsigned kMaxAxisReductions = 4;

inline constexpr std::size_t kMostPasses = 4;
inline constexpr std::size_t kMostCalls = 8;       // between passes
inline constexpr std::size_t kMostExternals = 32;  // of all passes
inline constexpr std::size_t kMostResults = kMostPasses * kMaxFusionOutputs;

}  // namespace tagalong::array
