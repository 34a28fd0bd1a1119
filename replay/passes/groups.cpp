#include "replay/passes/groups.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "replay/arrays/kernels/functions.h"

namespace tagalong::replay {
namespace {

class Groups {
 public:
  explicit Groups(Graph& graph) : graph_(graph), numbers_(graph.nodes.size(), 0) {}

  bool run() {
    for (std::size_t place = 0; place < graph_.nodes.size(); ++place) {
      add(place);
    }
    close(graph_.nodes.size());
    bool changed = false;
    for (std::size_t place = 0; place < graph_.nodes.size(); ++place) {
      changed = changed || graph_.nodes[place].group != numbers_[place];
      graph_.nodes[place].group = numbers_[place];
    }
    return changed;
  }

 private:
  // Lowering makes no step of these nodes.
  static bool has_no_step(const Node& node) {
    return node.op == Op::constant || node.op == Op::null || node.op == Op::function || node.op == Op::drop;
  }

  void add(std::size_t place) {
    const Node& node = graph_.nodes[place];
    const bool is_inside = has_no_step(node) || (node.info().has(trait::kFused | trait::kSilent | trait::kScalar) &&
                                                 !is_expected_to_raise(graph_.nodes, place));
    if (!is_inside) {
      close(place);
      return;
    }
    learn_callable(node);
    if (!begin_ && !has_no_step(node)) {
      begin_ = place;
    }
    if (node.info().has(trait::kFused)) {
      is_of_arrays_ = is_of_arrays_ || node.info().has(trait::kArrays) || calls(node, functions_) || has_out(node);
      has_reduction_ = has_reduction_ || calls(node, reductions_);
    }
  }

  // The candidate ends in front of this node.
  void close(std::size_t end) {
    if (begin_ && (is_of_arrays_ || has_reduction_)) {
      ++groups_;
      for (std::size_t place = *begin_; place < end; ++place) {
        numbers_[place] = groups_;
      }
    }
    begin_.reset();
    is_of_arrays_ = has_reduction_ = false;
  }

  // A callable with the name of a NumPy function that a group may contain.
  void learn_callable(const Node& node) {
    const bool is_named =
        node.op == Op::load_module_attr || node.op == Op::load_method || node.op == Op::load_module_method;
    if (!is_named) {
      return;
    }
    // A method comes with self, a function of a module behind a null.
    const Value callable = node.op == Op::load_module_method ? node.first_result + 1 : node.first_result;
    const array::KnownFunction function = array::function_named(node.object.get());
    if (function.kind != array::KnownFunction::Kind::kNone) {
      functions_.insert(callable);
    }
    // Such a call may be a group on its own.
    if (array::may_be_alone(function)) {
      reductions_.insert(callable);
    }
  }

  [[nodiscard]] static bool calls(const Node& node, const std::unordered_set<Value>& callables) {
    return node.op == Op::call && node.operands.size() > 1 &&
           (callables.contains(node.operands[0]) || callables.contains(node.operands[1]));
  }

  // Whether a call has the keyword `out`, as calls of ufuncs have.
  [[nodiscard]] static bool has_out(const Node& node) {
    PyObject* keywords = node.object.get();
    if (node.op != Op::call || keywords == nullptr || !PyTuple_CheckExact(keywords)) {
      return false;
    }
    for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(keywords); ++index) {
      PyObject* keyword = PyTuple_GET_ITEM(keywords, index);
      if (PyUnicode_Check(keyword) && PyUnicode_CompareWithASCIIString(keyword, "out") == 0) {
        return true;
      }
    }
    return false;
  }

  Graph& graph_;
  std::vector<std::int32_t> numbers_;     // by node
  std::unordered_set<Value> functions_;   // callables that may be NumPy's functions
  std::unordered_set<Value> reductions_;  // callables that may be NumPy's reductions
  std::optional<std::size_t> begin_;      // of the candidate that is looked at: its first node
  bool is_of_arrays_ = false;             // it has an operation on arrays
  bool has_reduction_ = false;
  std::int32_t groups_ = 0;
};

}  // namespace

bool form_groups(Graph& graph) { return Groups(graph).run(); }

}  // namespace tagalong::replay
