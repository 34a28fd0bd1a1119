#include "recorder/inlining/operand_forms.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "recorder/base/call_slots.h"
#include "recorder/base/instruction_kinds.h"
#include "rewriter/base/errors.h"
#include "rewriter/cpython/code_link.h"
#include "rewriter/cpython/objects/dicts.h"

namespace tagalong::recorder {

namespace op = rewriter::op;
using replay::kNoSnapshot;

// `has_null`: the lowest operand is the NULL of the calling convention.
struct OperandForms::FormRow {
  CallForm form;
  bool has_null;
  Values (OperandForms::*take)(Call& call);
};

constexpr OperandForms::FormRow OperandForms::kFormRows[] = {
    {CallForm::kNone, false, &OperandForms::take_special},
    {CallForm::kFunction, true, &OperandForms::take_function},
    {CallForm::kMethodPair, false, &OperandForms::take_method_pair},
    {CallForm::kBoundMethod, true, &OperandForms::take_bound_method},
    {CallForm::kBoundFirst, false, &OperandForms::take_bound_first},
    {CallForm::kClass, true, &OperandForms::take_class},
    {CallForm::kCallable, true, &OperandForms::take_callable},
    {CallForm::kPartial, true, &OperandForms::take_partial},
    {CallForm::kSpread, false, &OperandForms::take_spread},
    {CallForm::kSpreadBound, false, &OperandForms::take_spread},
    {CallForm::kSpreadClass, false, &OperandForms::take_spread},
    {CallForm::kSpreadCallable, false, &OperandForms::take_spread},
    {CallForm::kProperty, false, &OperandForms::take_accessor},
    {CallForm::kSetter, false, &OperandForms::take_accessor},
    {CallForm::kHook, false, &OperandForms::take_hook},
    {CallForm::kDescriptor, false, &OperandForms::take_descriptor},
    {CallForm::kSpecial, false, &OperandForms::take_special},
    {CallForm::kBuiltin, false, &OperandForms::take_builtin},
    {CallForm::kEnter, false, &OperandForms::take_enter},
    {CallForm::kExit, false, &OperandForms::take_exit},
    {CallForm::kNext, false, &OperandForms::take_next},
};

namespace {

// Which function of a property the instruction calls.
int accessor_part(rewriter::Opcode opcode) {
  return opcode == op::kSTORE_ATTR ? 1 : opcode == op::kDELETE_ATTR ? 2 : 0;
}

Ref interned(const char* text) {
  Ref name = Ref::steal(PyUnicode_InternFromString(text));
  if (!name) {
    throw PythonError();
  }
  return name;
}

// Of new references; null ones are refused.
Ref checked(Ref object) {
  if (!object) {
    throw PythonError();
  }
  return object;
}

}  // namespace

Values OperandForms::take_operands(ShadowFrame& callee, const CallTarget& target, SnapshotId here) {
  static_assert(std::size(kFormRows) == static_cast<std::size_t>(CallForm::kNext) + 1);
  static_assert([] {
    for (std::size_t index = 0; index < std::size(kFormRows); ++index) {
      if (kFormRows[index].form != static_cast<CallForm>(index)) {
        return false;
      }
    }
    return true;
  }());
  const Values& stack = top().stack;
  Call call{.callee = callee,
            .target = target,
            .here = here,
            .operands = Values(stack.end() - target.operands, stack.end()),
            .live = cpython::stack_base(top().live) + stack.size() - target.operands,
            .arguments = {}};
  const rewriter::Opcode opcode = instruction_at(current_).opcode;
  if (is_call(opcode) || opcode == op::kCALL_FUNCTION_EX) {
    const bool has_null = abstract(call.operands[kNullSlot]).is_null;
    std::ranges::copy(in_graph_order(call.operands.data(), has_null), call.operands.begin());
  }
  call.arguments.assign(call.operands.begin() + std::min<std::ptrdiff_t>(kCallSlots, target.operands),
                        call.operands.end() - names_on_stack(opcode));
  const FormRow& row = kFormRows[static_cast<std::size_t>(target.form)];
  if (row.has_null && call.operands[0] != null_value()) {
    emit(Op::guard_null, {call.operands[0]}, here);
  }
  callee.pops = target.operands;
  return (this->*row.take)(call);
}

// --- parts of a form

void OperandForms::guard_version(const Call& call, Value value, PyTypeObject* type) {
  emit(Op::guard_type_version, {value}, call.here, cpython::type_version(type),
       Ref::create(reinterpret_cast<PyObject*>(type)));
}

void OperandForms::guard_member(const Call& call, Value object, const char* name, PyObject* expected) {
  emit(Op::guard_member, {object}, call.here, 0, checked(Ref::steal(Py_BuildValue("(sO)", name, expected))));
}

void OperandForms::take_constant_function(Call& call) {
  call.callee.function = constant(call.target.function);
  auto* code = reinterpret_cast<PyCodeObject*>(PyFunction_GET_CODE(call.target.function));
  emit(Op::guard_function, {call.callee.function}, call.here, 0,
       Ref::create(reinterpret_cast<PyObject*>(cpython::original_of(code))));
}

void OperandForms::take_called_function(Call& call, Value function) {
  call.callee.function = function;
  emit(Op::guard_function, {function}, call.here, 0,
       Ref::create(reinterpret_cast<PyObject*>(call.callee.code->decoded->shape->code.get())));
}

Value OperandForms::take_method(Call& call, Value method) {
  emit(Op::guard_bound_function, {method}, call.here, 0,
       Ref::create(reinterpret_cast<PyObject*>(call.callee.code->decoded->shape->code.get())));
  call.callee.function = emit(Op::method_function, {method}, kNoSnapshot);
  return emit(Op::method_self, {method}, kNoSnapshot);
}

Value OperandForms::make_instance(Call& call) {
  const Value called = call.operands[1];
  auto* type = reinterpret_cast<PyTypeObject*>(call.target.object);
  if (Py_TYPE(type) != &PyType_Type) {  // the metaclass calls as `type` does
    guard_version(call, called, Py_TYPE(type));
  }
  emit(Op::guard_class, {called}, call.here, cpython::type_version(type), Ref::create(call.target.object));
  take_constant_function(call);
  const Value instance = emit(Op::new_instance, {called}, call.here);
  call.callee.instance = instance;
  hold(instance);
  abstract(instance).seen = type;
  return instance;
}

Value OperandForms::take_called_object(Call& call) {
  guard_version(call, call.operands[1], Py_TYPE(call.target.object));
  take_constant_function(call);
  return call.operands[1];
}

Values OperandForms::spread_keywords(const Call& call, Value keywords) {
  PyObject* names = call.target.keywords.get();
  emit(Op::guard_keywords, {keywords}, call.here, 0, checked(Ref::steal(Py_BuildValue("(sO)", "keywords", names))));
  Values items;
  for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(names); ++index) {
    items.push_back(emit(Op::dict_item, {keywords}, kNoSnapshot, 0, Ref::create(PyTuple_GET_ITEM(names, index))));
  }
  return items;
}

