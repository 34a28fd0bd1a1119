#include "replay/code_shape.h"

#include <opcode.h>

#include "rewriter/interp/errors.h"

namespace tagalong::replay {

std::vector<int> starts_of(PyCodeObject* code, const std::vector<int>& units) {
  // The bytes as compiled: caches are empty there, so nothing looks like an EXTENDED_ARG by chance.
  const Ref bytes = Ref::steal(PyCode_GetCode(code));
  if (!bytes) {
    throw PythonError();
  }
  const char* text = PyBytes_AS_STRING(bytes.get());
  std::vector<int> starts;
  starts.reserve(units.size() + 1);
  for (int unit : units) {
    while (unit > 0 && static_cast<unsigned char>(text[2 * (unit - 1)]) == EXTENDED_ARG) {
      --unit;
    }
    starts.push_back(unit);
  }
  starts.push_back(static_cast<int>(PyBytes_GET_SIZE(bytes.get()) / 2));
  return starts;
}

}  // namespace tagalong::replay
