// Types of the iterators in stubs: a stub asks them with FOR_ITER.
#pragma once

#include <Python.h>

namespace tagalong::runtime {

// Null with an exception set. `repr` and `dealloc` may be null.
PyTypeObject* make_iterator_type(const char* name, int size, iternextfunc next, reprfunc repr, destructor dealloc);

}  // namespace tagalong::runtime
