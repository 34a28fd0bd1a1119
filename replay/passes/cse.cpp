#include "replay/passes/cse.h"

#include <cstdint>
#include <numeric>
#include <utility>

#include "replay/passes/drops.h"
#include "replay/passes/facts.h"
#include "replay/passes/node_table.h"

namespace tagalong::replay {
namespace {

bool makes_number(const Node& node) { return node.op == Op::int_binary || node.op == Op::float_binary; }

// Looks at the value of a number only, not at which object it is.
bool is_arithmetic(const Node& node) {
  return makes_number(node) || node.op == Op::int_compare || node.op == Op::float_compare ||
         node.op == Op::number_truth || node.op == Op::guard_type || node.op == Op::drop;
}

class Merger {
 public:
  explicit Merger(Graph& graph)
      : graph_(graph),
        now_(static_cast<std::size_t>(graph.value_count)),
        seen_(now_.size(), false),
        stays_(now_.size(), true),
        facts_(graph),
        table_(graph.nodes.size()) {
    std::iota(now_.begin(), now_.end(), 0);
  }

  bool run() {
    look_ahead();
    std::vector<Node>& nodes = graph_.nodes;
    for (std::size_t place = 0; place < nodes.size(); ++place) {
      Node& node = nodes[place];
      replace(node.operands);
      // What has raised has no result for another to be.
      if (is_expected_to_raise(nodes, place) || !merged(node)) {
        facts_.learn(node);
        epoch_ += facts_.disturbs(node) ? 1 : 0;
        pure_epoch_ -= node.op == Op::loop ? 1 : 0;
        if (kept_ != place) {
          nodes[kept_] = std::move(node);
        }
        ++kept_;
      }
    }
    nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(kept_), nodes.end());
    if (!changed_) {
      return false;
    }
    for (Snapshot& snapshot : graph_.snapshots) {
      replace(snapshot.locals);
      replace(snapshot.stack);
    }
    for (FrameInfo& frame : graph_.frames) {
      replace(frame.function);
      replace(frame.instance);
    }
    for (Node& node : graph_.nodes) {
      if (node.op == Op::drop) {
        remove_values(node.operands, [this](Value value) { return stays_[at(value)]; });
      }
    }
    keep_last_drops(graph_);
    return true;
  }

 private:
  static std::size_t at(Value value) { return static_cast<std::size_t>(value); }

  void look_ahead() {
    for (const Node& node : graph_.nodes) {
      if (!is_arithmetic(node)) {
        see(node.operands);
      } else if (node.op == Op::drop) {
        for (const Value value : node.operands) {
          stays_[at(value)] = false;
        }
      }
    }
    std::vector<bool> met(graph_.snapshots.size(), false);
    for (const Node& node : graph_.nodes) {
      for (SnapshotId id = node.snapshot; id != kNoSnapshot && !met[static_cast<std::size_t>(id)];) {
        met[static_cast<std::size_t>(id)] = true;
        const Snapshot& snapshot = graph_.snapshots[static_cast<std::size_t>(id)];
        see(snapshot.locals);
        see(snapshot.stack);
        id = snapshot.parent;
      }
    }
  }
  void see(const Values& values) {
    for (const Value value : values) {
      if (value != kNoValue) {
        seen_[at(value)] = true;
      }
    }
  }

  void replace(Value& value) const {
    if (value != kNoValue) {
      value = now_[at(value)];
    }
  }
  void replace(Values& values) const {
    for (Value& value : values) {
      replace(value);
    }
  }

  bool merged(const Node& node) {
    const OpInfo& row = node.info();
    const bool reads = row.effect == Effect::kReads;
    if ((!row.is_pure() && !reads) || row.is_guard() || node.result_count == 0) {
      return false;
    }
    const Node* twin = table_.find_or_add(graph_.nodes, kept_, node, reads ? epoch_ : pure_epoch_);
    if (twin == nullptr || (makes_number(node) && seen_[at(node.first_result)] && seen_[at(twin->first_result)])) {
      return false;
    }
    for (std::int32_t i = 0; i < node.result_count; ++i) {
      const std::size_t result = at(node.first_result + i);
      const std::size_t first = at(twin->first_result + i);
      now_[result] = twin->first_result + i;
      stays_[first] = stays_[first] || stays_[result];
      seen_[first] = seen_[first] || seen_[result];
    }
    changed_ = true;
    return true;
  }

  Graph& graph_;
  Values now_;               // the value that stands for a value
  std::vector<bool> seen_;   // used by what may see which object it is
  std::vector<bool> stays_;  // never dropped, or stands for a value that is not
  Facts facts_;
  NodeTable table_;
  std::size_t kept_ = 0;     // nodes that stay, the first ones
  std::uint32_t epoch_ = 1;  // counts the nodes after which reads may differ
  // Of pure nodes. A new one in each loop: what a round makes and drops is not what was made before it.
  std::uint32_t pure_epoch_ = UINT32_MAX;
  bool changed_ = false;
};

}  // namespace

bool merge_common(Graph& graph) { return Merger(graph).run(); }

}  // namespace tagalong::replay
