// Items of NumPy arrays.
#pragma once

#ifdef __x86_64__
#include "replay/codegen/scalar/boxing.h"
#include "replay/codegen/scalar/code_part.h"

namespace tagalong::replay::native {

class ArrayItemCode : private CodePart {
 public:
  ArrayItemCode(Emission& emission, BoxingCode& boxing) : CodePart(emission), boxing_(boxing) {}

  // The pair of indices of an item.
  void make_pair(const LoopOp& op);
  void array_item(const LoopOp& op);
  void array_next(const LoopOp& op);
  void array_store(const LoopOp& op);

 private:
  // Loads into rdx the byte offset of this index in the array in rax; clobbers rcx.
  void find_offset(std::int32_t index, int dimension, Label& slow_path);
  // Loads the item's address into rdx; jumps to `slow_path` if the index or the array does not fit.
  void find_array_item(const LoopOp& op, Label& slow_path);

  BoxingCode& boxing_;
};

}  // namespace tagalong::replay::native
#endif
