// Recording callees into the caller's graph. A frame that starts while the instruction under way runs is a callee of
// it, if its form is known and the limits allow; otherwise the call is opaque.
//
//   if (try_inline(callee)) ...   // the callee runs recording code, and its shadow frame is on top
#pragma once

#include "recorder/inlining/consumers.h"

namespace tagalong::recorder {

class Inliner : public Consumers {
 protected:
  using Consumers::Consumers;

  // Upward: runs the rules that are due in front of the instruction. False: the recording has ended with that.
  virtual bool come_to(int instruction) = 0;

  bool try_inline(cpython::Frame* callee);
  // What the frame on top executes, seen from a frame that has just been made; -1: nothing of its own.
  [[nodiscard]] int instruction_under_way(bool* is_specialised) const;

 private:
  void inline_call(cpython::Frame* callee, const CallTarget& target);
};

}  // namespace tagalong::recorder
