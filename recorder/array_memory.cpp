// Memory of large arrays while a program is recorded (replay/array/kept_memory.h): what an operation's temporary has
// left is the next one's, which saves most of what eager execution takes for them.
#include <opcode.h>

#include "recorder/facts.h"
#include "recorder/rule_table.h"
#include "recorder/session.h"
#include "replay/array/numpy_abi.h"

namespace tagalong::recorder {
namespace {

bool is_large(const array::ArrayFields* fields) {
  std::int64_t bytes = 8;  // of an item, as most have
  for (int axis = 0; axis < fields->nd; ++axis) {
    bytes *= fields->dimensions[axis];
  }
  return bytes >= static_cast<std::int64_t>(array::kLeastKept);
}

// Operators ask NumPy alone if an operand is an array; what else they run is Python code, or no business of a context.
bool is_operator(std::uint8_t opcode) {
  return opcode == BINARY_OP || opcode == COMPARE_OP || opcode == UNARY_NEGATIVE || opcode == UNARY_INVERT;
}

}  // namespace

void Session::note_large_array(PyObject* object) {
  has_large_arrays_ = has_large_arrays_ || (is_array_type(Py_TYPE(object)) && array::numpy_if_ready() != nullptr &&
                                            is_large(array::as_array(object)));
}

// Between this hook and the next one.
bool Session::runs_array_code(interp::Frame* frame, int instruction, bool is_after) const {
  const auto& instructions = frames_.back().code->decoded->assembly.instructions;
  if (!is_after) {
    const Instruction& call = instructions[static_cast<std::size_t>(instruction)];
    if (call.opcode != CALL) {
      return is_operator(call.opcode);  // builds with checks have a hook in front of those, too
    }
    const int depth = frames_.back().code->decoded->shape->depths[static_cast<std::size_t>(instruction)];
    PyObject* const* end = interp::stack_base(frame) + depth - call.arg;
    return is_ufunc(end[-2] != nullptr ? end[-2] : end[-1]);
  }
  std::size_t next = static_cast<std::size_t>(instruction) + 1;
  while (next < instructions.size() && rule_time(instructions[next].opcode) == When::kLater) {
    ++next;
  }
  return next < instructions.size() && is_operator(instructions[next].opcode);
}

void Session::lend_memory(interp::Frame* frame, int instruction, bool is_after) {
  if (has_large_arrays_ && is_mine(frame) && runs_array_code(frame, instruction, is_after)) {
    if (const array::Numpy* np = array::numpy_if_ready(); np != nullptr) {
      memory_.open(*np);
    }
  }
}

}  // namespace tagalong::recorder
