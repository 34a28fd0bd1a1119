#include "rewriter/cpython/objects/ints.h"

#include <cstdlib>

#include "rewriter/base/errors.h"

namespace tagalong::cpython {

Ref uncommon_int(long value) {
  auto* made = _PyLong_New(1);
  if (made == nullptr) {
    throw PythonError();
  }
  made->ob_digit[0] = static_cast<digit>(std::labs(value));
  Py_SET_SIZE(made, value < 0 ? -1 : static_cast<Py_ssize_t>(value != 0));
  return Ref::steal(reinterpret_cast<PyObject*>(made));
}

PyObject* make_wide_int() {
  constexpr Py_ssize_t kDigits = 3;
  return reinterpret_cast<PyObject*>(_PyLong_New(kDigits));
}

void set_wide_int(PyObject* object, std::int64_t number) {
  auto* made = reinterpret_cast<PyLongObject*>(object);
  auto rest = number < 0 ? 0 - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
  Py_ssize_t count = 0;
  for (; rest != 0; rest >>= PyLong_SHIFT) {
    made->ob_digit[count++] = static_cast<digit>(rest & PyLong_MASK);
  }
  Py_SET_SIZE(made, number < 0 ? -count : count);
}

}  // namespace tagalong::cpython
