// Instructions that are left to the interpreter itself (cpython/thunks.h).
#include <opcode.h>

#include <boost/container/small_vector.hpp>
#include <vector>

#include "replay/executor/machine/frames.h"
#include "replay/executor/machine/step_families.h"
#include "rewriter/base/errors.h"
#include "rewriter/cpython/thunks.h"

namespace tagalong::replay {

namespace {

// How the thunk of a step is made.
struct ThunkForm {
  std::vector<cpython::Instruction> instructions;
  std::vector<int> order;       // operand of the step for each operand of the thunk
  bool needs_function = false;  // the first operand of the step is the function with the globals
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

StepResult execute_by_thunk(RunState& state, const Step& step, const std::int32_t* operands) {
  if (!sync_frames(state, step)) {
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
  PyObject* owner = form.needs_function ? state.registers[operands[0]] : state.run.function;
  const Ref function =
      Ref::steal(PyFunction_New(step.helper.get(), reinterpret_cast<PyFunctionObject*>(owner)->func_globals));
  if (!function) {
    return StepResult::kRaised;
  }
  boost::container::small_vector<PyObject*, 8> arguments;
  for (const int index : form.order) {
    arguments.push_back(state.registers[operands[index]]);
  }
  cpython::leave_recursion(state.run.thread);  // its frame is not counted: user code cannot see it
  Ref result = Ref::steal(PyObject_Vectorcall(function.get(), arguments.data(), arguments.size(), nullptr));
  cpython::enter_recursion(state.run.thread);
  if (!result) {
    return StepResult::kRaised;
  }
  const std::int32_t* results = operands + step.operand_count;
  switch (step.op) {
    case Op::unpack_sequence:
    case Op::unpack_ex:
      // The stack has the first item on top, so the tuple made of it is in reverse.
      for (int index = 0; index < step.result_count; ++index) {
        state.registers[results[index]] = Py_NewRef(PyTuple_GET_ITEM(result.get(), step.result_count - 1 - index));
      }
      return StepResult::kNext;
    case Op::before_with:
    case Op::before_async_with:
    case Op::check_eg_match:
      state.registers[results[0]] = Py_NewRef(PyTuple_GET_ITEM(result.get(), 0));
      state.registers[results[1]] = Py_NewRef(PyTuple_GET_ITEM(result.get(), 1));
      return StepResult::kNext;
    default:
      if (step.result_count != 0) {
        state.registers[step.result] = result.release();
      }
      return StepResult::kNext;
  }
}

}  // namespace tagalong::replay
