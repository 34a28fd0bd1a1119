#include "recorder/inlining/inline.h"

#include <algorithm>
#include <utility>

#include "recorder/deferred/deferred_expression.h"
#include "recorder/inlining/call_forms.h"
#include "replay/ir/stages.h"
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

int Session::instruction_under_way(bool* is_specialised) {
  if (Expression::is_raising_late()) {
    *is_specialised = false;  // an exception is made whose class is written in Python: the shadow is further on
    return -1;
  }
  const auto unit = static_cast<std::size_t>(cpython::unit_of(top().live));
  const std::vector<int>& map = top().code->instruction_at;
  const int instruction = unit < map.size() ? map[unit] : -1;
  // A specialised PRECALL makes the call, of something written in C.
  *is_specialised = instruction >= 0 && instruction_at(instruction).opcode == op::kPRECALL;
  return instruction + (*is_specialised ? 1 : 0);
}

bool Session::try_inline(cpython::Frame* callee) {
  PyCodeObject* code = cpython::original_of(cpython::code_of(callee));
  const auto depth = static_cast<int>(frames_.size());
  // A trace function is called in between, by no instruction of the caller's; others are to see the original code.
  const bool is_watched = thread_->tracing != 0 || cpython::is_watched(thread_);
  if (is_watched || !sink_.may_inline(code)) {
    return false;
  }
  if (depth >= replay::kMaxFrames || depth > limits_.inline_depth || !is_on(replay::Stage::inlining)) {
    ++times(reached_, replay::Limit::k_inline_depth);
    return false;
  }
  int same = 0;
  for (const ShadowFrame& frame : frames_) {
    same += frame.code->decoded->shape->code.get() == code ? 1 : 0;
  }
  if (same >= limits_.recursion) {
    ++times(reached_, replay::Limit::k_recursion);
    return false;
  }
  bool is_specialised = false;
  const int instruction = instruction_under_way(&is_specialised);
  const bool is_iteration =
      instruction >= 0 && top().pending == instruction &&
      (instruction_at(instruction).opcode == op::kFOR_ITER || instruction_at(instruction).opcode == op::kSEND);
  // At its RESUME a frame serves signals: nothing behind that has been executed.
  if (instruction < 0 || instruction_at(instruction).opcode == op::kRESUME || instruction == top().answered ||
      (!is_iteration && !may_ask(instruction)) ||
      (is_iteration && (top().call_result != kNoValue || top().raising.instruction >= 0))) {
    return false;
  }
  try {
    if (is_consumed(callee)) {
      return consume_more(callee);
    }
    if (top().consuming.consumer != replay::Consumer::kNone) {
      return false;  // called by the consumer
    }
    if (!is_iteration && !come_to(instruction)) {
      return false;
    }
    current_ = instruction;
    if (try_inline_generator(callee, instruction)) {
      return true;
    }
    if (try_consume(callee, instruction)) {
      return true;
    }
    if (is_specialised) {
      return false;
    }
    const CallTarget target = find_target(instruction, callee);
    if (target.form == CallForm::kNone || is_about_made_class(target, callee)) {
      return false;
    }
    std::shared_ptr<const DecodedCode> decoded = DecodedCode::make(code);
    if (decoded->is_namespace || decoded->is_generator) {
      return false;
    }
    RecordingCode& recording = recording_code(std::move(decoded));
    if (!cpython::exchange_code(thread_, callee, recording.code.get())) {
      return false;
    }
    inline_call(callee, target);
    return true;
  } catch (const std::exception&) {
    PyErr_Clear();
    stop(Stop::k_internal);
    return false;
  }
}

