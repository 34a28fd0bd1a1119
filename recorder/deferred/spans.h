// Where operations of arrays may wait (deferred_arrays.h): in straight lines of instructions under the same exception
// handler, no jump arriving, that load, bind names, and take parts of arrays, other operators and calls, which are
// looked at before they do anything else. What waits at the end of such a line is computed there.
#pragma once

#include <cstdint>
#include <vector>

#include "rewriter/code.h"

namespace tagalong::recorder {

struct ArraySpans {
  // What an instruction means to operations that wait in front of it.
  enum class Reach : std::uint8_t {
    kNone,      // none does
    kPassed,    // nothing
    kLooked,    // it may run anybody's code
    kBound,     // a name is bound
    kReturned,  // the frame ends
    kEnd        // they are computed
  };
  std::vector<Reach> reach;      // by instruction
  std::vector<bool> may_begin;   // by instruction: an operation that another one may be computed with
  std::vector<bool> may_extend;  // by instruction: an operation whose result may wait if others do

  // Whether there is something to do in front of it.
  [[nodiscard]] bool wants_hook(int instruction) const {
    return reach[static_cast<std::size_t>(instruction)] > Reach::kPassed;
  }
};

// `is_suspended`: the frame may end without an end, as those of generators do.
ArraySpans find_array_spans(const rewriter::Assembly& assembly, bool is_suspended);

}  // namespace tagalong::recorder
