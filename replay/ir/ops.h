// The operations of the graph, derived from the one table ops.def.
#pragma once

#include <array>
#include <cstdint>
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
enum class Immediates : std::uint8_t { kNone, kInt, kObject, kIntObject };

inline constexpr int kVariadic = -1;

struct OpInfo {
  std::string_view name;
  int operands;
  int results;
  Effect effect;
  Leaves leaves;
  Immediates immediates;
  bool may_raise;
  std::string_view documentation;

  [[nodiscard]] constexpr bool is_guard() const { return leaves == Leaves::kGuard; }
  [[nodiscard]] constexpr bool is_terminator() const { return leaves == Leaves::kTerminates; }
  [[nodiscard]] constexpr bool is_pure() const { return effect == Effect::kPure; }
  [[nodiscard]] constexpr bool has_int() const {
    return immediates == Immediates::kInt || immediates == Immediates::kIntObject;
  }
  [[nodiscard]] constexpr bool has_object() const {
    return immediates == Immediates::kObject || immediates == Immediates::kIntObject;
  }
  // May go away when nobody uses its results.
  [[nodiscard]] constexpr bool is_removable() const {
    return leaves == Leaves::kStays && results != 0 && !may_raise &&
           (effect == Effect::kPure || effect == Effect::kFresh || effect == Effect::kReads);
  }
  // Runs before the entry check of a trace is over: nothing that it does can be observed.
  [[nodiscard]] constexpr bool is_invisible() const {
    return effect == Effect::kPure || effect == Effect::kFresh || effect == Effect::kReads;
  }
  // Needs a snapshot: may leave the graph or raise. (An operation that may run a finaliser, as drop or sync_local, may
  // have one, to show the frame by it, but works without.)
  [[nodiscard]] constexpr bool needs_snapshot() const {
    return leaves == Leaves::kGuard || may_raise || (leaves == Leaves::kTerminates && operands == 0);
  }
  // What makes an object may find no memory: that is raised in the state that it has, or in the next one.
  [[nodiscard]] constexpr bool wants_snapshot() const { return needs_snapshot() || effect == Effect::kFresh; }
};

namespace detail {
inline constexpr bool kYes = true;
inline constexpr bool kNo = false;
inline constexpr std::array kOps = {
#define TAGALONG_OP(name, operands, results, effect, leaves, immediates, may_raise, documentation) \
  OpInfo{#name, operands, results, Effect::effect, Leaves::leaves, Immediates::immediates, may_raise, documentation},
#include "replay/ir/ops.def"
#undef TAGALONG_OP
};
}  // namespace detail

inline constexpr std::size_t kOpCount = detail::kOps.size();

// Operations after which an exception is under way, whatever they do. (After others one is if guard_raised says so.)
[[nodiscard]] constexpr bool always_raises(Op op) {
  return op == Op::raise || op == Op::reraise || op == Op::raise_init_result || op == Op::unbound_local ||
         op == Op::raise_stop_iteration;
}

// Operations on arrays, which may be run as one (fusion_groups.h).
[[nodiscard]] constexpr bool is_array_operation(Op op) {
  return op == Op::array_unary || op == Op::array_binary || op == Op::array_compare || op == Op::array_call;
}

[[nodiscard]] constexpr const OpInfo& info(Op op) { return detail::kOps.at(static_cast<std::size_t>(op)); }
[[nodiscard]] std::optional<Op> op_named(std::string_view name);

}  // namespace tagalong::replay
