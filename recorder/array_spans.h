// Where operations of arrays may wait (array_expression.h): those whose result the next operator or call takes from the
// stack, or an assignment to a part of an array, with nothing between the two but loads, parts of arrays and operations
// that look before they do anything else, under the same exception handler, no jump arriving.
#pragma once

#include <cstdint>
#include <vector>

#include "rewriter/code.h"

namespace tagalong::recorder {

struct ArraySpans {
  std::vector<bool> may_wait;   // by instruction: an operator or a call whose result another one takes
  std::vector<int> callable;    // by instruction: where on the stack what takes its result in a call lies; -1: nowhere
  std::vector<bool> is_passed;  // by instruction: a load, while an operation may wait, that may run anybody's code
};

// `depths`: of the stack, before each instruction.
ArraySpans find_array_spans(const rewriter::Assembly& assembly, const std::vector<int>& depths);

}  // namespace tagalong::recorder