Value OperandForms::member_of(const Call& call, Value object, const char* name) {
  const Value value = emit(Op::member, {object}, call.here, 0, interned(name));
  hold(value);
  return value;
}

void OperandForms::put_null_below_owner() {
  Values& stack = top().stack;
  if (kNullSlot == 0 && loads_method(instruction_at(current_))) {
    stack.insert(stack.end() - 1, null_value());
  }
}

// --- calls

Values OperandForms::take_function(Call& call) {
  take_called_function(call, call.operands[1]);
  call.callee.pops = 0;
  return call.arguments;
}

Values OperandForms::take_method_pair(Call& call) {
  take_called_function(call, call.operands[0]);
  call.arguments.insert(call.arguments.begin(), call.operands[1]);
  call.callee.pops = 0;
  return call.arguments;
}

Values OperandForms::take_bound_method(Call& call) {
  const Value self = take_method(call, call.operands[1]);
  call.arguments.insert(call.arguments.begin(), self);
  hold(call.callee.function);
  hold(self);
  release(call.operands[1]);  // the interpreter has replaced it by function and self
  call.callee.pops = 0;
  return call.arguments;
}

Values OperandForms::take_bound_first(Call& call) {
  call.arguments.insert(call.arguments.begin(), call.operands[1]);
  call.arguments.insert(call.arguments.begin(), take_method(call, call.operands[0]));
  return call.arguments;
}

