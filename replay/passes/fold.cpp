#include "replay/passes/fold.h"

#include <numeric>
#include <unordered_map>
#include <utility>

#include "replay/passes/abstract_values.h"
#include "replay/passes/evaluate.h"

namespace tagalong::replay {
namespace {

class Fold {
 public:
  explicit Fold(Graph& graph)
      : graph_(graph),
        now_(static_cast<std::size_t>(graph.value_count)),
        objects_(now_.size(), nullptr),
        is_constant_(now_.size(), false),
        gone_(now_.size(), false),
        seen_snapshots_(graph.snapshots.size(), false),
        seen_frames_(graph.frames.size(), false) {
    std::iota(now_.begin(), now_.end(), 0);
  }

  bool run() {
    std::vector<Node> nodes = std::exchange(graph_.nodes, {});
    graph_.nodes.reserve(nodes.size() + 8);
    for (std::size_t place = 0; place < nodes.size(); ++place) {
      Node& node = nodes[place];
      if (node.op == Op::drop) {
        // A folded value can have uses behind its drop; the drop is removed.
        const auto is_needless = [this](Value value) { return gone_[at(value)] || is_constant_[at(value)]; };
        changed_ = remove_values(node.operands, is_needless) != 0 || changed_;
        if (node.operands.empty()) {
          continue;
        }
      } else {
        replace(node.operands);
      }
      replace_in_snapshot(node.snapshot);
      if (is_expected_to_raise(nodes, place)) {
        keep(node);
      } else {
        rewrite(node);
      }
    }
    for (std::size_t frame = 0; frame < graph_.frames.size(); ++frame) {
      finish_frame(frame);
    }
    return changed_;
  }

 private:
  static std::size_t at(Value value) { return static_cast<std::size_t>(value); }
  [[nodiscard]] PyObject* object(Value value) const { return objects_[at(value)]; }

  void replace(Value& value) {
    if (value == kNoValue) {
      return;
    }
    const Value before = value;
    value = now_[at(value)];
    PyObject* known = object(value);
    if (known != nullptr && !is_constant_[at(value)]) {
      value = constant(Ref::create(known));
    }
    changed_ = changed_ || value != before;
  }
  void replace(Values& values) {
    for (Value& value : values) {
      replace(value);
    }
  }

  // A snapshot is changed at its first use: what is known there is also true at its later uses.
  void replace_in_snapshot(SnapshotId id) {
    while (id != kNoSnapshot && !seen_snapshots_[static_cast<std::size_t>(id)]) {
      seen_snapshots_[static_cast<std::size_t>(id)] = true;
      Snapshot& snapshot = graph_.snapshots[static_cast<std::size_t>(id)];
      replace(snapshot.locals);
      replace(snapshot.stack);
      replace_in_frame(static_cast<std::size_t>(snapshot.frame));
      id = snapshot.parent;
    }
  }
  void replace_in_frame(std::size_t frame) {
    if (!seen_frames_[frame]) {
      seen_frames_[frame] = true;
      replace(graph_.frames[frame].function);
      replace(graph_.frames[frame].instance);
    }
  }
  // Behind its return, no snapshot shows this frame, so nothing more is replaced in it.
  void finish_frame(std::size_t frame) {
    for (Value* value : {&graph_.frames[frame].function, &graph_.frames[frame].instance}) {
      if (!seen_frames_[frame] && *value != kNoValue) {
        *value = now_[at(*value)];
      }
    }
  }

  void keep(Node& node) { graph_.nodes.push_back(std::move(node)); }

  // The value of a constant; adds a node for it if there is none.
  Value constant(Ref object) {
    const auto [known, is_new] = constants_.try_emplace(object.get(), kNoValue);
    if (is_new) {
      PyObject* const unboxed = object.get();
      known->second = graph_.add(Op::constant, {}, 0, std::move(object));
      now_.push_back(known->second);
      objects_.push_back(unboxed);
      gone_.push_back(false);
      is_constant_.push_back(true);
    }
    return known->second;
  }

  void fold_into(const Node& node, Value replacement) {
    now_[at(node.first_result)] = replacement;
    gone_[at(node.first_result)] = true;
    changed_ = true;
  }

  void rewrite(Node& node) {
    switch (node.op) {
      case Op::constant:
        if (const auto [known, is_new] = constants_.try_emplace(node.object.get(), node.first_result); !is_new) {
          fold_into(node, known->second);
          return;
        }
        objects_[at(node.first_result)] = node.object.get();
        is_constant_[at(node.first_result)] = true;
        break;
      case Op::guard_true:
        guard_is(node, Ref::create(Py_True));
        return;
      case Op::guard_false:
        guard_is(node, Ref::create(Py_False));
        return;
      case Op::guard_is:
        guard_is(node, node.object);
        return;
      case Op::guard_is_not:
      case Op::guard_not_null:
      case Op::guard_type:
        if (is_answered(node)) {
          changed_ = true;
          return;
        }
        break;
      default:
        if (node.result_count == 1 && operation(node)) {
          return;
        }
        break;
    }
    keep(node);
  }

  void guard_is(Node& node, const Ref& wanted) {
    const Value value = node.operands[0];
    if (object(value) == wanted.get()) {
      changed_ = true;
      return;
    }
    if (object(value) == nullptr) {
      objects_[at(value)] = wanted.get();  // borrowed: the guard owns it; True and False are never freed
    }
    keep(node);
  }

  [[nodiscard]] bool is_answered(const Node& node) const {
    PyObject* known = object(node.operands[0]);
    if (known == nullptr) {
      return false;
    }
    switch (node.op) {
      case Op::guard_is_not:
        return known != node.object.get();
      case Op::guard_type:
        return reinterpret_cast<PyObject*>(Py_TYPE(known)) == node.object.get() && is_lasting(Py_TYPE(known));
      default:
        return true;
    }
  }

  bool operation(const Node& node) {
    const std::size_t count = node.operands.size();
    if (count == 0 || count > 2) {
      return false;
    }
    if (node.op == Op::is_op && node.operands[0] == node.operands[1]) {
      fold_into(node, constant(Ref::create(node.immediate == 0 ? Py_True : Py_False)));
      return true;
    }
    PyObject* left = object(node.operands[0]);
    PyObject* right = count == 2 ? object(node.operands[1]) : nullptr;
    if (left == nullptr || (count == 2 && right == nullptr)) {
      return false;
    }
    Ref result = evaluate(node, left, right);
    if (!result) {
      return false;
    }
    fold_into(node, constant(std::move(result)));
    return true;
  }

  Graph& graph_;
  Values now_;                      // for each value, the constant that replaces it, or the value itself
  std::vector<PyObject*> objects_;  // for each value, the object that it is known to be; a node of the graph owns it
  std::vector<bool> is_constant_;   // values defined by constant nodes
  std::vector<bool> gone_;          // values that no node defines any more
  std::vector<bool> seen_snapshots_;
  std::vector<bool> seen_frames_;
  std::unordered_map<PyObject*, Value> constants_;
  bool changed_ = false;
};

}  // namespace

bool fold(Graph& graph) { return Fold(graph).run(); }

}  // namespace tagalong::replay
