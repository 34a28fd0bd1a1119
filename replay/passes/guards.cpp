#include "replay/passes/guards.h"

#include <cstdint>
#include <utility>

#include "replay/passes/abstract_values.h"
#include "replay/passes/node_table.h"

namespace tagalong::replay {
namespace {

class Guards {
 public:
  explicit Guards(Graph& graph)
      : graph_(graph),
        abstract_values_(graph),
        table_(graph.nodes.size()),
        versioned_(static_cast<std::size_t>(graph.value_count)) {}

  bool run() {
    const std::size_t before = graph_.nodes.size();
    for (std::size_t place = 0; place < before; ++place) {
      Node& node = graph_.nodes[place];
      if (node.info().is_guard() && !node.operands.empty() && is_known(node)) {
        continue;
      }
      abstract_values_.learn(node);
      epoch_ += abstract_values_.disturbs(node) ? 1 : 0;
      keep(place);
    }
    graph_.nodes.erase(graph_.nodes.begin() + static_cast<std::ptrdiff_t>(kept_), graph_.nodes.end());
    return kept_ != before;
  }

 private:
  void keep(std::size_t place) {
    if (kept_ != place) {
      graph_.nodes[kept_] = std::move(graph_.nodes[place]);
    }
    ++kept_;
  }

  bool is_known(const Node& node) {
    const Value value = node.operands[0];
    auto& [versioned_type, versioned_epoch] = versioned_[static_cast<std::size_t>(value)];
    const PyTypeObject* type = abstract_values_.type(value);
    bool lasts = node.info().is_pure();
    switch (node.op) {
      case Op::guard_type: {
        const auto* wanted = reinterpret_cast<PyTypeObject*>(node.object.get());
        if (type == wanted || (versioned_type == wanted && versioned_epoch == epoch_)) {
          return true;
        }
        lasts = is_lasting(wanted);
        break;
      }
      case Op::guard_type_version:
        versioned_type = reinterpret_cast<PyTypeObject*>(node.object.get());
        versioned_epoch = epoch_;
        break;
      case Op::guard_is_not:
        if (type != nullptr && type != Py_TYPE(node.object.get())) {
          return true;
        }
        break;
      case Op::guard_not_null:
        if (type != nullptr) {
          return true;
        }
        break;
      default:
        break;
    }
    return table_.find_or_add(graph_.nodes, kept_, node, lasts ? 0 : epoch_) != nullptr;
  }

  Graph& graph_;
  AbstractValues abstract_values_;
  NodeTable table_;
  // for each value, the type of its last guard_type_version, and the epoch of that guard
  std::vector<std::pair<const PyTypeObject*, std::uint32_t>> versioned_;
  std::uint32_t epoch_ = 1;
  std::size_t kept_ = 0;  // number of nodes kept; they come first
};

}  // namespace

bool drop_known_guards(Graph& graph) { return Guards(graph).run(); }

}  // namespace tagalong::replay
