#include "replay/arrays/planning/multi_pass_builder.h"

#include <algorithm>

namespace tagalong::array {

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

int MultiPassBuilder::add_object(Object object) {
  object.pass = builders_.size() - 1;
  if (object.number < 0) {
    reason_ = current().reason();
    return -1;
  }
  objects_.push_back(std::move(object));
  return static_cast<int>(objects_.size()) - 1;
}

int MultiPassBuilder::external(PyObject* object, unsigned number) {
  return add_object(
      {.object = object, .external = static_cast<int>(number), .number = current().external(object, number)});
}

int MultiPassBuilder::constant(PyObject* object) {
  return add_object({.object = object, .number = current().constant(object)});
}

int MultiPassBuilder::view(ViewSpec spec) {
  const auto is_same = [&](const Object& known) { return known.part_of < 0 && known.view == spec; };
  if (const auto known = std::ranges::find_if(objects_, is_same); known != objects_.end()) {
    return static_cast<int>(known - objects_.begin());
  }
  const int number = current().view(spec, (*externals_)[spec.external], externals_->data());
  return add_object({.view = std::move(spec), .number = number});
}

int MultiPassBuilder::part(int object, ViewSpec spec) {
  const Object& whole = at(object);
  if (!in_passes_ || !whole.is_result || whole.is_component || is_scalar(object) || is_column(object)) {
    return refuse(FusionReason::kOther);
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

// The index in carried_ of an earlier pass's result. Negative: there are too many carried results, or the result is a
// view.
int MultiPassBuilder::carry(int object) {
  Object& known = objects_[static_cast<std::size_t>(object)];
  if (known.is_component) {
    return -1;
  }
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

// Whether an operand belongs to the current pass and is complete only at its end: the result of a reduction, or a part
// of a result.
bool MultiPassBuilder::needs_new_pass(const ArrayVerb& verb) const {
  const std::size_t pass = builders_.size() - 1;
  const auto is_incomplete = [&](int object) {
    if (object < 0) {
      return false;
    }
    const Object& known = at(object);
    const bool is_reduced = known.is_result && known.made_in == pass && (is_scalar(object) || is_column(object));
    return is_reduced || (known.part_of >= 0 && at(known.part_of).made_in == pass);
  };
  return std::ranges::any_of(verb.operands, is_incomplete) || is_incomplete(verb.out) || is_incomplete(verb.where);
}

bool MultiPassBuilder::may_begin_pass(const ArrayVerb& verb) const {
  // A single operation is as fast by itself as in a pass of its own.
  constexpr std::size_t kMinOperations = 2;
  const bool has_other_shape = reason_ == FusionReason::kShape && builders_.back().operation_count() >= kMinOperations;
  const int target = verb.target();
  return in_passes_ && builders_.size() < kMostPasses && !builders_.back().writes() &&
         (is_closed() || has_other_shape || needs_new_pass(verb)) && (target < 0 || !at(target).is_result);
}

// Adds an operation to the current pass.
int MultiPassBuilder::attempt(const ArrayVerb& verb) {
  ArrayVerb own = verb;
  const auto renumber = [&](int& number) {
    const bool is_given = number >= 0;
    number = is_given ? number_in_pass(number) : number;
    return !is_given || number >= 0;
  };
  if (!std::ranges::all_of(own.operands, renumber) || !renumber(own.out) || !renumber(own.where)) {
    return refuse(FusionReason::kForeign);
  }
  const int result = current().add(own);
  if (result < 0) {
    return refuse(current().reason());
  }
  const int target = verb.target();
  if (target >= 0 && at(target).number == result) {
    objects_[static_cast<std::size_t>(target)].rolled = -1;
    return target;
  }
  return add_object({.is_result = true,
                     .is_component = verb.kind == ArrayVerb::Kind::kComponent,
                     .made_in = builders_.size() - 1,
                     .made_as = result,
                     .number = result});
}

int MultiPassBuilder::add(const ArrayVerb& verb) {
  if (!verb.fits()) {
    return refuse(FusionReason::kOther);
  }
  const int target = verb.target();
  const bool is_earlier = target >= 0 && at(target).is_result && at(target).made_in + 1 != builders_.size();
  // The whole array may be read later with its old contents.
  const bool is_part = target >= 0 && at(target).part_of >= 0;
  if (is_earlier || is_part || (target >= 0 && at(target).call >= 0)) {
    return refuse(FusionReason::kInPlace);
  }
  const int result = is_closed() ? refuse(FusionReason::kOther) : attempt(verb);
  if (result >= 0 || !may_begin_pass(verb)) {
    return result;
  }
  const FusionReason reason = reason_;
  const std::vector<Object> objects = objects_;
  const std::size_t carried = carried_.size();
  builders_.emplace_back(np_);
  const int next = attempt(verb);
  if (next < 0) {
    builders_.pop_back();
    objects_ = objects;
    carried_.resize(carried);
    reason_ = reason;
  }
  return next;
}

int MultiPassBuilder::part_of(int object, ViewSpec spec) {
  const Object& known = at(object);
  if (known.is_result) {
    return part(object, std::move(spec));
  }
  if (known.view && known.view->rolls.empty() && !is_written(object)) {
    ViewSpec whole = *known.view;
    whole.further.push_back(std::move(spec.axes));
    whole.nd = spec.nd;
    return known.part_of < 0 ? view(std::move(whole)) : part(known.part_of, std::move(whole));
  }
  if (known.external < 0 || is_written(object)) {
    return refuse(FusionReason::kForeign);
  }
  spec.external = static_cast<std::uint16_t>(known.external);
  return view(std::move(spec));
}

int MultiPassBuilder::roll(int object, const std::vector<ViewSpec::Roll>& rolls, bool is_flat) {
  // What is rolled again is read from where the first call reads it.
  const bool is_composed = at(object).rolled >= 0;
  const Object known = at(is_composed ? at(object).rolled : object);
  if (known.view && is_written(object)) {
    return refuse(FusionReason::kOverlap);
  }
  ViewSpec spec = known.view.value_or(ViewSpec());
  spec.rolls.insert(spec.rolls.end(), rolls.begin(), rolls.end());
  spec.is_composed = spec.is_composed || is_composed;
  spec.nd = is_flat ? 1 : spec.nd;
  const int rolled = !known.view          ? part_of(object, std::move(spec))
                     : known.part_of >= 0 ? part(known.part_of, std::move(spec))
                                          : view(std::move(spec));
  if (rolled < 0) {
    return -1;
  }
  const int result = add({.kind = ArrayVerb::Kind::kRoll, .operands = {rolled}, .is_shared = is_flat});
  if (result >= 0) {
    objects_[static_cast<std::size_t>(result)].rolled = rolled;
  }
  return result;
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

// NumPy's _var() and _std(). Where NumPy 1 finds the mean of floats along axes, it rounds the number of elements to a
// float.
int MultiPassBuilder::spread(const ArrayVerb& verb) {
  using Kind = ArrayVerb::Kind;
  const int operand = verb.operands[0];
  const int number = is_scalar(operand) ? -1 : number_in_pass(operand);
  const bool is_array = number >= 0 && current().is_array_object(number);
  const unsigned type = is_array ? current().type_of(number) : unsigned{kTypeNumbers};
  if ((type != kDouble && (type != kFloat || np_.major < 2)) || (verb.keeps_dims && !verb.axes)) {
    return refuse(FusionReason::kOther);
  }
  ArrayVerb mean{.kind = Kind::kReduce, .code = static_cast<int>(Reduction::kMean), .operands = {operand}};
  if (verb.axes && std::cmp_less(verb.axes->size(), current().dimensions_of(number))) {
    mean.axes = verb.axes;
    mean.keeps_dims = true;
  }
  const int middle = add(mean);
  const int difference =
      middle < 0 ? -1
                 : add({.kind = Kind::kCall, .object = np_.ufunc(UfuncName::kSubtract), .operands = {operand, middle}});
  const int square =
      difference < 0
          ? -1
          : add({.kind = Kind::kCall, .object = np_.ufunc(UfuncName::kMultiply), .operands = {difference, difference}});
  if (square < 0) {
    return -1;
  }
  ArrayVerb last = verb;
  last.kind = Kind::kReduce;
  last.code = static_cast<int>(Reduction::kMean);
  last.operands = {square};
  return add(last);
}

// Earlier passes must not have written targets, since a call may fail.
int MultiPassBuilder::bins(int labels, int weights, Extent least) {
  if (!in_passes_ || builders_.size() == kMostPasses || calls_.size() == kMostCalls || current().writes() ||
      current().operation_count() == 0) {
    return refuse(FusionReason::kOther);
  }
  const MultiPassPlan::Call call{.pass = static_cast<std::uint8_t>(builders_.size() - 1),
                                 .labels = known_to_calls(labels),
                                 .weights = weights < 0 ? -1 : known_to_calls(weights),
                                 .least = least};
  if (call.labels < 0 || (weights >= 0 && call.weights < 0)) {
    return refuse(FusionReason::kForeign);
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
