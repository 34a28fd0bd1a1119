// Containers, and the instructions that are left to the interpreter itself (cpython/thunks.h).
#include <opcode.h>

#include <vector>

#include "replay/executor/interpreter.h"
#include "replay/objects/operations.h"
#include "replay/objects/unboxed.h"
#include "rewriter/cpython/dicts.h"
#include "rewriter/cpython/generators.h"
#include "rewriter/cpython/thunks.h"

namespace tagalong::replay {
namespace {

using Items = boost::container::small_vector<PyObject*, 8>;

PyObject* build_tuple(const Items& items) {
  PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(items.size()));
  for (std::size_t index = 0; tuple != nullptr && index < items.size(); ++index) {
    PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(index), Py_NewRef(items[index]));
  }
  return tuple;
}

PyObject* build_list(const Items& items) {
  PyObject* list = PyList_New(static_cast<Py_ssize_t>(items.size()));
  for (std::size_t index = 0; list != nullptr && index < items.size(); ++index) {
    PyList_SET_ITEM(list, static_cast<Py_ssize_t>(index), Py_NewRef(items[index]));
  }
  return list;
}

PyObject* build_set(const Items& items) {
  Ref set = Ref::steal(PySet_New(nullptr));
  for (PyObject* item : items) {
    if (!set || PySet_Add(set.get(), item) != 0) {
      return nullptr;
    }
  }
  return set.release();
}

PyObject* build_map(const Items& items) {
  Ref map = Ref::steal(PyDict_New());
  for (std::size_t index = 0; index + 1 < items.size(); index += 2) {
    if (!map || PyDict_SetItem(map.get(), items[index], items[index + 1]) != 0) {
      return nullptr;
    }
  }
  return map.release();
}

PyObject* build_string(const Items& items) {
  const Ref empty = Ref::steal(PyUnicode_New(0, 0));
  return empty ? _PyUnicode_JoinArray(empty.get(), items.data(), static_cast<Py_ssize_t>(items.size())) : nullptr;
}

// What a thunk for a step looks like.
struct ThunkForm {
  std::vector<cpython::Instruction> instructions;
  std::vector<int> order;       // operand of the step for each operand of the thunk
  bool needs_function = false;  // the first operand of the step is the function whose globals are meant
  bool needs_name = false;
};

ThunkForm plain(const Step& step, int opcode, int argument) {
  ThunkForm form;
  form.instructions = cpython::load_operands(step.operand_count);
  form.instructions.push_back({opcode, argument});
  for (int index = 0; index < step.operand_count; ++index) {
    form.order.push_back(index);
  }
  return form;
}

// Instructions with two results.
int pair_opcode(Op op) {
  switch (op) {
    case Op::before_with:
      return BEFORE_WITH;
    case Op::before_async_with:
      return BEFORE_ASYNC_WITH;
    default:
      return CHECK_EG_MATCH;
  }
}

ThunkForm form_of(const Step& step) {
  constexpr int kAfterShift = 8;
  switch (step.op) {
    case Op::get_awaitable:
      return plain(step, GET_AWAITABLE, step.immediate);
    case Op::get_aiter:
      return plain(step, GET_AITER, 0);
    case Op::get_anext:
      return plain(step, GET_ANEXT, 0);
    case Op::async_gen_wrap:
      return plain(step, ASYNC_GEN_WRAP, 0);
    case Op::match_keys:
      return plain(step, MATCH_KEYS, 0);
    case Op::match_class:
      return plain(step, MATCH_CLASS, step.immediate);
    case Op::import_from: {
      ThunkForm form = plain(step, IMPORT_FROM, 0);
      form.needs_name = true;
      return form;
    }
    case Op::import_name:
      return {{{LOAD_FAST, 0}, {LOAD_FAST, 1}, {IMPORT_NAME, 0}}, {1, 2}, true, true};
    case Op::load_build_class:
      return {{{LOAD_BUILD_CLASS, 0}}, {}, true, false};
    case Op::delete_global:
      return {{{LOAD_FAST, 0}, {DELETE_GLOBAL, 0}}, {0}, true, true};
    case Op::load_global:
      return {{{LOAD_GLOBAL, 0}}, {}, true, true};
    case Op::raise:
      return plain(step, RAISE_VARARGS, step.operand_count);
    case Op::check_exc_match:
      return plain(step, CHECK_EXC_MATCH, 0);
    case Op::prep_reraise_star:
      return plain(step, PREP_RERAISE_STAR, 0);
    case Op::dict_merge:
      return {{{LOAD_FAST, 0}, {LOAD_FAST, 0}, {LOAD_FAST, 1}, {LOAD_FAST, 2}, {DICT_MERGE, 1}}, {2, 0, 1}};
    case Op::dict_update:
      return plain(step, DICT_UPDATE, 1);
    case Op::set_update:
      return plain(step, SET_UPDATE, 1);
    case Op::list_extend:
      return plain(step, LIST_EXTEND, 1);
    case Op::build_const_key_map:
      return plain(step, BUILD_CONST_KEY_MAP, step.operand_count - 1);
    case Op::before_with:
    case Op::before_async_with:
    case Op::check_eg_match: {
      ThunkForm form = plain(step, pair_opcode(step.op), 0);
      form.instructions.push_back({BUILD_TUPLE, 2});
      return form;
    }
    case Op::unpack_sequence: {
      ThunkForm form = plain(step, UNPACK_SEQUENCE, step.immediate);
      form.instructions.push_back({BUILD_TUPLE, step.immediate});
      return form;
    }
    case Op::unpack_ex: {
      const int before = static_cast<int>(PyLong_AsLong(step.object));
      const int after = step.immediate - 1 - before;
      ThunkForm form = plain(step, UNPACK_EX, before | (after << kAfterShift));
      form.instructions.push_back({BUILD_TUPLE, step.immediate});
      return form;
    }
    case Op::call_ex: {
      ThunkForm form = plain(step, CALL_FUNCTION_EX, step.operand_count > 2 ? 1 : 0);
      form.instructions.insert(form.instructions.begin(), {PUSH_NULL, 0});
      return form;
    }
    default:
      TAGALONG_CHECK(false, "no thunk for {}", info(step.op).name);
      return {};
  }
}

}  // namespace

