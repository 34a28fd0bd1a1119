#include "recorder/deferred/deferred_expression.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "recorder/base/recordings.h"
#include "replay/arrays/planning/multi_pass_builder.h"
#include "rewriter/cpython/frames.h"

namespace tagalong::recorder {

array::LoopTally expression_tally;

namespace {

thread_local bool raised_late = false;

bool is_among(std::span<const std::size_t> numbers, std::size_t number) {
  return std::ranges::find(numbers, number) != numbers.end();
}

// A result that has been seen stays the same object, even if it is computed a second time.
void keep(Ref made, Ref* result) {
  if (!*result) {
    *result = std::move(made);
  }
}

}  // namespace

bool Expression::has_raised_late() { return std::exchange(raised_late, false); }
bool Expression::is_raising_late() { return raised_late; }

void Expression::add(ArrayOperator op, Operands operands, int unit) {
  nodes_.push_back({.op = std::move(op), .operands = std::move(operands), .unit = unit});
}

// A fusion group under construction, from operation `begin` on; `results` has one entry for each operation in it.
struct Expression::Building {
  Building(const array::Numpy& np, std::size_t first) : builder(np, &externals, true), begin(first) {}
  [[nodiscard]] std::size_t end() const { return begin + results.size(); }

  std::vector<PyObject*> externals;
  array::MultiPassBuilder builder;
  std::vector<int> external_numbers;
  std::vector<int> results;
  std::size_t begin;
};

Expression::Expression() = default;
Expression::~Expression() = default;

int Expression::build_node(std::size_t number, const std::vector<Ref>& before, Building* building) const {
  auto& [externals, builder, external_numbers, results, begin] = *building;
  const Node& node = nodes_[number];
  std::array<int, kMostOperands> numbers{};
  unsigned mask = 0;
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    const Operand& operand = node.operands[i];
    mask |= operand.is_anonymous ? array::kAnonymous << i : 0;
    const auto of = static_cast<std::size_t>(std::max(operand.node, 0));
    if (operand.node >= 0 && of >= begin) {
      numbers.at(i) = results[of - begin];
      continue;
    }
    PyObject* object = operand.node >= 0 ? before[of].get() : operand.object.get();
    const auto found = std::ranges::find(externals, object);
    const auto place = static_cast<std::size_t>(found - externals.begin());
    if (found == externals.end()) {
      if (place == array::kMostExternals) {
        return -1;
      }
      externals.push_back(object);
      const int constant = builder.constant(object);  // the group runs only once
      external_numbers.push_back(constant >= 0 ? constant : builder.external(object, static_cast<unsigned>(place)));
    }
    numbers.at(i) = external_numbers[place];
    if (numbers.at(i) < 0) {
      return -1;
    }
  }
  return builder.add(verb_of(node.op, std::span<const int>(numbers).first(node.operands.size()), mask));
}

void Expression::extend_group(std::size_t end, const std::vector<Ref>& before, Building* building) const {
  while (array::fusion_enabled != 0 && building->end() < end) {
    const int result = build_node(building->end(), before, building);
    if (result < 0) {
      break;
    }
    building->results.push_back(result);
  }
}

std::unique_ptr<Expression::Building> Expression::build_group(Range range, const std::vector<Ref>& before) const {
  auto building = std::make_unique<Building>(*array::met_numpy(), range.begin);
  extend_group(range.end, before, building.get());
  return building;
}

std::unique_ptr<Expression::Building> Expression::take_whole_group() {
  if (whole_group_ == nullptr) {
    return build_group({0, nodes_.size()}, {});
  }
  extend_group(nodes_.size(), {}, whole_group_.get());
  return std::move(whole_group_);
}

int Expression::type_of(std::size_t node) {
  whole_group_ = take_whole_group();
  return node < whole_group_->end() && !whole_group_->builder.is_scalar(whole_group_->results[node])
             ? static_cast<int>(whole_group_->builder.type_of(whole_group_->results[node]))
             : -1;
}

std::vector<std::size_t> Expression::needed(Range range, std::span<const std::size_t> seen) const {
  std::vector<std::size_t> outputs;
  const auto need = [&](std::size_t number) {
    if (number >= range.begin && number < range.end && !is_among(outputs, number)) {
      outputs.push_back(number);
    }
  };
  std::ranges::for_each(seen, need);
  for (std::size_t behind = range.end; behind < nodes_.size(); ++behind) {
    for (const Operand& operand : nodes_[behind].operands) {
      if (operand.node >= 0) {
        need(static_cast<std::size_t>(operand.node));
      }
    }
  }
  if (outputs.empty()) {
    outputs.push_back(range.end - 1);  // a fusion group needs a result
  }
  return outputs;
}

