// Where array operations may be deferred (deferred_arrays.h): in a straight line of instructions under the same
// exception handler, into which no jump goes. Such a line loads, binds names, takes parts of arrays, and has other
// operators and calls, which the hooks check before they run. At its end the deferred arrays are forced.
#pragma once

#include <cstdint>
#include <vector>

#include "rewriter/code.h"

namespace tagalong::recorder {

struct ArraySpans {
  // What an instruction in front of which arrays may be deferred means for them.
  enum class Reach : std::uint8_t {
    kNone,      // no array is deferred there
    kPassed,    // nothing
    kLooked,    // it may run code of the program
    kBound,     // a name is bound
    kReturned,  // the frame ends
    kEnd        // they are forced
  };
  std::vector<Reach> reach;      // by instruction
  std::vector<bool> may_begin;   // by instruction: an operation that may be the first deferred one
  std::vector<bool> may_extend;  // by instruction: an operation whose result may be deferred if others are

  // Whether the hook has something to do in front of this instruction.
  [[nodiscard]] bool wants_hook(int instruction) const {
    return reach[static_cast<std::size_t>(instruction)] > Reach::kPassed;
  }
};

// `is_suspended`: the frame may never reach its end, like frames of generators.
ArraySpans find_array_spans(const rewriter::Assembly& assembly, bool is_suspended);

}  // namespace tagalong::recorder
