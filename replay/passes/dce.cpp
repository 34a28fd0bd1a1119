#include "replay/passes/dce.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <utility>

#include "replay/ir/operators.h"
#include "replay/passes/abstract_values.h"
#include "replay/passes/used_values.h"

namespace tagalong::replay {
namespace {

// Arithmetic that has a result for all operands, except that memory can run out.
bool is_total(const Node& node) {
  if (!node.info().has(trait::kTotalSum)) {
    return false;
  }
  const auto text = operator_text(node.op, node.immediate).value_or("?");
  return text == "+" || text == "+=" || text == "-" || text == "-=" ||
         // A large product of ints takes time and memory, so it does not count as total.
         (node.info().has(trait::kTotalProduct) && (text == "*" || text == "*="));
}

class DeadNodes {
 public:
  explicit DeadNodes(Graph& graph)
      : graph_(graph),
        live_(graph),
        inert_(static_cast<std::size_t>(graph.value_count), false),
        dropped_at_(inert_.size(), kEnd),
        held_until_(inert_.size(), kNever),
        holder_(inert_.size(), kNoValue),
        disturbances_(graph.nodes.size() + 1, 0),
        dead_(graph.nodes.size(), false) {}

  bool run() {
    look_ahead();
    for (std::size_t place = graph_.nodes.size(); place-- > 0;) {
      visit(place);
    }
    if (std::ranges::find(dead_, true) == dead_.end()) {
      return false;
    }
    rewrite();
    return true;
  }

 private:
  // When a value is dropped: the number of the dropped operand among all drops of the graph, from 1.
  using Moment = std::uint32_t;
  static constexpr Moment kNever = 0;
  static constexpr Moment kEnd = UINT32_MAX;

  struct Release {
    Moment moment = kNever;
    Value value = kNoValue;  // the value that is dropped
  };

  static std::size_t at(Value value) { return static_cast<std::size_t>(value); }

  void look_ahead() {
    AbstractValues abstract_values(graph_);
    for (std::size_t place = 0; place < graph_.nodes.size(); ++place) {
      const Node& node = graph_.nodes[place];
      abstract_values.learn(node);
      disturbances_[place + 1] = disturbances_[place] + (abstract_values.disturbs(node) ? 1 : 0);
      if (node.op == Op::drop) {
        for (const Value value : node.operands) {
          place_of_.push_back(place);
          dropped_at_[at(value)] = static_cast<Moment>(place_of_.size());
        }
      }
    }
    for (Value value = 0; value < graph_.value_count; ++value) {
      inert_[at(value)] = abstract_values.is_inert(value);
    }
    for (Node& node : graph_.nodes) {
      if (node.op == Op::drop &&
          std::ranges::all_of(node.operands, [this](Value value) { return inert_[at(value)]; })) {
        node.snapshot = kNoSnapshot;  // no code runs that could look at the frame
      }
    }
  }

  void visit(std::size_t place) {
    const Node& node = graph_.nodes[place];
    if (is_dead(node, place)) {
      dead_[place] = true;
      const Release last = release(node);
      for (const Value operand : node.operands) {
        if (last.moment > held_until_[at(operand)]) {
          held_until_[at(operand)] = last.moment;
          holder_[at(operand)] = last.value;
        }
      }
      return;
    }
    live_.add_snapshot(node.snapshot);
    if (node.op != Op::drop) {
      live_.add(node.operands);
    }
  }

  [[nodiscard]] bool is_dead(const Node& node, std::size_t place) const {
    const OpInfo& row = node.info();
    if (!row.is_removable() && !is_total(node)) {
      return false;
    }
    for (std::int32_t i = 0; i < node.result_count; ++i) {
      const Value result = node.first_result + i;
      if (live_[result] || ((node.op == Op::param || node.op == Op::function) && dropped_at_[at(result)] != kEnd)) {
        return false;
      }
    }
    return row.effect != Effect::kReads || !is_disturbed(place, release(node).moment);
  }

  // When the results of a dead node no longer keep their operands alive.
  [[nodiscard]] Release release(const Node& node) const {
    Release last;
    for (std::int32_t i = 0; i < node.result_count; ++i) {
      const Value result = node.first_result + i;
      const Moment moment = std::max(dropped_at_[at(result)], held_until_[at(result)]);
      if (!inert_[at(result)] && moment > last.moment) {
        last = {moment, result};
      }
    }
    return last;
  }

  [[nodiscard]] bool is_disturbed(std::size_t place, Moment until) const {
    if (until == kNever) {
      return false;
    }
    const std::size_t end = until == kEnd ? graph_.nodes.size() : place_of_[until - 1];
    return disturbances_[end] != disturbances_[place];
  }

  void rewrite() {
    std::vector<bool> gone(inert_.size(), false);
    maker_.assign(inert_.size(), nullptr);
    for (std::size_t place = 0; place < graph_.nodes.size(); ++place) {
      for (std::int32_t i = 0; dead_[place] && i < graph_.nodes[place].result_count; ++i) {
        maker_[at(graph_.nodes[place].first_result + i)] = &graph_.nodes[place];
        gone[at(graph_.nodes[place].first_result + i)] = true;
      }
    }
    for (Node& node : graph_.nodes) {
      if (node.op == Op::drop) {
        Values drops;
        for (const Value value : node.operands) {
          if (!moves(value)) {
            drop(value, drops);
          }
        }
        node.operands = std::move(drops);
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

  // Whether a removed node kept the value alive beyond its own drop: then it is dropped with the result of that node.
  [[nodiscard]] bool moves(Value value) const {
    return !inert_[at(value)] && dropped_at_[at(value)] != kEnd && held_until_[at(value)] > dropped_at_[at(value)];
  }

  // Drops, instead of a removed value, the operands of its node; the last one first, as tuples and lists do.
  void drop(Value value, Values& drops) {
    const Node* maker = maker_[at(value)];
    if (maker == nullptr) {
      drops.push_back(value);
      return;
    }
    Values held;
    for (const Value each : maker->operands) {
      if (holder_[at(each)] == value && moves(each)) {
        holder_[at(each)] = kNoValue;  // only once, even if it occurs twice
        held.push_back(each);
      }
    }
    std::ranges::for_each(std::views::reverse(held), [this, &drops](Value each) { drop(each, drops); });
  }

  Graph& graph_;
  UsedValues live_;                          // used by remaining nodes other than drops
  std::vector<bool> inert_;                  // dropping the value never runs code
  std::vector<Moment> dropped_at_;           // kEnd: never dropped
  std::vector<Moment> held_until_;           // until then, removed nodes kept the value alive
  Values holder_;                            // the last removed value that kept it alive
  std::vector<std::size_t> place_of_;        // the node of each moment
  std::vector<const Node*> maker_;           // the node that made a value, for removed values
  std::vector<std::uint32_t> disturbances_;  // for each node, the number of disturbing nodes before it
  std::vector<bool> dead_;                   // dead nodes
};

}  // namespace

bool remove_dead(Graph& graph) { return DeadNodes(graph).run(); }

}  // namespace tagalong::replay
