#include "replay/code_shape.h"

#include <opcode.h>

#include "rewriter/interp/first_call.h"
#include "rewriter/versions/opcodes.h"

namespace tagalong::replay {

std::vector<int> starts_of(PyCodeObject* code, const std::vector<int>& units) {
  const std::vector<std::uint16_t> text = interp::compiled_units(code);
  const auto opcode_at = [&text](int unit) {
    return rewriter::info(static_cast<std::uint8_t>(_Py_OPCODE(text[static_cast<std::size_t>(unit)]))).base;
  };
  std::vector<int> starts;
  starts.reserve(units.size() + 1);
  int behind = 0;  // the last instruction: in its caches numbers may look like an EXTENDED_ARG
  for (int unit : units) {
    const int instruction = unit;
    while (unit > behind && opcode_at(unit - 1) == EXTENDED_ARG) {
      --unit;
    }
    starts.push_back(unit);
    behind = instruction + 1 + rewriter::info(opcode_at(instruction)).caches;
  }
  starts.push_back(static_cast<int>(text.size()));
  return starts;
}

}  // namespace tagalong::replay
