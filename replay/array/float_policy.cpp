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

bool dict_ignores(const Numpy& np, int errors) {
  const Ref state = Ref::steal(PyObject_CallMethod(np.umath, "_get_extobj_dict", nullptr));
  if (!state || !PyDict_Check(state.get())) {
    return false;
  }
  for (const Policy& policy : kPolicies) {
    if ((errors & policy.error) == 0) {
      continue;
    }
    PyObject* value = PyDict_GetItemString(state.get(), policy.name);
    if (value == nullptr || !PyUnicode_Check(value) || PyUnicode_CompareWithASCIIString(value, "ignore") != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool ignores_float_errors(const Numpy& np, int errors) {
  const bool answer = np.get_py_values != nullptr ? mask_ignores(np, errors) : dict_ignores(np, errors);
  PyErr_Clear();
  return answer;
}

}  // namespace tagalong::array
