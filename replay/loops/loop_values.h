// What the lowering of a loop knows of each value at the current node: in which loop register it is, whether its number
// is there without an object, and its abstract value.
//
//   values[value].kind              // kNone: the register has an object only
//   values.available(value)         // the kind of number that the value can be unboxed to
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "replay/loops/loop_graph.h"
#include "replay/passes/abstract_values.h"

namespace tagalong::replay {

struct LoopValue {
  Unboxed kind = Unboxed::kNone;  // of the number in the value's register
  bool is_number = false;         // is a number from the beginning
  bool may_be_boxed = false;      // its register may also have an object
  bool is_dropped = false;
  bool is_replaced = false;  // a parameter whose register already has its value for the next iteration
};

class LoopValues {
 public:
  // `registers` are the loop registers of the values; `kinds` are the program's kinds of registers.
  LoopValues(const Graph& graph, const LoopGraph& loop, const std::vector<std::int32_t>& registers,
             std::int32_t& next_register, std::vector<Unboxed>& kinds);

  [[nodiscard]] LoopValue& operator[](Value value) { return values_[static_cast<std::size_t>(value)]; }
  [[nodiscard]] const LoopValue& operator[](Value value) const { return values_[static_cast<std::size_t>(value)]; }
  [[nodiscard]] std::int32_t place(Value value) const { return registers_[static_cast<std::size_t>(value)]; }
  [[nodiscard]] Unboxed kind_of_place(std::int32_t place) const {
    return static_cast<std::size_t>(place) < kinds_.size() ? kinds_[static_cast<std::size_t>(place)] : Unboxed::kNone;
  }
  // Makes a loop register.
  std::int32_t new_place(Unboxed kind);

  void learn(const Node& node) { abstract_values_->learn(node); }
  [[nodiscard]] const PyTypeObject* type(Value value) const { return abstract_values_->type(value); }
  // Dropping the value cannot run code.
  [[nodiscard]] bool is_inert(Value value) const { return abstract_values_->is_inert(value); }
  [[nodiscard]] bool disturbs(const Node& node) const { return abstract_values_->disturbs(node); }

  // The kind of number that the value is or can be unboxed to; kNone: it is an object, or its type is unknown.
  [[nodiscard]] Unboxed available(Value value) const;
  // An operation may show the snapshot to other code and continue, so its numbers may get objects.
  void show(SnapshotId id);

 private:
  const LoopGraph& loop_;
  const std::vector<std::int32_t>& registers_;
  std::int32_t& next_register_;
  std::vector<Unboxed>& kinds_;
  std::vector<LoopValue> values_;
  std::optional<AbstractValues> abstract_values_;
};

}  // namespace tagalong::replay
