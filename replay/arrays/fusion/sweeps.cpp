#include "replay/arrays/fusion/sweeps.h"

#include <algorithm>
#include <boost/container/static_vector.hpp>

#include "replay/arrays/kernels/bins.h"

namespace tagalong::array {

// --- Runs

std::size_t Sweeps::operation_count() const {
  std::size_t count = calls_.size();
  for (const auto& plan : plans_) {
    count += plan->operation_count();
  }
  return count;
}

bool Sweeps::is_better_apart() const {
  constexpr unsigned kOften = 4;
  return refused_ >= kOften;
}

RegionReason Sweeps::run(const Numpy& np, PyObject* const* externals, Ref* outputs) const {
  if (plans_.size() == 1 && calls_.empty()) {
    return plans_.front()->run(np, externals, outputs);
  }
  return run_all(np, externals, outputs, false);
}

RegionReason Sweeps::run_all(const Numpy& np, PyObject* const* externals, Ref* outputs, bool is_again) const {
  boost::container::static_vector<Ref, kMostResults> results;
  std::array<std::size_t, kMostSweeps> first{};                // of each sweep's results
  std::array<PyObject*, kMostExternals + kMostResults> known;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  std::copy_n(externals, externals_, known.begin());
  std::size_t next = 0;  // of what is carried, in the order in which it is made
  boost::container::static_vector<Ref, kMostCalls> called;
  Direction direction = Direction::kBackwards;
  const auto result_of = [&](const Result& result) -> const Ref& {
    return result.second >= kOfCall ? called[result.second - kOfCall] : results[first.at(result.first) + result.second];
  };
  const auto carry = [&](std::size_t sweep) {
    for (; next < carried_.size() && carried_[next].first <= sweep; ++next) {
      const unsigned number = carried_[next].second;
      if (number >= kOfCall && number - kOfCall >= called.size()) {
        return;  // it has not been called yet
      }
      known.at(kMostExternals + next) = result_of(carried_[next]).get();
    }
  };
  for (std::size_t sweep = 0; sweep < plans_.size(); ++sweep) {
    const RegionPlan& plan = *plans_[sweep];
    first.at(sweep) = results.size();
    results.resize(results.size() + plan.output_count());
    const bool turns = direction == Direction::kForwards && plan.may_go_backwards();
    direction = turns ? Direction::kBackwards : Direction::kForwards;
    const RegionReason reason = plan.run(np, known.data(), results.data() + first.at(sweep), direction);
    if (reason != RegionReason::kNone) {
      if (!is_again && plan.wants_its_own()) {
        return run_all(np, externals, outputs, true);
      }
      refused_ += sweep > 0 ? 1 : 0;
      return reason;
    }
    carry(sweep);
    while (called.size() < calls_.size() && calls_[called.size()].sweep == sweep) {
      const Call& call = calls_[called.size()];
      PyObject* weights = call.weights < 0 ? nullptr : known.at(static_cast<std::size_t>(call.weights));
      Ref bins = Ref::steal(count_bins(np, known.at(static_cast<std::size_t>(call.labels)), weights, call.least));
      if (!bins) {
        ++refused_;
        return RegionReason::kException;
      }
      called.push_back(std::move(bins));
      carry(sweep);
    }
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    outputs[i] = result_of(outputs_[i]);
  }
  ++region_counts.in_sweeps;
  return RegionReason::kNone;
}

// --- Plans

SweepsBuilder::SweepsBuilder(const Numpy& np, const std::vector<PyObject*>* externals, bool in_sweeps)
    : np_(np), externals_(externals), in_sweeps_(in_sweeps) {
  builders_.reserve(kMostSweeps);
  builders_.emplace_back(np_);
}

std::size_t SweepsBuilder::operation_count() const {
  std::size_t count = calls_.size();
  for (const RegionBuilder& builder : builders_) {
    count += builder.operation_count();
  }
  return count;
}

int SweepsBuilder::add(Object object) {
  object.sweep = builders_.size() - 1;
  if (object.number < 0) {
    reason_ = current().reason();
    return -1;
  }
  objects_.push_back(std::move(object));
  return static_cast<int>(objects_.size()) - 1;
}

int SweepsBuilder::external(PyObject* object, unsigned number) {
  return add({.object = object, .external = static_cast<int>(number), .number = current().external(object, number)});
}

int SweepsBuilder::constant(PyObject* object) { return add({.object = object, .number = current().constant(object)}); }

int SweepsBuilder::view(ViewSpec spec) {
  const int number = current().view(spec, (*externals_)[spec.external], externals_->data());
  return add({.view = std::move(spec), .number = number});
}

int SweepsBuilder::part(int object, ViewSpec spec) {
  if (!in_sweeps_ || !at(object).is_result || is_scalar(object) || is_column(object)) {
    return refused(RegionReason::kOther);
  }
  objects_.push_back({.view = std::move(spec), .part_of = object, .sweep = kNoSweep});
  return static_cast<int>(objects_.size()) - 1;
}

bool SweepsBuilder::is_written(int object) const {
  const Object& known = at(object);
  return known.sweep < builders_.size() && builders_[known.sweep].is_written(known.number);
}

bool SweepsBuilder::is_scalar(int object) const {
  const Object& known = at(object);
  return known.is_result && known.call < 0 && builders_[known.made_in].is_scalar(known.made_as);
}

bool SweepsBuilder::is_column(int object) const {
  const Object& known = at(object);
  return known.is_result && known.call < 0 && builders_[known.made_in].is_column(known.made_as);
}

// Of carried_, the result of an earlier sweep; negative: there are too many.
int SweepsBuilder::carry(int object) {
  Object& known = objects_[static_cast<std::size_t>(object)];
  if (known.carried < 0) {
    Ref stand_in = this->stand_in(known);
    if (!stand_in || carried_.size() == kMostResults) {
      return -1;
    }
    known.carried = static_cast<int>(carried_.size());
    carried_.push_back({.object = object, .stand_in = std::move(stand_in), .last_used = 0});
  }
  carried_[static_cast<std::size_t>(known.carried)].last_used = builders_.size() - 1;
  return known.carried;
}

// What the builder of the current sweep calls it; negative: nothing that it takes.
int SweepsBuilder::number_in_sweep(int object) {
  Object& known = objects_[static_cast<std::size_t>(object)];
  const std::size_t sweep = builders_.size() - 1;
  if (known.sweep == sweep) {
    return known.number;
  }
  int number = -1;
  if (known.is_result || known.part_of >= 0) {
    if (known.part_of >= 0 && at(known.part_of).made_in == sweep) {
      return -1;  // not before that has come to its end
    }
    const int place = carry(known.is_result ? object : known.part_of);
    if (place < 0) {
      return -1;
    }
    Carried& carried = carried_[static_cast<std::size_t>(place)];
    const auto external = static_cast<unsigned>(kMostExternals) + static_cast<unsigned>(place);
    if (known.is_result) {
      number = current().external(carried.stand_in.get(), external);
    } else {
      carried.is_kept = true;
      known.view->external = static_cast<std::uint16_t>(external);
      number = current().view(*known.view, carried.stand_in.get(), externals_->data());
    }
  } else if (known.view) {
    number = current().view(*known.view, (*externals_)[known.view->external], externals_->data());
  } else if (known.external >= 0) {
    number = current().external(known.object, static_cast<unsigned>(known.external));
  } else {
    number = current().constant(known.object);
  }
  known.sweep = number < 0 ? known.sweep : sweep;
  known.number = number < 0 ? known.number : number;
  return number;
}

// Whether one of them is what the current sweep's reductions give once it has come to its end.
bool SweepsBuilder::takes_reduced(std::span<const int> operands) const {
  return std::ranges::any_of(operands, [&](int object) {
    return object >= 0 && at(object).is_result && at(object).made_in == builders_.size() - 1 &&
           (is_scalar(object) || is_column(object));
  });
}

// Whether one of them is a part of what the current sweep computes.
bool SweepsBuilder::takes_part(std::span<const int> operands) const {
  return std::ranges::any_of(operands, [&](int object) {
    return object >= 0 && at(object).part_of >= 0 && at(at(object).part_of).made_in == builders_.size() - 1;
  });
}

// In the current sweep; `target`: the operand, or what is none, that gets new contents.
template <class Make>
int SweepsBuilder::attempt(std::span<const int> operands, int target, const Make& make) {
  std::array<int, kMaxInputs + 2> numbers{};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    numbers.at(i) = operands[i] < 0 ? -1 : number_in_sweep(operands[i]);
    if (operands[i] >= 0 && numbers.at(i) < 0) {
      return refused(RegionReason::kForeign);
    }
  }
  const int result = make(current(), std::span<const int>(numbers.data(), operands.size()));
  if (result < 0) {
    return refused(current().reason());
  }
  if (target >= 0 && at(target).number == result) {
    return target;
  }
  return add({.is_result = true, .made_in = builders_.size() - 1, .made_as = result, .number = result});
}

