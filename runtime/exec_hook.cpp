#include "runtime/exec_hook.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "rewriter/base/errors.h"
#include "rewriter/code.h"
#include "rewriter/cpython/code_link.h"
#include "rewriter/cpython/code_object.h"
#include "rewriter/cpython/executed.h"
#include "rewriter/cpython/frames.h"
#include "rewriter/cpython/objects/dicts.h"

namespace tagalong::runtime {
namespace {

using Clock = std::chrono::steady_clock;

// The state of a code object: how often it was changed when it was executed, or that it is left unchanged.
constexpr int kAsWritten = -1;
constexpr int kMostChanges = 4;
// If a run takes so many times as long as the change before it, the next run is changed, too.
constexpr int kWorthwhile = 20;

Ref& callback_slot() {
  static auto* slot = new Ref();
  return *slot;
}

thread_local const PyCodeObject* t_changed = nullptr;

bool has_loop(PyCodeObject* code) {
  return std::ranges::any_of(cpython::code_units(code), [](std::uint16_t unit) {
    constexpr unsigned kOpcode = 0xFF;
    const rewriter::OpcodeInfo& own = rewriter::info(static_cast<std::uint8_t>(unit & kOpcode));
    return own.base != 0 && rewriter::info(own.base).backward();
  });
}

bool makes_code(PyCodeObject* code) {
  PyObject* constants = code->co_consts;
  for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(constants); ++index) {
    if (PyCode_Check(PyTuple_GET_ITEM(constants, index))) {
      return true;
    }
  }
  return false;
}

// Refuses bodies of functions (`exec(f.__code__)`), and code that is changed already.
bool is_to_be_shown(PyCodeObject* code) {
  return (code->co_flags & (CO_OPTIMIZED | CO_NEWLOCALS)) == 0 && code->co_nfreevars == 0 &&
         cpython::shown_of(code) == code && cpython::original_constants(code) == code->co_consts &&
         (makes_code(code) || has_loop(code));
}

Ref value_of(PyObject* globals, const char* name) {
  const Ref key = Ref::steal(PyUnicode_InternFromString(name));
  if (!key) {
    throw PythonError();
  }
  PyObject* value = cpython::find_without_side_effects(globals, key.get());
  return Ref::create(value == nullptr ? Py_None : value);
}

// Null with an exception set.
Ref ask(PyCodeObject* code, PyObject* globals) {
  const Ref callback = callback_slot();
  try {
    const Ref name = value_of(globals, "__name__");
    const Ref spec = value_of(globals, "__spec__");
    const Ref file = value_of(globals, "__file__");
    return Ref::steal(PyObject_CallFunctionObjArgs(callback.get(), reinterpret_cast<PyObject*>(code), name.get(),
                                                   spec.get(), file.get(), nullptr));
  } catch (const PythonError&) {
    return {};
  }
}

// Whether the exception that is set comes from the callback and the program need not see it.
bool is_ours() {
  return PyErr_ExceptionMatches(PyExc_MemoryError) != 0 || PyErr_ExceptionMatches(PyExc_RecursionError) != 0 ||
         PyErr_ExceptionMatches(PyExc_SystemError) != 0;
}

// The code to run instead of `code`, or `code` itself; null with an exception set.
CodeRef changed(PyCodeObject* code, PyObject* globals) {
  PyThreadState* thread = cpython::thread_state();
  PyThreadState_EnterTracing(thread);
  const Ref answer = ask(code, globals);
  PyThreadState_LeaveTracing(thread);
  if (answer) {
    return CodeRef::create(PyCode_Check(answer.get()) ? reinterpret_cast<PyCodeObject*>(answer.get()) : code);
  }
  if (is_ours()) {
    PyErr_Clear();
    return CodeRef::create(code);
  }
  // A signal handler has raised it, for example for Ctrl-C: it propagates as if the signal had come before.
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  Py_XDECREF(traceback);
  if (value != nullptr && PyExceptionInstance_Check(value)) {
    PyException_SetTraceback(value, Py_None);
  }
  PyErr_Restore(type, value, nullptr);
  return {};
}

PyObject* handle(const cpython::Execution& execution) {
  PyCodeObject* code = execution.code();
  const int mark = cpython::execution_mark(code);
  PyObject* globals = execution.globals();
  if (mark == kAsWritten || globals == nullptr || !PyDict_Check(globals)) {
    return execution.run(code);
  }
  if (!is_to_be_shown(code)) {
    cpython::set_execution_mark(code, kAsWritten);
    return execution.run(code);
  }
  const Clock::time_point asked = Clock::now();
  const CodeRef instead = changed(code, globals);
  if (!instead) {
    return nullptr;
  }
  if (instead.get() == code) {
    cpython::set_execution_mark(code, kAsWritten);
    return execution.run(code);
  }
  const Clock::time_point started = Clock::now();
  const PyCodeObject* outer = std::exchange(t_changed, instead.get());
  PyObject* result = execution.run(instead.get());
  t_changed = outer;
  const bool is_worth_it = Clock::now() - started >= kWorthwhile * (started - asked);
  cpython::set_execution_mark(code,
                              mark + 1 < kMostChanges || is_worth_it ? std::min(mark + 1, kMostChanges) : kAsWritten);
  return result;
}

}  // namespace

void install_exec_hook(const Ref& callback) {
  callback_slot() = callback;
  cpython::watch_executions(handle);
}

bool is_changed_execution(const PyCodeObject* code) { return code == t_changed; }

}  // namespace tagalong::runtime
