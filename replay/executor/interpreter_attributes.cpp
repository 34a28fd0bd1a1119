// Attributes of ordinary instances, where they lie: after inline caches (L. P. Deutsch and A. M. Schiffman, "Efficient
// implementation of the Smalltalk-80 system", 1984), as CPython's specialised instructions have them (PEP 659). What is
// found this way runs no code of anybody's, so nothing has to be shown before.
#include <algorithm>

#include "replay/executor/interpreter.h"

namespace tagalong::replay {
// What instances of this type have by the step's name; null: the interpreter has to be asked.
const cpython::Attribute* Interpreter::known_attribute(const Step& step, PyTypeObject* type) {
  if (step.attributes == nullptr) {
    step.attributes = std::make_unique<KnownAttributes>();
  }
  auto& ways = step.attributes->ways;
  const unsigned version = cpython::type_version(type);
  KnownAttributes::Way* way = std::ranges::find(ways, version, &KnownAttributes::Way::version);
  if (version == 0 || way == ways.end() || cpython::is_outdated(type, way->attribute)) {
    if (version == 0 || way == ways.end()) {
      way = &ways.at(step.attributes->next++ % ways.size());
    }
    way->attribute = cpython::find_attribute(type, step.object);
    way->version = cpython::type_version(type);
    if (way->version == 0) {
      return nullptr;
    }
  }
  return way->attribute.kind == cpython::Attribute::Kind::kUnknown ? nullptr : &way->attribute;
}

PyObject* Interpreter::load_known(PyObject* object, const cpython::Attribute& known) {
  if (known.kind != cpython::Attribute::Kind::kOfType) {
    PyObject** place = cpython::place_of(object, known);
    return place == nullptr ? nullptr : Py_XNewRef(*place);
  }
  return known.is_plain && cpython::is_visible(object, known) ? Py_NewRef(known.object) : nullptr;
}

// False: nothing has happened.
bool Interpreter::store_known(PyObject* object, const cpython::Attribute& known, PyObject* value) {
  PyObject** place = known.kind == cpython::Attribute::Kind::kOfType ? nullptr : cpython::place_of(object, known);
  if (place == nullptr) {
    return false;
  }
  PyObject* old = *place;
  if (old == nullptr && known.kind == cpython::Attribute::Kind::kValue) {
    cpython::add_value(object, known.index, Py_NewRef(value));
    return true;
  }
  if (old != nullptr && Py_REFCNT(old) == 1 && !dies_alone(old)) {
    return false;
  }
  *place = Py_NewRef(value);
  Py_XDECREF(old);
  return true;
}

// False: nothing has happened.
bool Interpreter::try_attribute(const Step& step, const std::int32_t* operands) {
  PyObject* object = registers_[operands[0]];
  const cpython::Attribute* known = known_attribute(step, Py_TYPE(object));
  if (known == nullptr) {
    return false;
  }
  if (step.op == Op::store_attr) {
    return store_known(object, *known, registers_[operands[1]]);
  }
  const std::int32_t* results = operands + step.operand_count;
  if (step.op == Op::load_method && known->is_method && known->kind == cpython::Attribute::Kind::kOfType) {
    if (!cpython::is_visible(object, *known)) {
      return false;
    }
    registers_[results[0]] = Py_NewRef(known->object);
    registers_[results[1]] = Py_NewRef(object);
    return true;
  }
  PyObject* value = load_known(object, *known);
  if (value == nullptr) {
    return false;
  }
  if (step.op == Op::load_method) {
    registers_[results[0]] = nullptr;
    registers_[results[1]] = value;
  } else {
    registers_[step.result] = value;
  }
  return true;
}

}  // namespace tagalong::replay
