// Iterators and ranges, and the items of lists and tuples.
#pragma once

#ifdef __x86_64__
#include "replay/codegen/scalar/boxing.h"
#include "replay/codegen/scalar/code_part.h"
#include "replay/codegen/scalar/references.h"

namespace tagalong::replay::native {

class SequenceCode : private CodePart {
 public:
  SequenceCode(Emission& emission, ReferenceCode& references, BoxingCode& boxing)
      : CodePart(emission), references_(references), boxing_(boxing) {}

  void range_next(const LoopOp& op);
  void make_range(const LoopOp& op);
  void for_iter(const LoopOp& op);
  void item(const LoopOp& op);
  void store_item(const LoopOp& op);
  void append(const LoopOp& op);
  void length(const LoopOp& op);

 private:
  // For the iterator in rax: loads the sequence into rdx and the next index into rcx; jumps to `slow_path` at the end.
  void next_index(Label& slow_path);
  // Loads the item's address into rdx; jumps to `slow_path` if the index is negative or out of range.
  void find_item(const LoopOp& op, Label& slow_path, Container container);
  // Stores into the container the spare float; the float in rax, which would be freed, becomes the spare one.
  void store_number(const LoopOp& op, Label& slow_path);

  ReferenceCode& references_;
  BoxingCode& boxing_;
};

}  // namespace tagalong::replay::native
#endif
