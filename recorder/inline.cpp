#include "recorder/inline.h"

#include <utility>

#include "recorder/session.h"
#include "rewriter/interp/code_link.h"
#include "rewriter/interp/errors.h"

namespace tagalong::recorder {

namespace op = rewriter::op;
using replay::kNoSnapshot;
using replay::kNoValue;

namespace {

constexpr int kRecursiveLimit = 3;  // frames of one code object in a trace

}  // namespace

bool Session::try_inline(interp::Frame* callee) {
  PyCodeObject* code = interp::original_of(interp::code_of(callee));
  const auto depth = static_cast<int>(frames_.size());
  if (depth > limits_.inline_depth || !sink_.may_inline(code)) {
    return false;
  }
  int same = 0;
  for (const ShadowFrame& frame : frames_) {
    same += frame.code->decoded->shape->code.get() == code ? 1 : 0;
  }
  if (same >= kRecursiveLimit) {
    return false;
  }
  const interp::Frame* caller = top().live;
  const auto unit = static_cast<std::size_t>(interp::unit_of(caller));
  const std::vector<int>& map = top().code->instruction_at;
  const int instruction = unit < map.size() ? map[unit] : -1;
  if (instruction < 0 || top().pending >= 0 || top().call_result != kNoValue) {
    return false;
  }
  try {
    current_ = instruction;
    const CallForm form = call_form(top(), instruction_at(instruction), callee);
    if (form == CallForm::kNone) {
      return false;
    }
    std::shared_ptr<const DecodedCode> decoded = DecodedCode::make(code);
    if (decoded->refusal != nullptr) {
      return false;
    }
    RecordingCode& recording = recording_code(std::move(decoded));
    if (!interp::exchange_code(thread_, callee, recording.code.get())) {
      return false;
    }
    inline_call(callee, form);
    return true;
  } catch (const std::exception&) {
    PyErr_Clear();
    stop(Stop::k_internal);
    return false;
  }
}

// Without the hook a call moves its arguments into the callee's frame; with it they stay on the caller's stack, too, and
// would live longer than in eager execution. So the caller's stack gets others for them.
void Session::hand_over_arguments(interp::Frame* callee) {
  const ShadowFrame& caller = top();
  const auto unit = static_cast<std::size_t>(interp::unit_of(caller.live));
  const std::vector<int>& map = caller.code->instruction_at;
  const int instruction = unit < map.size() && caller.live == interp::current_frame(thread_) ? map[unit] : -1;
  if (instruction < 0 || instruction_at(instruction).opcode != op::kCALL) {
    return;
  }
  const auto arguments = static_cast<int>(instruction_at(instruction).arg);
  const int depth = caller.code->decoded->shape->depths[static_cast<std::size_t>(instruction)];
  PyObject** slots = interp::stack_base(caller.live) + depth - arguments - 2;
  auto* function = reinterpret_cast<PyObject*>(interp::function_of(callee));
  // Either (function, self, arguments) or (null, function, arguments): only a direct call takes its arguments over.
  const int first = slots[0] == function ? 1 : 2;
  if (slots[0] != function && (slots[0] != nullptr || slots[1] != function)) {
    return;
  }
  for (int index = first; index < arguments + 2; ++index) {
    PyObject* old = std::exchange(slots[index], Py_NewRef(Py_None));
    Py_DECREF(old);
  }
}

// How the CALL under way reaches this very callee; anything else (C code that calls back, descriptors, classes) runs
// as an opaque call.
Session::CallForm Session::call_form(const ShadowFrame& caller, const Instruction& instruction,
                                     interp::Frame* callee) const {
  if (instruction.opcode != op::kCALL) {
    return CallForm::kNone;
  }
  const std::size_t operands = instruction.arg + 2;
  if (caller.stack.size() < operands) {
    return CallForm::kNone;
  }
  PyObject** slots = interp::stack_base(caller.live) + caller.stack.size() - operands;
  auto* function = reinterpret_cast<PyObject*>(interp::function_of(callee));
  const Value first = caller.stack[caller.stack.size() - operands];
  const Value second = caller.stack[caller.stack.size() - operands + 1];
  const Facts& first_facts = facts_[static_cast<std::size_t>(first)];
  const Facts& second_facts = facts_[static_cast<std::size_t>(second)];
  if (!first_facts.is_null) {
    return slots[0] == function && first_facts.seen == &PyFunction_Type ? CallForm::kMethodPair : CallForm::kNone;
  }
  if (second_facts.seen == &PyFunction_Type) {
    return slots[1] == function ? CallForm::kFunction : CallForm::kNone;
  }
  if (second_facts.seen == &PyMethod_Type) {
    // PRECALL has put function and self into the two slots.
    return slots[0] == function ? CallForm::kBoundMethod : CallForm::kNone;
  }
  return CallForm::kNone;
}

void Session::inline_call(interp::Frame* callee, CallForm form) {
  const SnapshotId here = snapshot_at(call_start(), top().stack);
  PyObject* keywords = keyword_names();
  const std::size_t operand_count = instruction_at(current_).arg + 2;
  PyCodeObject* code = codes_.back()->decoded->shape->code.get();
  RecordingCode* recording = nullptr;
  for (const auto& candidate : codes_) {
    if (candidate->code.get() == interp::code_of(callee)) {
      recording = candidate.get();
      code = candidate->decoded->shape->code.get();
    }
  }
  const Ref code_object = Ref::create(reinterpret_cast<PyObject*>(code));
  std::vector<Value>& stack = top().stack;
  std::vector<Value> values(stack.end() - static_cast<std::ptrdiff_t>(operand_count), stack.end());

  ShadowFrame frame;
  frame.live = callee;
  frame.code = recording;
  frame.next = recording->decoded->first;
  frame.number = static_cast<std::int32_t>(graph_.frames.size());
  std::vector<Value> positional(values.begin() + 2, values.end());
  std::vector<Value> released;
  if (form == CallForm::kMethodPair) {
    emit(Op::guard_function, {values[0]}, here, 0, code_object);
    frame.function = values[0];
    positional.insert(positional.begin(), values[1]);
  } else {
    if (values[0] != null_value()) {
      emit(Op::guard_null, {values[0]}, here);
    }
    if (form == CallForm::kFunction) {
      emit(Op::guard_function, {values[1]}, here, 0, code_object);
      frame.function = values[1];
    } else {
      emit(Op::guard_bound_function, {values[1]}, here, 0, code_object);
      frame.function = emit(Op::method_function, {values[1]}, kNoSnapshot);
      const Value self = emit(Op::method_self, {values[1]}, kNoSnapshot);
      hold(frame.function);
      hold(self);
      note(self, interp::stack_base(top().live)[stack.size() - operand_count + 1]);
      positional.insert(positional.begin(), self);
      released.push_back(values[1]);  // the frame holds function and self, not the method
    }
  }
  bind_arguments(frame, code, positional, keywords, here);

  // The state of the caller during the call: operands gone.
  stack.resize(stack.size() - operand_count);
  state_changed_ = true;
  const int call_instruction = current_;
  frame.parent = snapshot_at(call_instruction, stack);
  top().next = call_start();
  for (const Value value : released) {
    release(value);
  }
  flush_drops();
  hand_over_arguments(callee);
  graph_.frames.push_back({code_object, frame.function, frames_.back().number});
  shapes_.push_back(recording->decoded->shape);
  frames_.push_back(std::move(frame));
  current_ = 0;
  state_changed_ = true;
  run_prologue(top());
}

void Session::bind_arguments(ShadowFrame& callee, PyCodeObject* code, const std::vector<Value>& positional,
                             PyObject* keyword_names, SnapshotId here) {
  const int named = code->co_argcount + code->co_kwonlyargcount;
  const auto keyword_count = keyword_names == nullptr ? 0 : static_cast<std::size_t>(PyTuple_GET_SIZE(keyword_names));
  const std::size_t positional_count = positional.size() - keyword_count;
  callee.locals.assign(static_cast<std::size_t>(code->co_nlocalsplus), kNoValue);
  const auto slot = [&callee](int index) -> Value& { return callee.locals[static_cast<std::size_t>(index)]; };
  std::vector<Value> extra;
  for (std::size_t index = 0; index < positional_count; ++index) {
    if (static_cast<int>(index) < code->co_argcount) {
      slot(static_cast<int>(index)) = positional[index];
    } else {
      extra.push_back(positional[index]);
    }
  }
  std::vector<Value> pairs;
  std::vector<Value> extra_keywords;
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
  const auto make = [&](Op operation, std::vector<Value> operands, const std::vector<Value>& consumed) {
    const Value result = emit(operation, std::move(operands), here);
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
    const Value value =
        index < code->co_argcount
            ? emit(Op::function_default, {callee.function}, here, -(code->co_argcount - index))
            : emit(Op::function_kwdefault, {callee.function}, here, 0,
                   Ref::create(PyTuple_GET_ITEM(code->co_localsplusnames, index)));
    hold(value);
    slot(index) = value;
  }
  for (int index = 0; index < code->co_nlocalsplus; ++index) {
    if (slot(index) != kNoValue) {
      note(slot(index), interp::locals_of(callee.live)[index]);
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
        facts(value).seen = &PyCell_Type;
        hold(value);
        callee.locals[static_cast<std::size_t>(first + cell)] = value;
      }
    } else if (instruction.opcode == op::kMAKE_CELL) {
      Value& place = callee.locals[instruction.arg];
      const Value content = place == kNoValue ? null_value() : place;
      const Value cell = emit(Op::make_cell, {content}, kNoSnapshot);
      facts(cell).seen = &PyCell_Type;
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
  ShadowFrame callee = std::move(frames_.back());
  emit(Op::leave_frame, {}, kNoSnapshot, callee.number);
  for (const Value local : callee.locals) {
    if (local != kNoValue) {
      release(local);
    }
  }
  release(callee.function);
  flush_drops();
  frames_.pop_back();
  top().call_result = value;
  current_ = top().next;
  state_changed_ = true;
}

}  // namespace tagalong::recorder
