#include "recorder/array_expression.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "recorder/session.h"
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

void Expression::add(ArrayOperator op, Operands operands, int unit) {
  nodes_.push_back({.op = std::move(op), .operands = std::move(operands), .unit = unit});
}

Ref Expression::compute(PyObject* right) {
  while (nodes_.size() > 1) {
    std::size_t refused = nodes_.size();
    if (Ref result = run_as_region(right, nullptr, &refused)) {
      expression_tally.computed.add();
      return result;
    }
    expression_tally.left.add();
    if (refused == nodes_.size()) {
      break;
    }
    if (!compute_first(refused) || (nodes_.size() > 1 && !compute_first(1))) {
      return {};
    }
  }
  return run_one_by_one(right);
}

bool Expression::store(PyObject* target) const {
  std::size_t refused = 0;
  const bool is_done = static_cast<bool>(run_as_region(nullptr, target, &refused));
  if (is_done) {
    expression_tally.computed.add();
  }
  return is_done;
}

struct Expression::Building {
  array::RegionBuilder builder;
  std::vector<PyObject*> externals;
  std::vector<int> external_numbers;
  std::vector<int> results;  // of nodes
};

int Expression::build_node(const Node& node, PyObject* right, Building* building) {
  auto& [builder, externals, external_numbers, results] = *building;
  std::array<int, kMostOperands> numbers{};
  unsigned mask = 0;
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    const Operand& operand = node.operands[i];
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
      return -1;
    }
  }
  return build(node.op, &builder, std::span<const int>(numbers).first(node.operands.size()), mask);
}

Ref Expression::run_as_region(PyObject* right, PyObject* target, std::size_t* refused) const {
  const array::Numpy* np = array::met_numpy();
  if (np == nullptr || array::regions_enabled == 0) {
    return {};
  }
  Building building{.builder = array::RegionBuilder(*np), .externals = {}, .external_numbers = {}, .results = {}};
  auto& [builder, externals, external_numbers, results] = building;
  for (const Node& node : nodes_) {
    const int result = build_node(node, right, &building);
    if (result < 0) {
      *refused = results.size();
      return {};
    }
    results.push_back(result);
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

bool Expression::compute_first(std::size_t count) {
  // Below each of those that nobody of them takes stand, one behind the other, the operations that it needs.
  std::vector<std::size_t> begins(count);
  for (std::size_t i = 0; i < count; ++i) {
    begins[i] = i;
    for (const Operand& operand : nodes_[i].operands) {
      begins[i] = operand.node >= 0 ? std::min(begins[i], begins[static_cast<std::size_t>(operand.node)]) : begins[i];
    }
  }
  std::vector<std::size_t> lasts;
  for (std::size_t end = count; end > 0; end = begins[end - 1]) {
    lasts.push_back(end - 1);
  }
  std::vector<Ref> results(count);
  for (; !lasts.empty(); lasts.pop_back()) {
    const std::size_t last = lasts.back();
    Expression part;
    for (std::size_t i = begins[last]; i <= last; ++i) {
      for (Operand& operand : nodes_[i].operands) {
        operand.node -= operand.node >= 0 ? static_cast<int>(begins[last]) : 0;
      }
      part.nodes_.push_back(std::move(nodes_[i]));
    }
    results[last] = part.compute();
    if (!results[last]) {
      return false;
    }
  }
  nodes_.erase(nodes_.begin(), nodes_.begin() + static_cast<std::ptrdiff_t>(count));
  for (Node& node : nodes_) {
    for (Operand& operand : node.operands) {
      if (operand.node >= 0 && static_cast<std::size_t>(operand.node) < count) {
        operand = {.object = std::move(results[static_cast<std::size_t>(operand.node)]), .node = -1};
      } else {
        operand.node -= operand.node >= 0 ? static_cast<int>(count) : 0;
      }
    }
  }
  return true;
}

// Operands are given up as soon as eager execution would.
Ref Expression::run_one_by_one(PyObject* right) {
  interp::Frame* frame = interp::current_frame(interp::thread_state());
  const int shown = interp::unit_of(frame);
  std::vector<Ref> results;
  for (Node& node : nodes_) {
    std::array<Ref, kMostOperands> kept;
    std::array<PyObject*, kMostOperands> operands{};
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      Operand& operand = node.operands[i];
      kept.at(i) = std::move(operand.node >= 0 ? results[static_cast<std::size_t>(operand.node)] : operand.object);
      operands.at(i) = kept.at(i) ? kept.at(i).get() : right;
    }
    std::optional<Session::Pause> pause;
    if (node.unit != shown) {
      pause.emplace();
    }
    interp::set_location(frame, node.unit);
    results.push_back(
        Ref::steal(execute_operator(node.op, std::span<PyObject* const>(operands).first(node.operands.size()))));
    if (!results.back()) {
      raised_late = node.unit != shown;
      return {};
    }
  }
  interp::set_location(frame, shown);
  return std::move(results.back());
}

}  // namespace tagalong::recorder
