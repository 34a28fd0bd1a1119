// Attributes of ordinary instances, read where they are stored: after inline caches (L. P. Deutsch and A. M. Schiffman,
// "Efficient implementation of the Smalltalk-80 system", 1984), as CPython's specialised instructions have them (PEP
// 659). Such a read runs no user code.
#pragma once

#include <Python.h>

#include "replay/steps/step.h"
#include "rewriter/cpython/objects/instances.h"

namespace tagalong::replay {

// What instances of this type have under the step's name; null: only a full lookup can tell.
const cpython::Attribute* known_attribute(const Step& step, PyTypeObject* type);
// A new reference; null, without an exception: only a full lookup can tell.
PyObject* load_known(PyObject* object, const cpython::Attribute& known);
// Fills two new references as LOAD_METHOD does: (function, self) or (null, attribute). False: only a full lookup can
// tell.
bool load_known_method(PyObject* object, const cpython::Attribute& known, PyObject** results);

// Where the object keeps the value of the attribute that the step stores; null: only the interpreter can store it.
PyObject** place_to_store(const Step& step, PyObject* object);
// Stores the value in the attribute, and returns the old one, a new reference, in `old`. False: nothing has happened.
bool store_known(PyObject* object, const cpython::Attribute& known, PyObject* value, Ref* old);

}  // namespace tagalong::replay
