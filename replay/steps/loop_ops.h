// The operations of loop bodies, derived from the one table loop_ops.def, which describes the columns.
#pragma once

#include <Python.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

#include "replay/objects/unboxed.h"

namespace tagalong::replay {

enum class LoopCode : std::uint8_t {
#define TAGALONG_LOOP_OP(id, ...) k##id,
#include "replay/steps/loop_ops.def"
#undef TAGALONG_LOOP_OP
};

enum class LoopField : std::uint8_t {
  kUnused,
  // registers
  kObject,
  kMakesObject,
  kEndsObject,
  kInt,
  kFloat,
  kBool,
  kNumber,
  kBoth,
  kSource,
  // others
  kOperation,
  kStep,
  kSnapshot,
  kShown,
  kTrace,
  kOwnTrace,
  kChecked,
  kSlot,
  kType,
  kGain,
};
[[nodiscard]] constexpr bool is_register(LoopField field) {
  return field >= LoopField::kObject && field <= LoopField::kSource;
}

enum class InFusion : std::uint8_t { kOutside, kInside, kInsideIfFlag, kAsStep, kAsSilentStep, kNumber, kValue };

using LoopTraits = std::uint8_t;
namespace loop_trait {
inline constexpr LoopTraits kPlain = 0;
inline constexpr LoopTraits kUnboxes = 1U << 0U;
inline constexpr LoopTraits kCompares = 1U << 1U;
inline constexpr LoopTraits kGuards = 1U << 2U;
inline constexpr LoopTraits kWithGuard = 1U << 3U;
inline constexpr LoopTraits kShowsState = 1U << 4U;
}  // namespace loop_trait

inline constexpr int kByStep = std::numeric_limits<std::int16_t>::min();
inline constexpr int kByIterator = kByStep + 1;

struct LoopOpInfo {
  std::string_view name;
  LoopField left;
  LoopField right;
  LoopField result;
  Unboxed gives;
  InFusion fusion;
  std::int16_t gain;
  LoopTraits traits;
  std::string_view documentation;