Interpreter::StepResult Interpreter::thunk(const Step& step, const std::int32_t* operands) {
  if (!sync(step)) {
    return StepResult::kRaised;
  }
  const ThunkForm form = form_of(step);
  if (!step.helper) {
    const Ref names = form.needs_name ? Ref::steal(PyTuple_Pack(1, step.object)) : Ref();
    const CodeRef code = cpython::make_thunk(static_cast<int>(form.order.size()), form.instructions, names.get());
    if (!code) {
      return StepResult::kRaised;
    }
    step.helper = Ref::create(reinterpret_cast<PyObject*>(code.get()));
  }
  PyObject* owner = form.needs_function ? registers_[operands[0]] : run_.function;
  const Ref function =
      Ref::steal(PyFunction_New(step.helper.get(), reinterpret_cast<PyFunctionObject*>(owner)->func_globals));
  if (!function) {
    return StepResult::kRaised;
  }
  Items arguments;
  for (const int index : form.order) {
    arguments.push_back(registers_[operands[index]]);
  }
  cpython::leave_recursion(run_.thread);  // its frame is not counted: no program sees it
  Ref result = Ref::steal(PyObject_Vectorcall(function.get(), arguments.data(), arguments.size(), nullptr));
  cpython::enter_recursion(run_.thread);
  if (!result) {
    return StepResult::kRaised;
  }
  const std::int32_t* results = operands + step.operand_count;
  switch (step.op) {
    case Op::unpack_sequence:
    case Op::unpack_ex:
      // The stack has the first item on top, so the tuple made of it is in reverse.
      for (int index = 0; index < step.result_count; ++index) {
        registers_[results[index]] = Py_NewRef(PyTuple_GET_ITEM(result.get(), step.result_count - 1 - index));
      }
      return StepResult::kNext;
    case Op::before_with:
    case Op::before_async_with:
    case Op::check_eg_match:
      registers_[results[0]] = Py_NewRef(PyTuple_GET_ITEM(result.get(), 0));
      registers_[results[1]] = Py_NewRef(PyTuple_GET_ITEM(result.get(), 1));
      return StepResult::kNext;
    default:
      if (step.result_count != 0) {
        registers_[step.result] = result.release();
      }
      return StepResult::kNext;
  }
}

Interpreter::StepResult Interpreter::execute_generator(const Step& step, const std::int32_t* operands) {
  PyObject* receiver = registers_[operands[0]];
  if (step.op == Op::get_yield_from_iter) {
    if (PyCoro_CheckExact(receiver)) {
      return step.immediate != 0 ? store(step, Py_NewRef(receiver)) : StepResult::kAgain;
    }
    if (PyGen_CheckExact(receiver)) {
      return store(step, Py_NewRef(receiver));
    }
    return sync(step) ? store(step, PyObject_GetIter(receiver)) : StepResult::kRaised;
  }
  if (step.op == Op::get_awaitable) {
    cpython::Frame* frame = PyCoro_CheckExact(receiver) ? cpython::suspended_frame(receiver) : nullptr;
    const bool is_new = frame != nullptr && cpython::has_not_started(frame);  // so nobody awaits it already
    return is_new ? store(step, Py_NewRef(receiver)) : thunk(step, operands);
  }
  if (!sync(step)) {
    return StepResult::kRaised;
  }
  PyObject* value = nullptr;
  const PySendResult status = PyIter_Send(receiver, registers_[operands[1]], &value);
  if (status == PYGEN_ERROR) {
    return StepResult::kRaised;
  }
  const std::int32_t* results = operands + step.operand_count;
  registers_[results[status == PYGEN_NEXT ? 0 : 1]] = value;
  return StepResult::kNext;
}