template <class Make>
int SweepsBuilder::apply(std::span<const int> operands, int target, const Make& make) {
  if (operands.size() > kMaxInputs + 2) {
    return refused(RegionReason::kOther);
  }
  const bool is_earlier = target >= 0 && at(target).is_result && at(target).made_in + 1 != builders_.size();
  const bool is_part = target >= 0 && at(target).part_of >= 0;  // of what would be read later as it was
  if (is_earlier || is_part || (target >= 0 && at(target).call >= 0)) {
    return refused(RegionReason::kInPlace);
  }
  const int result = is_closed() ? refused(RegionReason::kOther) : attempt(operands, target, make);
  if (result >= 0 || !in_sweeps_ || builders_.size() == kMostSweeps || current().writes() ||
      !(is_closed() || takes_reduced(operands) || takes_part(operands)) || (target >= 0 && at(target).is_result)) {
    return result;
  }
  const RegionReason reason = reason_;
  const std::vector<Object> objects = objects_;
  const std::size_t carried = carried_.size();
  builders_.emplace_back(np_);
  const int next = attempt(operands, target, make);
  if (next < 0) {
    builders_.pop_back();
    objects_ = objects;
    carried_.resize(carried);
    reason_ = reason;
  }
  return next;
}

int SweepsBuilder::binary(BinaryOperator op, int left, int right, unsigned temporaries) {
  return apply(std::array{left, right}, is_inplace(op) ? left : -1, [&](RegionBuilder& builder, auto numbers) {
    return builder.binary(op, numbers[0], numbers[1], temporaries);
  });
}

