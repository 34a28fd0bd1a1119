// Allocates vector registers to the values of a kernel and to intermediate results. A value that is also in memory can
// lose its register to another one, unless the current operation uses it.
#pragma once

#include <cstddef>
#include <vector>

#include "replay/codegen/vector/kernel_values.h"

namespace tagalong::array {

class VectorRegisters {
 public:
  VectorRegisters(const VectorUnit& unit, KernelValues& values);

  // Returns 0 where no register can be freed; then the code is wrong, and the emitter gives it up.
  int allocate();
  void release(int reg) { free_.push_back(reg); }
  // Takes the value's register.
  void release(KernelValue* value);
  [[nodiscard]] bool is_exhausted() const { return is_exhausted_; }
  void give_up() { is_exhausted_ = true; }

  // Values of the current operation: allocate() does not evict them.
  void pin(KernelValue* value) { pinned_.push_back(value); }
  void unpin_all() { pinned_.clear(); }
  [[nodiscard]] const std::vector<KernelValue*>& pinned() const { return pinned_; }

 private:
  KernelValues& values_;
  std::vector<int> free_;
  std::vector<KernelValue*> pinned_;
  bool is_exhausted_ = false;
};

}  // namespace tagalong::array
