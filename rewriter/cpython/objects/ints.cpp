#include "rewriter/cpython/objects/ints.h"

#include <cstdlib>

#include "rewriter/base/errors.h"
#include "version/objects.h"

namespace tagalong::cpython {

Ref uncommon_int(long value) {
  auto* made = _PyLong_New(1);
  if (made == nullptr) {
    throw PythonError();
  }
  auto* object = reinterpret_cast<PyObject*>(made);
  version::digits_of(object)[0] = static_cast<digit>(std::labs(value));
  version::set_signed_digits(object, value < 0 ? -1 : static_cast<Py_ssize_t>(value != 0));
  return Ref::steal(object);
}

PyObject* make_wide_int() {
  constexpr Py_ssize_t kDigits = 3;
  return reinterpret_cast<PyObject*>(_PyLong_New(kDigits));
}

void set_wide_int(PyObject* object, std::int64_t number) {
  digit* digits = version::digits_of(object);
  auto rest = number < 0 ? 0 - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
  Py_ssize_t count = 0;
  for (; rest != 0; rest >>= PyLong_SHIFT) {
    digits[count++] = static_cast<digit>(rest & PyLong_MASK);
  }
  version::set_signed_digits(object, number < 0 ? -count : count);
}

}  // namespace tagalong::cpython
