// Emits the operations of a loop program for the nodes of a closed loop: unboxes and boxes operands, merges a guard
// into the operation before it, and passes values to the next iteration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "replay/loops/loop_planner.h"
#include "replay/steps/step.h"

namespace tagalong::replay {

class LoopEmitter {
 public:
  LoopEmitter(const LoopGraph& loop, LoopValues& values, LoopProgram& program, const std::vector<Step>& steps)
      : loop_(loop), values_(values), program_(program), steps_(steps) {}

  // Fills the parameters, from what the operands of the loop node are.
  void enter();
  // Whether an operation before includes the node; a guard gives that operation its step.
  bool is_merged(std::size_t number, std::size_t step);
  void emit_planned(std::size_t number, std::size_t step, const LoopPlan& plan);
  // Emits a guard, a jump back, or a general step.
  void emit_unplanned(std::size_t number, std::size_t step);

  // kStep: the last step drops the value; kDone: nothing more to do; kFree: the register may have another value.
  enum class Drop : std::uint8_t { kStep, kDone, kFree };
  Drop drop(Value value, SnapshotId shown);

 private:
  LoopOp& push(LoopCode code, std::size_t step, std::int32_t left = -1, std::int32_t right = -1,
               std::int32_t result = -1);
  [[nodiscard]] std::int32_t place(const Node& node, std::size_t operand) const {
    return values_.place(node.operands[operand]);
  }
  [[nodiscard]] std::int32_t place_of_result(const Node& node) const {
    return node.result_count == 1 ? values_.place(node.first_result) : -1;
  }
  // The register that has the value's number.
  std::int32_t unboxed(Value value, std::size_t step);
  std::int32_t as_float(std::int32_t place, std::size_t step);
  // Gives the value an object, if it is a number.
  void box(Value value, std::size_t step);
  // The guard behind the node belongs to the last operation; `truth`: so does the node that asks for its truth.
  void merge_guard(std::size_t number, bool truth = false);

  void emit_next(std::size_t number, std::size_t step, LoopCode code);
  void emit_read(const Node& node, std::size_t step, LoopCode code);
  void emit_array_item(const Node& node, std::size_t step, LoopCode code);
  void emit_array_store(const Node& node, std::size_t step, LoopCode code);
  void emit_attribute(const Node& node, std::size_t step, LoopCode code);
  void emit_store_item(std::size_t number, std::size_t step);
  void emit_call(const Node& node, std::size_t step, LoopCode code);
  void emit_arithmetic(std::size_t number, std::size_t step, LoopCode code);
  void clear_replaced(const Node& node, std::size_t step, const LoopPlan& plan);

  bool emit_guard(const Node& node, std::size_t step);
  bool emit_type_guard(const Node& node, std::size_t step);
  bool emit_sync(std::size_t number, std::size_t step);
  [[nodiscard]] bool is_soon_inert(std::size_t number, Value value) const;
  void emit_step(const Node& node, std::size_t step);
  void clear(Value value, SnapshotId shown);

  void emit_jump(const Node& node, std::size_t step);
  void pass_values(const Values& passed, std::size_t step);
  void clear_unpassed(std::size_t step);

  // The operation that includes the next guard. Zero: no guard, no node for its truth.
  struct Merged {
    std::size_t guard = 0, truth = 0;
    std::size_t op = 0;
  };

  const LoopGraph& loop_;
  LoopValues& values_;
  LoopProgram& program_;
  const std::vector<Step>& steps_;
  Merged merged_;
  bool after_opaque_ = false;
  std::int32_t frame_ = 0;                        // of the loop
  std::unordered_map<std::int64_t, bool> slots_;  // of that frame: whether dropping their objects cannot run code
};

}  // namespace tagalong::replay
