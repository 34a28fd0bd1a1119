// Marks the values that nodes and snapshots use, for passes that walk a graph backwards. Each snapshot is walked once,
// with those of the calling frames; the function and the instance of a frame count as used by each of its snapshots.
//
//   UsedValues used(graph); used.add_snapshot(node.snapshot); used.add(node.operands); if (used[value]) ...
#pragma once

#include <vector>

#include "replay/ir/graph.h"

namespace tagalong::replay {

class UsedValues {
 public:
  explicit UsedValues(const Graph& graph)
      : graph_(graph),
        used_(static_cast<std::size_t>(graph.value_count), false),
        seen_(graph.snapshots.size(), false) {}

  bool operator[](Value value) const { return used_[static_cast<std::size_t>(value)]; }

  void add(Value value) {
    if (value != kNoValue) {
      used_[static_cast<std::size_t>(value)] = true;
    }
  }
  void add(const Values& values) {
    for (const Value value : values) {
      add(value);
    }
  }
  void add_snapshot(SnapshotId id) {
    while (id != kNoSnapshot && !seen_[static_cast<std::size_t>(id)]) {
      seen_[static_cast<std::size_t>(id)] = true;
      const Snapshot& snapshot = graph_.snapshots[static_cast<std::size_t>(id)];
      const FrameInfo& frame = graph_.frames[static_cast<std::size_t>(snapshot.frame)];
      add(snapshot.locals);
      add(snapshot.stack);
      add(frame.function);
      add(frame.instance);
      id = snapshot.parent;
    }
  }

 private:
  const Graph& graph_;
  std::vector<bool> used_;
  std::vector<bool> seen_;  // snapshots that have been walked
};

}  // namespace tagalong::replay
