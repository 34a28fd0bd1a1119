#include "replay/steps/known_attributes.h"

#include <algorithm>
#include <utility>

namespace tagalong::replay {

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

bool load_known_method(PyObject* object, const cpython::Attribute& known, PyObject** results) {
  if (known.is_method && known.kind == cpython::Attribute::Kind::kOfType) {
    if (!cpython::is_visible(object, known)) {
      return false;
    }
    results[0] = Py_NewRef(known.object);
    results[1] = Py_NewRef(object);
    return true;
  }
  results[0] = nullptr;
  results[1] = load_known(object, known);
  return results[1] != nullptr;
}

namespace {

PyObject** place_to_store(PyObject* object, const cpython::Attribute& known) {
  return known.kind == cpython::Attribute::Kind::kOfType ? nullptr : cpython::place_of(object, known);
}

}  // namespace

PyObject** place_to_store(const Step& step, PyObject* object) {
  const cpython::Attribute* known = known_attribute(step, Py_TYPE(object));
  return known == nullptr ? nullptr : place_to_store(object, *known);
}

bool store_known(PyObject* object, const cpython::Attribute& known, PyObject* value, Ref* old) {
  PyObject** place = place_to_store(object, known);
  if (place == nullptr) {
    return false;
  }
  if (*place == nullptr && known.kind == cpython::Attribute::Kind::kValue) {
    cpython::add_value(object, known.index, Py_NewRef(value));
    return true;
  }
  *old = Ref::steal(std::exchange(*place, Py_NewRef(value)));
  return true;
}

}  // namespace tagalong::replay
