#include "replay/executor/guard_relocation.h"

#include <algorithm>

namespace tagalong::replay {
namespace {

bool is_of_root(const Snapshot& state) { return state.parent == kNoSnapshot && !state.consuming; }

bool is_attribute(Op op) { return op == Op::load_attr || op == Op::load_method; }

// Goes through the graph with what has happened since the last snapshot of the root frame.
class Finder {
 public:
  explicit Finder(const Graph& graph)
      : graph_(graph), made_at_(static_cast<std::size_t>(graph.value_count), graph.nodes.size()) {}

  std::vector<GuardRelocation> run() {
    std::vector<GuardRelocation> found;
    for (std::size_t place = 0; place < graph_.nodes.size(); ++place) {
      const Node& node = graph_.nodes[place];
      const bool is_inside = node.snapshot != kNoSnapshot && !is_of_root(state_of(node));
      if (is_inside && is_open_ && node.info().is_guard() && node.op != Op::guard_raised) {
        found.push_back({place, from_, graph_.nodes[from_].snapshot, reads_attributes_});
      }
      follow(node, place);
    }
    return found;
  }

 private:
  [[nodiscard]] const Snapshot& state_of(const Node& node) const {
    return graph_.snapshots[static_cast<std::size_t>(node.snapshot)];
  }

  void follow(const Node& node, std::size_t place) {
    if (node.op != Op::drop && node.op != Op::leave_frame && node.snapshot != kNoSnapshot &&
        is_of_root(state_of(node))) {
      from_ = place;
      is_open_ = true;
      reads_attributes_ = false;
    }
    reads_attributes_ = reads_attributes_ || is_attribute(node.op);
    for (Value value = node.first_result; value < node.first_result + node.result_count; ++value) {
      made_at_[static_cast<std::size_t>(value)] = place;
    }
    // The values of the snapshot must still exist: only values that were made since may have been dropped.
    const auto is_older = [this](Value value) { return made_at_[static_cast<std::size_t>(value)] < from_; };
    is_open_ = is_open_ && node.info().may_be_repeated() &&
               (node.op != Op::drop || std::ranges::none_of(node.operands, is_older));
  }

  const Graph& graph_;
  std::vector<std::size_t> made_at_;  // by value: node
  std::size_t from_ = 0;
  bool is_open_ = false;  // everything since then can be repeated
  bool reads_attributes_ = false;
};

}  // namespace

std::vector<GuardRelocation> find_relocations(const Graph& graph) { return Finder(graph).run(); }

}  // namespace tagalong::replay