Interpreter::StepResult Interpreter::unpack(const Step& step, const std::int32_t* operands) {
  PyObject* value = registers_[operands[0]];
  const std::int32_t* results = operands + step.operand_count;
  const bool is_tuple = PyTuple_CheckExact(value);
  if (step.op == Op::unpack_sequence && (is_tuple || PyList_CheckExact(value)) && Py_SIZE(value) == step.result_count) {
    PyObject** items = is_tuple ? &PyTuple_GET_ITEM(value, 0) : reinterpret_cast<PyListObject*>(value)->ob_item;
    for (int index = 0; index < step.result_count; ++index) {
      registers_[results[index]] = Py_NewRef(items[index]);
    }
    return StepResult::kNext;
  }
  return thunk(step, operands);
}

Interpreter::StepResult Interpreter::execute_container(const Step& step, const std::int32_t* operands) {
  if (step.begins_group && runs_groups() && run_group(step)) {
    return StepResult::kFusionGroup;
  }
  const auto operand = [&](int index) { return registers_[operands[index]]; };
  switch (step.op) {
    case Op::unpack_sequence:
    case Op::unpack_ex:
      return unpack(step, operands);
    case Op::match_mapping:
    case Op::match_sequence: {
      const unsigned long flag = step.op == Op::match_mapping ? Py_TPFLAGS_MAPPING : Py_TPFLAGS_SEQUENCE;
      return store(step, Py_NewRef(PyType_HasFeature(Py_TYPE(operand(0)), flag) != 0 ? Py_True : Py_False));
    }
    case Op::delete_global:
      if (cpython::asks_keys(PyFunction_GET_GLOBALS(operand(0)), step.object)) {
        return StepResult::kAgain;
      }
      break;
    case Op::list_append:
      return check(PyList_Append(operand(0), operand(1)));
    case Op::list_to_tuple:
      return store(step, PyList_AsTuple(operand(0)));
    case Op::binary_subscr:
      if ((PyList_CheckExact(operand(0)) || PyTuple_CheckExact(operand(0)) || has_plain_items(operand(0))) &&
          PyLong_CheckExact(operand(1))) {
        return store(step, PyObject_GetItem(operand(0), operand(1)));  // runs no code, so no sync
      }
      break;
    case Op::get_iter:
      if (PyRange_Check(operand(0))) {  // the garbage collector does not see its iterator: it does not run here
        return store(step, PyObject_GetIter(operand(0)));
      }
      break;
    default:
      break;
  }
  if (!is_quiet_container(step, operands) && !sync(step)) {
    return StepResult::kRaised;
  }
  // Short ones of which there are many.
  if (step.op == Op::binary_subscr) {
    return store(step, PyObject_GetItem(operand(0), operand(1)));
  }
  if (step.op == Op::build_slice) {
    const std::array<PyObject*, 3> bounds = {operand(0), operand(1), step.operand_count > 2 ? operand(2) : nullptr};
    return store(step, build_slice(bounds.data(), step.operand_count));
  }
  Items items;
  for (int index = 0; index < step.operand_count; ++index) {
    items.push_back(operand(index));
  }
  switch (step.op) {
    case Op::build_tuple:
      return store(step, build_tuple(items));
    case Op::build_list:
      return store(step, build_list(items));
    case Op::build_set:
      return store(step, build_set(items));
    case Op::build_map:
      return store(step, build_map(items));
    case Op::build_string:
      return store(step, build_string(items));
    case Op::store_subscr:
      return check(PyObject_SetItem(items[0], items[1], items[2]));
    case Op::delete_subscr:
      return check(PyObject_DelItem(items[0], items[1]));
    case Op::set_add:
      return check(PySet_Add(items[0], items[1]));
    case Op::map_add:
      return check(PyDict_SetItem(items[0], items[1], items[2]));
    case Op::get_iter:
      return store(step, PyObject_GetIter(items[0]));
    case Op::get_len: {
      const Py_ssize_t length = PyObject_Length(items[0]);
      return length < 0 ? StepResult::kRaised : store(step, PyLong_FromSsize_t(length));
    }
    case Op::format_value:
      return store(step, replay::format_value(step.immediate, items[0], items.size() > 1 ? items[1] : nullptr));
    default:
      return thunk(step, operands);
  }
}

}  // namespace tagalong::replay
