#include "runtime/specialize/specialize.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "rewriter/base/errors.h"
#include "rewriter/cpython/code_link.h"
#include "rewriter/cpython/functions.h"
#include "runtime/records/first_calls.h"
#include "runtime/records/function_copy.h"
#include "runtime/specialize/dispatch.h"
#include "runtime/specialize/specialized_code.h"
#include "runtime/specialize/specialized_fit.h"
#include "runtime/specialize/specialized_list.h"

namespace tagalong::runtime {
namespace {

// --- references that functions own through their code (cpython::OwnedObjects)

int visit_owned_objects(PyFunctionObject* function, visitproc visit, void* arg) {
  PyObject* dispatcher = dispatcher_of(function);
  if (dispatcher == nullptr) {
    return 0;
  }
  for (const SpecializationRef& specialization : dispatch_of(dispatcher).specializations) {
    Py_VISIT(specialization->code.get());
    Py_VISIT(specialization->constant.get());
    for (const Ref& guard : specialization->guards) {
      Py_VISIT(guard.get());
    }
  }
  return 0;
}

void clear_owned_objects(PyFunctionObject* function) {
  if (PyObject* dispatcher = dispatcher_of(function)) {
    const Ref keep = Ref::create(dispatcher);
    const auto cleared = std::exchange(dispatch_of(dispatcher).specializations, {});
    dispatch_of(dispatcher).list_changed();
  }
}

// --- adding

// Gives the function dispatching code whose frames have room for all its specialisations.
void install(const Ref& dispatcher) {
  Dispatch& dispatch = dispatch_of(dispatcher.get());
  const auto slots_of = [](const PyCodeObject* code) { return code->co_nlocalsplus + code->co_stacksize; };
  int slots = std::max(dispatch.slots, slots_of(dispatch.base.get()));
  for (const SpecializationRef& specialization : dispatch.specializations) {
    slots = specialization->entered.code ? std::max(slots, slots_of(specialization->entered.code.get())) : slots;
  }
  if (dispatch.installed != nullptr && slots == dispatch.slots) {
    return;
  }
  const CodeRef code = dispatching_code(cpython::original_of(dispatch.base.get()), dispatcher,
                                        dispatch_redirect_iterator(), dispatch_redirect(), slots);
  const PyCodeObject* before = dispatch.installed != nullptr ? dispatch.installed : dispatch.base.get();
  if (reinterpret_cast<PyCodeObject*>(dispatch.function->func_code) != before) {  // a finaliser may have changed it
    PyErr_Format(PyExc_RuntimeError, "the code of %U() was replaced while it was specialised",
                 dispatch.function->func_qualname);
    throw PythonError();
  }
  register_dispatcher(code, dispatcher.get());
  dispatch.slots = slots;
  const CodeRef old = cpython::install_code(dispatch.function, code.get());
}

// Functions of the module `builtins` (their `__self__`) that raise no audit event, unlike `id`: with a plain argument
// (is_plain in dispatch_calls.cpp) they run no user code.
bool is_quiet_builtin(PyObject* function) {
  static constexpr std::array<std::string_view, 9> kNames = {"abs", "bin", "chr", "hash", "hex",
                                                             "len", "oct", "ord", "repr"};
  PyObject* self = PyCFunction_GET_SELF(function);
  const PyModuleDef* definition = self != nullptr && PyModule_CheckExact(self) ? PyModule_GetDef(self) : nullptr;
  return definition != nullptr && definition->m_name == std::string_view("builtins") &&
         std::ranges::find(kNames, reinterpret_cast<PyCFunctionObject*>(function)->m_ml->ml_name) != kNames.end();
}

bool takes_one_argument(const PyCodeObject* code) {
  return code->co_argcount == 1 && code->co_kwonlyargcount == 0 &&
         (code->co_flags & (CO_VARARGS | CO_VARKEYWORDS)) == 0;
}

SpecializationRef make_specialization(PyFunctionObject* function, PyObject* code, PyObject* guards) {
  auto made = std::make_shared<Specialization>();
  made->code = fitted(function, code);
  const Ref list = Ref::steal(PySequence_List(guards));
  if (!list) {
    throw PythonError();
  }
  for (Py_ssize_t index = 0; index < PyList_GET_SIZE(list.get()); ++index) {
    PyObject* guard = PyList_GET_ITEM(list.get(), index);
    if (PyObject_TypeCheck(guard, guard_type()) == 0) {
      PyErr_Format(PyExc_TypeError, "a guard must be a tagalong.guards.Guard, not %.200s", Py_TYPE(guard)->tp_name);
      throw PythonError();
    }
    made->guards.push_back(Ref::create(guard));
    made->is_quiet = made->is_quiet && (guard_at(guard)->flags & TAGALONG_QUIET) != 0;
  }
  if (made->guards.empty()) {
    PyErr_SetString(PyExc_ValueError, "at least one guard is needed");
    throw PythonError();
  }
  if (PyCode_Check(made->code.get())) {
    auto* specialised = reinterpret_cast<PyCodeObject*>(made->code.get());
    made->constant = constant_result(specialised);
    made->kind = made->constant ? Specialization::Kind::kConstant : Specialization::Kind::kCode;
    if (!made->constant) {
      made->entered = entered_code(specialised);
    }
  } else if (PyCFunction_CheckExact(made->code.get()) && PyCFunction_GET_FLAGS(made->code.get()) == METH_O &&
             takes_one_argument(base_code(function))) {
    made->kind = Specialization::Kind::kBuiltinOfOne;
    made->function = PyCFunction_GET_FUNCTION(made->code.get());
    made->self = PyCFunction_GET_SELF(made->code.get());
    made->is_quiet_builtin = is_quiet_builtin(made->code.get());
  }
  return made;
}

}  // namespace

PyCodeObject* base_code(PyFunctionObject* function) {
  PyObject* dispatcher = dispatcher_of(function);
  return dispatcher == nullptr ? reinterpret_cast<PyCodeObject*>(function->func_code)
                               : dispatch_of(dispatcher).base.get();
}

bool set_base_code(PyFunctionObject* function, const CodeRef& code) {
  const Ref dispatcher = Ref::create(dispatcher_of(function));
  if (!dispatcher) {
    return false;
  }
  const CodeRef old = dispatch_of(dispatcher.get()).base;
  dispatch_of(dispatcher.get()).set_base(code);
  install(dispatcher);
  return true;
}

Specialized specialize(PyFunctionObject* function, PyObject* code, PyObject* guards) {
  if (code == reinterpret_cast<PyObject*>(function)) {
    PyErr_Format(PyExc_ValueError, "%U() cannot be a specialisation of itself", function->func_qualname);
    throw PythonError();
  }
  install_armed(function);
  const SpecializationRef made = make_specialization(function, code, guards);
  for (const Ref& guard : made->guards) {
    const int answer = init_guard(guard.get(), reinterpret_cast<PyObject*>(function));
    if (answer == TAGALONG_ERROR) {
      throw PythonError();
    }
    if (answer == TAGALONG_NEVER) {
      return Specialized::kIgnored;
    }
  }
  if (PyCode_Check(made->code.get())) {  // the guards may have changed the function
    require_fit(base_code(function), reinterpret_cast<PyCodeObject*>(made->code.get()));
  }
  // The audit event of an assignment to `__code__`, since this is one.
  if (PySys_Audit("object.__setattr__", "OsO", function, "__code__", made->code.get()) < 0) {
    throw PythonError();
  }
  if (PyObject* installed = dispatcher_of(function)) {
    require_undisturbed(installed);
  }
  cpython::register_owned_objects({visit_owned_objects, clear_owned_objects});
  Ref dispatcher = Ref::create(dispatcher_of(function));
  if (!dispatcher) {
    dispatcher = make_dispatcher();
    Dispatch& dispatch = dispatch_of(dispatcher.get());
    dispatch.function = function;
    dispatch.set_base(CodeRef::create(reinterpret_cast<PyCodeObject*>(function->func_code)));
    dispatch.learn_parameters(dispatch.base.get());
  }
  dispatch_of(dispatcher.get()).specializations.push_back(made);
  try {
    install(dispatcher);
  } catch (...) {
    std::erase(dispatch_of(dispatcher.get()).specializations, made);
    throw;
  }
  dispatch_of(dispatcher.get()).list_changed();
  return Specialized::kAdded;
}

Ref get_specialized(PyFunctionObject* function) {
  Ref list = Ref::steal(PyList_New(0));
  if (!list) {
    throw PythonError();
  }
  if (PyObject* dispatcher = dispatcher_of(function)) {
    const auto specializations = dispatch_of(dispatcher).specializations;
    for (const SpecializationRef& specialization : specializations) {
      append_specialization(list, specialization->code, specialization->guards);
    }
  }
  append_recorded(list, base_code(function));
  return list;
}

std::vector<std::uint64_t> uses_of_specialized(PyFunctionObject* function) {
  std::vector<std::uint64_t> uses;
  if (PyObject* dispatcher = dispatcher_of(function)) {
    for (const SpecializationRef& specialization : dispatch_of(dispatcher).specializations) {
      uses.push_back(specialization->uses);
    }
  }
  return uses;
}

void remove_specialized(PyFunctionObject* function, Py_ssize_t index) {
  const Ref dispatcher = Ref::create(dispatcher_of(function));
  if (dispatcher) {
    require_undisturbed(dispatcher.get());
  }
  const auto specializations =
      dispatcher ? dispatch_of(dispatcher.get()).specializations : std::vector<SpecializationRef>();
  const auto count = static_cast<Py_ssize_t>(specializations.size());
  if (index >= count || index < 0) {
    remove_recorded(base_code(function), index < 0 ? index : index - count);
  }
  for (Py_ssize_t place = 0; place < count; ++place) {
    if (index < 0 || place == index) {
      remove(dispatcher.get(), specializations[static_cast<std::size_t>(place)]);
    }
  }
}

Ref choose_specialized(PyFunctionObject* function, PyObject* args, PyObject* kwargs) {
  const Ref chooser = make_dispatcher();
  Dispatch& dispatch = dispatch_of(chooser.get());
  PyObject* dispatcher = dispatcher_of(function);
  dispatch.function = function;
  dispatch.only_chooses = true;
  dispatch.learn_parameters(reinterpret_cast<PyCodeObject*>(function->func_code));
  dispatch.set_base(CodeRef::create(base_code(function)));
  if (dispatcher != nullptr) {
    dispatch.specializations = dispatch_of(dispatcher).specializations;
  }
  const auto at_the_start = dispatch.specializations;
  // A call binds the arguments.
  const CodeRef code = dispatching_code(cpython::original_of(dispatch.base.get()), chooser,
                                        dispatch_redirect_iterator(), dispatch_redirect(), 0);
  const Ref asked = function_with_code(reinterpret_cast<PyObject*>(function), code.get());
  Ref chosen = asked ? Ref::steal(PyObject_Call(asked.get(), args, kwargs)) : Ref();
  if (!chosen) {
    throw PythonError();
  }
  for (const SpecializationRef& asked_one : at_the_start) {
    PyObject* its = asked_one->is_removed ? dispatcher_of(function) : nullptr;
    if (its != nullptr) {
      remove(its, asked_one);
    }
  }
  return chosen;
}

}  // namespace tagalong::runtime
