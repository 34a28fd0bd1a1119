// Specialised functions (PEP 510): hand-made code in place of a function's code, for calls whose guards hold. The
// specialisations belong to one function object. It gets dispatching code of its own (specialized_code.h), which asks
// the guards first. If none holds, the call continues in the original code, or in replay code if the function is
// traced: recorded graphs are specialisations, too, and come behind the hand-made ones.
//
// When its last specialisation is removed, the function gets its former code back.
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
// How many calls have used each hand-made specialisation.
std::vector<std::uint64_t> uses_of_specialized(PyFunctionObject* function);
// Removes a hand-made specialisation or a recorded graph, or all with index -1. Throws PythonError (IndexError).
void remove_specialized(PyFunctionObject* function, Py_ssize_t index);
// The code or callable that a call would use, None if it would use no hand-made one. Throws PythonError, RewriteError.
Ref choose_specialized(PyFunctionObject* function, PyObject* args, PyObject* kwargs);

// The code that the function would have without hand-made specialisations: replay code if it is traced; borrowed.
PyCodeObject* base_code(PyFunctionObject* function);
// From now on calls that use no hand-made specialisation continue in this code. False: the function has none, and
// nothing is done. Throws PythonError, RewriteError.
bool set_base_code(PyFunctionObject* function, const CodeRef& code);

}  // namespace tagalong::runtime