Values OperandForms::take_class(Call& call) {
  call.arguments.insert(call.arguments.begin(), make_instance(call));
  return call.arguments;
}

Values OperandForms::take_callable(Call& call) {
  call.arguments.insert(call.arguments.begin(), take_called_object(call));
  return call.arguments;
}

Values OperandForms::take_partial(Call& call) {
  const CallTarget& target = call.target;
  const Value partial = call.operands[1];
  emit(Op::guard_is, {partial}, call.here, 0, Ref::create(target.object));
  const Ref bound = checked(Ref::steal(PyObject_GetAttrString(target.object, "args")));
  const Value keywords = member_of(call, partial, "keywords");
  Values named;
  if (target.keywords) {
    const Ref zero = Ref::steal(PyLong_FromLong(0));
    guard_member(call, partial, "__vectorcalloffset__", zero.get());
    named = spread_keywords(call, keywords);
  } else {
    emit(Op::guard_empty, {keywords}, call.here);
  }
  guard_member(call, partial, "func", target.function);
  take_constant_function(call);
  const Value items = member_of(call, partial, "args");
  const Py_ssize_t count = PyTuple_GET_SIZE(bound.get());
  emit(Op::guard_tuple, {items}, call.here, count);
  Values all;
  for (Py_ssize_t index = 0; index < count; ++index) {
    all.push_back(emit(Op::tuple_item, {items}, kNoSnapshot, index));
  }
  release(keywords);
  release(items);
  all.insert(all.end(), call.arguments.begin(), call.arguments.end());
  all.insert(all.end(), named.begin(), named.end());
  return all;
}

Values OperandForms::take_spread(Call& call) {
  const CallTarget& target = call.target;
  const Value spread = call.operands[2];
  const Py_ssize_t count = PyTuple_GET_SIZE(call.live[2]);
  emit(Op::guard_tuple, {spread}, call.here, count);
  Values named;
  if (target.keywords && PyTuple_GET_SIZE(target.keywords.get()) != 0) {
    named = spread_keywords(call, call.operands[3]);
  } else if (target.operands > 3) {
    emit(Op::guard_empty, {call.operands[3]}, call.here);
  }
  Values arguments;
  if (target.form == CallForm::kSpread) {
    take_called_function(call, call.operands[1]);
  } else if (target.form == CallForm::kSpreadBound) {
    arguments.push_back(take_method(call, call.operands[1]));
  } else {
    arguments.push_back(target.form == CallForm::kSpreadClass ? make_instance(call) : take_called_object(call));
  }
  for (Py_ssize_t index = 0; index < count; ++index) {
    arguments.push_back(emit(Op::tuple_item, {spread}, kNoSnapshot, index));
  }
  arguments.insert(arguments.end(), named.begin(), named.end());
  return arguments;
}

Values OperandForms::take_builtin(Call& call) {
  emit(Op::guard_null, {call.operands[0]}, call.here);
  emit(Op::guard_is, {call.operands[1]}, call.here, 0, Ref::create(call.target.object));
  guard_version(call, call.operands[2], Py_TYPE(call.live[2]));
  take_constant_function(call);
  return {call.operands[2]};
}

// --- calls that other instructions imply

Values OperandForms::take_accessor(Call& call) {
  const Instruction& instruction = instruction_at(current_);
  const Value owner = call.operands.back();
  guard_version(call, owner, Py_TYPE(call.live[call.target.operands - 1]));
  emit(Op::guard_accessor, {owner}, call.here, accessor_part(instruction.opcode),
       checked(Ref::steal(PyTuple_Pack(2, name_of(instruction), call.target.function))));
  take_constant_function(call);
  if (instruction.opcode == op::kSTORE_ATTR) {
    return {call.operands[1], call.operands[0]};  // on the stack: value, owner
  }
  put_null_below_owner();
  return {call.operands[0]};
}

