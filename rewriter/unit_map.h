// Maps the code units of changed code to units of the original, so that programs are shown offsets that they know.
#pragma once

#include <utility>
#include <vector>

#include "rewriter/code.h"
#include "rewriter/cpython/code_link.h"

namespace tagalong::rewriter {

struct Moved {
  const Assembly& original;
  const std::vector<int>& from;    // code unit of each instruction in the original
  const std::vector<int>& starts;  // and code unit of the instruction's first EXTENDED_ARG
  const std::vector<int>& to;      // code unit of each instruction in the changed code
  // Added code belongs to the instruction in front of it, with these exceptions: from unit `first` it belongs to
  // instruction `second`, up to the next instruction or exception. An exception with unit -1 is ignored.
  std::vector<std::pair<int, int>> exceptions;
};

// `changed` has not run yet.
cpython::UnitMap unit_map(PyCodeObject* changed, Moved moved);

}  // namespace tagalong::rewriter
