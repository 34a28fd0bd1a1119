#include "replay/passes/cse.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "replay/passes/abstract_values.h"
#include "replay/passes/drops.h"
#include "replay/passes/node_table.h"

namespace tagalong::replay {
namespace {

class Merger {
 public:
  explicit Merger(Graph& graph)
      : graph_(graph),
        now_(static_cast<std::size_t>(graph.value_count)),
        seen_(now_.size(), false),
        stays_(now_.size(), true),
        abstract_values_(graph),
        table_(graph.nodes.size()) {
    std::iota(now_.begin(), now_.end(), 0);
  }

  bool run() {
    look_ahead();
    std::vector<Node>& nodes = graph_.nodes;
    for (std::size_t place = 0; place < nodes.size(); ++place) {
      Node& node = nodes[place];
      replace(node.operands);
      // A node that raises has no result that could be merged with another one.
      if (is_expected_to_raise(nodes, place) || (!forwarded(node) && !merged(node))) {
        abstract_values_.learn(node);
        if (abstract_values_.disturbs(node)) {
          epoch_ = names_epoch_ = ++last_epoch_;
        }
        if (node.op == Op::loop) {
          --pure_epoch_;
          older_ = node.first_result + node.result_count;
        } else if (node.op == Op::rebind_global) {
          bind(node);
        } else if (node.op == Op::list_renew) {
          epoch_ = ++last_epoch_;
        }
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
      if (!node.info().has(trait::kByValue)) {
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
    // A known function returns a new object each time.
    if ((!row.is_pure() && !reads) || row.is_guard() || node.result_count == 0 || row.has(trait::kNewObject)) {
      return false;
    }
    const std::uint32_t epoch = node.op == Op::load_global ? epoch_of(node) : reads ? epoch_ : pure_epoch_;
    const Node* twin = table_.find_or_add(graph_.nodes, kept_, node, epoch);
    if (twin == nullptr ||
        (row.has(trait::kNewNumber) && seen_[at(node.first_result)] && seen_[at(twin->first_result)])) {
      return false;
    }
    for (std::int32_t i = 0; i < node.result_count; ++i) {
      stand_for(twin->first_result + i, node.first_result + i);
    }
    return true;
  }
  void stand_for(Value first, Value result) {
    now_[at(result)] = first;
    stays_[at(first)] = stays_[at(first)] || stays_[at(result)];
    seen_[at(first)] = seen_[at(first)] || seen_[at(result)];
    changed_ = true;
  }

  // A global that has been stored. Later reads with the same function give the stored value; other earlier reads are
  // outdated.
  struct Binding {
    std::uint32_t epoch = 0;
    Value function = kNoValue, value = kNoValue;
  };
  static PyObject* name_of(const Node& node) {
    Ref name = node.object;
    PyObject* interned = name.release();
    PyUnicode_InternInPlace(&interned);
    Py_DECREF(interned);  // some object of the graph owns it
    return interned;
  }
  [[nodiscard]] std::uint32_t epoch_of(const Node& node) const {
    const auto known = bindings_.find(name_of(node));
    return known == bindings_.end() ? names_epoch_ : std::max(names_epoch_, known->second.epoch);
  }
  void bind(const Node& node) {
    epoch_ = ++last_epoch_;
    bindings_[name_of(node)] = {last_epoch_, node.operands[0], node.operands[1]};
  }
  bool forwarded(const Node& node) {
    if (node.op != Op::load_global) {
      return false;
    }
    const auto known = bindings_.find(name_of(node));
    // In a loop, nothing may drop a value from before it.
    if (known == bindings_.end() || known->second.epoch < names_epoch_ || known->second.function != node.operands[0] ||
        known->second.value < older_) {
      return false;
    }
    stand_for(known->second.value, node.first_result);
    return true;
  }

  Graph& graph_;
  Values now_;               // for each value, the value that replaces it
  std::vector<bool> seen_;   // values whose identity is visible to some use
  std::vector<bool> stays_;  // values that are never dropped, or that replace such a value
  AbstractValues abstract_values_;
  NodeTable table_;
  std::size_t kept_ = 0;           // number of nodes kept; they come first
  std::uint32_t epoch_ = 1;        // changes at a node behind which reads may give another value
  std::uint32_t names_epoch_ = 1;  // the same for reads of globals
  std::uint32_t last_epoch_ = 1;
  std::unordered_map<PyObject*, Binding> bindings_;  // by name
  Value older_ = 0;                                  // values below this one are from before the loop
  // Epoch of pure nodes. A new one begins in each loop: a value made and dropped in a round cannot replace one from
  // before it.
  std::uint32_t pure_epoch_ = UINT32_MAX;
  bool changed_ = false;
};

}  // namespace

bool merge_common(Graph& graph) { return Merger(graph).run(); }

}  // namespace tagalong::replay