bool Expression::run_group(Building* building, std::span<const std::size_t> outputs, std::vector<Ref>* results) const {
  boost::container::static_vector<int, array::kMaxFusionOutputs> numbers;
  for (const std::size_t output : outputs) {
    numbers.push_back(building->results[output - building->begin]);
  }
  std::array<Ref, array::kMaxFusionOutputs> made;
  if (!run_once(&building->builder, {numbers.data(), numbers.size()}, building->externals.data(), made.data(),
                OperationRange{.first = nodes_[building->begin].unit, .last = nodes_[building->end() - 1].unit})) {
    return false;
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    keep(std::move(made.at(i)), &(*results)[outputs[i]]);
  }
  return true;
}

Expression::Fused Expression::compute_fused(std::span<const std::size_t> seen, std::vector<Ref>* results) {
  results->resize(nodes_.size());
  if (nodes_.size() < 2) {
    return Fused::kNotOneGroup;
  }
  const std::unique_ptr<Building> building = take_whole_group();
  const std::vector<std::size_t> outputs = needed({0, nodes_.size()}, seen);
  if (building->end() != nodes_.size() || outputs.size() > array::kMaxFusionOutputs) {
    return Fused::kNotOneGroup;
  }
  const bool is_done = run_group(building.get(), outputs, results);
  (is_done ? expression_tally.computed : expression_tally.left).add();
  return is_done ? Fused::kDone : Fused::kFailed;
}

bool Expression::store(PyObject* target) {
  std::vector<Ref> results(nodes_.size());
  const std::unique_ptr<Building> building = take_whole_group();
  if (building->end() != nodes_.size() || building->externals.size() == array::kMostExternals) {
    return false;
  }
  const int number = building->builder.external(target, static_cast<unsigned>(building->externals.size()));
  building->externals.push_back(target);
  const bool is_done = number >= 0 &&
                       building->builder.add({.kind = ArrayOperator::Kind::kAssign,
                                              .operands = {number, building->results.back()}}) >= 0 &&
                       run_group(building.get(), {}, &results);
  if (is_done) {
    expression_tally.computed.add();
  }
  return is_done;
}

bool Expression::compute(const Steps& steps, std::vector<Ref>* results) {
  cpython::Frame* const frame = cpython::current_frame(cpython::thread_state());
  const int location = cpython::unit_of(frame);
  results->resize(nodes_.size());
  for (std::size_t begin = 0; begin < nodes_.size();) {
    Range range{begin, nodes_.size()};
    if (steps.tries_groups) {
      if (run_longest_group(&range, steps, results)) {
        expression_tally.computed.add();
        begin = range.end;
        continue;
      }
      if (range.end > begin + 1) {
        expression_tally.left.add();
      }
    }
    for (; begin < range.end; ++begin) {
      steps.reach(begin);
      const Pause pause;  // a callback belongs to an earlier instruction than the one being recorded
      cpython::set_location(frame, nodes_[begin].unit);
      if (!run_alone(begin, results)) {
        raised_late = true;
        return false;
      }
      drop_unused(begin, steps, results);
    }
    cpython::set_location(frame, location);
  }
  return true;
}

bool Expression::run_longest_group(Range* range, const Steps& steps, std::vector<Ref>* results) const {
  const std::unique_ptr<Building> building = build_group(*range, *results);
  range->end = std::max(building->end(), range->begin + 1);
  std::vector<std::size_t> outputs = needed(*range, steps.visible);
  for (; outputs.size() > array::kMaxFusionOutputs; outputs = needed(*range, steps.visible)) {
    --range->end;
  }
  if (range->end == range->begin + 1) {
    return false;
  }
  const bool is_whole = range->end == building->end();
  return run_group(is_whole ? building.get() : build_group(*range, *results).get(), outputs, results);
}

// Drops its references to operands without a name before the operation, as eager execution does.
bool Expression::run_alone(std::size_t number, std::vector<Ref>* results) {
  Node& node = nodes_[number];
  std::array<Ref, kMostOperands> kept;
  std::array<PyObject*, kMostOperands> operands{};
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    Operand& operand = node.operands[i];
    Ref& from = operand.node >= 0 ? (*results)[static_cast<std::size_t>(operand.node)] : operand.object;
    kept.at(i) = operand.is_anonymous ? std::move(from) : from;
    operands.at(i) = kept.at(i).get();
  }
  Ref result = Ref::steal(execute_operator(node.op, std::span<PyObject* const>(operands).first(node.operands.size())));
  const bool is_done = static_cast<bool>(result);
  keep(std::move(result), &(*results)[number]);
  return is_done;
}

void Expression::drop_unused(std::size_t number, const Steps& steps, std::vector<Ref>* results) const {
  for (std::size_t before = 0; before < number; ++before) {
    if (!(*results)[before] || steps.is_needed(before)) {
      continue;
    }
    const bool is_taken =
        std::any_of(nodes_.begin() + static_cast<std::ptrdiff_t>(number) + 1, nodes_.end(), [=](const Node& node) {
          return std::ranges::any_of(node.operands,
                                     [=](const Operand& operand) { return operand.node == static_cast<int>(before); });
        });
    if (!is_taken) {
      (*results)[before] = Ref();
    }
  }
}

}  // namespace tagalong::recorder
