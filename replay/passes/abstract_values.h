// What is known about values at one point of a walk over a graph: exact types, and whether dropping a value can run
// code. This comes from the operations that make values, and from guards passed before; it is kept only if it stays
// true whatever runs later. So a guard on an instance of a Python class teaches nothing, because `value.__class__` can
// be assigned. Types are borrowed from the graph, which must outlive this object.
//
//   AbstractValues values(graph);
//   for (const Node& node : graph.nodes) { ... values.type(v) ...; values.learn(node); }
#pragma once

#include <cstddef>
#include <vector>

#include "replay/ir/graph.h"

namespace tagalong::replay {

// Whether an instance of exactly this type keeps the type for all its life.
[[nodiscard]] bool is_lasting(const PyTypeObject* type);

// Whether instances are freed without running any code: they have no weak references, and own only objects of such
// types.
[[nodiscard]] bool is_plain(const PyTypeObject* type);

class AbstractValues {
 public:
  explicit AbstractValues(const Graph& graph) : values_(static_cast<std::size_t>(graph.value_count)) {}

  void learn(const Node& node);
  // The exact type of a value if it can never change; null: unknown.
  [[nodiscard]] const PyTypeObject* type(Value value) const { return at(value).type; }
  // Whether dropping the value runs no code: freeing it runs none, or the graph itself keeps it alive.
  [[nodiscard]] bool is_inert(Value value) const;
  // Whether values that were read from mutable state are outdated behind this node.
  [[nodiscard]] bool disturbs(const Node& node) const;

 private:
  struct AbstractValue {
    const PyTypeObject* type = nullptr;
    bool held = false;  // the graph owns a reference, or there is no object
  };
  [[nodiscard]] const AbstractValue& at(Value value) const { return values_[static_cast<std::size_t>(value)]; }
  [[nodiscard]] AbstractValue& at(Value value) { return values_[static_cast<std::size_t>(value)]; }
  void learn_loop(const Node& node);
  [[nodiscard]] const PyTypeObject* result_type(const Node& node) const;
  [[nodiscard]] const PyTypeObject* number_type(const Node& node) const;

  std::vector<AbstractValue> values_;
};

}  // namespace tagalong::replay
