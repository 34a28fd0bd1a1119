#include "recorder/inlining/operands.h"

#include <algorithm>
#include <utility>

#include "replay/objects/binding.h"
#include "rewriter/base/errors.h"
#include "rewriter/cpython/code_link.h"
#include "rewriter/cpython/dicts.h"

namespace tagalong::recorder {

namespace op = rewriter::op;
using replay::kNoSnapshot;
using replay::kNoValue;

namespace {

// Which function of a property the instruction calls.
int accessor_part(std::uint8_t opcode) { return opcode == op::kSTORE_ATTR ? 1 : opcode == op::kDELETE_ATTR ? 2 : 0; }

}  // namespace

std::optional<std::span<PyObject*>> Operands::direct_arguments(cpython::Frame* callee) const {
  const ShadowFrame& caller = top();
  const auto unit = static_cast<std::size_t>(cpython::unit_of(caller.live));
  const std::vector<int>& map = caller.code->instruction_at;
  const int instruction = unit < map.size() && caller.live == cpython::current_frame(thread_) ? map[unit] : -1;
  if (instruction < 0 || instruction_at(instruction).opcode != op::kCALL) {
    return std::nullopt;
  }
  const auto arguments = static_cast<int>(instruction_at(instruction).arg);
  const int depth = caller.code->decoded->shape->depths[static_cast<std::size_t>(instruction)];
  PyObject** slots = cpython::stack_base(caller.live) + depth - arguments - 2;
  auto* function = reinterpret_cast<PyObject*>(cpython::function_of(callee));
  // Either (function, self, arguments) or (null, function, arguments): only a direct call takes its arguments over.
  const int first = slots[0] == function ? 1 : 2;
  if (slots[0] != function && (slots[0] != nullptr || slots[1] != function)) {
    return std::nullopt;
  }
  return std::span(slots + first, slots + arguments + 2);
}

void Operands::hand_over_arguments(cpython::Frame* callee) {
  for (PyObject*& slot : direct_arguments(callee).value_or(std::span<PyObject*>())) {
    PyObject* old = std::exchange(slot, Py_NewRef(Py_None));
    Py_DECREF(old);
  }
}

void Operands::note_refused(PyObject* callable, int operands) {
  refused_.clear();
  const bool is_method = top().is_null_first && PyMethod_Check(callable);
  auto* function = is_method ? PyMethod_GET_FUNCTION(callable) : callable;
  if (!PyFunction_Check(function)) {
    return;
  }
  const bool has_self = is_method || !top().is_null_first;
  PyObject** first = live_top_ - operands + (has_self ? 1 : 2);
  PyObject* keywords = keyword_names();
  const auto count = static_cast<int>(live_top_ - first);
  const int named = keywords == nullptr ? 0 : static_cast<int>(PyTuple_GET_SIZE(keywords));
  for (const int number :
       replay::refused_arguments(reinterpret_cast<PyFunctionObject*>(function), count - named, keywords)) {
    if (number != 0 || !is_method) {  // a method keeps its self until the call takes it apart
      refused_.push_back(first + number);
    }
  }
}

Value Operands::guarded_function(const CallTarget& target, SnapshotId here) {
  const Value function = constant(target.function);
  auto* code = reinterpret_cast<PyObject*>(
      cpython::original_of(reinterpret_cast<PyCodeObject*>(PyFunction_GET_CODE(target.function))));
  emit(Op::guard_function, {function}, here, 0, Ref::create(code));
  return function;
}

Values Operands::spread_keywords(Value keywords, PyObject* names, SnapshotId here) {
  Ref pair = Ref::steal(Py_BuildValue("(sO)", "keywords", names));
  if (!pair) {
    throw PythonError();
  }
  emit(Op::guard_keywords, {keywords}, here, 0, std::move(pair));
  Values items;
  for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(names); ++index) {
    items.push_back(emit(Op::dict_item, {keywords}, kNoSnapshot, 0, Ref::create(PyTuple_GET_ITEM(names, index))));
  }
  return items;
}

