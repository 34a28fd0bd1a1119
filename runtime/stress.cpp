#include "runtime/stress.h"

#include <string_view>
#include <utility>

#include "rewriter/base/errors.h"
#include "rewriter/base/text.h"
#include "rewriter/code.h"
#include "rewriter/cpython/code_link.h"
#include "rewriter/cpython/new_functions.h"
#include "runtime/records/replay_code.h"
#include "runtime/specialize/specialize.h"

namespace tagalong::runtime {
namespace {

// The exclusions that the user has set.
std::vector<std::string>& excluded_paths() {
  static auto* paths = new std::vector<std::string>();
  return *paths;
}

bool is_excluded(const PyCodeObject* code) {
  const std::string path = cpython::readable(code->co_filename);
  for (const std::string& prefix : excluded_paths()) {
    if (path.starts_with(prefix)) {
      return true;
    }
  }
  return false;
}

// The compiler limits nesting; code made by hand may be nested deeper than the C stack allows.
constexpr int kMaxNesting = 100;

bool adopt_constants(PyCodeObject* code, int depth);

// The code for functions that would be made of this code.
CodeRef adopted(PyCodeObject* code, int depth) {
  PyCodeObject* original = cpython::original_of(code);
  if (original != code || is_excluded(code)) {
    return CodeRef::create(code);
  }
  adopt_constants(code, depth);
  if (recorder::is_namespace(code)) {
    return CodeRef::create(code);  // the body of a module or a class
  }
  try {
    return replay_code_of(code);
  } catch (const rewriter::RewriteError&) {  // damaged code runs unchanged
    return CodeRef::create(code);
  }
}

// Exchanges the code objects among the constants, in place: the code object keeps its identity.
bool adopt_constants(PyCodeObject* code, int depth) {
  PyObject* constants = code->co_consts;
  const Py_ssize_t count = PyTuple_GET_SIZE(constants);
  if (depth >= kMaxNesting || cpython::original_constants(code) != constants) {
    return false;
  }
  Ref exchanged;
  for (Py_ssize_t index = 0; index < count; ++index) {
    PyObject* constant = PyTuple_GET_ITEM(constants, index);
    if (!PyCode_Check(constant)) {
      continue;
    }
    CodeRef replay = adopted(reinterpret_cast<PyCodeObject*>(constant), depth + 1);
    if (reinterpret_cast<PyObject*>(replay.get()) == constant) {
      continue;
    }
    if (!exchanged) {
      exchanged = Ref::steal(PyTuple_New(count));
      if (!exchanged) {
        throw PythonError();
      }
      for (Py_ssize_t other = 0; other < count; ++other) {
        PyTuple_SET_ITEM(exchanged.get(), other, Ref::create(PyTuple_GET_ITEM(constants, other)).release());
      }
    }
    PyTuple_SET_ITEM(exchanged.get(), index, reinterpret_cast<PyObject*>(replay.release()));
    Py_DECREF(constant);
  }
  // Making replay code allocates, so a garbage collection may have exchanged the constants already.
  const bool is_changed = static_cast<bool>(exchanged);
  if (is_changed && code->co_consts == constants && !cpython::exchange_constants(code, std::move(exchanged))) {
    throw PythonError();
  }
  return is_changed;
}

// A failure here must not reach the program: its code then runs unchanged.
template <class Adopt>
void quietly(const Adopt& adopt) {
  try {
    adopt();
  } catch (const PythonError&) {
    PyErr_Clear();
  } catch (const std::exception& error) {
    if (PyErr_WarnFormat(PyExc_RuntimeWarning, 1, "tagalong: %s", error.what()) != 0) {
      PyErr_Clear();
    }
  }
}

void adopt_module(PyCodeObject* code) {
  quietly([code] {
    if (!is_excluded(code)) {
      adopt_constants(code, 0);
    }
  });
}

CodeRef code_of_new_function(PyCodeObject* code) {
  CodeRef result = CodeRef::create(code);
  quietly([code, &result] { result = adopted(code, 0); });
  return result;
}

// Every use of exec(), every import, script, -c and -m raises the event "exec" with the code object. All events come
// here, so the name is compared first.
int audit(const char* event, PyObject* arguments, void* /*data*/) {
  if (std::string_view(event) != "exec") {
    return 0;
  }
  if (Py_IsInitialized() == 0 || PyThreadState_GetInterpreter(PyThreadState_Get()) != PyInterpreterState_Main()) {
    return 0;
  }
  if (PyTuple_Check(arguments) && PyTuple_GET_SIZE(arguments) == 1 && PyCode_Check(PyTuple_GET_ITEM(arguments, 0))) {
    adopt_module(reinterpret_cast<PyCodeObject*>(PyTuple_GET_ITEM(arguments, 0)));
  }
  return 0;
}

}  // namespace

void start_stress(std::vector<std::string> excluded) {
  static bool started = false;
  excluded_paths() = std::move(excluded);
  if (!std::exchange(started, true) && PySys_AddAuditHook(audit, nullptr) != 0) {
    throw PythonError();
  }
  cpython::watch_new_functions(code_of_new_function);
}

void adopt_function(PyObject* function) {
  auto* its = reinterpret_cast<PyFunctionObject*>(function);
  PyCodeObject* code = base_code(its);
  const CodeRef replay = adopted(code, 0);
  if (replay.get() != code && !set_base_code(its, replay) &&
      PyObject_SetAttrString(function, "__code__", reinterpret_cast<PyObject*>(replay.get())) != 0) {
    throw PythonError();
  }
}

}  // namespace tagalong::runtime
