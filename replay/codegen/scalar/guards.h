// Guards on objects, and the steps of inlined calls.
#pragma once

#ifdef __x86_64__
#include "replay/codegen/scalar/code_part.h"

namespace tagalong::replay::native {

class GuardCode : private CodePart {
 public:
  explicit GuardCode(Emission& emission) : CodePart(emission) {}

  void guard_object(const LoopOp& op, PyObject* const& expected);
  void guard_null(const LoopOp& op);
  // Leaves where a loop register is unbound (kCheckBound) or bound (kCheckUnbound).
  void check_bound(const LoopOp& op);
  void check_relocatable(const LoopOp& op);
  // A step that has no loop operation of its own.
  void step(const LoopOp& op);

 private:
  // Jumps to `slow_path` unless the register holds a function with this code, or with code derived from it.
  void match_function(std::int32_t place, PyObject* const& code, Label& slow_path);
};

}  // namespace tagalong::replay::native
#endif