Values Operands::take_hook_operands(ShadowFrame& callee, const CallTarget& target, SnapshotId here) {
  Values& stack = top().stack;
  PyObject* const* end = cpython::stack_base(top().live) + stack.size();
  const Instruction& instruction = instruction_at(current_);
  const bool reads = target.returns != replay::ReturnKind::kDiscard;
  const Value owner = stack.back();
  PyObject* text = name(static_cast<int>(instruction.arg));
  const auto guard_version = [&](Value value, PyTypeObject* type) {
    emit(Op::guard_type_version, {value}, here, cpython::type_version(type),
         Ref::create(reinterpret_cast<PyObject*>(type)));
  };
  guard_version(owner, Py_TYPE(end[-1]));
  Values arguments;
  if (target.form == CallForm::kHook) {
    if (target.is_fallback) {
      emit(Op::guard_no_attribute, {owner}, here, 0, Ref::create(text));
    }
    arguments = {owner, constant(text)};
  } else {
    const Value descriptor = emit(Op::class_attribute, {owner}, kNoSnapshot, 0, Ref::create(text));
    note(descriptor, target.object);
    guard_version(descriptor, Py_TYPE(target.object));
    if (reads && Py_TYPE(target.object)->tp_descr_set == nullptr) {
      emit(Op::guard_no_attribute, {owner}, here, 0, Ref::create(text));
    }
    arguments = {descriptor, owner};
    if (reads) {
      const Value type = emit(Op::class_of, {owner}, kNoSnapshot);
      note(type, reinterpret_cast<PyObject*>(Py_TYPE(end[-1])));
      arguments.push_back(type);
    }
  }
  if (instruction.opcode == op::kSTORE_ATTR) {
    arguments.push_back(stack[stack.size() - 2]);
  }
  callee.function = guarded_function(target, here);
  if (instruction.opcode == op::kLOAD_METHOD) {
    // Its results are NULL and the value: the NULL goes below the owner.
    stack.insert(stack.end() - 1, null_value());
  }
  return arguments;
}

