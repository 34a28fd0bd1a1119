// Decides which loop operation each node of a closed loop becomes, and which results are numbers without objects. It
// changes nothing: LoopEmitter emits the operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "replay/loops/loop_values.h"
#include "replay/steps/loop_ops.h"

namespace tagalong::replay {

struct LoopPlan {
  LoopCode code = LoopCode::kStep;
  Unboxed result = Unboxed::kNone;
};

class LoopPlanner {
 public:
  LoopPlanner(const LoopGraph& loop, const LoopValues& values) : loop_(loop), values_(values) {}

  // Nothing: the node stays a general step, or is a guard.
  [[nodiscard]] std::optional<LoopPlan> plan(std::size_t number) const;
  // A number that becomes a parameter's next value is computed in the parameter's register if nothing reads the old
  // value any more. Returns that register, or -1.
  [[nodiscard]] std::int32_t parameter_register(std::size_t number, Value result, Unboxed kind) const;

 private:
  using Planned = std::optional<LoopPlan>;

  [[nodiscard]] Planned plan_arithmetic(const Node& node) const;
  [[nodiscard]] Planned plan_condition(const Node& node) const;
  [[nodiscard]] Planned plan_next(std::size_t number) const;
  [[nodiscard]] Planned plan_read(std::size_t number) const;
  [[nodiscard]] Planned plan_call(std::size_t number) const;
  [[nodiscard]] Planned plan_array(const Node& node) const;
  [[nodiscard]] static Planned plan_int(std::int64_t argument);
  [[nodiscard]] static Planned plan_float(std::int64_t argument);
  [[nodiscard]] static Planned plan_float64(std::int64_t argument);
  [[nodiscard]] Unboxed kind_of_read(std::size_t number) const;
  [[nodiscard]] bool is_iterated(std::size_t number) const;
  [[nodiscard]] bool is_index(std::size_t number) const;
  // What kind of number an operand is or can be unboxed to.
  [[nodiscard]] Unboxed kind(const Node& node, std::size_t operand) const {
    return values_.available(node.operands[operand]);
  }
  [[nodiscard]] bool are(const Node& node, Unboxed wanted) const {
    return kind(node, 0) == wanted && kind(node, 1) == wanted;
  }
  // Without a snapshot the code cannot leave where an operand is not of its kind, so its number must be known.
  [[nodiscard]] bool is_unboxed(const Node& node, std::size_t operand) const {
    const Value value = node.operands[operand];
    return values_[value].kind != Unboxed::kNone || !loop_.is_within(value);
  }

  const LoopGraph& loop_;
  const LoopValues& values_;
};

}  // namespace tagalong::replay
