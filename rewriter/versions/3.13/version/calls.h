// Calls and look-ups that the interpreter does not promise to keep, in CPython 3.13.
#pragma once

#include <Python.h>

#define Py_BUILD_CORE 1  // NOLINT: what the header asks for
#include <internal/pycore_object.h>
#undef Py_BUILD_CORE

namespace tagalong::version {

// Whether the recursion limit counts calls that C code makes as well as frames.
inline constexpr bool kLimitCountsCalls = false;

// KiB of C stack that a level of recursion through C code takes at most: a sort with a key function.
inline constexpr int kStackPerLevel = 6;

// Whether an AttributeError of a getter that is written in Python is told the object and the name, in an instruction
// that loads no method. The specialised instruction does not do so.
inline constexpr bool kGetterErrorsGetName = false;

// What the interpreter calls for a function that is written in Python.
inline vectorcallfunc function_vectorcall() {
  static const vectorcallfunc function = [] {
    PyObject* globals = PyDict_New();
    PyObject* code = reinterpret_cast<PyObject*>(PyCode_NewEmpty("<tagalong>", "nothing", 1));
    PyObject* made = globals == nullptr || code == nullptr ? nullptr : PyFunction_New(code, globals);
    const vectorcallfunc found = made == nullptr ? nullptr : reinterpret_cast<PyFunctionObject*>(made)->vectorcall;
    Py_XDECREF(made);
    Py_XDECREF(code);
    Py_XDECREF(globals);
    PyErr_Clear();
    return found;
  }();
  return function;
}

// Looks up a method without binding it. `method`: a new reference, or null with an exception set. Not 0: the method
// takes the object as its first argument.
inline int get_method(PyObject* object, PyObject* name, PyObject** method) {
  return _PyObject_GetMethod(object, name, method);
}

// list.extend(); false with an exception set.
inline bool extend(PyObject* list, PyObject* items) { return PyList_Extend(list, items) == 0; }

// Whether the exception that is set has passed through a frame.
inline bool has_traceback(const PyThreadState* thread) {
  PyObject* raised = thread->current_exception;
  return raised != nullptr && reinterpret_cast<PyBaseExceptionObject*>(raised)->traceback != nullptr;
}

}  // namespace tagalong::version
