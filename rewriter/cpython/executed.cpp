#include "rewriter/cpython/executed.h"

#include <array>

#include "rewriter/cpython/frames.h"
#include "rewriter/cpython/objects/methods.h"
#include "version/black_box.h"

namespace tagalong::cpython {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): under the GIL
ExecutionHandler g_handler = nullptr;
_PyCFunctionFastWithKeywords g_exec = nullptr;
version::EvalFunction g_eval = nullptr;
PyObject* g_builtins = nullptr;  // the `self` of the builtin functions; borrowed
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

constexpr Py_ssize_t kMostArguments = 3;  // source, globals, locals

bool is_watched(PyObject* const* arguments, Py_ssize_t count) {
  return count >= 1 && count <= kMostArguments && PyCode_Check(arguments[0]) &&
         thread_state()->interp == PyInterpreterState_Main() && Py_IsInitialized() != 0 && !g_is_ending;
}

PyObject* run_exec(PyObject* const* arguments, Py_ssize_t count) {
  return g_exec(g_builtins, arguments, count, nullptr);
}

template <class... Names>
PyObject* call_eval(PyObject* (*eval)(PyObject*, PyObject* const*, Py_ssize_t, Names...), PyObject* const* arguments,
                    Py_ssize_t count) {
  return eval(g_builtins, arguments, count, Names()...);
}

PyObject* run_eval(PyObject* const* arguments, Py_ssize_t count) { return call_eval(g_eval, arguments, count); }

PyObject* exec(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* keywords) {
  if (keywords != nullptr || !is_watched(arguments, count)) {
    return g_exec(self, arguments, count, keywords);
  }
  return g_handler(Execution(arguments, count, run_exec));
}

template <class... Names>
PyObject* eval(PyObject* self, PyObject* const* arguments, Py_ssize_t count, Names... names) {
  const bool has_names = ((names != nullptr) || ...);
  return !has_names && is_watched(arguments, count) ? g_handler(Execution(arguments, count, run_eval))
                                                    : g_eval(self, arguments, count, names...);
}

}  // namespace

PyObject* Execution::globals() const {
  return count_ > 1 && arguments_[1] != Py_None ? arguments_[1] : PyEval_GetGlobals();
}

PyObject* Execution::run(PyCodeObject* code) const {
  std::array<PyObject*, kMostArguments> arguments{};
  for (Py_ssize_t index = 0; index < count_; ++index) {
    arguments.at(static_cast<std::size_t>(index)) = arguments_[index];
  }
  arguments[0] = reinterpret_cast<PyObject*>(code);
  return run_(arguments.data(), count_);
}

void watch_executions(ExecutionHandler handler) {
  g_handler = handler;
  if (g_exec == nullptr) {
    const Ref module = Ref::steal(PyImport_ImportModule("builtins"));
    g_builtins = module.get();  // lives as long as the interpreter
    g_exec = replace_method(definition_of("builtins", "exec"), METH_FASTCALL | METH_KEYWORDS, exec);
    g_eval = replace_method<version::EvalFunction>(definition_of("builtins", "eval"), version::kEvalFlags, eval);
  }
}

}  // namespace tagalong::cpython
