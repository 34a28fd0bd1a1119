// Where the instructions of a code object are: what the graph calls instruction i is found at a code unit of the
// original code, and of code derived from it.
#pragma once

#include <memory>
#include <vector>

#include "rewriter/interp/ref.h"

namespace tagalong::replay {

struct CodeShape {
  CodeRef code;            // original code object
  std::vector<int> units;  // code unit of instruction i; one more entry: the end
  std::vector<int> depths; // stack depth before instruction i; -1: unreachable
};

using CodeShapeRef = std::shared_ptr<const CodeShape>;

}  // namespace tagalong::replay
