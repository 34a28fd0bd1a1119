// Which consumer (replay/ir/consumers.h) an instruction has reached. Internal to recorder/.
#pragma once

#include "recorder/session.h"

namespace tagalong::recorder {

struct Session::ConsumerForm {
  replay::Consumer consumer = replay::Consumer::kNone;
  int operands = 1;   // of the instruction, on the stack
  int generator = 0;  // which of them, like the next ones; -1: there is none
  int results = 1;
  int container = -1;  // that it fills, counted from the top of the stack; -1: a new one
  int key = -1;
  int other = -1;  // start, default or reverse
};

}  // namespace tagalong::recorder
