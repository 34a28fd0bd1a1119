#include "replay/codegen/vector/vector_registers.h"

#include <algorithm>
#include <utility>

namespace tagalong::array {

VectorRegisters::VectorRegisters(const VectorUnit& unit, KernelValues& values) : values_(values) {
  for (int number = unit.registers; number-- > 0;) {
    free_.push_back(number);
  }
}

int VectorRegisters::allocate() {
  if (!free_.empty()) {
    const int reg = free_.back();
    free_.pop_back();
    return reg;
  }
  for (KernelValue& value : values_.all()) {
    const bool is_pinned = std::ranges::find(pinned_, &value) != pinned_.end();
    if (value.reg >= 0 && !value.is_hoisted && value.in_memory && !is_pinned) {
      return std::exchange(value.reg, kUnassigned);
    }
  }
  is_exhausted_ = true;
  return 0;
}

void VectorRegisters::release(KernelValue* value) { release(std::exchange(value->reg, kUnassigned)); }

}  // namespace tagalong::array
