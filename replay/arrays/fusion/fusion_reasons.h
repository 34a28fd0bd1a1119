// Why array operations were not fused: why a fusion group ends where it does, or was not formed, and why a planned
// group was not run. Counted for the process and for each step at which a group may begin; explain() shows the texts.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tagalong::array {

enum class FusionReason : std::uint8_t {
  kNone,
  // --- the operation is not part of a fusion group
  kNotLooked,
  kForeign,
  kNoLoop,
  kLoop,
  kShape,
  kLayout,
  kInPlace,
  kExponent,
  kNumber,
  kOperator,
  kName,
  kGuard,
  kOther,
  kLimit,
  kSingle,
  // --- the fusion group was not run
  kKinds,
  kOverlap,
  kBinding,
  kGuardFails,
  kRealFrame,
  kDeath,
  kRoom,
  kException,
  kFloatError,
  kReduction,
  kNan,
  kMemory,
  kNoGain,
  kRequest,
  kCount
};

struct FusionReasonRow {
  std::string_view name;
  std::string_view text;
};

inline constexpr std::array<FusionReasonRow, static_cast<std::size_t>(FusionReason::kCount)> kFusionReasons{{
    {"none", "nothing is known"},
    {"not_looked", "a name has not been looked up yet"},
    {"foreign", "an operand is no plain array and no number"},
    {"no_loop", "NumPy has no loop for these dtypes that takes the operands as they are"},
    {"loop", "the loop may depend on how an array is split"},
    {"shape", "an operand has another shape"},
    {"layout", "an operand does not lie in memory as the others do"},
    {"in_place", "it writes into an array that somebody else can see"},
    {"exponent", "the value of an exponent decides which loop it is"},
    {"number", "a number is not exactly one of the loop's type"},
    {"operator", "the operator has no loop, or no array decides it"},
    {"name", "a name is looked up in something that may change meanwhile"},
    {"guard", "a guard asks for what is not known before"},
    {"other", "an operation on other things follows"},
    {"limit", "a fusion group holds no more operations or operands"},
    {"single", "fewer than two operations"},
    {"kinds", "operands of other dtypes, shapes or layouts"},
    {"overlap", "an array that is written overlaps with another one"},
    {"binding", "a name is bound to something else"},
    {"guard_fails", "a guard does not hold"},
    {"real_frame", "the frame of a callee is real"},
    {"death", "the end of an operand could be noticed"},
    {"room", "a list has no room for another item"},
    {"exception", "a loop set an exception"},
    {"float_error", "a floating point error has to be reported"},
    {"reduction", "the bits of a reduction depend on the order of equal values, or there are none"},
    {"nan", "which of two NaNs a result is depends on how an array is split"},
    {"memory", "there was no memory"},
    {"no_gain", "what is written in place is computed as fast one by one"},
    {"request", "a signal or another thread waits"},
}};
static_assert(!kFusionReasons.back().name.empty());

[[nodiscard]] constexpr const FusionReasonRow& row_of(FusionReason reason) {
  return kFusionReasons[static_cast<std::size_t>(reason)];
}

// For one step, or for the process.
struct FusionReasonCounts {
  std::array<std::uint32_t, static_cast<std::size_t>(FusionReason::kCount)> of{};
  void add(FusionReason reason) { ++of[static_cast<std::size_t>(reason)]; }
};

}  // namespace tagalong::array
