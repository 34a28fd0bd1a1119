#include "replay/passes/compact.h"

#include <numeric>
#include <utility>

namespace tagalong::replay {
namespace {

class Compactor {
 public:
  explicit Compactor(Graph& graph)
      : graph_(graph),
        values_(static_cast<std::size_t>(graph.value_count), kNoValue),
        snapshots_(graph.snapshots.size(), kNoSnapshot) {}

  bool run() {
    for (Node& node : graph_.nodes) {
      renumber(node.operands);
      node.snapshot = snapshot(node.snapshot);
      define(node);
    }
    for (FrameInfo& frame : graph_.frames) {
      renumber(frame.function);
      renumber(frame.instance);
    }
    for (Snapshot& snapshot : kept_) {  // done last, when all values of snapshots have their numbers
      renumber(snapshot.locals);
      renumber(snapshot.stack);
    }
    changed_ = changed_ || next_ != graph_.value_count || kept_.size() != graph_.snapshots.size();
    graph_.value_count = next_;
    graph_.snapshots = std::move(kept_);
    return changed_;
  }

 private:
  template <class Number>
  void set(Number& number, Number to) {
    changed_ = changed_ || number != to;
    number = to;
  }

  void define(Node& node) {
    if (node.result_count == 0) {
      return;
    }
    std::iota(values_.begin() + node.first_result, values_.begin() + node.first_result + node.result_count, next_);
    set(node.first_result, next_);
    next_ += node.result_count;
  }
  void renumber(Value& value) {
    if (value != kNoValue) {
      set(value, values_[static_cast<std::size_t>(value)]);
    }
  }
  void renumber(Values& values) {
    for (Value& value : values) {
      renumber(value);
    }
  }

  // The new number of a snapshot; its parents are numbered first.
  SnapshotId snapshot(SnapshotId id) {
    std::vector<SnapshotId> chain;
    SnapshotId from = id;
    for (; from != kNoSnapshot && snapshots_[static_cast<std::size_t>(from)] == kNoSnapshot;
         from = graph_.snapshots[static_cast<std::size_t>(from)].parent) {
      chain.push_back(from);
    }
    SnapshotId parent = from == kNoSnapshot ? kNoSnapshot : snapshots_[static_cast<std::size_t>(from)];
    while (!chain.empty()) {
      const auto place = static_cast<std::size_t>(chain.back());
      chain.pop_back();
      Snapshot& kept = kept_.emplace_back(std::move(graph_.snapshots[place]));
      kept.parent = parent;
      parent = static_cast<SnapshotId>(kept_.size() - 1);
      snapshots_[place] = parent;
    }
    changed_ = changed_ || parent != id;
    return parent;
  }

  Graph& graph_;
  Values values_;                      // new numbers
  std::vector<SnapshotId> snapshots_;  // new numbers
  std::vector<Snapshot> kept_;
  Value next_ = 0;
  bool changed_ = false;
};

}  // namespace

bool compact(Graph& graph) { return Compactor(graph).run(); }

}  // namespace tagalong::replay
