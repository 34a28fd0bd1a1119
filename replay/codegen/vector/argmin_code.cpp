#include "replay/codegen/vector/argmin_code.h"

#ifdef __x86_64__

#include <utility>

namespace tagalong::array {

void ArgminCode::begin() {
  best_ = allocate();
  index_ = allocate();
}

void ArgminCode::store_rows() {
  asm_.store_numbers(index_, memory_.pointer(spec_.argmin.places) + rax * asm_.unit().item_bytes);  // 64 bits, too
}

// One comparison checks two items for NaNs.
void ArgminCode::add(int reg) {
  const bool is_odd = previous_ >= 0;
  const Extent next = position_.item + 1;
  if (is_odd || next == spec_.argmin.row) {
    asm_.mark_nans(is_odd ? previous_ : reg, asm_.vector(reg));
  }
  if (is_odd) {
    release(std::exchange(previous_, kUnassigned));
  } else if (next < spec_.argmin.row) {
    previous_ = allocate();
    asm_.copy(previous_, reg);
  }
  if (position_.item == 0) {
    asm_.copy(best_, reg);
  } else {
    asm_.replace_best(best_, index_, reg, memory_.item_number(position_.item),
                      spec_.argmin.of_largest ? kCompareGreater : kCompareLess);
  }
}

}  // namespace tagalong::array

#endif
