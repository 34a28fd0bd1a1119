#include "replay/arrays/numpy/float_policy.h"

#include <array>
#include <optional>

namespace tagalong::array {

namespace {

struct Policy {
  FloatError error;
  const char* name;  // 2.x: in the dict of the errstate
  unsigned shift;    // 1.x: three bits of its mask
};
constexpr std::array kPolicies{Policy{kDivideByZero, "divide", 0}, Policy{kOverflow, "over", 3},
                               Policy{kUnderflow, "under", 6}, Policy{kInvalid, "invalid", 9}};

constexpr int kAllErrors = kDivideByZero | kOverflow | kUnderflow | kInvalid;

// Of the errors that are looked at, those of which nobody hears, and those of which a warning is all that is made.
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
    const unsigned way = static_cast<unsigned>(mask) >> policy.shift & 7U;
    state.ignored |= way == 0 ? policy.error : 0;
    state.warned |= way == kWarns ? policy.error : 0;
  }
  return state;
}

// As the dict says that NumPy makes of its errstate.
std::optional<State> state_of_dict(const Numpy& np) {
  const Ref dict = Ref::steal(PyObject_CallMethod(np.umath, "_get_extobj_dict", nullptr));
  if (!dict || !PyDict_Check(dict.get())) {
    return std::nullopt;
  }
  State state;
  for (const Policy& policy : kPolicies) {
    PyObject* value = PyDict_GetItemString(dict.get(), policy.name);
    const auto is = [&](const char* way) {
      return value != nullptr && PyUnicode_Check(value) && PyUnicode_CompareWithASCIIString(value, way) == 0;
    };
    state.ignored |= is("ignore") ? policy.error : 0;
    state.warned |= is("warn") ? policy.error : 0;
  }
  return state;
}

// An errstate is a capsule in a context variable, made anew for every change. To make the dict takes as long as to
// compute some thousand elements.
std::optional<State> state_of_capsule(const Numpy& np) {
  static PyObject* variable = PyObject_GetAttrString(np.umath, "_extobj_contextvar");
  static PyObject* known = nullptr;  // the last one, kept alive, and what it says
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
