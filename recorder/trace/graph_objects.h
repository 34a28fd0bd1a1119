// The program's objects in a graph under construction. As in an executor, they must not be kept alive: during the
// recording a watch represents each object. At the end the objects are put back, unless one of them has died. An object
// that cannot be watched is owned.
//
//   node.object = objects.watched_object(op, std::move(object));
//   objects.restore_objects(graph);   // at the end of the recording
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

  // The object that represents `object` in a node of this operation.
  Ref watched_object(replay::Op op, Ref object);
  void restore_objects(replay::Graph& graph);
  [[nodiscard]] bool has_lost() const { return has_lost_; }

  // The value of a constant that the graph already has, or kNoValue. A null object means NULL.
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
