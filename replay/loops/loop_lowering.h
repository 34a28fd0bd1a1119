// Lowers the closed loop of a graph, if it has one, to a LoopProgram. The lowering of the whole graph asks it for each
// node behind the loop's header. LoopPlanner decides which operation a node becomes, LoopEmitter emits the operations.
//
//   if (loops.is_inside()) { place = loops.place_of_result(...); ... loops.emit(number, step); }
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "replay/loops/loop_emitter.h"

namespace tagalong::replay {

class LoopLowering {
 public:
  using Drop = LoopEmitter::Drop;

  LoopLowering(const Graph& graph, LoopProgram& program, const std::vector<Step>& steps,
               const std::vector<std::int32_t>& registers, std::int32_t& next_register)
      : loop_(graph),
        values_(graph, loop_, registers, next_register, program.kinds),
        planner_(loop_, values_),
        emitter_(loop_, values_, program, steps),
        program_(program) {}

  [[nodiscard]] bool is_header(std::size_t number) const { return loop_.is_closed() && number == loop_.header(); }
  [[nodiscard]] bool is_inside() const { return is_inside_; }
  [[nodiscard]] bool is_closed() const { return loop_.is_closed(); }
  // How other executors enter the loop. Called when all nodes are lowered, before the graph releases its objects;
  // registers below `constants` are constants.
  [[nodiscard]] DirectEntry direct_entry(std::int32_t constants) const;

  // The register of a result; -1: the caller allocates it. Called for each result before emit().
  std::int32_t place_of_result(std::size_t number, Value result);
  // Called after the node's step was made.
  void emit(std::size_t number, std::size_t step);
  // Whether the value is a number without an object from the beginning, in the loop.
  [[nodiscard]] bool is_number(Value value) const { return is_inside_ && values_[value].is_number; }
  Drop drop(Value value, SnapshotId shown) { return emitter_.drop(value, shown); }
  // Called at the first use of a snapshot: lists which of its values are numbers.
  void note_snapshot(SnapshotId id);
  void learn(const Node& node) {
    if (loop_.is_closed()) {
      values_.learn(node);
    }
  }

 private:
  LoopGraph loop_;
  LoopValues values_;
  LoopPlanner planner_;
  LoopEmitter emitter_;
  LoopProgram& program_;
  bool is_inside_ = false;
  std::optional<LoopPlan> plan_;  // of the current node
};

}  // namespace tagalong::replay
