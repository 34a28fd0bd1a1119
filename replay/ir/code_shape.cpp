#include "replay/ir/code_shape.h"

#include <opcode.h>

#include "rewriter/cpython/first_call.h"

namespace tagalong::replay {

std::vector<int> starts_of(PyCodeObject* code, const std::vector<int>& units) {
  const std::vector<std::uint8_t> opcodes = cpython::compiled_opcodes(code);
  std::vector<int> starts;
  starts.reserve(units.size() + 1);
  for (int unit : units) {
    while (unit > 0 && opcodes[static_cast<std::size_t>(unit - 1)] == EXTENDED_ARG) {
      --unit;
    }
    starts.push_back(unit);
  }
  starts.push_back(static_cast<int>(opcodes.size()));
  return starts;
}

}  // namespace tagalong::replay
