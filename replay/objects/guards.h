// Guards that depend only on their operand.
#pragma once

#include "replay/ir/ops.h"
#include "replay/objects/operations.h"
#include "rewriter/cpython/objects/dicts.h"

namespace tagalong::replay {

// Whether a guard of one operand (trait kOneOperand) with this object and number holds; the value may be null.
inline bool guard_holds(Op op, PyObject* value, PyObject* object, std::int32_t number) {
  switch (op) {
    case Op::guard_true:
      return value == Py_True;
    case Op::guard_false:
      return value == Py_False;
    case Op::guard_is:
      return value == object;
    case Op::guard_is_not:
      return value != object;
    case Op::guard_null:
      return value == nullptr;
    case Op::guard_not_null:
      return value != nullptr;
    case Op::guard_class:
      return value == object &&
             cpython::type_version(reinterpret_cast<PyTypeObject*>(value)) == static_cast<unsigned>(number);
    case Op::guard_function:
      return function_matches(value, object);
    case Op::guard_bound_function:
      return value != nullptr && PyMethod_Check(value) && function_matches(PyMethod_GET_FUNCTION(value), object);
    case Op::guard_tuple:
      return value != nullptr && PyTuple_CheckExact(value) && PyTuple_GET_SIZE(value) == number;
    case Op::guard_empty:
      return value != nullptr && PyDict_CheckExact(value) && PyDict_GET_SIZE(value) == 0;
    case Op::guard_type:
      return value != nullptr && reinterpret_cast<PyObject*>(Py_TYPE(value)) == object;
    default:
      return value != nullptr && reinterpret_cast<PyObject*>(Py_TYPE(value)) == object &&
             cpython::type_version(Py_TYPE(value)) == static_cast<unsigned>(number);
  }
}

}  // namespace tagalong::replay
