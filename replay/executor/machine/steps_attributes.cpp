// Attributes of ordinary instances, by inline caches (steps/known_attributes.h).
#include <array>

#include "replay/executor/finalisers.h"
#include "replay/executor/machine/step_families.h"
#include "replay/steps/known_attributes.h"

namespace tagalong::replay {

namespace {

// False: nothing has happened.
bool store_without_user_code(PyObject* object, const cpython::Attribute& known, PyObject* value) {
  PyObject** place = known.kind == cpython::Attribute::Kind::kOfType ? nullptr : cpython::place_of(object, known);
  PyObject* old = place == nullptr ? nullptr : *place;
  if (old != nullptr && Py_REFCNT(old) == 1 && !dies_without_user_code(old)) {
    return false;
  }
  Ref replaced;
  return store_known(object, known, value, &replaced);
}

}  // namespace

bool try_attribute(RunState& state, const Step& step, const std::int32_t* operands) {
  PyObject* object = state.registers[operands[0]];
  const cpython::Attribute* known = known_attribute(step, Py_TYPE(object));
  if (known == nullptr) {
    return false;
  }
  if (step.op == Op::store_attr) {
    return store_without_user_code(object, *known, state.registers[operands[1]]);
  }
  if (step.op == Op::load_method) {
    std::array<PyObject*, 2> loaded{};
    if (!load_known_method(object, *known, loaded.data())) {
      return false;
    }
    const std::int32_t* results = operands + step.operand_count;
    state.registers[results[0]] = loaded[0];
    state.registers[results[1]] = loaded[1];
    return true;
  }
  PyObject* value = load_known(object, *known);
  if (value == nullptr) {
    return false;
  }
  state.registers[step.result] = value;
  return true;
}

}  // namespace tagalong::replay
