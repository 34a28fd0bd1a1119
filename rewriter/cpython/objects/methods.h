// Builtin functions and methods that get another C function in place, so that their objects keep their identity.
#pragma once

#include <Python.h>

#include <initializer_list>
#include <string_view>
#include <utility>

#include "rewriter/base/dicts.h"
#include "rewriter/base/errors.h"
#include "rewriter/base/ref.h"
#include "version/objects.h"

namespace tagalong::cpython {

// Gives the definition another C function with the same signature, and returns the previous one. Throws InternalError
// where the definition is missing or has other flags.
template <class Function>
Function replace_method(PyMethodDef* method, int flags, Function replacement) {
  TAGALONG_CHECK(method != nullptr && method->ml_flags == flags, "{} has flags {}",
                 method == nullptr ? "a method" : method->ml_name, method == nullptr ? 0 : method->ml_flags);
  // NOLINTBEGIN(bugprone-casting-through-void): the C API's own way to keep functions of other signatures
  return reinterpret_cast<Function>(reinterpret_cast<void*>(
      std::exchange(method->ml_meth, reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(replacement)))));
  // NOLINTEND(bugprone-casting-through-void)
}

// Null where the function is not a builtin one. Throws PythonError where it is missing.
inline PyMethodDef* definition_of(PyObject* module, const char* name) {
  const Ref function = Ref::steal(PyObject_GetAttrString(module, name));
  if (!function) {
    throw PythonError();
  }
  return PyCFunction_CheckExact(function.get()) ? reinterpret_cast<PyCFunctionObject*>(function.get())->m_ml : nullptr;
}

inline PyMethodDef* definition_of(const char* module_name, const char* name) {
  const Ref module = Ref::steal(PyImport_ImportModule(module_name));
  if (!module) {
    throw PythonError();
  }
  return definition_of(module.get(), name);
}

inline PyMethodDef* definition_of(PyTypeObject& type, std::string_view name) {
  PyMethodDef* method = type.tp_methods;
  while (method->ml_name != nullptr && method->ml_name != name) {
    ++method;
  }
  return method->ml_name == nullptr ? nullptr : method;
}

// Gives the type's slot another function, and its copies in the wrappers of these names, and returns the previous one.
// Throws InternalError where a wrapper is missing.
template <class Function>
Function replace_slot(PyTypeObject& type, Function& slot, std::initializer_list<const char*> names,
                      Function replacement) {
  for (const char* name : names) {
    PyObject* wrapper = item_of(version::dict_of(&type), name);
    TAGALONG_CHECK(wrapper != nullptr && Py_IS_TYPE(wrapper, &PyWrapperDescr_Type), "{} has no {}", type.tp_name, name);
    reinterpret_cast<PyWrapperDescrObject*>(wrapper)->d_wrapped = reinterpret_cast<void*>(replacement);
  }
  return std::exchange(slot, replacement);
}

}  // namespace tagalong::cpython
