#include "recorder/deferred/spans.h"

#include <opcode.h>

#include <algorithm>

#include "recorder/base/instruction_kinds.h"

namespace tagalong::recorder {
namespace {

namespace op = rewriter::op;
using rewriter::Assembly;
using rewriter::Instruction;

bool is_operator(const Instruction& instruction) {
  switch (instruction.opcode) {
    case op::kCOMPARE_OP:
      return true;
    case op::kBINARY_OP:
      return instruction.arg < NB_INPLACE_ADD && instruction.arg != NB_MATRIX_MULTIPLY;
    default:
      return unary_operator(instruction.opcode).has_value();
  }
}

// A call may be one of a ufunc or similar function (deferred_calls.h); those have no keyword arguments.
bool is_operation(const Instruction& instruction) {
  return is_operator(instruction) || instruction.opcode == op::kCALL;
}

using Reach = ArraySpans::Reach;

Reach reach_of(const Instruction& instruction) {
  switch (instruction.opcode) {
    case op::kNOP:
    case op::kLOAD_FAST:
    case op::kLOAD_CONST:
    case op::kLOAD_DEREF:
    case op::kLOAD_GLOBAL:
    case op::kPUSH_NULL:
    case op::kKW_NAMES:
    case op::kPRECALL:
    case op::kPOP_TOP:
    case op::kCOPY:
    case op::kSWAP:
    case op::kSTORE_SUBSCR:
      return Reach::kPassed;
    case op::kBUILD_SLICE:
    case op::kBUILD_TUPLE:
    case op::kLOAD_ATTR:
    case op::kLOAD_METHOD:
    case op::kBINARY_SUBSCR:
      return Reach::kLooked;
    case op::kSTORE_FAST:
      return Reach::kBound;
    default:
      return is_operation(instruction) ? Reach::kPassed : Reach::kEnd;
  }
}

}  // namespace

ArraySpans find_array_spans(const Assembly& assembly, bool is_suspended) {
  const auto count = static_cast<std::size_t>(assembly.size());
  ArraySpans spans{std::vector<Reach>(count, Reach::kNone), std::vector<bool>(count), std::vector<bool>(count)};
  const std::vector<bool> arrives = assembly.arrivals();
  constexpr int kNoHandler = -1;
  std::vector<int> handler(count, kNoHandler);
  for (std::size_t range = 0; range < assembly.ranges.size(); ++range) {
    std::fill(handler.begin() + assembly.ranges[range].start, handler.begin() + assembly.ranges[range].end,
              static_cast<int>(range));
  }
  const auto opcode_at = [&](std::size_t index) { return assembly.instructions[index].opcode; };
  for (std::size_t first = 0; first + 1 < count; ++first) {
    if (!is_operation(assembly.instructions[first])) {
      continue;
    }
    const bool may_return = handler[first] == kNoHandler && !is_suspended;
    std::size_t end = first + 1;  // where deferred arrays are forced
    for (; end < count && !arrives[end] && handler[end] == handler[first]; ++end) {
      // A handler must not see names whose values have not been computed.
      const Reach reach = reach_of(assembly.instructions[end]);
      if (reach == Reach::kEnd || (reach == Reach::kBound && handler[first] != kNoHandler)) {
        break;
      }
      spans.reach[end] = reach;
    }
    if (end == count || handler[end] != handler[first]) {
      --end;
    }
    std::size_t last = first;  // the last operation that can be computed together with another one
    for (std::size_t index = first; index < end; ++index) {
      last = is_operation(assembly.instructions[index]) || opcode_at(index) == op::kSTORE_SUBSCR ? index : last;
    }
    for (std::size_t index = first; index < end; ++index) {
      spans.may_extend[index] = is_operation(assembly.instructions[index]);
      spans.may_begin[index] = spans.may_extend[index] && index < last;
    }
    const bool returns = may_return && opcode_at(end) == op::kRETURN_VALUE;
    if (end > first) {
      spans.reach[end] = returns ? Reach::kReturned : Reach::kEnd;
    }
    if (returns && opcode_at(end - 1) == op::kBUILD_TUPLE) {
      spans.reach[end - 1] = Reach::kReturned;
    }
    first = std::max(first, end - 1);  // the last instruction may be an operation
  }
  return spans;
}

}  // namespace tagalong::recorder
