#include "recorder/inlining/operands.h"

#include <algorithm>
#include <utility>

#include "recorder/base/call_slots.h"
#include "replay/objects/binding.h"

namespace tagalong::recorder {

namespace op = rewriter::op;
using replay::kNoSnapshot;
using replay::kNoValue;

std::optional<std::span<PyObject*>> Operands::direct_arguments(cpython::Frame* callee) const {
  const ShadowFrame& caller = top();
  const auto unit = static_cast<std::size_t>(cpython::unit_of(caller.live));
  const std::vector<int>& map = caller.code->instruction_at;
  const int instruction = unit < map.size() && caller.live == cpython::current_frame(thread_) ? map[unit] : -1;
  if (instruction < 0 || !is_call(instruction_at(instruction).opcode)) {
    return std::nullopt;
  }
  const auto arguments = static_cast<int>(instruction_at(instruction).arg);
  const int depth = caller.code->decoded->shape->depths[static_cast<std::size_t>(instruction)];
  PyObject** slots = cpython::stack_base(caller.live) + depth - operands_of_call(instruction_at(instruction));
  auto* function = reinterpret_cast<PyObject*>(cpython::function_of(callee));
  // The function and self, or null and the function: only a direct call takes its arguments over.
  const bool has_null = slots[kNullSlot] == nullptr;
  if (*callable_among(slots, has_null) != function) {
    return std::nullopt;
  }
  return std::span(slots + (has_null ? 2 : 1), slots + arguments + kCallSlots);
}

void Operands::transfer_arguments(cpython::Frame* callee) {
  for (PyObject*& slot : direct_arguments(callee).value_or(std::span<PyObject*>())) {
    PyObject* old = std::exchange(slot, Py_NewRef(Py_None));
    Py_DECREF(old);
  }
}

void Operands::note_refused(PyObject* callable, int operands) {
  refused_.clear();
  const bool is_method = top().has_null_slot && PyMethod_Check(callable);
  auto* function = is_method ? PyMethod_GET_FUNCTION(callable) : callable;
  if (!PyFunction_Check(function)) {
    return;
  }
  const bool has_self = is_method || !top().has_null_slot;
  PyObject** first = live_top_ - operands + (has_self ? 1 : 2);
  PyObject* keywords = keyword_names();
  const auto count = static_cast<int>(live_top_ - names_on_stack(instruction_at(current_).opcode) - first);
  const int named = keywords == nullptr ? 0 : static_cast<int>(PyTuple_GET_SIZE(keywords));
  for (const int number :
       replay::refused_arguments(reinterpret_cast<PyFunctionObject*>(function), count - named, keywords)) {
    if (number != 0 || !is_method) {  // a method keeps its self until the call takes it apart
      refused_.push_back(first + number);
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
