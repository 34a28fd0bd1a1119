#include "replay/arrays/forming/group_planner.h"

#include <opcode.h>

#include <algorithm>
#include <utility>

#include "replay/ir/stages.h"
#include "replay/steps/looked_up.h"
#include "rewriter/cpython/objects/dicts.h"

namespace tagalong::replay {
namespace {

// Whether a fault is planted here, which scripts/bisect has to find.
bool adds_wrong(const FusionSource& source) {
  return is_faulty(Stage::fusion_groups) || (is_faulty(Stage::multi_pass) && source.in_passes);
}

// Whether all are numbers that exist in front of the group.
bool are_scalars(GroupContents& contents, std::span<const std::int32_t> places) {
  return std::ranges::all_of(places, [&](std::int32_t place) {
    const GroupContents::Content* content = contents.find(place);
    const bool exists = content != nullptr && content->kind < GroupContents::Kind::kResult;
    PyObject* object = exists ? content->object : nullptr;
    return object != nullptr && unboxed_of(Py_TYPE(object)) != Unboxed::kNone;
  });
}

}  // namespace

std::unique_ptr<PlannedGroup> FusionPlanner::plan(GroupEnd* end) {
  take_steps();
  const std::size_t built = builder().operation_count();
  // Where a name has not been looked up yet, a later attempt may fuse more.
  if (reason_ == Reason::kNotLooked || built == 0) {
    *end = {reason_, refused_};
    return nullptr;
  }
  const bool is_all = accepted_.operations == built;
  if (accepted_.operations < 2 && !(is_all && builder().is_profitable_alone())) {
    *end = {reason_ == Reason::kOther ? Reason::kSingle : reason_, refused_};
    return nullptr;
  }
  if (!is_all) {
    // The following steps need an object that a fusion group does not make.
    std::unique_ptr<PlannedGroup> first = plan_first(group_->count, end);
    if (first != nullptr && first->end.reason == Reason::kNone) {
      first->end = {reason_, refused_};
    }
    return first;
  }
  if (!GroupCommit(accepted_, returned_, &contents_, group_.get()).complete(locals_, stores_.all())) {
    if (builder().pass_count() > 1) {
      FusionSource apart = source_;
      apart.in_passes = false;
      return FusionPlanner(np(), apart).plan(end);
    }
    if (const std::size_t count = shorter_count(); count > 0) {
      std::unique_ptr<PlannedGroup> shorter = plan_first(count, end);
      if (shorter != nullptr) {
        shorter->end = {.reason = Reason::kLimit};
      }
      return shorter;
    }
    *end = {.reason = Reason::kLimit};
    return nullptr;
  }
  group_->end = {reason_, refused_};
  return std::move(group_);
}

// A group of the first steps only.
std::unique_ptr<PlannedGroup> FusionPlanner::plan_first(std::size_t count, GroupEnd* end) const {
  FusionSource shorter = source_;
  if (source_.operations.empty()) {
    shorter.end = source_.first + count;
  } else {
    shorter.operations = source_.operations.first(count);
  }
  return FusionPlanner(np(), shorter).plan(end);
}

// Where to end a group that has too many results or names: in its last half, where the fewest results are arrays
// afterwards. 0: nowhere.
std::size_t FusionPlanner::shorter_count() const {
  const End* best = nullptr;
  for (const End& end : ends_) {
    const bool is_shorter = end.operations >= 2 && end.count < group_->count;
    const bool is_long = end.operations * 2 >= accepted_.operations;
    if (is_shorter &&
        (best == nullptr || (is_long && end.results <= best->results) || best->operations * 2 < accepted_.operations)) {
      best = &end;
    }
  }
  return best == nullptr ? 0 : best->count;
}

// Takes steps until one is refused, and accepts them up to the last operation behind which all contents are objects.
void FusionPlanner::take_steps() {
  const bool is_in_loop = !source_.operations.empty();
  const auto count = is_in_loop ? source_.operations.size() : static_cast<std::size_t>(source_.end - source_.first);
  for (std::size_t number = 0; number < count; ++number) {
    const LoopOp* op = is_in_loop ? &source_.operations[number] : nullptr;
    const Step& step = source_.first[is_in_loop ? op->step : number];
    const bool is_whole = !is_in_loop || op->code == LoopCode::kStep;
    if (is_in_loop ? !may_be_inside(*op, step) : step.in_loop || !may_be_inside(step)) {
      reason_ = Reason::kOther;
      refused_ = &step;
      if (is_whole && step.op == Op::return_value && builder().operation_count() != 0 &&
          contents_.are_returnable(source_.used[step.operands])) {
        group_->returns = true;
        returned_ = source_.used[step.operands];
        accept(number);
      }
      return;
    }
    const bool is_taken = is_in_loop ? take(*op, step) : take(step);
    // The group would not check the indices of a view that no operation takes.
    if (!is_taken || contents_.has_lost_view()) {
      reason_ = is_taken ? Reason::kOther : reason_;
      refused_ = &step;
      return;
    }
    if (is_whole && is_group_operation(step) && contents_.are_presentable()) {
      group_->last_line = step.line;
      accept(number + 1);
    }
  }
}

void FusionPlanner::accept(std::size_t count) {
  group_->count = static_cast<std::uint32_t>(count);
  accepted_ = {.contents = contents_.state(),
               .operations = builder().operation_count(),
               .loads = group_->loads.size(),
               .guards = group_->guards.size(),
               .same = group_->same.size(),
               .returned_frames = group_->returned_frames.size(),
               .locals = locals_.size(),
               .numeric_slots = group_->numeric_slots.size(),
               .computed = group_->computed.size(),
               .stores = stores_.all().size(),
               .replaced = group_->replaced.size(),
               .lasting = group_->lasting.size()};
  ends_.push_back({group_->count, accepted_.operations, contents_.result_count()});
}

bool FusionPlanner::refuse(Reason reason) {
  reason_ = reason;
  return false;
}

bool FusionPlanner::take(const LoopOp& op, const Step& step) {
  switch (op.code) {
    case LoopCode::kStep:
    case LoopCode::kSync:
    case LoopCode::kGlobal:
    case LoopCode::kAttribute:
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
    case LoopCode::kGlobalInt:
    case LoopCode::kGlobalFloat:
      return load_number(op, step);
    default:
      return info(op.code).has(loop_trait::kGuards) && info(op.code).gives == Unboxed::kNone ? guard_number(op, step)
             : info(op.code).fusion == InFusion::kValue                                      ? calculate(op, step)
                                                                                             : calculate(op);
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
      is_taken = is_dict(operands[0]) ? store_item(step, operands) : assign(operands);
      break;
    case Op::load_method:
      is_taken = load_method(step, operands);
      break;
    case Op::unpack_sequence:
      is_taken = unpack(step, operands);
      break;
    case Op::store_attr:
      is_taken = store_attribute(step, operands);
      break;
    case Op::call:
      is_taken = call(step, operands);
      break;
    case Op::load_attr:
      is_taken = load_attribute_of(step, operands);
      break;
    case Op::sync_local:
      is_taken = true;
      locals_.push_back({&step, contents_.of(operands[0])});
      group_->replaced.push_back({.step = &step});
      break;
    case Op::drop:
    case Op::guard_unwatched:
      is_taken = true;
      break;
    case Op::leave_frame:
      is_taken = true;
      group_->returned_frames.push_back(step.immediate);
      group_->replaced.push_back({.step = &step});
      break;
    case Op::array_call:
      is_taken = are_scalars(contents_, {operands + kCallableSlots, operands + step.operand_count})
                     ? calculate(step, operands)
                     : operate(step, operands);
      break;
    default:
      is_taken = info(step.op).is_guard()       ? guard(step, operands[0])
                 : has(step.op, trait::kArrays) ? operate(step, operands)
                                                : calculate(step, operands);
      break;
  }
  const std::int32_t* drops = operands + step.operand_count + step.result_count;
  for (std::uint16_t index = 0; is_taken && index < step.drop_count; ++index) {
    contents_.drop(drops[index]);
  }
  return is_taken;
}

void FusionPlanner::build(const Step& step, const std::int32_t* operands) {
  Content content{.kind = step.op == Op::build_slice ? Kind::kSlice : Kind::kTuple, .maker = &step};
  for (int index = 0; index < step.operand_count; ++index) {
    content.parts.push_back(contents_.of(operands[index]));
  }
  contents_.define(step.result, content);
}

bool FusionPlanner::is_dict(std::int32_t place) {
  const Content* content = contents_.find(place);
  return content != nullptr && content->kind < Kind::kResult && content->object != nullptr &&
         PyDict_CheckExact(content->object);
}

bool FusionPlanner::assign(const std::int32_t* operands) {
  const int value = contents_.number_of(operands[2]);
  const int number = value < 0 ? -1 : subscripts_.part_of(operands[0], operands[1], true);
  if (number < 0) {
    return refuse(Reason::kOther);
  }
  const int result = builder().add({.kind = array::ArrayVerb::Kind::kAssign, .operands = {number, value}});
  return result >= 0 || refuse(builder().reason());
}

// The name in the globals of the function that the register holds; without a value: there is no such function, or no
// such name.
PlannedGroup::Load FusionPlanner::global_of(const Step& step, std::int32_t place) {
  const int index = contents_.of(place);
  PlannedGroup::Load load{&step, {}, nullptr, nullptr, nullptr};
  if (index < 0) {
    return load;
  }
  if (contents_.origin(index) >= 0) {
    load.function.place = contents_.origin(index);
  } else if (contents_.at(index).kind == Kind::kComputed && PyFunction_Check(contents_.at(index).object)) {
    load.function.value = contents_.at(index).computed;
  } else if (contents_.at(index).kind == Kind::kLoaded && contents_.at(index).object != nullptr &&
             PyFunction_Check(contents_.at(index).object)) {
    load.function.object = contents_.at(index).object;
  } else {
    return load;
  }
  load.value = look_up_global(step, contents_.at(index).object);
  return load;
}

bool FusionPlanner::load_global(const Step& step, std::int32_t place) {
  const PlannedGroup::Load load = global_of(step, place);
  return load.function.is_module() ? refuse(Reason::kName) : add_load(load);
}

bool FusionPlanner::load_attribute(const Step& step, std::int32_t place) {
  const int index = contents_.of(place);
  if (index < 0) {
    return refuse(Reason::kName);
  }
  const Content& module = contents_.at(index);
  if (module.kind != Kind::kLoaded || module.object == nullptr || !PyModule_CheckExact(module.object) ||
      (step.cached != nullptr && PyModule_GetDict(module.object) != step.key)) {
    return refuse(Reason::kName);
  }
  PyObject* value = look_up_in_module(step, module.object);
  return add_load({&step, {}, module.object, step.key, value});
}

// A guard inside the group is checked before anything is computed.
bool FusionPlanner::guard(const Step& step, std::int32_t place) {
  const int index = contents_.of(place);
  if (index < 0) {
    return refuse(Reason::kGuard);
  }
  const Content& content = contents_.at(index);
  if (step.op == Op::guard_not_null) {
    return content.object != nullptr || content.kind >= Kind::kResult || refuse(Reason::kGuard);
  }
  const bool asks_for_type =
      step.op == Op::guard_type || (step.op == Op::guard_type_version &&
                                    cpython::type_version(np().array_type) == static_cast<unsigned>(step.immediate));
  if (content.kind == Kind::kResult && asks_for_type && !builder().is_scalar(content.number) &&
      step.object == reinterpret_cast<PyObject*>(np().array_type)) {
    return true;  // the type cannot change
  }
  if (content.kind == Kind::kTuple &&
      ((step.op == Op::guard_tuple && std::cmp_equal(content.parts.size(), step.immediate)) ||
       (step.op == Op::guard_type && step.object == reinterpret_cast<PyObject*>(&PyTuple_Type)))) {
    return true;
  }
  if (step.op == Op::guard_no_attribute && stores_.has_attribute(step.object)) {
    return refuse(Reason::kGuard);
  }
  if (step.op == Op::guard_null && contents_.is_null(place)) {
    return true;
  }
  if (content.object == nullptr) {
    return refuse(Reason::kGuard);
  }
  if (content.kind == Kind::kComputed) {
    group_->guards.push_back({&step, -1, nullptr, content.computed});
    return true;
  }
  const bool is_loaded = content.kind == Kind::kLoaded;
  group_->guards.push_back({&step, is_loaded ? -1 : contents_.origin(index), is_loaded ? content.object : nullptr});
  return true;
}

bool FusionPlanner::add_load(const PlannedGroup::Load& load) {
  if (load.value == nullptr || !load_holds(load, source_.registers.objects, contents_.values())) {
    return refuse(Reason::kNotLooked);
  }
  group_->loads.push_back(load);
  if (load.step->op == Op::load_module_method) {
    const std::int32_t* results = source_.used + load.step->operands + load.step->operand_count;
    contents_.define(results[0], {.kind = Kind::kLoaded});
    contents_.define(results[1], {.kind = Kind::kLoaded, .object = load.value});
  } else {
    contents_.define(load.step->result, {.kind = Kind::kLoaded, .object = load.value});
  }
  return true;
}

bool FusionPlanner::take_part(const Step& step, const std::int32_t* operands) {
  if (subscripts_.is_item(operands[0], operands[1]) || built_item(step, operands[0], operands[1])) {
    return calculate(step, operands);
  }
  const int number = subscripts_.part_of(operands[0], operands[1], false);
  if (number < 0) {
    return refuse(Reason::kOther);
  }
  contents_.define(step.result, {.kind = Kind::kView, .number = number});
  return true;
}

// An item of a tuple that is still there is no temporary, and neither is what an object holds.
unsigned FusionPlanner::temporaries_of(const Step& step, const std::int32_t* operands) {
  unsigned found = step.temporaries;
  for (unsigned index = 0; index < static_cast<unsigned>(step.operand_count); ++index) {
    if ((found >> index & 1U) != 0 && is_held(operands[index])) {
      found &= ~(1U << index);
    }
  }
  return found;
}

bool FusionPlanner::operate(const Step& step, const std::int32_t* operands) {
  using VerbKind = array::ArrayVerb::Kind;
  array::ArrayVerb verb{.code = step.immediate};
  const int first = step.op == Op::array_call ? kCallableSlots : 0;
  for (int index = first; index < step.operand_count; ++index) {
    verb.operands.push_back(contents_.number_of(operands[index]));
    if (verb.operands.back() < 0) {
      return refuse(group_->externals.size() == kMostExternals ? Reason::kLimit : Reason::kForeign);
    }
  }
  switch (step.op) {
    case Op::array_unary:
      verb.kind = VerbKind::kUnary;
      verb.temporaries = temporaries_of(step, operands);
      break;
    case Op::array_binary:
      verb.kind = VerbKind::kBinary;
      verb.code = step.immediate == NB_ADD && adds_wrong(source_) ? NB_SUBTRACT : step.immediate;
      verb.temporaries = temporaries_of(step, operands);
      break;
    case Op::array_compare:
      verb.kind = VerbKind::kCompare;
      break;
    default:
      verb.kind = VerbKind::kCall;
      verb.object = contents_.is_null(operands[0]) ? contents_.same_callable(operands[1]) : nullptr;
      if (verb.object == nullptr) {
        return refuse(Reason::kOther);
      }
      break;
  }
  return may_outlast_references(verb.temporaries, operands) ? add(verb, step) : refuse(Reason::kOther);
}

// Eager NumPy computes into a large temporary operand if it has no other reference. What the group replaces behind its
// operations, an attribute or the variable of a real frame, still has its reference to the operand until then. So each
// run checks that the operand is none of the replaced objects.
bool FusionPlanner::may_outlast_references(unsigned temporaries, const std::int32_t* operands) {
  if (group_->replaced.empty()) {
    return true;
  }
  for (unsigned index = 0; (temporaries & (array::kDeadName - 1)) >> index != 0; ++index) {
    const bool is_temporary = (temporaries >> index & 1U) != 0;
    const int content = is_temporary ? contents_.of(operands[index]) : -1;
    if (content < 0 || contents_.at(content).kind >= Kind::kResult || contents_.at(content).object == nullptr ||
        Py_TYPE(contents_.at(content).object) != np().array_type) {
      continue;
    }
    if (source_.ends_at_replaced || contents_.at(content).external < 0) {
      return false;
    }
    group_->lasting.push_back({static_cast<std::uint32_t>(contents_.at(content).external),
                               static_cast<std::uint32_t>(group_->replaced.size())});
  }
  return true;
}

bool FusionPlanner::add(const array::ArrayVerb& verb, const Step& step) {
  const int number = builder().add(verb);
  if (number < 0) {
    return refuse(builder().reason());
  }
  contents_.define(step.result, {.kind = Kind::kResult, .number = number});
  return true;
}

}  // namespace tagalong::replay
