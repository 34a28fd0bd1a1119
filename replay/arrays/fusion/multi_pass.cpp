#include "replay/arrays/fusion/multi_pass.h"

#include <algorithm>
#include <boost/container/static_vector.hpp>

#include "replay/arrays/kernels/histogram.h"

namespace tagalong::array {

// --- Runs

std::size_t MultiPassPlan::operation_count() const {
  std::size_t count = calls_.size();
  for (const auto& group : groups_) {
    count += group->plan().calls;
  }
  return count;
}

bool MultiPassPlan::is_better_apart() const {
  constexpr unsigned kOften = 4;
  return refused_ >= kOften;
}

FusionReason MultiPassPlan::run(const Numpy& np, PyObject* const* externals, Ref* outputs) const {
  if (groups_.size() == 1 && calls_.empty()) {
    return groups_.front()->run(np, externals, outputs);
  }
  return run_all(np, externals, outputs, false);
}

FusionReason MultiPassPlan::run_all(const Numpy& np, PyObject* const* externals, Ref* outputs, bool is_again) const {
  boost::container::static_vector<Ref, kMostResults> results;
  std::array<std::size_t, kMostPasses> first{};                // index of each pass's first result
  std::array<PyObject*, kMostExternals + kMostResults> known;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  std::copy_n(externals, externals_, known.begin());
  std::size_t next = 0;  // the next carried result, in the order in which they are made
  boost::container::static_vector<Ref, kMostCalls> call_results;
  const auto result_of = [&](const Result& result) -> const Ref& {
    return result.second >= kOfCall ? call_results[result.second - kOfCall]
                                    : results[first.at(result.first) + result.second];
  };
  const auto carry = [&](std::size_t pass) {
    for (; next < carried_.size() && carried_[next].first <= pass; ++next) {
      const unsigned number = carried_[next].second;
      if (number >= kOfCall && number - kOfCall >= call_results.size()) {
        return;  // the call has not been made yet
      }
      known.at(kMostExternals + next) = result_of(carried_[next]).get();
    }
  };
  for (std::size_t pass = 0; pass < groups_.size(); ++pass) {
    const FusionGroup& group = *groups_[pass];
    first.at(pass) = results.size();
    results.resize(results.size() + group.plan().outputs.size());
    const FusionReason reason = group.run(np, known.data(), results.data() + first.at(pass));
    if (reason != FusionReason::kNone) {
      if (!is_again && group.may_retry_without_reuse()) {
        return run_all(np, externals, outputs, true);
      }
      refused_ += pass > 0 ? 1 : 0;
      return reason;
    }
    carry(pass);
    while (call_results.size() < calls_.size() && calls_[call_results.size()].pass == pass) {
      const Call& call = calls_[call_results.size()];
      PyObject* weights = call.weights < 0 ? nullptr : known.at(static_cast<std::size_t>(call.weights));
      Ref bins = Ref::steal(count_bins(np, known.at(static_cast<std::size_t>(call.labels)), weights, call.least));
      if (!bins) {
        ++refused_;
        return FusionReason::kException;
      }
      call_results.push_back(std::move(bins));
      carry(pass);
    }
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    outputs[i] = result_of(outputs_[i]);
  }
  ++fusion_counts.in_passes;
  return FusionReason::kNone;
}

KernelVariants::Kernels MultiPassPlan::kernels() const {
  KernelVariants::Kernels all;
  for (const auto& group : groups_) {
    const auto of_pass = group->kernels();
    all.insert(all.end(), of_pass.begin(), of_pass.end());
  }
  return all;
}

// --- Plans

MultiPassBuilder::MultiPassBuilder(const Numpy& np, const std::vector<PyObject*>* externals, bool in_passes)
    : np_(np), externals_(externals), in_passes_(in_passes) {
  builders_.reserve(kMostPasses);
  builders_.emplace_back(np_);
}

std::size_t MultiPassBuilder::operation_count() const {
  std::size_t count = calls_.size();
  for (const FusionPlanBuilder& builder : builders_) {
    count += builder.operation_count();
  }
  return count;
}

int MultiPassBuilder::add(Object object) {
  object.pass = builders_.size() - 1;
  if (object.number < 0) {
    reason_ = current().reason();
    return -1;
  }
  objects_.push_back(std::move(object));
  return static_cast<int>(objects_.size()) - 1;
}

int MultiPassBuilder::external(PyObject* object, unsigned number) {
  return add({.object = object, .external = static_cast<int>(number), .number = current().external(object, number)});
}

int MultiPassBuilder::constant(PyObject* object) {
  return add({.object = object, .number = current().constant(object)});
}

int MultiPassBuilder::view(ViewSpec spec) {
  const int number = current().view(spec, (*externals_)[spec.external], externals_->data());
  return add({.view = std::move(spec), .number = number});
}

int MultiPassBuilder::part(int object, ViewSpec spec) {
  if (!in_passes_ || !at(object).is_result || is_scalar(object) || is_column(object)) {
    return refused(FusionReason::kOther);
  }
  objects_.push_back({.view = std::move(spec), .part_of = object, .pass = kNoPass});
  return static_cast<int>(objects_.size()) - 1;
}

bool MultiPassBuilder::is_written(int object) const {
  const Object& known = at(object);
  return known.pass < builders_.size() && builders_[known.pass].is_written(known.number);
}

bool MultiPassBuilder::is_scalar(int object) const {
  const Object& known = at(object);
  return known.is_result && known.call < 0 && builders_[known.made_in].is_scalar(known.made_as);
}

bool MultiPassBuilder::is_column(int object) const {
  const Object& known = at(object);
  return known.is_result && known.call < 0 && builders_[known.made_in].is_column(known.made_as);
}

// The index in carried_ of an earlier pass's result; negative: there are too many.
int MultiPassBuilder::carry(int object) {
  Object& known = objects_[static_cast<std::size_t>(object)];
  if (known.carried < 0) {
    Ref placeholder = this->placeholder(known);
    if (!placeholder || carried_.size() == kMostResults) {
      return -1;
    }
    known.carried = static_cast<int>(carried_.size());
    carried_.push_back({.object = object, .placeholder = std::move(placeholder), .last_used = 0});
  }
  carried_[static_cast<std::size_t>(known.carried)].last_used = builders_.size() - 1;
  return known.carried;
}

// The object's number in the current pass; negative: it cannot be an operand there.
int MultiPassBuilder::number_in_pass(int object) {
  Object& known = objects_[static_cast<std::size_t>(object)];
  const std::size_t pass = builders_.size() - 1;
  if (known.pass == pass) {
    return known.number;
  }
  int number = -1;
  if (known.is_result || known.part_of >= 0) {
    if (known.part_of >= 0 && at(known.part_of).made_in == pass) {
      return -1;  // a part of a result can be read only behind its pass
    }
    const int place = carry(known.is_result ? object : known.part_of);
    if (place < 0) {
      return -1;
    }
    Carried& carried = carried_[static_cast<std::size_t>(place)];
    const auto external = static_cast<unsigned>(kMostExternals) + static_cast<unsigned>(place);
    if (known.is_result) {
      number = current().external(carried.placeholder.get(), external);
    } else {
      carried.is_kept = true;
      known.view->external = static_cast<std::uint16_t>(external);
      number = current().view(*known.view, carried.placeholder.get(), externals_->data());
    }
  } else if (known.view) {
    number = current().view(*known.view, (*externals_)[known.view->external], externals_->data());
  } else if (known.external >= 0) {
    number = current().external(known.object, static_cast<unsigned>(known.external));
  } else {
    number = current().constant(known.object);
  }
  known.pass = number < 0 ? known.pass : pass;
  known.number = number < 0 ? known.number : number;
  return number;
}

// Whether an operand is a reduction's result in the current pass, which is complete only at the end of the pass.
bool MultiPassBuilder::takes_reduced(std::span<const int> operands) const {
  return std::ranges::any_of(operands, [&](int object) {
    return object >= 0 && at(object).is_result && at(object).made_in == builders_.size() - 1 &&
           (is_scalar(object) || is_column(object));
  });
}

// Whether an operand is a part of a result of the current pass.
bool MultiPassBuilder::takes_part(std::span<const int> operands) const {
  return std::ranges::any_of(operands, [&](int object) {
    return object >= 0 && at(object).part_of >= 0 && at(at(object).part_of).made_in == builders_.size() - 1;
  });
}

// Adds an operation to the current pass. `target`: the object that gets new contents, or negative.
template <class Make>
int MultiPassBuilder::attempt(std::span<const int> operands, int target, const Make& make) {
  std::array<int, kMaxInputs + 2> numbers{};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    numbers.at(i) = operands[i] < 0 ? -1 : number_in_pass(operands[i]);
    if (operands[i] >= 0 && numbers.at(i) < 0) {
      return refused(FusionReason::kForeign);
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
int MultiPassBuilder::apply(std::span<const int> operands, int target, const Make& make) {
  if (operands.size() > kMaxInputs + 2) {
    return refused(FusionReason::kOther);
  }
  const bool is_earlier = target >= 0 && at(target).is_result && at(target).made_in + 1 != builders_.size();
  // The whole array may be read later with its old contents.
  const bool is_part = target >= 0 && at(target).part_of >= 0;
  if (is_earlier || is_part || (target >= 0 && at(target).call >= 0)) {
    return refused(FusionReason::kInPlace);
  }
  const int result = is_closed() ? refused(FusionReason::kOther) : attempt(operands, target, make);
  if (result >= 0 || !in_passes_ || builders_.size() == kMostPasses || current().writes() ||
      !(is_closed() || takes_reduced(operands) || takes_part(operands)) || (target >= 0 && at(target).is_result)) {
    return result;
  }
  const FusionReason reason = reason_;
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

int MultiPassBuilder::binary(BinaryOperator op, int left, int right, unsigned temporaries) {
  return apply(std::array{left, right}, is_inplace(op) ? left : -1, [&](FusionPlanBuilder& builder, auto numbers) {
    return builder.binary(op, numbers[0], numbers[1], temporaries);
  });
}

int MultiPassBuilder::unary(UnaryOperator op, int operand, unsigned temporaries) {
  return apply(std::array{operand}, -1,
               [&](FusionPlanBuilder& builder, auto numbers) { return builder.unary(op, numbers[0], temporaries); });
}

int MultiPassBuilder::compare(int py_op, int left, int right) {
  return apply(std::array{left, right}, -1, [&](FusionPlanBuilder& builder, auto numbers) {
    return builder.compare(py_op, numbers[0], numbers[1]);
  });
}

int MultiPassBuilder::call(PyObject* ufunc, std::span<const int> operands, int out, int where) {
  std::vector<int> all(operands.begin(), operands.end());
  all.insert(all.end(), {out, where});
  return apply(all, out, [&](FusionPlanBuilder& builder, auto numbers) {
    return builder.call(ufunc, numbers.first(operands.size()), numbers[operands.size()], numbers[operands.size() + 1]);
  });
}

int MultiPassBuilder::where(int condition, int one, int other) {
  return apply(std::array{condition, one, other}, -1, [&](FusionPlanBuilder& builder, auto numbers) {
    return builder.where(numbers[0], numbers[1], numbers[2]);
  });
}

int MultiPassBuilder::astype(int operand, PyObject* descr) {
  return apply(std::array{operand}, -1,
               [&](FusionPlanBuilder& builder, auto numbers) { return builder.astype(numbers[0], descr); });
}

int MultiPassBuilder::clip(int operand, int low, int high) {
  return apply(std::array{operand, low, high}, -1, [&](FusionPlanBuilder& builder, auto numbers) {
    return builder.clip(numbers[0], numbers[1], numbers[2]);
  });
}

int MultiPassBuilder::assign(int target, int value) {
  return apply(std::array{target, value}, target,
               [&](FusionPlanBuilder& builder, auto numbers) { return builder.assign(numbers[0], numbers[1]); });
}

int MultiPassBuilder::reduce(Reduction reduction, int operand) {
  return apply(std::array{operand}, -1,
               [&](FusionPlanBuilder& builder, auto numbers) { return builder.reduce(reduction, numbers[0]); });
}

int MultiPassBuilder::reduce(Reduction reduction, int operand, std::span<const int> axes, bool keeps_dims) {
  return apply(std::array{operand}, -1, [&](FusionPlanBuilder& builder, auto numbers) {
    return builder.reduce(reduction, numbers[0], axes, keeps_dims);
  });
}

// The result of a call is represented by an array such as the call makes.
Ref MultiPassBuilder::placeholder(const Object& object) {
  if (object.call < 0) {
    return builders_[object.made_in].placeholder(object.made_as);
  }
  const MultiPassPlan::Call& call = calls_[static_cast<std::size_t>(object.call)];
  const Extent size = std::max<Extent>(call.least, 1);
  PyObject* descr = Py_NewRef(np_.descr[call.weights < 0 ? kLong : kDouble]);
  Ref made = Ref::steal(np_.new_from_descr(np_.array_type, descr, 1, &size, nullptr, nullptr, 0, nullptr));
  PyErr_Clear();
  return made;
}

// The number of an array that calls behind the current pass can use; negative: the object is not an array of its own.
int MultiPassBuilder::known_to_calls(int object) {
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

// Earlier passes must not have written targets, since a call may fail.
int MultiPassBuilder::bins(int labels, int weights, Extent least) {
  if (!in_passes_ || builders_.size() == kMostPasses || calls_.size() == kMostCalls || current().writes() ||
      current().operation_count() == 0) {
    return refused(FusionReason::kOther);
  }
  const MultiPassPlan::Call call{.pass = static_cast<std::uint8_t>(builders_.size() - 1),
                                 .labels = known_to_calls(labels),
                                 .weights = weights < 0 ? -1 : known_to_calls(weights),
                                 .least = least};
  if (call.labels < 0 || (weights >= 0 && call.weights < 0)) {
    return refused(FusionReason::kForeign);
  }
  calls_.push_back(call);
  objects_.push_back(
      {.is_result = true, .made_in = call.pass, .call = static_cast<int>(calls_.size()) - 1, .pass = kNoPass});
  return static_cast<int>(objects_.size()) - 1;
}

// A result of this pass may take the memory of an array that is neither used after the pass nor visible.
void MultiPassBuilder::reuse_buffer(std::size_t pass, std::span<const int> outputs) {
  for (std::size_t i = 0; i < carried_.size(); ++i) {
    const int object = carried_[i].object;
    if (carried_[i].last_used == pass && !carried_[i].is_kept && !is_scalar(object) && !is_column(object) &&
        std::ranges::find(outputs, object) == outputs.end()) {
      builders_[pass].reuse_buffer(static_cast<int>(kMostExternals + i));
    }
  }
}

std::unique_ptr<MultiPassPlan> MultiPassBuilder::finish(std::span<const int> outputs) {
  auto passes = std::make_unique<MultiPassPlan>();
  passes->externals_ = externals_->size();
  std::vector<std::vector<int>> pass_outputs(builders_.size());  // by pass: numbers in the pass's builder
  const auto add_output = [&](std::size_t pass, int number) {
    std::vector<int>& numbers = pass_outputs[pass];
    auto found = std::ranges::find(numbers, number);
    if (found == numbers.end()) {
      found = numbers.insert(numbers.end(), number);
    }
    return MultiPassPlan::Result(pass, found - numbers.begin());
  };
  const auto call_result = [](const Object& object) {
    return MultiPassPlan::Result(object.made_in, MultiPassPlan::kOfCall + static_cast<unsigned>(object.call));
  };
  for (const int output : outputs) {
    const Object& object = at(output);
    passes->outputs_.push_back(object.call >= 0   ? call_result(object)
                               : object.is_result ? add_output(object.made_in, object.made_as)
                                                  : add_output(object.pass, object.number));
  }
  for (const Carried& carried : carried_) {
    const Object& object = at(carried.object);
    passes->carried_.push_back(object.call >= 0 ? call_result(object) : add_output(object.made_in, object.made_as));
  }
  passes->calls_ = calls_;
  for (std::size_t pass = 0; pass < builders_.size(); ++pass) {
    if (pass > 0) {
      reuse_buffer(pass, outputs);
    }
    passes->groups_.push_back(builders_[pass].finish(pass_outputs[pass]));
    if (passes->groups_.back() == nullptr) {
      return nullptr;
    }
  }
  return passes;
}

}  // namespace tagalong::array
