// Guards of hand-made specialisations (PEP 510): the base type, for subclasses in Python and C, and the ready guards.
// A guard is a Python object that begins with the struct of the C API, so asking it is a call of a C function. The
// ready guards are quiet: they run no user code.
#pragma once

#include <vector>

#include "rewriter/base/ref.h"
#include "runtime/include/tagalong/tagalong.h"

namespace tagalong::runtime {

// The arguments of a call, bound to parameters, in the vectorcall convention. Borrowed.
struct Arguments {
  PyObject* const* values = nullptr;
  Py_ssize_t positional = 0;
  PyObject* names = nullptr;  // tuple, may be null
};

// tagalong.guards.Guard; borrowed, null with an exception set.
PyTypeObject* guard_type();
// The types of the ready guards, for the module; throws PythonError.
std::vector<Ref> ready_guard_types();
// A guard that describes one condition of a recorded graph in the list of specialisations; null with an exception set.
Ref recorded_guard(const char* text);

inline Tagalong_Guard* guard_at(PyObject* guard) { return reinterpret_cast<Tagalong_Guard*>(guard); }

// The results of init and check. A wrong result of a Python method becomes TAGALONG_ERROR with an exception set.
int init_guard(PyObject* guard, PyObject* function);
inline int ask(PyObject* guard, const Arguments& arguments) {
  return guard_at(guard)->check(guard, arguments.values, arguments.positional, arguments.names);
}

}  // namespace tagalong::runtime
