// Specialised functions (PEP 510): hand-made code in place of a function's, for the calls for which guards hold. They
// belong to one function object, which gets code of its own that asks them in front of everything else
// (specialized_code.h); where none holds, the call goes on in the original code, or in replay code if the function is
// traced: recorded graphs are specialisations, too, and come behind the hand-made ones.
//
// A function without specialisations has the code that it had before the first one.
#pragma once

#include <cstdint>
#include <vector>

#include "rewriter/base/ref.h"
#include "runtime/specialize/guards.h"

namespace tagalong::runtime {

enum class Specialized : std::uint8_t { kAdded, kIgnored };

// `code` is a code object or a callable, `guards` an iterable. Throws PythonError, RewriteError.
Specialized specialize(PyFunctionObject* function, PyObject* code, PyObject* guards);

// A new list of tuples (code, guards), hand-made ones and then recorded graphs. Throws PythonError.
Ref get_specialized(PyFunctionObject* function);
// How many calls each of the hand-made ones has answered.
std::vector<std::uint64_t> uses_of_specialized(PyFunctionObject* function);
// Removes that one, or all of them if the index is -1. Throws PythonError (IndexError).
void remove_specialized(PyFunctionObject* function, Py_ssize_t index);
// What a call would use, None if it would not use a hand-made one. Throws PythonError, RewriteError.
Ref choose_specialized(PyFunctionObject* function, PyObject* args, PyObject* kwargs);

// The code that the function would have without hand-made specialisations: replay code if it is traced; borrowed.
PyCodeObject* base_code(PyFunctionObject* function);
// From now on calls for which none of them is used go on in this code. False: the function has none, and nothing is
// done. Throws PythonError, RewriteError.
bool set_base_code(PyFunctionObject* function, const CodeRef& code);

}  // namespace tagalong::runtime
