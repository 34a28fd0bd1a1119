#include "rewriter/interp/ints.h"

#include <cstdlib>

#include "rewriter/interp/errors.h"

namespace tagalong::interp {

Ref uncommon_int(long value) {
  auto* made = _PyLong_New(1);
  if (made == nullptr) {
    throw PythonError();
  }
  made->ob_digit[0] = static_cast<digit>(std::labs(value));
  Py_SET_SIZE(made, value < 0 ? -1 : static_cast<Py_ssize_t>(value != 0));
  return Ref::steal(reinterpret_cast<PyObject*>(made));
}

}  // namespace tagalong::interp
