#include "recorder/array_expression.h"

#include <algorithm>
#include <span>
#include <utility>

#include "rewriter/interp/frames.h"

namespace tagalong::recorder {

array::LoopTally expression_tally;

namespace {
thread_local bool raised_late = false;
}  // namespace

bool Expression::has_raised_late() { return std::exchange(raised_late, false); }

Expression::Operand Expression::append(Expression other) {
  const int before = static_cast<int>(nodes_.size());
  for (Node& node : other.nodes_) {
    for (Operand& operand : node.operands) {
      operand.node += operand.node >= 0 ? before : 0;
    }
    nodes_.push_back(std::move(node));
  }
  return {.object = {}, .node = static_cast<int>(nodes_.size()) - 1};
}

void Expression::add(const ArrayOperator& op, Operand left, Operand right, int unit) {
  nodes_.push_back({.op = op, .operands = {std::move(left), std::move(right)}, .unit = unit});
}

Ref Expression::compute(PyObject* right) {
  if (nodes_.size() > 1) {
    if (Ref result = run_as_region(right, nullptr)) {
      expression_tally.computed.add();
      return result;
    }
    expression_tally.left.add();
  }
  return run_one_by_one(right);
}

bool Expression::store(PyObject* target) const {
  const bool is_done = static_cast<bool>(run_as_region(nullptr, target));
  if (is_done) {
    expression_tally.computed.add();
  }
  return is_done;
}

Ref Expression::run_as_region(PyObject* right, PyObject* target) const {
  const array::Numpy* np = array::met_numpy();
  if (np == nullptr || array::regions_enabled == 0) {
    return {};
  }
  array::RegionBuilder builder(*np);
  std::vector<PyObject*> externals;
  std::vector<int> external_numbers;
  std::vector<int> results;
  for (const Node& node : nodes_) {
    std::array<int, 2> numbers{};
    unsigned mask = 0;
    for (std::size_t i = 0; i < count(node); ++i) {
      const Operand& operand = node.operands.at(i);
      if (operand.node >= 0) {
        numbers.at(i) = results[static_cast<std::size_t>(operand.node)];
        mask |= array::kAnonymous << i;
        continue;
      }
      PyObject* object = operand.object ? operand.object.get() : right;
      const auto found = std::ranges::find(externals, object);
      const auto place = static_cast<std::size_t>(found - externals.begin());
      if (found == externals.end()) {
        externals.push_back(object);
        const int number = builder.constant(object);  // there is one run only
        external_numbers.push_back(number >= 0 ? number : builder.external(object, static_cast<unsigned>(place)));
      }
      numbers.at(i) = external_numbers[place];
      mask |= Py_REFCNT(object) == 1 ? array::kAnonymous << i : 0;
      if (numbers.at(i) < 0) {
        return {};
      }
    }
    results.push_back(build(node.op, &builder, std::span<const int>(numbers).first(count(node)), mask));
    if (results.back() < 0) {
      return {};
    }
  }
  if (target != nullptr) {
    const int number = builder.external(target, static_cast<unsigned>(externals.size()));
    externals.push_back(target);
    if (number < 0 || builder.assign(number, results.back()) < 0) {
      return {};
    }
  }
  Ref output = Ref::create(target);
  const auto seen = target == nullptr ? std::span<const int>(&results.back(), 1) : std::span<const int>();
  return run_once(&builder, seen, externals.data(), &output) ? output : Ref();
}

// Operands are given up as soon as eager execution would.
Ref Expression::run_one_by_one(PyObject* right) {
  interp::Frame* frame = interp::current_frame(interp::thread_state());
  const int shown = interp::unit_of(frame);
  std::vector<Ref> results;
  for (Node& node : nodes_) {
    std::array<Ref, 2> kept;
    std::array<PyObject*, 2> operands{};
    for (std::size_t i = 0; i < count(node); ++i) {
      Operand& operand = node.operands.at(i);
      kept.at(i) = std::move(operand.node >= 0 ? results[static_cast<std::size_t>(operand.node)] : operand.object);
      operands.at(i) = kept.at(i) ? kept.at(i).get() : right;
    }
    interp::set_location(frame, node.unit);
    results.push_back(Ref::steal(execute_operator(node.op, std::span<PyObject* const>(operands).first(count(node)))));
    if (!results.back()) {
      raised_late = node.unit != shown;
      return {};
    }
  }
  interp::set_location(frame, shown);
  return std::move(results.back());
}

}  // namespace tagalong::recorder
