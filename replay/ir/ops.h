// The operations of the graph, derived from the one table ops.def, which describes the columns.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace tagalong::replay {

enum class Op : std::uint8_t {
#define TAGALONG_OP(name, ...) name,
#include "replay/ir/ops.def"
#undef TAGALONG_OP
};

enum class Effect : std::uint8_t { kPure, kFresh, kReads, kWrites, kOpaque };
enum class Leaves : std::uint8_t { kStays, kGuard, kTerminates };
enum class Immediates : std::uint8_t { kNone, kInt, kObject, kIntObject, kUnary, kBinary, kCompare, kIs, kContains };
enum class Raises : std::uint8_t { kNever, kMay, kAlways };
enum class ResultType : std::uint8_t {
  kNothing,
  kAny,
  kOfObject,
  kOfOperands,
  kOfItems,
  kOfCall,
  kBool,
  kInt,
  kNumpyBool,
  kNumpyInt,
  kNumpyFloat,
  kTuple,
  kList,
  kSet,
  kDict,
  kSlice,
  kFunction,
  kCell,
};

using Traits = std::uint32_t;
namespace trait {
inline constexpr Traits kPlain = 0;
inline constexpr Traits kArrays = 1U << 0U;
inline constexpr Traits kFused = 1U << 1U;
inline constexpr Traits kSilent = 1U << 2U;
inline constexpr Traits kPart = 1U << 3U;
inline constexpr Traits kHeld = 1U << 4U;
inline constexpr Traits kNewNumber = 1U << 5U;
inline constexpr Traits kNewObject = 1U << 6U;
inline constexpr Traits kByValue = 1U << 7U;
inline constexpr Traits kUndisturbing = 1U << 8U;
inline constexpr Traits kTotalSum = 1U << 9U;
inline constexpr Traits kTotalProduct = 1U << 10U;
inline constexpr Traits kOneOperand = 1U << 11U;
inline constexpr Traits kNamed = 1U << 12U;
inline constexpr Traits kStateBefore = 1U << 13U;
inline constexpr Traits kStateAfter = 1U << 14U;
inline constexpr Traits kRepeatable = 1U << 15U;
inline constexpr Traits kOnce = 1U << 16U;
inline constexpr Traits kPolls = 1U << 17U;
inline constexpr Traits kAfterRaise = 1U << 18U;
inline constexpr Traits kBeginsRaise = 1U << 19U;
inline constexpr Traits kAmidRaise = 1U << 20U;
inline constexpr Traits kNeedsRaise = 1U << 21U;
inline constexpr Traits kEndsRaise = 1U << 22U;
inline constexpr Traits kScalar = 1U << 23U;
}  // namespace trait

inline constexpr int kVariadic = -1;
inline constexpr int kByArrays = std::numeric_limits<std::int16_t>::min();

struct OpInfo {
  std::string_view name;
  int operands;
  int results;
  Effect effect;
  Leaves leaves;
  Immediates immediates;
  Raises raises;
  ResultType type;
  std::int16_t gain;
  std::int16_t loop_gain;
  Traits traits;
  std::string_view documentation;

