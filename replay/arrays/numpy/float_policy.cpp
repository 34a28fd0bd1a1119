#include "replay/arrays/numpy/float_policy.h"

#include <array>
#include <optional>

#include "rewriter/base/dicts.h"

namespace tagalong::array {

namespace {

struct Policy {
  FloatError error;
  const char* name;  // NumPy 2.x: the key in the dict of the errstate
  unsigned shift;    // NumPy 1.x: the position of the error's three bits in the mask
};
constexpr std::array kPolicies{Policy{kDivideByZero, "divide", 0}, Policy{kOverflow, "over", 3},
                               Policy{kUnderflow, "under", 6}, Policy{kInvalid, "invalid", 9}};

constexpr int kAllErrors = kDivideByZero | kOverflow | kUnderflow | kInvalid;

// Which errors the errstate ignores, and for which it makes no more than a warning.
struct State {
  int ignored = 0;
  int warned = 0;
};

std::optional<State> state_of_mask(const Numpy& np) {
  constexpr unsigned kWarns = 1;
  int mask = 0;
  Ref error_object;
  if (!float_error_mask(np, "region", &mask, &error_object)) {
    return std::nullopt;
  }
  State state;
  for (const Policy& policy : kPolicies) {
    const unsigned action = static_cast<unsigned>(mask) >> policy.shift & 7U;
    state.ignored |= action == 0 ? policy.error : 0;
    state.warned |= action == kWarns ? policy.error : 0;
  }
  return state;
}

// NumPy 2.x: the errstate as a dict that NumPy makes of it.
std::optional<State> state_of_dict(const Numpy& np) {
  const Ref dict = Ref::steal(PyObject_CallMethod(np.umath, "_get_extobj_dict", nullptr));
  if (!dict || !PyDict_Check(dict.get())) {
    return std::nullopt;
  }
  State state;
  for (const Policy& policy : kPolicies) {
    PyObject* value = item_of(dict.get(), policy.name);
    const auto is = [&](const char* action) {
      return value != nullptr && PyUnicode_Check(value) && PyUnicode_CompareWithASCIIString(value, action) == 0;
    };
    state.ignored |= is("ignore") ? policy.error : 0;
    state.warned |= is("warn") ? policy.error : 0;
  }
  return state;
}

// In NumPy 2.x an errstate is a capsule in a context variable, made anew for every change. Making the dict takes as
// long as computing some thousand elements, so the state of the last capsule is kept.
std::optional<State> state_of_capsule(const Numpy& np) {
  static PyObject* variable = PyObject_GetAttrString(np.umath, "_extobj_contextvar");
  static PyObject* known = nullptr;  // the last capsule, kept alive so that its address stays unique
  static State state;
  PyObject* value = nullptr;
  if (variable == nullptr || !PyContextVar_CheckExact(variable) || PyContextVar_Get(variable, nullptr, &value) != 0) {
    PyErr_Clear();
  }
  const Ref capsule = Ref::steal(value);
  if (!capsule || capsule.get() != known) {
    const std::optional<State> found = state_of_dict(np);
    if (!found) {
      return std::nullopt;
    }
    state = *found;
    Py_XSETREF(known, Py_XNewRef(capsule.get()));
  }
  return state;
}

std::optional<State> current_state(const Numpy& np) {
  const std::optional<State> state = np.get_py_values != nullptr ? state_of_mask(np) : state_of_capsule(np);
  PyErr_Clear();
  return state;
}

}  // namespace

bool ignores_float_errors(const Numpy& np, int errors) {
  const std::optional<State> state = current_state(np);
  return state && (errors & ~state->ignored) == 0;
}

bool warns_of_float_errors(const Numpy& np) {
  const std::optional<State> state = current_state(np);
  return state && (state->ignored | state->warned) == kAllErrors;
}

}  // namespace tagalong::array