int SweepsBuilder::unary(UnaryOperator op, int operand, unsigned temporaries) {
  return apply(std::array{operand}, -1,
               [&](RegionBuilder& builder, auto numbers) { return builder.unary(op, numbers[0], temporaries); });
}

int SweepsBuilder::compare(int py_op, int left, int right) {
  return apply(std::array{left, right}, -1,
               [&](RegionBuilder& builder, auto numbers) { return builder.compare(py_op, numbers[0], numbers[1]); });
}

int SweepsBuilder::call(PyObject* ufunc, std::span<const int> operands, int out, int where) {
  std::vector<int> all(operands.begin(), operands.end());
  all.insert(all.end(), {out, where});
  return apply(all, out, [&](RegionBuilder& builder, auto numbers) {
    return builder.call(ufunc, numbers.first(operands.size()), numbers[operands.size()], numbers[operands.size() + 1]);
  });
}

int SweepsBuilder::where(int condition, int one, int other) {
  return apply(std::array{condition, one, other}, -1,
               [&](RegionBuilder& builder, auto numbers) { return builder.where(numbers[0], numbers[1], numbers[2]); });
}

int SweepsBuilder::astype(int operand, PyObject* descr) {
  return apply(std::array{operand}, -1,
               [&](RegionBuilder& builder, auto numbers) { return builder.astype(numbers[0], descr); });
}

int SweepsBuilder::clip(int operand, int low, int high) {
  return apply(std::array{operand, low, high}, -1,
               [&](RegionBuilder& builder, auto numbers) { return builder.clip(numbers[0], numbers[1], numbers[2]); });
}

int SweepsBuilder::assign(int target, int value) {
  return apply(std::array{target, value}, target,
               [&](RegionBuilder& builder, auto numbers) { return builder.assign(numbers[0], numbers[1]); });
}

int SweepsBuilder::reduce(Reduction reduction, int operand) {
  return apply(std::array{operand}, -1,
               [&](RegionBuilder& builder, auto numbers) { return builder.reduce(reduction, numbers[0]); });
}

int SweepsBuilder::reduce(Reduction reduction, int operand, std::span<const int> axes, bool keeps_dims) {
  return apply(std::array{operand}, -1, [&](RegionBuilder& builder, auto numbers) {
    return builder.reduce(reduction, numbers[0], axes, keeps_dims);
  });
}

