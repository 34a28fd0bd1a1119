// Which code units of an original the units of changed code stand for, so that programs can be shown offsets they know.
#pragma once

#include <utility>
#include <vector>

#include "rewriter/code.h"
#include "rewriter/cpython/code_link.h"

namespace tagalong::rewriter {

struct Moved {
  const Assembly& original;
  const std::vector<int>& from;    // code unit of each instruction in the original
  const std::vector<int>& starts;  // and of its first EXTENDED_ARG
  const std::vector<int>& to;      // code unit of each instruction in the changed code
  // What was added belongs to the instruction in front of it, with these exceptions: from unit `first` on it belongs to
  // instruction `second`, up to the next instruction or exception; -1 as a unit: no such place.
  std::vector<std::pair<int, int>> exceptions;
};

// `changed` has not run yet.
cpython::UnitMap unit_map(PyCodeObject* changed, Moved moved);

}  // namespace tagalong::rewriter
