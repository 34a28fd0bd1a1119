// argmin and argmax of short rows, fused with the computation of the elements: each lane has a row (VectorArgmin).
#pragma once

#include "replay/codegen/vector/memory_code.h"

namespace tagalong::array {

class ArgminCode : private KernelPart {
 public:
  ArgminCode(KernelEmission& emission, MemoryCode& memory) : KernelPart(emission), memory_(memory) {}

  void begin();
  void begin_rows() { asm_.zero(index_); }
  // Compares the rows' next item with the best one so far.
  void add(int reg);
  // Stores the indices of the rows' best items.
  void store_rows();

 private:
  MemoryCode& memory_;
  int best_ = kUnassigned;      // the best value so far
  int index_ = kUnassigned;     // its index
  int previous_ = kUnassigned;  // the previous item's value, if that item's number is even
};

}  // namespace tagalong::array
