// Code objects that we derive from an original remember it (in CPython's co_extra), so that a function is recognised
// whichever of its code objects is installed. A derived code object owns its original.
#pragma once

#include "rewriter/interp/ref.h"

namespace tagalong::interp {

// False with an exception set when there is no memory.
bool set_original(PyCodeObject* derived, PyCodeObject* original);
// The original of a derived code object, the code object itself otherwise.
PyCodeObject* original_of(PyCodeObject* code);

// Gives a code object another tuple of constants, of the same length, in place: functions that its instructions make
// from then on are made from the code objects in there. The tuple it was compiled with lives as long as the code does.
// For each code object once. False with an exception set when there is no memory.
bool exchange_constants(PyCodeObject* code, PyObject* constants);
// The tuple the code was compiled with; borrowed.
PyObject* original_constants(PyCodeObject* code);

}  // namespace tagalong::interp
