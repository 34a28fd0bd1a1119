#include "replay/passes/dce.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "replay/operators.h"
#include "replay/passes/facts.h"

namespace tagalong::replay {
namespace {

// Arithmetic that has a result for all operands; running out of memory does not count.
bool is_total(const Node& node) {
  if (node.op != Op::int_binary && node.op != Op::float_binary) {
    return false;
  }
  const auto text = operator_text(node.op, node.immediate).value_or("?");
  return text == "+" || text == "+=" || text == "-" || text == "-=" ||
         // A large product of ints takes time and memory that somebody may have meant to spend.
         (node.op == Op::float_binary && (text == "*" || text == "*="));
}

class DeadNodes {
 public:
  explicit DeadNodes(Graph& graph)
      : graph_(graph),
        live_(static_cast<std::size_t>(graph.value_count), false),
        inert_(live_.size(), false),
        dropped_at_(live_.size(), kEnd),
        held_until_(live_.size(), 0),
        seen_(graph.snapshots.size(), false),
        disturbances_(graph.nodes.size() + 1, 0),
        dead_(graph.nodes.size(), false) {}

  bool run() {
    look_ahead();
    for (std::size_t place = graph_.nodes.size(); place-- > 0;) {
      visit(place);
    }
    if (std::find(dead_.begin(), dead_.end(), true) == dead_.end()) {
      return false;
    }
    rewrite();
    return true;
  }

 private:
  static constexpr std::uint32_t kEnd = UINT32_MAX;
  static std::size_t at(Value value) { return static_cast<std::size_t>(value); }

  void look_ahead() {
    Facts facts(graph_);
    for (std::size_t place = 0; place < graph_.nodes.size(); ++place) {
      const Node& node = graph_.nodes[place];
      facts.learn(node);
      disturbances_[place + 1] = disturbances_[place] + (facts.disturbs(node) ? 1 : 0);
      if (node.op == Op::drop) {
        for (const Value value : node.operands) {
          dropped_at_[at(value)] = static_cast<std::uint32_t>(place);
        }
      }
    }
    for (Value value = 0; value < graph_.value_count; ++value) {
      inert_[at(value)] = facts.is_inert(value);
    }
  }

  void visit(std::size_t place) {
    const Node& node = graph_.nodes[place];
    if (is_dead(node, place)) {
      dead_[place] = true;
      const std::uint32_t until = release(node);
      for (const Value operand : node.operands) {
        held_until_[at(operand)] = std::max(held_until_[at(operand)], until);
      }
      return;
    }
    use_snapshot(node.snapshot);
    if (node.op != Op::drop) {
      use(node.operands);
    }
  }

  [[nodiscard]] bool is_dead(const Node& node, std::size_t place) const {
    const OpInfo& row = node.info();
    if (!row.is_removable() && !is_total(node)) {
      return false;
    }
    for (std::int32_t i = 0; i < node.result_count; ++i) {
      const std::size_t result = at(node.first_result + i);
      if (live_[result] || ((node.op == Op::param || node.op == Op::function) && dropped_at_[result] != kEnd)) {
        return false;
      }
    }
    return row.effect != Effect::kReads || !is_disturbed(place, release(node));
  }

  // Where the results of a dead node stop keeping anything alive; 0: they never did.
  [[nodiscard]] std::uint32_t release(const Node& node) const {
    std::uint32_t until = 0;
    for (std::int32_t i = 0; i < node.result_count; ++i) {
      const std::size_t result = at(node.first_result + i);
      if (!inert_[result]) {
        until = std::max({until, dropped_at_[result], held_until_[result]});
      }
    }
    return until;
  }

  [[nodiscard]] bool is_disturbed(std::size_t place, std::uint32_t until) const {
    const std::size_t end = std::min<std::size_t>(until, graph_.nodes.size());
    return end > place && disturbances_[end] != disturbances_[place];
  }

  void use(Value value) {
    if (value != kNoValue) {
      live_[at(value)] = true;
    }
  }
  void use(const std::vector<Value>& values) {
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

  void rewrite() {
    std::vector<bool> gone(live_.size(), false);
    for (std::size_t place = 0; place < graph_.nodes.size(); ++place) {
      for (std::int32_t i = 0; dead_[place] && i < graph_.nodes[place].result_count; ++i) {
        gone[at(graph_.nodes[place].first_result + i)] = true;
      }
    }
    for (std::size_t value = 0; value < live_.size(); ++value) {
      const std::uint32_t place = dropped_at_[value];
      if (place == kEnd) {
        continue;
      }
      std::vector<Value>& drops = graph_.nodes[place].operands;
      const bool moves = !inert_[value] && held_until_[value] > place;
      if (gone[value] || moves) {
        std::erase(drops, static_cast<Value>(value));
      }
      if (moves && !gone[value] && held_until_[value] != kEnd) {
        graph_.nodes[held_until_[value]].operands.push_back(static_cast<Value>(value));
      }
    }
    for (FrameInfo& frame : graph_.frames) {
      for (Value* value : {&frame.function, &frame.instance}) {
        *value = *value != kNoValue && gone[at(*value)] ? kNoValue : *value;  // no snapshot shows the frame
      }
    }
    std::size_t place = 0;
    std::erase_if(graph_.nodes, [this, &place](const Node& node) {
      return dead_[place++] || (node.op == Op::drop && node.operands.empty());
    });
  }

  Graph& graph_;
  std::vector<bool> live_;                   // used by what stays, not counting drops
  std::vector<bool> inert_;                  // dropping runs nothing, wherever
  std::vector<std::uint32_t> dropped_at_;    // place of the drop of a value; kEnd: never
  std::vector<std::uint32_t> held_until_;    // a value was kept alive by removed nodes up to there
  std::vector<bool> seen_;                   // snapshots
  std::vector<std::uint32_t> disturbances_;  // how many before a place
  std::vector<bool> dead_;                   // nodes
};

}  // namespace

bool remove_dead(Graph& graph) { return DeadNodes(graph).run(); }

}  // namespace tagalong::replay
