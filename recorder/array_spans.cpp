#include "recorder/array_spans.h"

#include <opcode.h>

#include <algorithm>

namespace tagalong::recorder {
namespace {

namespace op = rewriter::op;
using rewriter::Assembly;
using rewriter::Instruction;

bool is_operator(const Instruction& instruction) {
  switch (instruction.opcode) {
    case op::kUNARY_NEGATIVE:
    case op::kUNARY_POSITIVE:
    case op::kUNARY_INVERT:
    case op::kCOMPARE_OP:
      return true;
    case op::kBINARY_OP:
      return instruction.arg < NB_INPLACE_ADD && instruction.arg != NB_MATRIX_MULTIPLY;
    default:
      return false;
  }
}

// Calls of ufuncs and the like may be (array_calls.h). Keyword arguments are none of theirs.
bool is_operation(const Instruction& instruction) {
  return is_operator(instruction) || instruction.opcode == op::kCALL;
}

// What runs no code of anybody's, or is looked at before it does.
bool may_be_passed(const Instruction& instruction) {
  switch (instruction.opcode) {
    case op::kLOAD_FAST:
    case op::kLOAD_CONST:
    case op::kLOAD_DEREF:
    case op::kLOAD_GLOBAL:
    case op::kBUILD_SLICE:
    case op::kBUILD_TUPLE:
    case op::kLOAD_ATTR:
    case op::kLOAD_METHOD:
    case op::kBINARY_SUBSCR:
    case op::kPUSH_NULL:
    case op::kPRECALL:
      return true;
    default:
      return is_operation(instruction);
  }
}

bool may_ask(int opcode) {
  return opcode == op::kLOAD_ATTR || opcode == op::kLOAD_METHOD || opcode == op::kBINARY_SUBSCR;
}

}  // namespace

ArraySpans find_array_spans(const Assembly& assembly, const std::vector<int>& depths) {
  const auto count = static_cast<std::size_t>(assembly.size());
  ArraySpans spans{std::vector<bool>(count), std::vector<int>(count, -1), std::vector<bool>(count)};
  const std::vector<bool> arrives = assembly.arrivals();
  std::vector<int> handler(count, -1);
  for (std::size_t range = 0; range < assembly.ranges.size(); ++range) {
    std::fill(handler.begin() + assembly.ranges[range].start, handler.begin() + assembly.ranges[range].end,
              static_cast<int>(range));
  }
  for (std::size_t first = 0; first + 1 < count; ++first) {
    if (!is_operation(assembly.instructions[first])) {
      continue;
    }
    const int place = depths[first + 1] - 1;  // of the result on the stack
    if (place < 0) {
      continue;
    }
    std::size_t next = first + 1;
    for (; next < count; ++next) {
      const Instruction& instruction = assembly.instructions[next];
      if (arrives[next] || handler[next] != handler[first]) {
        break;
      }
      if (instruction.opcode == op::kSTORE_SUBSCR) {
        spans.may_wait[first] = depths[next] - 3 == place;  // the value, under the container and the key
        break;
      }
      if (!may_be_passed(instruction)) {
        break;
      }
      const bool takes = instruction.opcode != op::kPRECALL;  // they stay where they are, for the CALL
      if (takes && depths[next] - rewriter::pops(instruction.opcode, instruction.arg) <= place) {
        const bool is_call = instruction.opcode == op::kCALL;
        const int callable = is_call ? depths[next] - static_cast<int>(instruction.arg) - 1 : -1;
        spans.may_wait[first] = is_operation(instruction) && place > callable;
        spans.callable[first] = callable;
        break;
      }
    }
    for (std::size_t passed = first + 1; spans.may_wait[first] && passed < next; ++passed) {
      spans.is_passed[passed] = spans.is_passed[passed] || may_ask(assembly.instructions[passed].opcode);
    }
  }
  return spans;
}

}  // namespace tagalong::recorder