  [[nodiscard]] constexpr bool has(LoopTraits wanted) const { return (traits & wanted) != 0; }
  [[nodiscard]] constexpr bool jumps() const { return right == LoopField::kOperation; }
  [[nodiscard]] constexpr bool ends_round() const { return left == LoopField::kOwnTrace; }
};

namespace detail {
inline constexpr std::array kLoopOps = [] {
  using namespace loop_trait;
  return std::array{
#define TAGALONG_LOOP_OP(id, name, left, right, result, gives, fusion, gain, traits, documentation)        \
  LoopOpInfo{name, LoopField::left, LoopField::right, LoopField::result, Unboxed::gives, InFusion::fusion, \
             gain, traits,          documentation},
#include "replay/steps/loop_ops.def"
#undef TAGALONG_LOOP_OP
  };
}();

// Whether the columns of the row fit together.
constexpr bool is_consistent_loop_op(const LoopOpInfo& row) {
  const bool gives_number = row.result == LoopField::kInt ? row.gives == Unboxed::kInt || row.gives == Unboxed::kPair
                            : row.result == LoopField::kFloat ? is_float(row.gives)
                            : row.result == LoopField::kBool  ? row.gives == Unboxed::kBool
                                                              : true;
  const bool is_arithmetic =
      row.fusion != InFusion::kNumber || (row.gives != Unboxed::kNone && row.gives != Unboxed::kPair);
  return gives_number && is_arithmetic &&
         (!row.has(loop_trait::kUnboxes) || (row.gives != Unboxed::kNone && row.left == LoopField::kObject)) &&
         (!row.has(loop_trait::kWithGuard) || row.has(loop_trait::kGuards)) &&
         (!row.has(loop_trait::kCompares) || row.gives == Unboxed::kBool);
}
// The compiler's message shows the arguments, and so names the operation.
template <LoopCode code, bool is_right>
constexpr bool loop_row_is_right() {
  static_assert(is_right, "this row of loop_ops.def contradicts itself: is_consistent_loop_op() has the rules");
  return is_right;
}
inline constexpr auto kWrongLoopRow =
    static_cast<std::size_t>(std::ranges::find_if_not(kLoopOps, is_consistent_loop_op) - kLoopOps.begin());
static_assert(loop_row_is_right<static_cast<LoopCode>(kWrongLoopRow), kWrongLoopRow == kLoopOps.size()>());
static_assert(kLoopOps.size() <= std::numeric_limits<std::uint8_t>::max());
}  // namespace detail

inline constexpr std::size_t kLoopCodeCount = detail::kLoopOps.size();
[[nodiscard]] constexpr const LoopOpInfo& info(LoopCode code) {
  return detail::kLoopOps[static_cast<std::size_t>(code)];
}

// The code at this distance in the enum: comparisons are in the order of Py_LT ... Py_GE, and so are their guards.
[[nodiscard]] constexpr LoopCode shifted(LoopCode code, std::int64_t by) {
  return static_cast<LoopCode>(static_cast<std::int64_t>(code) + by);
}
// The guard with the same comparison.
[[nodiscard]] constexpr LoopCode guard_of(LoopCode comparison) {
  return shifted(comparison,
                 static_cast<std::int64_t>(LoopCode::kGuardLessInt) - static_cast<std::int64_t>(LoopCode::kLessInt));
}

// The comparison of a guard on two numbers, Py_LT ... Py_GE.
[[nodiscard]] constexpr int comparison_of(LoopCode guard) {
  const LoopCode first = guard < LoopCode::kGuardLessFloat ? LoopCode::kGuardLessInt : LoopCode::kGuardLessFloat;
  return static_cast<int>(guard) - static_cast<int>(first);
}

static_assert(Py_LT == 0 && Py_LE == 1 && Py_EQ == 2 && Py_NE == 3 && Py_GT == 4 && Py_GE == 5);
static_assert(shifted(LoopCode::kLessInt, Py_LE) == LoopCode::kLessEqualInt &&
              shifted(LoopCode::kLessInt, Py_EQ) == LoopCode::kEqualInt &&
              shifted(LoopCode::kLessInt, Py_NE) == LoopCode::kNotEqualInt &&
              shifted(LoopCode::kLessInt, Py_GT) == LoopCode::kGreaterInt &&
              shifted(LoopCode::kLessInt, Py_GE) == LoopCode::kGreaterEqualInt);
static_assert(shifted(LoopCode::kLessFloat, Py_LE) == LoopCode::kLessEqualFloat &&
              shifted(LoopCode::kLessFloat, Py_EQ) == LoopCode::kEqualFloat &&
              shifted(LoopCode::kLessFloat, Py_NE) == LoopCode::kNotEqualFloat &&
              shifted(LoopCode::kLessFloat, Py_GT) == LoopCode::kGreaterFloat &&
              shifted(LoopCode::kLessFloat, Py_GE) == LoopCode::kGreaterEqualFloat);
static_assert(guard_of(LoopCode::kLessInt) == LoopCode::kGuardLessInt &&
              guard_of(LoopCode::kLessEqualInt) == LoopCode::kGuardLessEqualInt &&
              guard_of(LoopCode::kEqualInt) == LoopCode::kGuardEqualInt &&
              guard_of(LoopCode::kNotEqualInt) == LoopCode::kGuardNotEqualInt &&
              guard_of(LoopCode::kGreaterInt) == LoopCode::kGuardGreaterInt &&
              guard_of(LoopCode::kGreaterEqualInt) == LoopCode::kGuardGreaterEqualInt &&
              guard_of(LoopCode::kLessFloat) == LoopCode::kGuardLessFloat &&
              guard_of(LoopCode::kLessEqualFloat) == LoopCode::kGuardLessEqualFloat &&
              guard_of(LoopCode::kEqualFloat) == LoopCode::kGuardEqualFloat &&
              guard_of(LoopCode::kNotEqualFloat) == LoopCode::kGuardNotEqualFloat &&
              guard_of(LoopCode::kGreaterFloat) == LoopCode::kGuardGreaterFloat &&
              guard_of(LoopCode::kGreaterEqualFloat) == LoopCode::kGuardGreaterEqualFloat);

// The operation that unboxes a register's object.
[[nodiscard]] constexpr LoopCode unboxing(Unboxed kind) {
  for (std::size_t code = 0; code < kLoopCodeCount; ++code) {
    if (detail::kLoopOps[code].has(loop_trait::kUnboxes) && detail::kLoopOps[code].gives == kind) {
      return static_cast<LoopCode>(code);
    }
  }
  return LoopCode::kUnboxBool;
}
static_assert(unboxing(Unboxed::kInt) == LoopCode::kUnboxInt);

}  // namespace tagalong::replay
