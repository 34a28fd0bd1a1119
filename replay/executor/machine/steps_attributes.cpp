// Attributes of ordinary instances, read where they are stored: after inline caches (L. P. Deutsch and A. M. Schiffman,
// "Efficient implementation of the Smalltalk-80 system", 1984), as CPython's specialised instructions have them (PEP
// 659). Such a read runs no user code, so no frame has to be shown before it.
#include <algorithm>

#include "replay/executor/finalisers.h"
#include "replay/executor/machine/step_families.h"
#include "rewriter/cpython/objects/instances.h"

namespace tagalong::replay {

namespace {

// What instances of this type have under the step's name; null: only a full lookup can tell.
const cpython::Attribute* known_attribute(const Step& step, PyTypeObject* type) {
  if (step.attributes == nullptr) {
    step.attributes = std::make_unique<KnownAttributes>();
  }
  auto& known = step.attributes->entries;
  const unsigned version = cpython::type_version(type);
  KnownAttributes::Entry* entry = std::ranges::find(known, version, &KnownAttributes::Entry::version);
  if (version == 0 || entry == known.end() || cpython::is_outdated(type, entry->attribute)) {
    if (version == 0 || entry == known.end()) {
      entry = &known.at(step.attributes->next++ % known.size());
    }
    entry->attribute = cpython::find_attribute(type, step.object);
    entry->version = cpython::type_version(type);
    if (entry->version == 0) {
      return nullptr;
    }
  }
  return entry->attribute.kind == cpython::Attribute::Kind::kUnknown ? nullptr : &entry->attribute;
}

PyObject* load_known(PyObject* object, const cpython::Attribute& known) {
  if (known.kind != cpython::Attribute::Kind::kOfType) {
    PyObject** place = cpython::place_of(object, known);
    return place == nullptr ? nullptr : Py_XNewRef(*place);
  }
  return known.is_plain && cpython::is_visible(object, known) ? Py_NewRef(known.object) : nullptr;
}

// False: nothing has happened.
bool store_known(PyObject* object, const cpython::Attribute& known, PyObject* value) {
  PyObject** place = known.kind == cpython::Attribute::Kind::kOfType ? nullptr : cpython::place_of(object, known);
  if (place == nullptr) {
    return false;
  }
  PyObject* old = *place;
  if (old == nullptr && known.kind == cpython::Attribute::Kind::kValue) {
    cpython::add_value(object, known.index, Py_NewRef(value));
    return true;
  }
  if (old != nullptr && Py_REFCNT(old) == 1 && !dies_without_user_code(old)) {
    return false;
  }
  *place = Py_NewRef(value);
  Py_XDECREF(old);
  return true;
}

}  // namespace

bool try_attribute(RunState& state, const Step& step, const std::int32_t* operands) {
  PyObject* object = state.registers[operands[0]];
  const cpython::Attribute* known = known_attribute(step, Py_TYPE(object));
  if (known == nullptr) {
    return false;
  }
  if (step.op == Op::store_attr) {
    return store_known(object, *known, state.registers[operands[1]]);
  }
  const std::int32_t* results = operands + step.operand_count;
  if (step.op == Op::load_method && known->is_method && known->kind == cpython::Attribute::Kind::kOfType) {
    if (!cpython::is_visible(object, *known)) {
      return false;
    }
    state.registers[results[0]] = Py_NewRef(known->object);
    state.registers[results[1]] = Py_NewRef(object);
    return true;
  }
  PyObject* value = load_known(object, *known);
  if (value == nullptr) {
    return false;
  }
  if (step.op == Op::load_method) {
    state.registers[results[0]] = nullptr;
    state.registers[results[1]] = value;
  } else {
    state.registers[step.result] = value;
  }
  return true;
}

}  // namespace tagalong::replay
