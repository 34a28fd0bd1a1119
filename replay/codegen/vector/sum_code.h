// The partial sums of a leaf (VectorSum): eight sums, in one vector register or in two. A *group* is eight elements,
// one for each sum.
#pragma once

#include "replay/codegen/vector/memory_code.h"

namespace tagalong::array {

class SumCode : private KernelPart {
 public:
  SumCode(KernelEmission& emission, MemoryCode& memory)
      : KernelPart(emission), memory_(memory), sums_(static_cast<std::size_t>(kLeafLanes / asm_.unit().lanes)) {}

  // Vectors in a group.
  [[nodiscard]] std::size_t group() const { return sums_.size(); }
  void begin_leaf();
  // The next body begins with this vector of a group.
  void begin_body(std::size_t first) { first_ = first; }
  // Adds the current vector; in the remainder stores it instead, where the stack points to.
  void add(int reg);
  void store_leaf(const Reg64& leaf);

 private:
  MemoryCode& memory_;
  boost::container::static_vector<int, kLeafLanes / kAvx2Lanes> sums_;
  std::size_t first_ = 0;
};

}  // namespace tagalong::array
