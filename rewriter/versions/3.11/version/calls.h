// Calls and look-ups that the interpreter does not promise to keep, in CPython 3.11.
#pragma once

#include <Python.h>

namespace tagalong::version {

// Whether the recursion limit counts calls that C code makes as well as frames.
inline constexpr bool kLimitCountsCalls = true;

// KiB of C stack that a level of recursion through C code takes at most: a sort with a key function.
inline constexpr int kStackPerLevel = 3;

// Whether an AttributeError of a getter that is written in Python is told the object and the name, in an instruction
// that loads no method. The specialised instruction does not do so.
inline constexpr bool kGetterErrorsGetName = true;

// What the interpreter calls for a function that is written in Python.
inline vectorcallfunc function_vectorcall() { return _PyFunction_Vectorcall; }

// Looks up a method without binding it. `method`: a new reference, or null with an exception set. Not 0: the method
// takes the object as its first argument.
inline int get_method(PyObject* object, PyObject* name, PyObject** method) {
  return _PyObject_GetMethod(object, name, method);
}

// list.extend(); false with an exception set.
inline bool extend(PyObject* list, PyObject* items) {
  PyObject* none = _PyList_Extend(reinterpret_cast<PyListObject*>(list), items);
  Py_XDECREF(none);
  return none != nullptr;
}

// Whether the exception that is set has passed through a frame.
inline bool has_traceback(const PyThreadState* thread) { return thread->curexc_traceback != nullptr; }

}  // namespace tagalong::version