// Without the hook a call moves its arguments into the callee's frame; with it they stay on the caller's stack, too,
// and would live longer than in eager execution. So the caller's stack gets others for them.
// The arguments of a CALL that is under way, if the function is called directly, or by a method: then the interpreter
// would run it without a C call.
std::optional<std::span<PyObject*>> Session::direct_arguments(cpython::Frame* callee) {
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

void Session::hand_over_arguments(cpython::Frame* callee) {
  for (PyObject*& slot : direct_arguments(callee).value_or(std::span<PyObject*>())) {
    PyObject* old = std::exchange(slot, Py_NewRef(Py_None));
    Py_DECREF(old);
  }
}

// The operands of a CALL that is about to start, of which the callable is known.
void Session::note_refused(PyObject* callable, int operands) {
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

// The function of an implicit call is a constant that its type's version vouches for; its code is guarded like any.
Value Session::guarded_function(const CallTarget& target, SnapshotId here) {
  const Value function = constant(target.function);
  auto* code = reinterpret_cast<PyObject*>(
      cpython::original_of(reinterpret_cast<PyCodeObject*>(PyFunction_GET_CODE(target.function))));
  emit(Op::guard_function, {function}, here, 0, Ref::create(code));
  return function;
}

// Guards that this call reaches this function, and the arguments in order. Plain calls take the operands off the
// caller's stack, where C code is in between they stay there until it returns (FrameInfo::pops).
Values Session::take_operands(ShadowFrame& callee, const CallTarget& target, SnapshotId here) {
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

void Session::inline_call(cpython::Frame* callee, const CallTarget& target) {
  const SnapshotId here = snapshot_at(call_start(), top().stack);
  RecordingCode* recording = nullptr;
  for (const auto& candidate : codes_) {
    if (candidate->code.get() == cpython::code_of(callee)) {
      recording = candidate.get();
    }
  }
  TAGALONG_CHECK(recording != nullptr, "no recording code for {}", graph_.name);
  PyCodeObject* code = recording->decoded->shape->code.get();
  ShadowFrame frame;
  frame.live = callee;
  frame.code = recording;
  frame.next = recording->decoded->first;
  frame.number = static_cast<std::int32_t>(graph_.frames.size());
  frame.return_kind = target.returns;
  frame.operation = target.operation;
  const bool is_call = instruction_at(current_).opcode == op::kCALL;
  const Values arguments = take_operands(frame, target, here);
  // A plain call moves its operands into the callee; elsewhere the callee has them in addition.
  const bool takes_over = frame.pops == 0 && target.form < CallForm::kEnter;
  if (!takes_over) {
    for (const Value argument : arguments) {
      hold(argument);
    }
    hold(frame.function);
  }
  PyObject* given = target.keywords ? target.keywords.get() : is_call ? keyword_names() : nullptr;
  bind_arguments(frame, code, arguments, given, here);
  top().declined = kNotDeclined;
  top().next_method = nullptr;

  Values& stack = top().stack;
  if (takes_over) {
    stack.resize(stack.size() - static_cast<std::size_t>(target.operands));
  }
  if (target.form == CallForm::kEnter) {
    release(arguments[0]);  // the manager's place on the stack
  }
  state_changed_ = true;
  const int call_instruction = current_;
  frame.parent = snapshot_at(call_instruction, stack);
  top().next = call_start();
  top().call_kind = target.returns;
  top().call_pops = frame.pops;
  top().call_instruction = call_instruction;
  flush_drops();
  hand_over_arguments(callee);
  graph_.frames.push_back({Ref::create(reinterpret_cast<PyObject*>(code)), frame.function, frames_.back().number,
                           target.returns, frame.instance, frame.pops, target.operation});
  shapes_.push_back(recording->decoded->shape);
  frames_.push_back(std::move(frame));
  current_ = 0;
  state_changed_ = true;
  run_prologue(top());
}

void Session::bind_arguments(ShadowFrame& callee, PyCodeObject* code, const Values& positional, PyObject* keyword_names,
                             SnapshotId here) {
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

// COPY_FREE_VARS and MAKE_CELL: they run before the first hook.
void Session::run_prologue(ShadowFrame& callee) {
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

void Session::return_from_inlined(Value value) {
  const SnapshotId at_return = snapshot_at(current_, top().stack);
  ShadowFrame callee = std::move(frames_.back());
  if (callee.return_kind == replay::ReturnKind::kNone) {
    release(value);
    value = callee.instance;  // its holder goes to the caller
  }
  leave_inlined(callee, at_return);
  flush_drops(callee.parent);
  frames_.pop_back();
  top().call_result = value;
  current_ = top().next;
  state_changed_ = true;
}

void Session::leave_inlined(ShadowFrame& callee, SnapshotId at) {
  emit(callee.is_generator ? Op::fail_generator : Op::leave_frame, {}, at, callee.number);
  for (const Value local : callee.locals) {
    if (local != kNoValue) {
      release(local);
    }
  }
  release(callee.function);
}

}  // namespace tagalong::recorder
