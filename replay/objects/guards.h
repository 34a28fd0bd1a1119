// Guards that depend only on their operand.
#pragma once

#include "replay/ir/ops.h"
#include "replay/objects/operations.h"
#include "rewriter/cpython/objects/dicts.h"

namespace tagalong::replay {

namespace detail {
template <Op op>
bool guard_holds(PyObject* value, PyObject* object, std::int32_t number) {
  const auto has_type = [=] { return value != nullptr && reinterpret_cast<PyObject*>(Py_TYPE(value)) == object; };
  if constexpr (!has(op, trait::kOneOperand)) {
    return false;
  } else if constexpr (op == Op::guard_true) {
    return value == Py_True;
  } else if constexpr (op == Op::guard_false) {
    return value == Py_False;
  } else if constexpr (op == Op::guard_is) {
    return value == object;
  } else if constexpr (op == Op::guard_is_not) {
    return value != object;
  } else if constexpr (op == Op::guard_null) {
    return value == nullptr;
  } else if constexpr (op == Op::guard_not_null) {
    return value != nullptr;
  } else if constexpr (op == Op::guard_type) {
    return has_type();
  } else if constexpr (op == Op::guard_type_version) {
    return has_type() && cpython::type_version(Py_TYPE(value)) == static_cast<unsigned>(number);
  } else if constexpr (op == Op::guard_class) {
    return value == object &&
           cpython::type_version(reinterpret_cast<PyTypeObject*>(value)) == static_cast<unsigned>(number);
  } else if constexpr (op == Op::guard_function) {
    return function_matches(value, object);
  } else if constexpr (op == Op::guard_bound_function) {
    return value != nullptr && PyMethod_Check(value) && function_matches(PyMethod_GET_FUNCTION(value), object);
  } else if constexpr (op == Op::guard_tuple) {
    return value != nullptr && PyTuple_CheckExact(value) && PyTuple_GET_SIZE(value) == number;
  } else {
    static_assert(op == Op::guard_empty, "a guard with the trait kOneOperand is not described here");
    return value != nullptr && PyDict_CheckExact(value) && PyDict_GET_SIZE(value) == 0;
  }
}
}  // namespace detail

// Whether a guard of one operand (trait kOneOperand) with this object and number holds; the value may be null. Other
// operations do not hold.
inline bool guard_holds(Op op, PyObject* value, PyObject* object, std::int32_t number) {
  switch (op) {
#define TAGALONG_OP(name, ...) \
  case Op::name:               \
    return detail::guard_holds<Op::name>(value, object, number);
#include "replay/ir/ops.def"
#undef TAGALONG_OP
  }
  return false;
}

}  // namespace tagalong::replay
