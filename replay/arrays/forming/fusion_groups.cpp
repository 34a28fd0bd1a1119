#include "replay/arrays/forming/fusion_groups.h"

#include <opcode.h>

#include <algorithm>

#include "replay/arrays/forming/group_planner.h"
#include "replay/arrays/kernels/functions.h"
#include "replay/steps/step.h"
#include "rewriter/cpython/objects/dicts.h"

namespace tagalong::replay {

bool is_group_operation(const Step& step) { return has(step.op, trait::kFused); }

bool may_be_inside(const Step& step) {
  return step.candidate != 0 && has(step.op, trait::kFused | trait::kSilent | trait::kScalar);
}

bool may_be_inside(const LoopOp& op, const Step& step) {
  switch (info(op.code).fusion) {
    case InFusion::kOutside:
      return false;
    case InFusion::kInside:
      return true;
    case InFusion::kInsideIfFlag:
      return op.flag != 0;
    case InFusion::kAsStep:
      return may_be_inside(step);
    case InFusion::kAsSilentStep:
      return may_be_inside(step) && has(step.op, trait::kSilent | trait::kScalar);
    case InFusion::kValue:
      return step.candidate != 0;
    case InFusion::kNumber:
      return result_of(op) != Unboxed::kNone;
  }
  return false;
}

namespace {

// What NumPy function the call may be one of.
array::KnownFunction called_function(const std::vector<Step>& steps, const Step& call, const std::int32_t* used) {
  if (call.op != Op::call || call.operand_count < 2) {
    return {};
  }
  const std::int32_t* operands = used + call.operands;
  for (const Step* step = &call; step != steps.data();) {
    --step;
    const std::int32_t* results = used + step->operands + step->operand_count;
    const bool is_function = step->op == Op::load_module_attr && step->result == operands[1];
    const bool is_method =
        step->result_count > 1 && ((step->op == Op::load_method && results[0] == operands[0]) ||
                                   (step->op == Op::load_module_method && results[1] == operands[1]));
    if (is_function || is_method) {
      return array::function_named(step->object);
    }
  }
  return {};
}

// Whether a fusion group may begin with the call: one of NumPy's reductions, which may be a group on its own, or a
// function of several operations with others behind it.
bool may_begin(const std::vector<Step>& steps, const Step& call, const std::int32_t* used, bool has_following) {
  const array::KnownFunction function = called_function(steps, call, used);
  return array::may_be_alone(function) || (has_following && array::is_composed(function));
}

}  // namespace

void mark_groups(std::vector<Step>* steps, const LoopProgram& loop, const std::int32_t* used) {
  unsigned following = 0;   // operations that follow
  Step* leading = nullptr;  // the part of an array with which they begin
  const auto mark = [&](Step& step, bool is_inside, bool is_whole) {
    const bool is_part = is_inside && is_whole && (step.op == Op::build_slice || step.op == Op::binary_subscr);
    if (is_part) {
      if (leading != nullptr) {
        leading->begins_group = false;
      }
      leading = &step;
      step.begins_group = following > 1;
    } else if (!is_inside || (is_whole && is_group_operation(step))) {
      leading = nullptr;
    }
    if (!is_inside) {
      following = 0;
    } else if (is_whole && has(step.op, trait::kArrays)) {
      step.begins_group = following > 0;
      ++following;
    } else if (is_whole && is_group_operation(step)) {
      step.begins_group = may_begin(*steps, step, used, following > 0);
      ++following;
    }
  };
  for (std::size_t place = steps->size(); place-- > 0;) {
    Step& step = (*steps)[place];
    mark(step, !step.in_loop && may_be_inside(step), true);
  }
  following = 0;
  leading = nullptr;
  for (std::size_t place = loop.ops.size(); place-- > 0;) {
    const LoopOp& op = loop.ops[place];
    Step& step = (*steps)[op.step];
    mark(step, may_be_inside(op, step), op.code == LoopCode::kStep);
  }
}

bool is_new_object(const PlannedGroup& group, int value) {
  const GroupValue& computed = group.computed[static_cast<std::size_t>(value)];
  return computed.kind == GroupValue::Kind::kStep &&
         (computed.step->op == Op::new_instance || computed.step->op == Op::build_list);
}

void FusionSiteDeleter::operator()(FusionSite* site) const { delete site; }

void FusionSite::put_off(array::FusionReason reason) {
  reasons.add(reason);
  array::fusion_counts.reasons.add(reason);
  delay();
}

void FusionSite::delay() {
  constexpr std::uint32_t kMostPatience = 1U << 16U;
  wait = patience;
  patience = std::min(patience * 2, kMostPatience);
}

std::unique_ptr<PlannedGroup> plan_group(const array::Numpy& np, const FusionSource& source, GroupEnd* end) {
  return FusionPlanner(np, source).plan(end);
}

namespace {

// A guard has checked that it is a function.
const PyFunctionObject* function_of(NameOwner owner, PyObject* const* registers, const Ref* values) {
  PyObject* function = owner.place >= 0   ? registers[owner.place]
                       : owner.value >= 0 ? values[owner.value].get()
                                          : owner.object;
  return reinterpret_cast<const PyFunctionObject*>(function);
}

// Whether the name is still bound to the value; other names in the dict may have changed.
bool is_bound(const Step& step, PyObject* dict, PyObject* value) {
  if (dict == nullptr || step.key != dict || step.cached != value) {
    return false;
  }
  if (step.version1 == cpython::dict_version(dict)) {
    return true;
  }
  if (!PyDict_CheckExact(dict) || cpython::asks_keys(dict, step.object)) {
    return false;
  }
  // A builtin is bound as long as no global variable hides it.
  PyObject* expected = step.version2 == 0 ? value : nullptr;
  if (cpython::find_without_side_effects(dict, step.object) != expected) {
    return false;
  }
  step.version1 = cpython::dict_version(dict);
  return true;
}

}  // namespace

bool load_holds(const PlannedGroup::Load& load, PyObject* const* registers, const Ref* values) {
  const Step& step = *load.step;
  if (load.function.is_module()) {
    // An earlier load has found the module; a new module may have the address of the planned one, so its dict is
    // compared.
    return load.module != nullptr && PyModule_CheckExact(load.module) && PyModule_GetDict(load.module) == load.dict &&
           is_bound(step, load.dict, load.value);
  }
  const PyFunctionObject* function = function_of(load.function, registers, values);
  return (step.version2 == 0 || step.version2 == cpython::dict_version(function->func_builtins)) &&
         is_bound(step, function->func_globals, load.value);
}

namespace {

// While the dict that holds the module's name is unchanged, the module and its own dict, which is checked later, exist.
bool is_unchanged(const PlannedGroup::Looked& looked, PyObject* const* registers, const Ref* values) {
  if (looked.function.is_module()) {
    return looked.version == cpython::dict_version(looked.dict);
  }
  const PyFunctionObject* function = function_of(looked.function, registers, values);
  return looked.version == cpython::dict_version(function->func_globals) &&
         (looked.builtins == 0 || looked.builtins == cpython::dict_version(function->func_builtins));
}

[[gnu::noinline]] bool look_up_again(const PlannedGroup& group, PyObject* const* registers, const Ref* values) {
  group.looked.clear();
  if (!std::ranges::all_of(group.loads, [&](const auto& load) { return load_holds(load, registers, values); })) {
    return false;
  }
  for (const PlannedGroup::Load& load : group.loads) {
    PyObject* dict =
        load.function.is_module() ? load.dict : function_of(load.function, registers, values)->func_globals;
    const auto is_same = [&](const auto& other) { return other.function == load.function && other.dict == dict; };
    auto looked = std::ranges::find_if(group.looked, is_same);
    if (looked == group.looked.end()) {
      looked = group.looked.insert(looked, {load.function, dict, cpython::dict_version(dict), 0});
    }
    if (!load.function.is_module() && load.step->version2 != 0) {
      looked->builtins = load.step->version2;
    }
  }
  return true;
}

}  // namespace

bool loads_hold(const PlannedGroup& group, PyObject* const* registers, const Ref* values) {
  if (group.looked.empty() && !group.loads.empty()) [[unlikely]] {
    return look_up_again(group, registers, values);
  }
  for (const PlannedGroup::Looked& looked : group.looked) {
    if (!is_unchanged(looked, registers, values)) [[unlikely]] {
      return look_up_again(group, registers, values);
    }
  }
  return true;
}

}  // namespace tagalong::replay