Values Operands::take_operands(ShadowFrame& callee, const CallTarget& target, SnapshotId here) {
  Values& stack = top().stack;
  const Values operands(stack.end() - target.operands, stack.end());
  PyObject* const* live = cpython::stack_base(top().live) + stack.size() - target.operands;
  const Ref code = Ref::create(reinterpret_cast<PyObject*>(callee.code->decoded->shape->code.get()));
  const auto guard_version = [&](Value value, PyTypeObject* type) {
    emit(Op::guard_type_version, {value}, here, cpython::type_version(type),
         Ref::create(reinterpret_cast<PyObject*>(type)));
  };
  const auto guard_member = [&](Value value, const char* member, PyObject* expected) {
    Ref pair = Ref::steal(Py_BuildValue("(sO)", member, expected));
    if (!pair) {
      throw PythonError();
    }
    emit(Op::guard_member, {value}, here, 0, std::move(pair));
  };
  const auto guard_accessor = [&](Value owner) {
    Ref pair = Ref::steal(
        PyTuple_Pack(2, name(static_cast<int>(instruction_at(current_).arg)), static_cast<PyObject*>(target.function)));
    if (!pair) {
      throw PythonError();
    }
    emit(Op::guard_accessor, {owner}, here, accessor_part(instruction_at(current_).opcode), std::move(pair));
  };
  const auto take_method = [&](Value method) {
    emit(Op::guard_bound_function, {method}, here, 0, code);
    callee.function = emit(Op::method_function, {method}, kNoSnapshot);
    return emit(Op::method_self, {method}, kNoSnapshot);
  };
  // An object of the class that is called; its metaclass calls as `type` does.
  const auto make_instance = [&] {
    auto* type = reinterpret_cast<PyTypeObject*>(target.object);
    if (Py_TYPE(type) != &PyType_Type) {
      guard_version(operands[1], Py_TYPE(type));
    }
    emit(Op::guard_class, {operands[1]}, here, cpython::type_version(type), Ref::create(target.object));
    callee.function = guarded_function(target, here);
    callee.instance = emit(Op::new_instance, {operands[1]}, here);
    hold(callee.instance);
    abstract(callee.instance).seen = type;
    return callee.instance;
  };
  Values arguments(operands.begin() + std::min<std::ptrdiff_t>(2, target.operands), operands.end());
  if (target.form >= CallForm::kFunction && target.form <= CallForm::kPartial && target.form != CallForm::kMethodPair &&
      target.form != CallForm::kBoundFirst && operands[0] != null_value()) {
    emit(Op::guard_null, {operands[0]}, here);
  }
  callee.pops = target.operands;
  switch (target.form) {
    case CallForm::kMethodPair:
    case CallForm::kFunction: {
      const bool is_pair = target.form == CallForm::kMethodPair;
      callee.function = operands[is_pair ? 0 : 1];
      emit(Op::guard_function, {callee.function}, here, 0, code);
      if (is_pair) {
        arguments.insert(arguments.begin(), operands[1]);
      }
      callee.pops = 0;
      return arguments;
    }
    case CallForm::kBoundMethod:
      arguments.insert(arguments.begin(), take_method(operands[1]));
      hold(callee.function);
      hold(arguments[0]);
      release(operands[1]);  // the interpreter has replaced it by function and self
      callee.pops = 0;
      return arguments;
    case CallForm::kBoundFirst:
      arguments.insert(arguments.begin(), operands[1]);
      arguments.insert(arguments.begin(), take_method(operands[0]));
      return arguments;
    case CallForm::kClass:
      arguments.insert(arguments.begin(), make_instance());
      return arguments;
    case CallForm::kCallable:
      guard_version(operands[1], Py_TYPE(target.object));
      callee.function = guarded_function(target, here);
      arguments.insert(arguments.begin(), operands[1]);
      return arguments;
    case CallForm::kPartial: {
      emit(Op::guard_is, {operands[1]}, here, 0, Ref::create(target.object));
      const Ref bound = Ref::steal(PyObject_GetAttrString(target.object, "args"));
      if (!bound) {
        throw PythonError();
      }
      const auto member = [&](const char* name) {
        Ref text = Ref::steal(PyUnicode_InternFromString(name));
        if (!text) {
          throw PythonError();
        }
        const Value value = emit(Op::member, {operands[1]}, here, 0, std::move(text));
        hold(value);
        return value;
      };
      const Value keywords = member("keywords");
      Values named;
      if (target.keywords) {
        const Ref zero = Ref::steal(PyLong_FromLong(0));
        guard_member(operands[1], "__vectorcalloffset__", zero.get());
        named = spread_keywords(keywords, target.keywords.get(), here);
      } else {
        emit(Op::guard_empty, {keywords}, here);
      }
      guard_member(operands[1], "func", target.function);
      callee.function = guarded_function(target, here);
      const Value items = member("args");
      const Py_ssize_t count = PyTuple_GET_SIZE(bound.get());
      emit(Op::guard_tuple, {items}, here, count);
      Values all;
      for (Py_ssize_t index = 0; index < count; ++index) {
        all.push_back(emit(Op::tuple_item, {items}, kNoSnapshot, index));
      }
      release(keywords);
      release(items);
      all.insert(all.end(), arguments.begin(), arguments.end());
      all.insert(all.end(), named.begin(), named.end());
      return all;
    }
    case CallForm::kSpread:
    case CallForm::kSpreadBound:
    case CallForm::kSpreadClass:
    case CallForm::kSpreadCallable: {
      PyObject* items = live[2];
      arguments.clear();
      emit(Op::guard_tuple, {operands[2]}, here, PyTuple_GET_SIZE(items));
      Values named;
      if (target.keywords && PyTuple_GET_SIZE(target.keywords.get()) != 0) {
        named = spread_keywords(operands[3], target.keywords.get(), here);
      } else if (target.operands > 3) {
        emit(Op::guard_empty, {operands[3]}, here);
      }
      if (target.form == CallForm::kSpread) {
        callee.function = operands[1];
        emit(Op::guard_function, {callee.function}, here, 0, code);
      } else if (target.form == CallForm::kSpreadBound) {
        arguments.push_back(take_method(operands[1]));
      } else if (target.form == CallForm::kSpreadClass) {
        arguments.push_back(make_instance());
      } else {
        guard_version(operands[1], Py_TYPE(target.object));
        callee.function = guarded_function(target, here);
        arguments.push_back(operands[1]);
      }
      for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(items); ++index) {
        arguments.push_back(emit(Op::tuple_item, {operands[2]}, kNoSnapshot, index));
      }
      arguments.insert(arguments.end(), named.begin(), named.end());
      return arguments;
    }
    case CallForm::kProperty:
    case CallForm::kSetter:
      guard_version(operands.back(), Py_TYPE(live[target.operands - 1]));
      guard_accessor(operands.back());
      callee.function = guarded_function(target, here);
      if (instruction_at(current_).opcode == op::kSTORE_ATTR) {
        return {operands[1], operands[0]};  // on the stack: value, owner
      }
      if (instruction_at(current_).opcode == op::kLOAD_METHOD) {
        // Its results are NULL and the value: the NULL goes below the owner.
        stack.insert(stack.end() - 1, null_value());
      }
      return {operands[0]};
    case CallForm::kHook:
    case CallForm::kDescriptor:
      return take_hook_operands(callee, target, here);
    case CallForm::kBuiltin:
      emit(Op::guard_null, {operands[0]}, here);
      emit(Op::guard_is, {operands[1]}, here, 0, Ref::create(target.object));
      guard_version(operands[2], Py_TYPE(live[2]));
      callee.function = guarded_function(target, here);
      return {operands[2]};
    case CallForm::kEnter: {
      guard_version(operands[0], Py_TYPE(top().callable));
      callee.function = guarded_function(target, here);
      const Value exit = emit(Op::bind_method, {constant(target.exit_function), operands[0]}, here);
      hold(exit);
      abstract(exit).seen = &PyMethod_Type;
      stack.back() = exit;
      callee.pops = 0;
      return {operands[0]};
    }
    case CallForm::kExit: {
      const Value exception = operands[3];
      const Value self = take_method(operands[0]);
      const Value type = emit(Op::class_of, {exception}, kNoSnapshot);
      const Value traceback = emit(Op::exception_traceback, {exception}, kNoSnapshot);
      callee.pops = 0;
      return {self, type, exception, traceback};
    }
    case CallForm::kNext:
      guard_version(operands[0], Py_TYPE(live[0]));
      callee.function = guarded_function(target, here);
      callee.pops = 0;
      top().pending = -1;
      return {operands[0]};
    default: {
      Values ordered;
      for (const int place : target.order) {
        ordered.push_back(operands[static_cast<std::size_t>(place)]);
      }
      if (target.is_guarded) {
        callee.function = constant(target.function);
        return ordered;
      }
      guard_version(ordered[0], Py_TYPE(live[target.order[0]]));
      if (target.returns == replay::ReturnKind::kOperator) {
        guard_version(ordered[1], Py_TYPE(live[target.order[1]]));
      }
      callee.function = guarded_function(target, here);
      if (target.object != nullptr) {
        ordered.push_back(constant(target.object));
      }
      return ordered;
    }
  }
}