  [[nodiscard]] constexpr bool has(Traits wanted) const { return (traits & wanted) != 0; }
  [[nodiscard]] constexpr bool is_guard() const { return leaves == Leaves::kGuard; }
  [[nodiscard]] constexpr bool is_terminator() const { return leaves == Leaves::kTerminates; }
  [[nodiscard]] constexpr bool is_pure() const { return effect == Effect::kPure; }
  [[nodiscard]] constexpr bool may_raise() const { return raises == Raises::kMay; }
  [[nodiscard]] constexpr bool has_operator() const { return immediates >= Immediates::kUnary; }
  [[nodiscard]] constexpr bool has_int() const {
    return immediates == Immediates::kInt || immediates == Immediates::kIntObject || has_operator();
  }
  [[nodiscard]] constexpr bool has_object() const {
    return immediates == Immediates::kObject || immediates == Immediates::kIntObject;
  }
  // May be removed if nothing uses its results.
  [[nodiscard]] constexpr bool is_removable() const {
    return leaves == Leaves::kStays && results != 0 && !may_raise() &&
           (effect == Effect::kPure || effect == Effect::kFresh || effect == Effect::kReads);
  }
  // May be in front of the end of a trace's entry check: it has no visible effect.
  [[nodiscard]] constexpr bool is_invisible() const {
    return effect == Effect::kPure || effect == Effect::kFresh || effect == Effect::kReads;
  }
  // Needs a snapshot, because it may exit or raise. (An operation that may run a finaliser, such as drop or sync_local,
  // can have a snapshot, so that the finaliser sees the frame, but does not need it.)
  [[nodiscard]] constexpr bool needs_snapshot() const {
    return leaves == Leaves::kGuard || may_raise() || (leaves == Leaves::kTerminates && operands == 0);
  }
  // An operation that makes an object may run out of memory. The MemoryError is raised at its snapshot, or at the next
  // one.
  [[nodiscard]] constexpr bool wants_snapshot() const { return needs_snapshot() || effect == Effect::kFresh; }
  // Whether its snapshot is the state before it. A guard on the outcome of a branch has the state of the other outcome.
  [[nodiscard]] constexpr bool states_before_itself() const {
    return is_guard() ? has(trait::kStateBefore) : !has(trait::kStateAfter);
  }
  // Executing it twice has the same effect as once, and the program cannot see the difference.
  [[nodiscard]] constexpr bool may_be_repeated() const {
    return has(trait::kRepeatable) ||
           ((effect == Effect::kPure || effect == Effect::kReads) && !is_terminator() && !has(trait::kOnce));
  }
  // Whether an exception is being raised after it.
  [[nodiscard]] constexpr bool begins_raise() const { return raises == Raises::kAlways || has(trait::kBeginsRaise); }
};

namespace detail {
inline constexpr std::array kOps = [] {
  using namespace trait;
  return std::array{
#define TAGALONG_OP(name, operands, results, effect, leaves, immediates, raises, type, gain, loop_gain, traits, \
                    documentation)                                                                              \
  OpInfo{#name,          operands,         results, Effect::effect, Leaves::leaves, Immediates::immediates,     \
         Raises::raises, ResultType::type, gain,    loop_gain,      traits,         documentation},
#include "replay/ir/ops.def"
#undef TAGALONG_OP
  };
}();

// Whether the columns of the row fit together.
constexpr bool is_consistent(const OpInfo& row) {
  const bool has_type = row.type != ResultType::kNothing && row.type != ResultType::kAny;
  const bool has_gains =
      (row.gain == kByArrays) == row.has(trait::kArrays) && (row.loop_gain == kByArrays) == row.has(trait::kArrays);
  return (row.type == ResultType::kNothing) == (row.results == 0) && (!has_type || row.results == 1) &&
         (!row.is_guard() || row.raises == Raises::kNever) && (!row.has(trait::kOneOperand) || row.is_guard()) &&
         (!row.has(trait::kOneOperand) || row.operands == 1) && (!row.has(trait::kNamed) || row.has_object()) &&
         (!row.has(trait::kStateBefore) || row.is_guard()) && (!row.has(trait::kStateAfter) || !row.is_guard()) &&
         (!row.has(trait::kRepeatable) || !row.has(trait::kOnce)) &&
         (!row.has(trait::kArrays) || row.has(trait::kFused)) &&
         (!row.has(trait::kFused) || !row.has(trait::kSilent | trait::kScalar)) &&
         (!row.has(trait::kSilent) || !row.has(trait::kScalar)) &&
         (!row.has(trait::kEndsRaise) || row.has(trait::kNeedsRaise)) &&
         (!row.has(trait::kAmidRaise) || !row.has(trait::kNeedsRaise)) && has_gains;
}
// The compiler's message shows the arguments, and so names the operation.
template <Op op, bool is_right>
constexpr bool row_is_right() {
  static_assert(is_right, "this row of ops.def contradicts itself: is_consistent() has the rules");
  return is_right;
}
inline constexpr auto kWrongRow =
    static_cast<std::size_t>(std::ranges::find_if_not(kOps, is_consistent) - kOps.begin());
static_assert(row_is_right<static_cast<Op>(kWrongRow), kWrongRow == kOps.size()>());
static_assert(kOps.size() <= std::numeric_limits<std::uint8_t>::max());
}  // namespace detail

inline constexpr std::size_t kOpCount = detail::kOps.size();

[[nodiscard]] constexpr const OpInfo& info(Op op) { return detail::kOps.at(static_cast<std::size_t>(op)); }
[[nodiscard]] constexpr bool has(Op op, Traits wanted) { return info(op).has(wanted); }
[[nodiscard]] std::optional<Op> op_named(std::string_view name);

}  // namespace tagalong::replay
