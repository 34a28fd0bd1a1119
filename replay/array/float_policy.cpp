#include "replay/array/float_policy.h"

#include <array>
#include <utility>

namespace tagalong::array {

namespace {

struct Policy {
  FloatError error;
  const char* name;  // 2.x: in the dict of the errstate
  unsigned shift;    // 1.x: three bits of its mask
};
constexpr std::array kPolicies{Policy{kDivideByZero, "divide", 0}, Policy{kOverflow, "over", 3},
                               Policy{kUnderflow, "under", 6}, Policy{kInvalid, "invalid", 9}};

bool mask_ignores(const Numpy& np, int errors) {
  int mask = 0;
  Ref error_object;
  if (!float_error_mask(np, "region", &mask, &error_object)) {
    return false;
  }
  for (const Policy& policy : kPolicies) {
    if ((errors & policy.error) != 0 && (static_cast<unsigned>(mask) >> policy.shift & 7U) != 0) {
      return false;
    }
  }
  return true;
}

// The errors that are ignored, as the dict says that NumPy makes of its errstate; -1: there is none.
int ignored_by_dict(const Numpy& np) {
  const Ref state = Ref::steal(PyObject_CallMethod(np.umath, "_get_extobj_dict", nullptr));
  if (!state || !PyDict_Check(state.get())) {
    return -1;
  }
  int ignored = 0;
  for (const Policy& policy : kPolicies) {
    PyObject* value = PyDict_GetItemString(state.get(), policy.name);
    const bool is_ignored =
        value != nullptr && PyUnicode_Check(value) && PyUnicode_CompareWithASCIIString(value, "ignore") == 0;
    ignored |= is_ignored ? policy.error : 0;
  }
  return ignored;
}

// An errstate is a capsule in a context variable, made anew for every change. To make the dict takes as long as to
// compute some thousand elements.
bool errstate_ignores(const Numpy& np, int errors) {
  static PyObject* variable = PyObject_GetAttrString(np.umath, "_extobj_contextvar");
  static PyObject* known = nullptr;  // the last one, kept alive, and what it ignores
  static int ignored = 0;
  PyObject* value = nullptr;
  if (variable == nullptr || !PyContextVar_CheckExact(variable) || PyContextVar_Get(variable, nullptr, &value) != 0) {
    PyErr_Clear();
  }
  const Ref state = Ref::steal(value);
  if (!state || state.get() != known) {
    const int found = ignored_by_dict(np);
    if (found < 0) {
      return false;
    }
    ignored = found;
    Py_XSETREF(known, Py_XNewRef(state.get()));
  }
  return (errors & ~ignored) == 0;
}

}  // namespace

bool ignores_float_errors(const Numpy& np, int errors) {
  const bool answer = np.get_py_values != nullptr ? mask_ignores(np, errors) : errstate_ignores(np, errors);
  PyErr_Clear();
  return answer;
}

}  // namespace tagalong::array
