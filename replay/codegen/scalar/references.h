// References to objects: releasing, moving and sharing them.
#pragma once

#ifdef __x86_64__
#include "replay/codegen/scalar/code_part.h"

namespace tagalong::replay::native {

class ReferenceCode : private CodePart {
 public:
  explicit ReferenceCode(Emission& emission) : CodePart(emission) {}

  // Decrements the reference count of the object in rax, which is not null.
  void release();
  void clear(std::int32_t place);
  // Does not clear exhausted iterators and numbers, as in the interpreter.
  void release_rest(const LoopOp& op);
  void clear_shown(const LoopOp& op);
  void move_or_share(const LoopOp& op);
  // Writes the object to a slot of the real root frame.
  void sync(const LoopOp& op);
  // Where the next operation clears a register with the object in rax, takes that reference over and jumps to `taken`.
  // An increment and a decrement of one count would be two dependent writes in each iteration.
  void take_from_next(const LoopOp& op, const Label& taken);

 private:
  void copy_number(const LoopOp& op);
};

}  // namespace tagalong::replay::native
#endif
