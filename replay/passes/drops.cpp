#include "replay/passes/drops.h"

#include <vector>

namespace tagalong::replay {
namespace {

class Drops {
 public:
  explicit Drops(Graph& graph)
      : graph_(graph),
        needed_(static_cast<std::size_t>(graph.value_count), false),
        owned_(needed_.size(), true),
        seen_(graph.snapshots.size(), false) {}

  bool run() {
    for (const Node& node : graph_.nodes) {
      if (node.op == Op::constant || node.op == Op::null) {
        owned_[static_cast<std::size_t>(node.first_result)] = false;
      }
    }
    for (std::size_t place = graph_.nodes.size(); place-- > 0;) {
      Node& node = graph_.nodes[place];
      use_snapshot(node.snapshot);
      if (node.op == Op::drop) {
        changed_ = remove_values(node.operands, [this](Value value) { return !drops(value); }) != 0 || changed_;
      } else {
        use(node.operands);
      }
    }
    const auto is_nothing = [](const Node& node) { return node.op == Op::drop && node.operands.empty(); };
    return std::erase_if(graph_.nodes, is_nothing) != 0 || changed_;
  }

 private:
  void use(Value value) {
    if (value != kNoValue) {
      needed_[static_cast<std::size_t>(value)] = true;
    }
  }
  void use(const Values& values) {
    for (const Value value : values) {
      use(value);
    }
  }
  void use_snapshot(SnapshotId id) {
    while (id != kNoSnapshot && !seen_[static_cast<std::size_t>(id)]) {
      seen_[static_cast<std::size_t>(id)] = true;
      const Snapshot& snapshot = graph_.snapshots[static_cast<std::size_t>(id)];
      const FrameInfo& frame = graph_.frames[static_cast<std::size_t>(snapshot.frame)];
      use(snapshot.locals);
      use(snapshot.stack);
      use(frame.function);
      use(frame.instance);
      id = snapshot.parent;
    }
  }
  // Whether this drop, met on the way back, is the value's last one and behind its uses; from here on it is a use.
  bool drops(Value value) {
    const auto index = static_cast<std::size_t>(value);
    const bool last = !needed_[index] && owned_[index];
    needed_[index] = true;
    return last;
  }

  Graph& graph_;
  std::vector<bool> needed_;  // later in the graph
  std::vector<bool> owned_;   // by the run, not by the graph
  std::vector<bool> seen_;    // snapshots
  bool changed_ = false;
};

}  // namespace

bool keep_last_drops(Graph& graph) { return Drops(graph).run(); }

}  // namespace tagalong::replay
