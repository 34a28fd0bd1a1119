// The closed loop of a graph, if it has one: its header and parameters, and where its values are defined and used. It
// does not change while the loop is lowered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "replay/ir/graph.h"
#include "replay/steps/loop_program.h"

namespace tagalong::replay {

class LoopGraph {
 public:
  explicit LoopGraph(const Graph& graph);

  [[nodiscard]] bool is_closed() const { return is_closed_; }
  [[nodiscard]] std::size_t header() const { return header_; }
  // Whether nothing but guards and constants precedes the header.
  [[nodiscard]] bool is_entry() const { return is_entry(header_); }

  [[nodiscard]] const std::vector<Node>& nodes() const { return graph_.nodes; }
  [[nodiscard]] const Node& node(std::size_t number) const { return graph_.nodes[number]; }
  [[nodiscard]] const Snapshot& snapshot(SnapshotId id) const { return graph_.snapshots[static_cast<std::size_t>(id)]; }
  [[nodiscard]] std::size_t snapshot_count() const { return graph_.snapshots.size(); }
  [[nodiscard]] std::size_t value_count() const { return static_cast<std::size_t>(graph_.value_count); }
  // Whether a local variable of the snapshot, or of a frame below it, is the value.
  [[nodiscard]] bool is_local(SnapshotId id, Value value) const;
  [[nodiscard]] bool is_expected_to_raise(std::size_t number) const;

  // Results of the loop node. `letters` has one for each: how the parameter is represented.
  [[nodiscard]] Value parameter(std::size_t index) const { return first_ + static_cast<Value>(index); }
  [[nodiscard]] const std::string& letters() const { return letters_; }
  [[nodiscard]] Unboxed parameter_kind(std::size_t index) const { return unboxed_of(letters_[index]); }
  [[nodiscard]] bool is_parameter(Value value) const {
    return value >= first_ && value < first_ + static_cast<Value>(letters_.size());
  }
  [[nodiscard]] std::size_t index_of_parameter(Value value) const { return static_cast<std::size_t>(value - first_); }

  [[nodiscard]] std::size_t defined_at(Value value) const { return of(value).defined_at; }
  [[nodiscard]] const Node& maker(Value value) const { return node(defined_at(value)); }
  [[nodiscard]] std::size_t last_use(Value value) const { return of(value).last_use; }
  // How often operations and snapshots use the value.
  [[nodiscard]] std::int32_t uses(Value value) const { return of(value).uses; }
  // How often the value is an operand of the jump back.
  [[nodiscard]] std::int32_t passed(Value value) const { return of(value).passed; }
  // The index of the parameter that the value becomes in the next iteration, or -1.
  [[nodiscard]] std::int32_t next_parameter(Value value) const { return of(value).next_parameter; }
  // Whether each iteration computes the value. Constants are not computed, wherever their node is.
  [[nodiscard]] bool is_within(Value value) const {
    const std::size_t number = defined_at(value);
    return number >= header_ && node(number).op != Op::constant && node(number).op != Op::null;
  }

  // Whether the next node is the guard on this node's result, and nothing else uses the result of a comparison. Then
  // one loop operation does both.
  [[nodiscard]] bool is_fused(std::size_t number) const;
  // Whether only the branch on its truth, which comes next, uses the result of a comparison.
  [[nodiscard]] bool is_fused_with_truth(std::size_t number) const;
  [[nodiscard]] static bool is_branch(const Node& node) {
    return node.op == Op::guard_true || node.op == Op::guard_false;
  }

 private:
  struct ValueUse {
    std::size_t defined_at = 0, last_use = 0;
    std::int32_t uses = 0, passed = 0;
    std::int32_t next_parameter = -1;
  };
  [[nodiscard]] const ValueUse& of(Value value) const { return values_[static_cast<std::size_t>(value)]; }
  [[nodiscard]] ValueUse& of(Value value) { return values_[static_cast<std::size_t>(value)]; }
  [[nodiscard]] bool is_entry(std::size_t header) const;
  void find_header();
  void count_uses();
  void use(const Values& values, std::size_t number);

  const Graph& graph_;
  bool jumps_back_ = false, is_closed_ = false;
  std::size_t header_ = 0;
  Value first_ = kNoValue;
  std::string letters_;
  std::vector<ValueUse> values_;
};

}  // namespace tagalong::replay
