// The program's objects in a graph under construction. While it is recorded, a graph keeps them no more alive than an
// executor does: a watch stands in for each object, and at the end the objects come back, unless one of them has died.
// Refuses nothing: what cannot be watched is held.
//
//   node.object = objects.let_go(op, std::move(object));
//   objects.take_back(graph);   // at the end of the recording
//   if (objects.has_lost()) ... // the graph is of no use
#pragma once

#include <unordered_map>

#include "replay/ir/graph.h"
#include "rewriter/cpython/watch.h"

namespace tagalong::recorder {

class GraphObjects final : private cpython::Watcher {
 public:
  GraphObjects() = default;
  GraphObjects(const GraphObjects&) = delete;
  GraphObjects& operator=(const GraphObjects&) = delete;
  ~GraphObjects();

  // What stands for the object in a node of this operation.
  Ref let_go(replay::Op op, Ref object);
  void take_back(replay::Graph& graph);
  [[nodiscard]] bool has_lost() const { return has_lost_; }

  // The value of a constant that the graph has already, or kNoValue. A null object stands for NULL.
  [[nodiscard]] replay::Value constant(PyObject* object) const {
    const auto known = constants_.find(object);
    return known == constants_.end() ? replay::kNoValue : known->second;
  }
  void add_constant(PyObject* object, replay::Value value) { constants_.emplace(object, value); }

 private:
  Ref watched(PyObject* object);
  void object_died(PyObject* object) override;

  std::unordered_map<PyObject*, replay::Value> constants_;
  std::unordered_map<PyObject*, Ref> watches_;
  bool has_lost_ = false;
};

}  // namespace tagalong::recorder