void Operands::bind_arguments(ShadowFrame& callee, PyCodeObject* code, const Values& positional,
                              PyObject* keyword_names, SnapshotId here) {
  const int named = code->co_argcount + code->co_kwonlyargcount;
  const auto keyword_count = keyword_names == nullptr ? 0 : static_cast<std::size_t>(PyTuple_GET_SIZE(keyword_names));
  const std::size_t positional_count = positional.size() - keyword_count;
  callee.locals.assign(static_cast<std::size_t>(code->co_nlocalsplus), kNoValue);
  const auto slot = [&callee](int index) -> Value& { return callee.locals[static_cast<std::size_t>(index)]; };
  Values extra;
  for (std::size_t index = 0; index < positional_count; ++index) {
    if (static_cast<int>(index) < code->co_argcount) {
      slot(static_cast<int>(index)) = positional[index];
    } else {
      extra.push_back(positional[index]);
    }
  }
  Values pairs;
  Values extra_keywords;
  for (std::size_t index = 0; index < keyword_count; ++index) {
    PyObject* keyword = PyTuple_GET_ITEM(keyword_names, static_cast<Py_ssize_t>(index));
    const Value value = positional[positional_count + index];
    int place = -1;
    for (int parameter = code->co_posonlyargcount; parameter < named; ++parameter) {
      if (PyUnicode_Compare(PyTuple_GET_ITEM(code->co_localsplusnames, parameter), keyword) == 0) {
        place = parameter;
      }
    }
    if (place >= 0) {
      slot(place) = value;
    } else {
      pairs.push_back(constant(keyword));
      pairs.push_back(value);
      extra_keywords.push_back(value);
    }
  }
  const auto make = [&](Op operation, const Values& operands, const Values& consumed) {
    const Value result = emit(operation, operands, here);
    hold(result);
    for (const Value value : consumed) {
      release(value);
    }
    return result;
  };
  int next = named;
  if ((code->co_flags & CO_VARARGS) != 0) {
    slot(next++) = make(Op::build_tuple, extra, extra);
  }
  if ((code->co_flags & CO_VARKEYWORDS) != 0) {
    slot(next) = make(Op::build_map, pairs, extra_keywords);
  }
  for (int index = 0; index < named; ++index) {
    if (slot(index) != kNoValue) {
      continue;
    }
    const Value value = index < code->co_argcount
                            ? emit(Op::function_default, {callee.function}, here, -(code->co_argcount - index))
                            : emit(Op::function_kwdefault, {callee.function}, here, 0,
                                   Ref::create(PyTuple_GET_ITEM(code->co_localsplusnames, index)));
    hold(value);
    slot(index) = value;
  }
  for (int index = 0; index < code->co_nlocalsplus; ++index) {
    if (slot(index) != kNoValue) {
      note(slot(index), cpython::locals_of(callee.live)[index]);
    }
  }
}

void Operands::run_prologue(ShadowFrame& callee) {
  const PyCodeObject* code = callee.code->decoded->shape->code.get();
  for (int index = 0; index < callee.code->decoded->first; ++index) {
    const Instruction& instruction = instruction_at(index);
    if (instruction.opcode == op::kCOPY_FREE_VARS) {
      const int first = code->co_nlocalsplus - static_cast<int>(instruction.arg);
      for (int cell = 0; cell < static_cast<int>(instruction.arg); ++cell) {
        const Value value = emit(Op::closure_cell, {callee.function}, kNoSnapshot, cell);
        abstract(value).seen = &PyCell_Type;
        hold(value);
        callee.locals[static_cast<std::size_t>(first + cell)] = value;
      }
    } else if (instruction.opcode == op::kMAKE_CELL) {
      Value& place = callee.locals[instruction.arg];
      const Value content = place == kNoValue ? null_value() : place;
      const Value cell = emit(Op::make_cell, {content}, kNoSnapshot);
      abstract(cell).seen = &PyCell_Type;
      hold(cell);
      if (place != kNoValue) {
        release(place);
      }
      place = cell;
    }
  }
  flush_drops();
}

}  // namespace tagalong::recorder
