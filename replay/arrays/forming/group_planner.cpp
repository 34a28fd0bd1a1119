#include "replay/arrays/forming/group_planner.h"

#include <opcode.h>

#include <algorithm>

#include "replay/ir/stages.h"
#include "replay/steps/looked_up.h"

namespace tagalong::replay {

std::unique_ptr<PlannedGroup> FusionPlanner::plan(Reason* reason) {
  const bool is_in_loop = !source_.operations.empty();
  const auto count = is_in_loop ? source_.operations.size() : static_cast<std::size_t>(source_.end - source_.first);
  for (std::size_t number = 0; number < count; ++number) {
    const LoopOp* op = is_in_loop ? &source_.operations[number] : nullptr;
    const Step& step = source_.first[is_in_loop ? op->step : number];
    if (is_in_loop ? !may_be_inside(*op, step) : step.in_loop || !may_be_inside(step)) {
      reason_ = Reason::kOther;
      if ((!is_in_loop || op->code == LoopCode::kStep) && step.op == Op::return_value && operations_ != 0 &&
          operations_ == builder_.operation_count() && is_returnable(source_.used[step.operands])) {
        group_->count = static_cast<std::uint32_t>(number);
        group_->returns = true;
        returned_ = source_.used[step.operands];
        accepted_ = state_;
      }
    }
    if (reason_ != Reason::kNone || !(is_in_loop ? take(*op, step) : take(step))) {
      break;
    }
    const bool is_whole = !is_in_loop || op->code == LoopCode::kStep;
    if (is_whole && is_group_operation(step) && is_presentable()) {
      operations_ = builder_.operation_count();
      group_->count = static_cast<std::uint32_t>(number) + 1;
      group_->last_line = step.line;
      accepted_ = state_;
    }
  }
  // Where a name has not been looked up yet, a later attempt may fuse more.
  if (reason_ == Reason::kNotLooked || builder_.operation_count() == 0) {
    *reason = reason_;
    return nullptr;
  }
  if (operations_ < 2 && !(operations_ == builder_.operation_count() && builder_.is_profitable_alone())) {
    *reason = reason_ == Reason::kOther ? Reason::kSingle : reason_;
    return nullptr;
  }
  if (operations_ != builder_.operation_count()) {
    // The following steps need an object that a fusion group does not make.
    FusionSource shorter = source_;
    if (is_in_loop) {
      shorter.operations = source_.operations.first(group_->count);
    } else {
      shorter.end = source_.first + group_->count;
    }
    return FusionPlanner(np_, shorter).plan(reason);
  }
  if (!commit()) {
    if (builder_.pass_count() > 1) {
      FusionSource apart = source_;
      apart.in_passes = false;
      return FusionPlanner(np_, apart).plan(reason);
    }
    *reason = Reason::kLimit;
    return nullptr;
  }
  group_->end = reason_;
  return std::move(group_);
}

bool FusionPlanner::refuse(Reason reason) {
  reason_ = reason;
  return false;
}

int FusionPlanner::content_of(std::int32_t place) {
  if (source_.registers.may_be_unboxed(place)) {
    const int number = unboxed_number(place);
    return number < 0 ? -1 : content_of_number(number);
  }
  const auto [known, is_new] = state_.registers.emplace(place, static_cast<int>(contents_.size()));
  if (is_new) {
    const bool is_constant = place < source_.constants && place != kFunctionRegister;
    contents_.push_back(
        {.kind = is_constant ? Kind::kConstant : Kind::kExternal, .object = source_.registers.objects[place]});
    origins_.push_back(place);
  }
  return known->second;
}

bool FusionPlanner::is_presentable(int content) const {
  const Content& known = contents_[static_cast<std::size_t>(content)];
  return known.kind < Kind::kView && !(known.kind == Kind::kResult && builder_.is_view(known.number));
}

bool FusionPlanner::is_presentable() const {
  return std::ranges::all_of(state_.registers,
                             [&](const auto& known) { return known.second < 0 || is_presentable(known.second); });
}

// A tuple can be returned if each of its items is an object.
bool FusionPlanner::is_returnable(std::int32_t place) const {
  const auto known = state_.registers.find(place);
  const int index = known == state_.registers.end() ? -1 : known->second;
  if (index < 0 || contents_[static_cast<std::size_t>(index)].kind != Kind::kTuple) {
    return is_presentable();
  }
  const std::vector<int>& parts = contents_[static_cast<std::size_t>(index)].parts;
  const auto is_object = [&](int part) {
    return part >= 0 && is_presentable(part) &&
           (contents_[static_cast<std::size_t>(part)].kind >= Kind::kNumber ||
            contents_[static_cast<std::size_t>(part)].object != nullptr);
  };
  return !parts.empty() && std::ranges::all_of(parts, is_object) &&
         std::ranges::all_of(state_.registers, [&](const auto& other) {
           return other.first == place || other.second < 0 || is_presentable(other.second);
         });
}

// The content's number among the externals; the caller has checked that there is room.
int FusionPlanner::external_of(Content* content, std::int32_t place) {
  if (content->external < 0) {
    content->external = static_cast<int>(group_->externals.size());
    group_->externals.push_back({.place = content->kind == Kind::kExternal ? place : -1,
                                 .object = content->kind == Kind::kNumber ? nullptr : content->object,
                                 .number = content->kind == Kind::kNumber ? content->computed : -1});
    external_objects_.push_back(content->object);
  }
  return content->external;
}

// A call of a plain function has null in the place of the method.
bool FusionPlanner::is_null(std::int32_t place) {
  const int index = content_of(place);
  if (index < 0) {
    return false;
  }
  const Content& content = contents_[static_cast<std::size_t>(index)];
  if (content.kind == Kind::kExternal && content.object == nullptr) {
    group_->same.emplace_back(place, nullptr);
    state_.same = group_->same.size();
  }
  return content.kind < Kind::kResult && content.object == nullptr;
}

bool FusionPlanner::take(const LoopOp& op, const Step& step) {
  switch (op.code) {
    case LoopCode::kStep:
    case LoopCode::kSync:
    case LoopCode::kGlobal:
    case LoopCode::kMethod:
      return take(step);
    case LoopCode::kLeaveIfWatched:
      return true;
    case LoopCode::kGuardType:
    case LoopCode::kGuardIs:
    case LoopCode::kGuardNull:
      return guard(step, op.left);
    case LoopCode::kBox:
      return box(op.left);
    case LoopCode::kClear:
    case LoopCode::kClearShown:
      clear(op.left);
      return true;
    case LoopCode::kSyncUnboxed:
      return sync_unboxed(step);
    default:
      return calculate(op);
  }
}

bool FusionPlanner::take(const Step& step) {
  const std::int32_t* operands = source_.used + step.operands;
  bool is_taken = false;
  switch (step.op) {
    case Op::load_global:
      is_taken = load_global(step, operands[0]);
      break;
    case Op::load_module_attr:
    case Op::load_module_method:
      is_taken = load_attribute(step, operands[0]);
      break;
    case Op::build_slice:
    case Op::build_tuple:
      is_taken = true;
      build(step, operands);
      break;
    case Op::binary_subscr:
      is_taken = take_part(step, operands);
      break;
    case Op::store_subscr:
      is_taken = assign(operands);
      break;
    case Op::load_method:
      is_taken = load_method(step, operands);
      break;
    case Op::call:
      is_taken = call(step, operands);
      break;
    case Op::sync_local:
      is_taken = true;
      locals_.emplace_back(&step, content_of(operands[0]));
      state_.locals = locals_.size();
      break;
    case Op::drop:
    case Op::guard_unwatched:
      is_taken = true;
      break;
    case Op::guard_function:
    case Op::guard_is:
    case Op::guard_type:
    case Op::guard_not_null:
      is_taken = guard(step, operands[0]);
      break;
    case Op::leave_frame:
      is_taken = true;
      group_->returned_frames.push_back(step.immediate);
      state_.returned_frames = group_->returned_frames.size();
      break;
    case Op::int_binary:
    case Op::float_binary:
      is_taken = calculate(step, operands);
      break;
    default:
      is_taken = operate(step, operands);
      break;
  }
  const std::int32_t* drops = operands + step.operand_count + step.result_count;
  for (std::uint16_t index = 0; is_taken && index < step.drop_count; ++index) {
    drop(drops[index]);
  }
  return is_taken;
}

void FusionPlanner::drop(std::int32_t place) {
  const int content = content_of(place);
  if (content >= 0 && origins_[static_cast<std::size_t>(content)] == place) {
    state_.dropped.push_back(place);
  }
  state_.registers[place] = -1;
}

void FusionPlanner::define(std::int32_t place, const Content& content) {
  state_.registers[place] = static_cast<int>(contents_.size());
  contents_.push_back(content);
  origins_.push_back(-1);
}

void FusionPlanner::build(const Step& step, const std::int32_t* operands) {
  Content content{.kind = step.op == Op::build_slice ? Kind::kSlice : Kind::kTuple};
  for (int index = 0; index < step.operand_count; ++index) {
    content.parts.push_back(content_of(operands[index]));
  }
  define(step.result, content);
}

bool FusionPlanner::assign(const std::int32_t* operands) {
  const int value = number_of(operands[2]);
  const int number = value < 0 ? -1 : part_of(operands[0], operands[1], true);
  if (number < 0) {
    return refuse(Reason::kOther);
  }
  return builder_.assign(number, value) >= 0 || refuse(builder_.reason());
}

bool FusionPlanner::load_global(const Step& step, std::int32_t place) {
  const int index = content_of(place);
  if (index < 0 || origins_[static_cast<std::size_t>(index)] != place) {
    return refuse(Reason::kName);
  }
  return add_load({&step, place, nullptr, nullptr, look_up_global(step, source_.registers.objects[place])});
}

bool FusionPlanner::load_attribute(const Step& step, std::int32_t place) {
  const int index = content_of(place);
  if (index < 0) {
    return refuse(Reason::kName);
  }
  const Content& module = contents_[static_cast<std::size_t>(index)];
  if (module.kind != Kind::kLoaded || module.object == nullptr || !PyModule_CheckExact(module.object) ||
      (step.cached != nullptr && PyModule_GetDict(module.object) != step.key)) {
    return refuse(Reason::kName);
  }
  PyObject* value = look_up_in_module(step, module.object);
  return add_load({&step, -1, module.object, step.key, value});
}

// A guard inside the group is checked before anything is computed.
bool FusionPlanner::guard(const Step& step, std::int32_t place) {
  const int index = content_of(place);
  if (index < 0) {
    return refuse(Reason::kGuard);
  }
  const Content& content = contents_[static_cast<std::size_t>(index)];
  if (step.op == Op::guard_not_null) {
    return content.object != nullptr || content.kind >= Kind::kResult || refuse(Reason::kGuard);
  }
  if (content.kind == Kind::kResult && step.op == Op::guard_type && !builder_.is_scalar(content.number) &&
      step.object == reinterpret_cast<PyObject*>(np_.array_type)) {
    return true;
  }
  if (content.object == nullptr) {
    return refuse(Reason::kGuard);
  }
  if (content.kind == Kind::kNumber) {
    group_->guards.push_back({&step, -1, nullptr, content.computed});
    state_.guards = group_->guards.size();
    return true;
  }
  const bool is_loaded = content.kind == Kind::kLoaded;
  group_->guards.push_back({&step, is_loaded ? -1 : place, is_loaded ? content.object : nullptr});
  state_.guards = group_->guards.size();
  return true;
}

bool FusionPlanner::add_load(const PlannedGroup::Load& load) {
  if (load.value == nullptr || !load_holds(load, source_.registers.objects)) {
    return refuse(Reason::kNotLooked);
  }
  group_->loads.push_back(load);
  state_.loads = group_->loads.size();
  if (load.step->op == Op::load_module_method) {
    const std::int32_t* results = source_.used + load.step->operands + load.step->operand_count;
    define(results[0], {.kind = Kind::kLoaded});
    define(results[1], {.kind = Kind::kLoaded, .object = load.value});
  } else {
    define(load.step->result, {.kind = Kind::kLoaded, .object = load.value});
  }
  return true;
}

// The fault of a stage that is to be found.
bool FusionPlanner::adds_wrong() const {
  return is_faulty(Stage::fusion_groups) || (is_faulty(Stage::multi_pass) && source_.in_passes);
}

bool FusionPlanner::operate(const Step& step, const std::int32_t* operands) {
  constexpr int kCallableSlots = 2;  // null and the ufunc
  int result = -1;
  std::vector<int> numbers;
  const int first = step.op == Op::array_call ? kCallableSlots : 0;
  for (int index = first; index < step.operand_count; ++index) {
    numbers.push_back(number_of(operands[index]));
    if (numbers.back() < 0) {
      return refuse(group_->externals.size() == kMostExternals ? Reason::kLimit : Reason::kForeign);
    }
  }
  switch (step.op) {
    case Op::array_unary:
      result = builder_.unary(unary_operator(step.immediate), numbers[0], step.temporaries);
      break;
    case Op::array_binary:
      result = builder_.binary(
          static_cast<array::BinaryOperator>(step.immediate == NB_ADD && adds_wrong() ? NB_SUBTRACT : step.immediate),
          numbers[0], numbers[1], step.temporaries);
      break;
    case Op::array_compare:
      result = builder_.compare(step.immediate, numbers[0], numbers[1]);
      break;
    default: {
      PyObject* callable = is_null(operands[0]) ? same_callable(operands[1]) : nullptr;
      if (callable == nullptr) {
        return refuse(Reason::kOther);
      }
      result = builder_.call(callable, numbers);
      break;
    }
  }
  if (result < 0) {
    return refuse(builder_.reason());
  }
  define(step.result, {.kind = Kind::kResult, .number = result});
  return true;
}

// Makes the plan's final actions from the state after the last operation.
bool FusionPlanner::commit() {
  group_->loads.resize(accepted_.loads);
  group_->guards.resize(accepted_.guards);
  group_->same.resize(accepted_.same);
  group_->returned_frames.resize(accepted_.returned_frames);
  locals_.resize(accepted_.locals);
  group_->numeric_slots.resize(accepted_.numeric_slots);
  group_->computed.resize(accepted_.computed);
  for (const auto& [place, unboxed] : accepted_.unboxed) {
    if (unboxed.is_changed || unboxed.clears || unboxed.boxes) {
      group_->unboxed.push_back(unboxed);
    }
  }
  group_->dropped = accepted_.dropped;
  for (const PlannedGroup::Load& load : group_->loads) {
    if (std::ranges::find(group_->named, load.value) == group_->named.end()) {
      group_->named.push_back(load.value);
    }
  }
  if (group_->named.size() > kMostNamed) {
    return false;
  }
  for (const auto& [place, index] : accepted_.registers) {
    if (index < 0 || origins_[static_cast<std::size_t>(index)] == place) {
      continue;
    }
    const Content& content = contents_[static_cast<std::size_t>(index)];
    if (content.kind == Kind::kTuple) {
      group_->tuple = place;
      make_items(index);
      continue;
    }
    if (group_->returns && content.kind == Kind::kResult && !is_returned(index)) {
      continue;
    }
    if (content.kind == Kind::kNumber) {
      group_->numeric.emplace_back(place, content.computed);
      continue;
    }
    if (content.kind != Kind::kResult) {
      group_->loaded.emplace_back(place, content.object);
      continue;
    }
    group_->results.emplace_back(place, output_of(index));
  }
  for (auto local = locals_.begin(); local != locals_.end(); ++local) {
    const auto is_same = [&](const auto& later) {
      return later.first->immediate == local->first->immediate &&
             PyObject_RichCompareBool(later.first->object, local->first->object, Py_EQ) == 1;
    };
    if (std::none_of(local + 1, locals_.end(), is_same)) {
      group_->locals.push_back({.frame = static_cast<std::int32_t>(PyLong_AsLong(local->first->object)),
                                .slot = local->first->immediate,
                                .source = register_with(local->second)});
    }
  }
  group_->plan = builder_.finish(outputs_);
  return group_->plan != nullptr;
}

unsigned FusionPlanner::output_of(int content) {
  const int number = contents_[static_cast<std::size_t>(content)].number;
  auto output = std::ranges::find(outputs_, number);
  if (output == outputs_.end()) {
    output = outputs_.insert(outputs_.end(), number);
  }
  return static_cast<unsigned>(output - outputs_.begin());
}

void FusionPlanner::make_items(int tuple) {
  using From = PlannedGroup::Item::From;
  for (const int part : contents_[static_cast<std::size_t>(tuple)].parts) {
    const Content& content = contents_[static_cast<std::size_t>(part)];
    if (content.kind == Kind::kResult) {
      group_->items.push_back({.from = From::kResult, .index = static_cast<int>(output_of(part))});
    } else if (content.kind == Kind::kNumber) {
      group_->items.push_back({.from = From::kNumber, .index = content.computed});
    } else if (content.kind == Kind::kLoaded) {
      group_->items.push_back({.from = From::kObject, .object = content.object});
    } else {
      group_->items.push_back({.from = From::kRegister, .index = origins_[static_cast<std::size_t>(part)]});
    }
  }
}

// Whether the frame returns this content. Other objects in the returning frame's variables die unseen.
bool FusionPlanner::is_returned(int content) const {
  const auto returned = accepted_.registers.find(returned_);
  return returned != accepted_.registers.end() && returned->second == content;
}

std::int32_t FusionPlanner::register_with(int content) const {
  for (const auto& [place, index] : accepted_.registers) {
    if (index == content) {
      return place;
    }
  }
  return -1;
}

}  // namespace tagalong::replay
