// Instructions that are left to the interpreter itself (cpython/thunks.h).
#include <boost/container/small_vector.hpp>
#include <vector>

#include "replay/executor/machine/frames.h"
#include "replay/executor/machine/step_families.h"
#include "rewriter/cpython/thunks.h"
#include "version/snippets.h"
#include "version/thunks.h"

namespace tagalong::replay {

namespace op = rewriter::op;

namespace {

// How the thunk of a step is made.
struct ThunkForm {
  std::vector<cpython::Instruction> instructions;
  std::vector<int> order;       // operand of the step for each operand of the thunk
  bool needs_function = false;  // the first operand of the step is the function with the globals
  bool needs_name = false;
};

ThunkForm plain(const Step& step, cpython::Instruction instruction) {
  ThunkForm form;
  form.instructions = cpython::load_operands(step.operand_count);
  form.instructions.push_back(instruction);
  for (int index = 0; index < step.operand_count; ++index) {
    form.order.push_back(index);
  }
  return form;
}

// Of an instruction with two results.
ThunkForm pair(const Step& step, rewriter::Opcode opcode) {
  ThunkForm form = plain(step, {opcode, 0});
  form.instructions.push_back({op::kBUILD_TUPLE, 2});
  return form;
}

ThunkForm form_of(const Step& step, ThunkStep kind) {
  constexpr int kAfterShift = 8;
  switch (kind) {
    case ThunkStep::get_awaitable:
      return plain(step, {op::kGET_AWAITABLE, step.immediate});
    case ThunkStep::get_aiter:
      return plain(step, {op::kGET_AITER, 0});
    case ThunkStep::get_anext:
      return plain(step, {op::kGET_ANEXT, 0});
    case ThunkStep::async_gen_wrap:
      return plain(step, version::kAsyncGenWrap);
    case ThunkStep::match_keys:
      return plain(step, {op::kMATCH_KEYS, 0});
    case ThunkStep::match_class:
      return plain(step, {op::kMATCH_CLASS, step.immediate});
    case ThunkStep::import_from: {
      ThunkForm form = plain(step, {op::kIMPORT_FROM, 0});
      form.needs_name = true;
      return form;
    }
    case ThunkStep::import_name:
      return {{{op::kLOAD_FAST, 0}, {op::kLOAD_FAST, 1}, {op::kIMPORT_NAME, 0}}, {1, 2}, true, true};
    case ThunkStep::load_build_class:
      return {{{op::kLOAD_BUILD_CLASS, 0}}, {}, true, false};
    case ThunkStep::delete_global:
      return {{{op::kLOAD_FAST, 0}, {op::kDELETE_GLOBAL, 0}}, {0}, true, true};
    case ThunkStep::load_global:
      return {{{op::kLOAD_GLOBAL, 0}}, {}, true, true};
    case ThunkStep::raise:
      return plain(step, {op::kRAISE_VARARGS, step.operand_count});
    case ThunkStep::check_exc_match:
      return plain(step, {op::kCHECK_EXC_MATCH, 0});
    case ThunkStep::prep_reraise_star:
      return plain(step, version::kPrepareReraiseStar);
    case ThunkStep::dict_merge: {
      ThunkForm form{{{op::kLOAD_FAST, 1}, {op::kLOAD_FAST, 2}, {op::kDICT_MERGE, 1}}, {2, 0, 1}};
      form.instructions.insert(form.instructions.begin(), version::kCallableOfMerge, {op::kLOAD_FAST, 0});
      return form;
    }
    case ThunkStep::dict_update:
      return plain(step, {op::kDICT_UPDATE, 1});
    case ThunkStep::set_update:
      return plain(step, {op::kSET_UPDATE, 1});
    case ThunkStep::list_extend:
      return plain(step, {op::kLIST_EXTEND, 1});
    case ThunkStep::build_const_key_map:
      return plain(step, {op::kBUILD_CONST_KEY_MAP, step.operand_count - 1});
    case ThunkStep::before_with:
      return pair(step, op::kBEFORE_WITH);
    case ThunkStep::before_async_with:
      return pair(step, op::kBEFORE_ASYNC_WITH);
    case ThunkStep::check_eg_match:
      return pair(step, op::kCHECK_EG_MATCH);
    case ThunkStep::unpack_sequence: {
      ThunkForm form = plain(step, {op::kUNPACK_SEQUENCE, step.immediate});
      form.instructions.push_back({op::kBUILD_TUPLE, step.immediate});
      return form;
    }
    case ThunkStep::unpack_ex: {
      const int before = static_cast<int>(PyLong_AsLong(step.object));
      const int after = step.immediate - 1 - before;
      ThunkForm form = plain(step, {op::kUNPACK_EX, before | (after << kAfterShift)});
      form.instructions.push_back({op::kBUILD_TUPLE, step.immediate});
      return form;
    }
    case ThunkStep::call_ex: {
      ThunkForm form = plain(step, {op::kCALL_FUNCTION_EX, step.operand_count > 2 ? 1 : 0});
      form.instructions.insert(form.instructions.begin() + (version::kNullBelowCallable ? 0 : 1), {op::kPUSH_NULL, 0});
      return form;
    }
  }
  return {};  // not reached
}

}  // namespace

StepResult execute_by_thunk(RunState& state, const Step& step, ThunkStep kind, const std::int32_t* operands) {
  if (!sync_frames(state, step)) {
    return StepResult::kRaised;
  }
  const ThunkForm form = form_of(step, kind);
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
