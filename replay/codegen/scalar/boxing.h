// Conversions between objects and unboxed numbers.
#pragma once

#ifdef __x86_64__
#include "replay/codegen/scalar/code_part.h"

namespace tagalong::replay::native {

class BoxingCode : private CodePart {
 public:
  explicit BoxingCode(Emission& emission) : CodePart(emission) {}

  // Makes the object of a number that has none.
  void box(const LoopOp& op);
  void unbox(const LoopOp& op);
  // Keeps the number of the object in rax; guards its type.
  void keep_float_of(const LoopOp& op, std::int32_t place);
  // Jumps to `large` where the int has more than two digits.
  void keep_int_of(const LoopOp& op, std::int32_t place, Label& large);
  // Keeps the object in rax as the operation's result: its number where the operation's row gives one.
  void keep_result(const LoopOp& op, Label& large);
  // Keeps the number of a NumPy scalar or of an array's item, at the address in rdx.
  void keep_item(Unboxed kind, std::int32_t place);

 private:
  // Unboxes the object in rax.
  void unbox_bool(const LoopOp& op);
};

}  // namespace tagalong::replay::native
#endif
