// The closed loop of a graph, if it has one, as a LoopProgram: which numbers need no objects, which operation does each
// node, what moves at the jump back. Lowering asks it for each node behind the loop's header.
//
//   if (loops.is_inside()) { place = loops.place_of_result(...); ... loops.emit(number, step); }
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "replay/passes/abstract_values.h"
#include "replay/steps/step.h"

namespace tagalong::replay {

class LoopLowering {
 public:
  LoopLowering(const Graph& graph, LoopProgram& program, const std::vector<Step>& steps,
               const std::vector<std::int32_t>& registers, std::int32_t& next_register);

  [[nodiscard]] bool is_header(std::size_t number) const { return closed_ && number == header_; }
  [[nodiscard]] bool is_inside() const { return inside_; }
  [[nodiscard]] bool is_closed() const { return closed_; }
  // At the end, and before the graph lets go of its objects; registers below `constants` are constants.
  [[nodiscard]] DirectEntry direct_entry(std::int32_t constants) const;

  // The register of a result, -1: one like any other. Called for each result before emit().
  std::int32_t place_of_result(std::size_t number, Value result);
  // Behind the node's step.
  void emit(std::size_t number, std::size_t step);
  // In the loop, and a number whenever it is made.
  [[nodiscard]] bool is_number(Value value) const { return inside_ && born_unboxed_[at(value)]; }
  // kStep: the last step does it; kDone: nothing more to do; kFree: the register may have another value.
  enum class Drop : std::uint8_t { kStep, kDone, kFree };
  Drop drop(Value value, SnapshotId shown);
  // A snapshot is used for the first time.
  void note_snapshot(SnapshotId id);
  void learn(const Node& node) {
    if (closed_) {
      abstract_values_->learn(node);
    }
  }

 private:
  struct Plan {
    LoopCode code = LoopCode::kStep;
    Unboxed result = Unboxed::kNone;
  };
  static Plan plan_of(LoopCode code) { return {code, info(code).gives}; }
  static std::size_t at(Value value) { return static_cast<std::size_t>(value); }
  [[nodiscard]] const Node& node(std::size_t number) const { return graph_.nodes[number]; }
  [[nodiscard]] Unboxed kind(std::int32_t place) const {
    return static_cast<std::size_t>(place) < program_.kinds.size() ? program_.kinds[static_cast<std::size_t>(place)]
                                                                   : Unboxed::kNone;
  }
  [[nodiscard]] std::int32_t place(Value value) const { return registers_[at(value)]; }
  [[nodiscard]] bool is_parameter(Value value) const {
    return value >= first_ && value < first_ + static_cast<Value>(letters_.size());
  }
  // Made anew in each round; constants are not, wherever their node stands.
  [[nodiscard]] bool is_within(Value value) const {
    const std::size_t number = defined_at_[at(value)];
    return number >= header_ && node(number).op != Op::constant && node(number).op != Op::null;
  }
  [[nodiscard]] bool is_entry(std::size_t header) const;
  void count_uses();
  void bind_parameters();
  void use(const Values& values, std::size_t number);
  void enter();
  [[nodiscard]] Unboxed available(Value value) const;
  [[nodiscard]] std::optional<Plan> plan(std::size_t number) const;
  [[nodiscard]] Unboxed wanted_number(std::size_t number) const;
  [[nodiscard]] std::optional<Plan> plan_call(std::size_t number) const;
  [[nodiscard]] bool is_iterated(std::size_t number) const;
  [[nodiscard]] static std::optional<Plan> plan_int(std::int64_t argument);
  [[nodiscard]] static std::optional<Plan> plan_float(std::int64_t argument);
  [[nodiscard]] static std::optional<Plan> plan_float64(std::int64_t argument);
  [[nodiscard]] bool is_fused(std::size_t number) const;
  [[nodiscard]] bool is_fused_with_truth(std::size_t number) const;
  [[nodiscard]] static bool is_branch(const Node& node);
  [[nodiscard]] bool is_index(std::size_t number) const;
  [[nodiscard]] std::optional<Plan> plan_array(std::size_t number) const;
  [[nodiscard]] std::int32_t coalesced(std::size_t number, Value result, Unboxed unboxed) const;
  std::int32_t new_place(Unboxed unboxed);
  std::int32_t unboxed(Value value, std::size_t step);
  std::int32_t as_float(std::int32_t place, std::size_t step);
  void box(Value value, std::size_t step);
  LoopOp& push(LoopCode code, std::size_t step, std::int32_t left = -1, std::int32_t right = -1,
               std::int32_t result = -1);
  void emit_planned(std::size_t number, std::size_t step);
  bool emit_guard(const Node& node, std::size_t step);
  bool emit_sync(std::size_t number, std::size_t step);
  [[nodiscard]] bool is_soon_inert(std::size_t number, Value value) const;
  void emit_step(const Node& node, std::size_t step);
  void emit_jump(const Node& node, std::size_t step);
  void may_be_boxed(SnapshotId id);
  void clear(Value value, SnapshotId shown);

  const Graph& graph_;
  LoopProgram& program_;
  const std::vector<Step>& steps_;
  const std::vector<std::int32_t>& registers_;
  std::int32_t& next_register_;
  std::optional<AbstractValues> abstract_values_;  // of a graph that goes round
  bool goes_round_ = false, closed_ = false, inside_ = false;
  std::size_t header_ = 0;
  Value first_ = kNoValue;
  std::string letters_;
  std::vector<std::size_t> defined_at_, last_use_;
  std::vector<std::int32_t> uses_, handed_;  // handed_: how often an operand of the jump back
  std::vector<std::int32_t> parameter_of_;   // the parameter that gets the value, -1
  std::vector<Unboxed> unboxed_;             // of values whose number is in their register
  std::vector<bool> born_unboxed_, boxed_, dropped_, replaced_;
  std::optional<Plan> plan_;
  std::size_t fused_ = 0, fused_op_ = 0;
  std::size_t truth_ = 0;  // that is asked by the operation with the guard behind it
  bool after_opaque_ = false;
  std::unordered_map<std::int64_t, bool> slots_;  // of the loop's frame: whether what they hold dies unnoticed
  std::int32_t frame_ = 0;
};

}  // namespace tagalong::replay