// Of calls, too: an array such as they make.
Ref SweepsBuilder::stand_in(const Object& object) {
  if (object.call < 0) {
    return builders_[object.made_in].stand_in(object.made_as);
  }
  const Sweeps::Call& call = calls_[static_cast<std::size_t>(object.call)];
  const Extent size = std::max<Extent>(call.least, 1);
  PyObject* descr = Py_NewRef(np_.descr[call.weights < 0 ? kLong : kDouble]);
  Ref made = Ref::steal(np_.new_from_descr(np_.array_type, descr, 1, &size, nullptr, nullptr, 0, nullptr));
  PyErr_Clear();
  return made;
}

// Where runs have it when the current sweep is done; negative: it is no array of its own.
int SweepsBuilder::known_to_calls(int object) {
  const Object& known = at(object);
  if (known.external >= 0) {
    return known.external;
  }
  const int place = known.is_result && !is_scalar(object) ? carry(object) : -1;
  if (place < 0) {
    return -1;
  }
  carried_[static_cast<std::size_t>(place)].is_kept = true;
  return static_cast<int>(kMostExternals) + place;
}

// Nothing may have been written before, since a call may fail.
int SweepsBuilder::bins(int labels, int weights, Extent least) {
  if (!in_sweeps_ || builders_.size() == kMostSweeps || calls_.size() == kMostCalls || current().writes() ||
      current().operation_count() == 0) {
    return refused(RegionReason::kOther);
  }
  const Sweeps::Call call{.sweep = static_cast<std::uint8_t>(builders_.size() - 1),
                          .labels = known_to_calls(labels),
                          .weights = weights < 0 ? -1 : known_to_calls(weights),
                          .least = least};
  if (call.labels < 0 || (weights >= 0 && call.weights < 0)) {
    return refused(RegionReason::kForeign);
  }
  calls_.push_back(call);
  objects_.push_back(
      {.is_result = true, .made_in = call.sweep, .call = static_cast<int>(calls_.size()) - 1, .sweep = kNoSweep});
  return static_cast<int>(objects_.size()) - 1;
}

// The memory of what nobody takes after this sweep, and nobody sees, is that of its result.
void SweepsBuilder::donate(std::size_t sweep, std::span<const int> outputs) {
  for (std::size_t i = 0; i < carried_.size(); ++i) {
    const int object = carried_[i].object;
    if (carried_[i].last_used == sweep && !carried_[i].is_kept && !is_scalar(object) && !is_column(object) &&
        std::ranges::find(outputs, object) == outputs.end()) {
      builders_[sweep].donate(static_cast<int>(kMostExternals + i));
    }
  }
}

std::unique_ptr<Sweeps> SweepsBuilder::finish(std::span<const int> outputs) {
  auto sweeps = std::make_unique<Sweeps>();
  sweeps->externals_ = externals_->size();
  std::vector<std::vector<int>> wanted(builders_.size());  // of each sweep, by its builder's numbers
  const auto want = [&](std::size_t sweep, int number) {
    std::vector<int>& numbers = wanted[sweep];
    auto found = std::ranges::find(numbers, number);
    if (found == numbers.end()) {
      found = numbers.insert(numbers.end(), number);
    }
    return Sweeps::Result(sweep, found - numbers.begin());
  };
  const auto of_call = [](const Object& object) {
    return Sweeps::Result(object.made_in, Sweeps::kOfCall + static_cast<unsigned>(object.call));
  };
  for (const int output : outputs) {
    const Object& object = at(output);
    sweeps->outputs_.push_back(object.call >= 0   ? of_call(object)
                               : object.is_result ? want(object.made_in, object.made_as)
                                                  : want(object.sweep, object.number));
  }
  for (const Carried& carried : carried_) {
    const Object& object = at(carried.object);
    sweeps->carried_.push_back(object.call >= 0 ? of_call(object) : want(object.made_in, object.made_as));
  }
  sweeps->calls_ = calls_;
  for (std::size_t sweep = 0; sweep < builders_.size(); ++sweep) {
    if (sweep > 0) {
      donate(sweep, outputs);
    }
    sweeps->plans_.push_back(builders_[sweep].finish(wanted[sweep]));
    if (sweeps->plans_.back() == nullptr) {
      return nullptr;
    }
  }
  return sweeps;
}

}  // namespace tagalong::array
