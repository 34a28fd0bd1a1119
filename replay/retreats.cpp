#include "replay/retreats.h"

#include <algorithm>
#include <optional>

namespace tagalong::replay {
namespace {

bool is_of_root(const Snapshot& state) { return state.parent == kNoSnapshot && !state.consuming; }

class Finder {
 public:
  explicit Finder(const Graph& graph) : graph_(graph) {}

  std::optional<Retreat> find(std::size_t guard) {
    dropped_.clear();
    bool reads_attributes = false;
    for (std::size_t place = guard; place-- > 0;) {
      const Node& node = graph_.nodes[place];
      if (!is_repeatable(node)) {
        return std::nullopt;
      }
      reads_attributes = reads_attributes || is_attribute(node.op);
      follow_drops(node);
      if (node.op != Op::drop && node.op != Op::leave_frame && node.snapshot != kNoSnapshot &&
          is_of_root(graph_.snapshots[static_cast<std::size_t>(node.snapshot)])) {
        // What the state names must still be there, and what has been given up since must have come since.
        return dropped_.empty() ? std::optional(Retreat{guard, place, node.snapshot, reads_attributes}) : std::nullopt;
      }
    }
    return std::nullopt;
  }

 private:
  static bool is_attribute(Op op) { return op == Op::load_attr || op == Op::load_method; }

  // Done twice it is as if it had been done once, and nobody notices either.
  static bool is_repeatable(const Node& node) {
    if (is_attribute(node.op) || node.op == Op::leave_frame || node.op == Op::drop) {
      return true;
    }
    return (node.info().effect == Effect::kPure || node.info().effect == Effect::kReads) &&
           !node.info().is_terminator() && node.op != Op::guard_raised && node.op != Op::guard_no_stop_iteration &&
           node.op != Op::param;
  }

  void follow_drops(const Node& node) {
    if (node.op == Op::drop) {
      dropped_.insert(dropped_.end(), node.operands.begin(), node.operands.end());
    }
    std::erase_if(dropped_, [&node](Value value) {
      return value >= node.first_result && value < node.first_result + node.result_count;
    });
  }

  const Graph& graph_;
  std::vector<Value> dropped_;  // behind the node that is looked at, and not made there
};

}  // namespace

std::vector<Retreat> find_retreats(const Graph& graph) {
  std::vector<Retreat> found;
  Finder finder(graph);
  for (std::size_t place = 0; place < graph.nodes.size(); ++place) {
    const Node& node = graph.nodes[place];
    if (node.info().is_guard() && node.snapshot != kNoSnapshot && node.op != Op::guard_raised &&
        !is_of_root(graph.snapshots[static_cast<std::size_t>(node.snapshot)])) {
      if (const std::optional<Retreat> retreat = finder.find(place)) {
        found.push_back(*retreat);
      }
    }
  }
  return found;
}

}  // namespace tagalong::replay
