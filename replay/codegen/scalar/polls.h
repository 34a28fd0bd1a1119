// The beginning of an iteration: polls the eval breaker and tracing tools, counts the iteration, and updates the frames
// that tracing tools and signal handlers see.
#pragma once

#ifdef __x86_64__
#include "replay/codegen/scalar/code_part.h"

namespace tagalong::replay::native {

class PollCode : private CodePart {
 public:
  explicit PollCode(Emission& emission) : CodePart(emission) {}

  void leave_if_watched();
  // Polls, and counts the iteration.
  void begin_iteration(const LoopOp& op);
  // Begins an iteration, and shows its place in the real root frame.
  void poll(const LoopOp& op);
};

}  // namespace tagalong::replay::native
#endif
