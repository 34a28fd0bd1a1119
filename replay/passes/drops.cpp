#include "replay/passes/drops.h"

#include <vector>

#include "replay/passes/used_values.h"

namespace tagalong::replay {
namespace {

class Drops {
 public:
  explicit Drops(Graph& graph)
      : graph_(graph), needed_(graph), owned_(static_cast<std::size_t>(graph.value_count), true) {}

  bool run() {
    for (const Node& node : graph_.nodes) {
      if (node.op == Op::constant || node.op == Op::null) {
        owned_[static_cast<std::size_t>(node.first_result)] = false;
      }
    }
    for (std::size_t place = graph_.nodes.size(); place-- > 0;) {
      Node& node = graph_.nodes[place];
      if (node.op == Op::drop) {  // its snapshot is the state during the drop, so it is not a later use
        changed_ = remove_values(node.operands, [this](Value value) { return !drops(value); }) != 0 || changed_;
      } else {
        needed_.add(node.operands);
      }
      needed_.add_snapshot(node.snapshot);
    }
    const auto is_nothing = [](const Node& node) { return node.op == Op::drop && node.operands.empty(); };
    return std::erase_if(graph_.nodes, is_nothing) != 0 || changed_;
  }

 private:
  // Whether this drop, found walking backwards, is behind the value's last use; if so, it counts as a use itself.
  bool drops(Value value) {
    const bool last = !needed_[value] && owned_[static_cast<std::size_t>(value)];
    needed_.add(value);
    return last;
  }

  Graph& graph_;
  UsedValues needed_;        // values used later in the graph
  std::vector<bool> owned_;  // values owned by the run, not by the graph
  bool changed_ = false;
};

}  // namespace

bool keep_last_drops(Graph& graph) { return Drops(graph).run(); }

}  // namespace tagalong::replay
