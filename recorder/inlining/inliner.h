// Recording callees into the caller's graph. A frame that starts while an instruction runs is a callee of this
// instruction, if the form of the call is known and the limits allow it; otherwise the call is opaque.
//
//   if (try_inline(callee)) ...   // the callee runs recording code, and its shadow frame is on top
#pragma once

#include "recorder/inlining/consumers.h"

namespace tagalong::recorder {

class Inliner : public Consumers {
 protected:
  using Consumers::Consumers;

  // Upward: runs the rules that are due in front of the instruction. False: this has ended the recording.
  virtual bool advance_to(int instruction) = 0;

  bool try_inline(cpython::Frame* callee);
  // The instruction that the frame on top executes while a new frame starts; -1: none.
  [[nodiscard]] int instruction_under_way(bool* is_specialised) const;

 private:
  void inline_call(cpython::Frame* callee, const CallTarget& target);
};

}  // namespace tagalong::recorder
