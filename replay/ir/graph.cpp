#include "replay/ir/graph.h"

#include <utility>

namespace tagalong::replay {

Value Graph::add(Op op, Values operands, std::int64_t immediate, Ref object, SnapshotId snapshot, std::int32_t line) {
  const OpInfo& row = info(op);
  const std::int32_t results = row.results == kVariadic ? static_cast<std::int32_t>(immediate) : row.results;
  Node& node = nodes.emplace_back();
  node.op = op;
  node.immediate = immediate;
  node.object = std::move(object);
  node.operands = std::move(operands);
  node.result_count = results;
  node.snapshot = snapshot;
  node.line = line;
  if (results > 0) {
    node.first_result = value_count;
    value_count += results;
  }
  return node.first_result;
}

bool is_expected_to_raise(const std::vector<Node>& nodes, std::size_t place) {
  if (!nodes[place].info().may_raise()) {
    return false;
  }
  // Only guards on its other results, and drops of its operands, may be in between.
  for (++place; place < nodes.size(); ++place) {
    const Op op = nodes[place].op;
    if (op == Op::guard_raised) {
      return true;
    }
    if (!has(op, trait::kAfterRaise)) {
      return false;
    }
  }
  return false;
}

}  // namespace tagalong::replay