Values OperandForms::take_hook(Call& call) {
  const Instruction& instruction = instruction_at(current_);
  const Value owner = top().stack.back();
  PyObject* text = name_of(instruction);
  guard_version(call, owner, Py_TYPE(cpython::stack_base(top().live)[top().stack.size() - 1]));
  if (call.target.is_fallback) {
    emit(Op::guard_no_attribute, {owner}, call.here, 0, Ref::create(text));
  }
  Values arguments = {owner, constant(text)};
  if (instruction.opcode == op::kSTORE_ATTR) {
    arguments.push_back(top().stack.end()[-2]);
  }
  take_constant_function(call);
  put_null_below_owner();
  return arguments;
}

Values OperandForms::take_descriptor(Call& call) {
  const Instruction& instruction = instruction_at(current_);
  const bool reads = call.target.returns != replay::ReturnKind::kDiscard;
  const Value owner = top().stack.back();
  PyTypeObject* owner_type = Py_TYPE(cpython::stack_base(top().live)[top().stack.size() - 1]);
  PyTypeObject* type = Py_TYPE(call.target.object);
  PyObject* text = name_of(instruction);
  guard_version(call, owner, owner_type);
  const Value descriptor = emit(Op::class_attribute, {owner}, kNoSnapshot, 0, Ref::create(text));
  note(descriptor, call.target.object);
  guard_version(call, descriptor, type);
  if (reads && type->tp_descr_set == nullptr) {
    emit(Op::guard_no_attribute, {owner}, call.here, 0, Ref::create(text));
  }
  Values arguments = {descriptor, owner};
  if (reads) {
    const Value owner_class = emit(Op::class_of, {owner}, kNoSnapshot);
    note(owner_class, reinterpret_cast<PyObject*>(owner_type));
    arguments.push_back(owner_class);
  }
  if (instruction.opcode == op::kSTORE_ATTR) {
    arguments.push_back(top().stack.end()[-2]);
  }
  take_constant_function(call);
  put_null_below_owner();
  return arguments;
}

Values OperandForms::take_special(Call& call) {
  const CallTarget& target = call.target;
  Values ordered;
  for (const int place : target.order) {
    ordered.push_back(call.operands[static_cast<std::size_t>(place)]);
  }
  if (target.is_guarded) {
    call.callee.function = constant(target.function);
    return ordered;
  }
  guard_version(call, ordered[0], Py_TYPE(call.live[target.order[0]]));
  if (target.returns == replay::ReturnKind::kOperator) {
    guard_version(call, ordered[1], Py_TYPE(call.live[target.order[1]]));
  }
  take_constant_function(call);
  if (target.object != nullptr) {
    ordered.push_back(constant(target.object));
  }
  return ordered;
}

Values OperandForms::take_enter(Call& call) {
  guard_version(call, call.operands[0], Py_TYPE(top().callable));
  take_constant_function(call);
  const Value exit = emit(Op::bind_method, {constant(call.target.exit_function), call.operands[0]}, call.here);
  hold(exit);
  abstract(exit).seen = &PyMethod_Type;
  top().stack.back() = exit;
  call.callee.pops = 0;
  return {call.operands[0]};
}

Values OperandForms::take_exit(Call& call) {
  const Value exception = call.operands[3];
  const Value self = take_method(call, call.operands[0]);
  const Value type = emit(Op::class_of, {exception}, kNoSnapshot);
  const Value traceback = emit(Op::exception_traceback, {exception}, kNoSnapshot);
  call.callee.pops = 0;
  return {self, type, exception, traceback};
}

Values OperandForms::take_next(Call& call) {
  guard_version(call, call.operands[0], Py_TYPE(call.live[0]));
  take_constant_function(call);
  call.callee.pops = 0;
  top().pending = -1;
  return {call.operands[0]};
}

}  // namespace tagalong::recorder
