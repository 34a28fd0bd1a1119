#include "replay/loops/loop_graph.h"

#include <algorithm>

namespace tagalong::replay {

LoopGraph::LoopGraph(const Graph& graph) : graph_(graph) {
  if (!graph.nodes.empty()) {
    find_header();
  }
  if (is_closed_) {
    values_.resize(value_count());
    count_uses();
  }
}

// In a graph without a jump back: the loop that the graph begins with.
void LoopGraph::find_header() {
  jumps_back_ = graph_.nodes.back().op == Op::jump_back;
  std::int64_t left = jumps_back_ ? graph_.nodes.back().immediate : 1;
  for (std::size_t number = 0; number < graph_.nodes.size() && !is_closed_; ++number) {
    if (node(number).op == Op::loop && --left == 0) {
      is_closed_ = jumps_back_ || is_entry(number);
      header_ = number;
      first_ = node(number).first_result;
      letters_ = PyUnicode_AsUTF8(node(number).object.get());
    }
  }
}

bool LoopGraph::is_entry(std::size_t header) const {
  return std::all_of(
      graph_.nodes.begin(), graph_.nodes.begin() + static_cast<std::ptrdiff_t>(header), [](const Node& each) {
        return each.info().is_guard() || each.op == Op::param || each.op == Op::constant || each.op == Op::null ||
               each.op == Op::function || each.op == Op::take_stack || each.op == Op::drop;
      });
}

void LoopGraph::use(const Values& values, std::size_t number) {
  for (const Value value : values) {
    if (value != kNoValue) {
      ++of(value).uses;
      of(value).last_use = std::max(of(value).last_use, number);
    }
  }
}

void LoopGraph::count_uses() {
  constexpr std::size_t kUnused = SIZE_MAX;
  std::vector<std::size_t> last_node(graph_.snapshots.size(), kUnused);  // many nodes may share a snapshot
  for (std::size_t number = 0; number < graph_.nodes.size(); ++number) {
    const Node& each = node(number);
    for (std::int32_t index = 0; index < each.result_count; ++index) {
      of(each.first_result + index).defined_at = number;
    }
    if (each.op != Op::drop) {
      use(each.operands, number);
    }
    for (SnapshotId id = each.snapshot; id != kNoSnapshot; id = snapshot(id).parent) {
      last_node[static_cast<std::size_t>(id)] = number;
    }
  }
  for (std::size_t id = 0; id < last_node.size(); ++id) {
    if (last_node[id] != kUnused) {
      use(graph_.snapshots[id].locals, last_node[id]);
      use(graph_.snapshots[id].stack, last_node[id]);
    }
  }
  const Values passed = jumps_back_ ? graph_.nodes.back().operands : Values();
  for (std::size_t index = 0; index < passed.size(); ++index) {
    ++of(passed[index]).passed;
    of(passed[index]).next_parameter = static_cast<std::int32_t>(index);
  }
}

bool LoopGraph::is_local(SnapshotId id, Value value) const {
  for (; id != kNoSnapshot; id = snapshot(id).parent) {
    if (std::ranges::find(snapshot(id).locals, value) != snapshot(id).locals.end()) {
      return true;
    }
  }
  return false;
}

bool LoopGraph::is_expected_to_raise(std::size_t number) const {
  return replay::is_expected_to_raise(graph_.nodes, number);
}

bool LoopGraph::is_fused(std::size_t number) const {
  const Node& each = node(number);
  const Node& next = node(number + 1);
  if (next.operands.empty() || next.operands[0] != each.first_result) {
    return false;
  }
  if (each.op == Op::range_next || each.op == Op::for_iter || each.op == Op::array_next) {
    return next.op == Op::guard_not_null;
  }
  return is_branch(next) && uses(each.first_result) == 1;
}

bool LoopGraph::is_fused_with_truth(std::size_t number) const {
  const Node& each = node(number);
  const Node& truth = node(number + 1);
  const auto is_only_use = [this](const Node& user, const Node& made) {
    return user.operands.size() == 1 && user.operands[0] == made.first_result && uses(made.first_result) == 1;
  };
  return each.op == Op::scalar_compare && truth.op == Op::number_truth && is_only_use(truth, each) &&
         number + 2 < graph_.nodes.size() && is_branch(node(number + 2)) && is_only_use(node(number + 2), truth);
}

}  // namespace tagalong::replay
