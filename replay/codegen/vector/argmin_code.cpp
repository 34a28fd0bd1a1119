// Machine code of argmin and argmax in short rows, fused with the computation of the elements: each lane has a row.
#ifdef __x86_64__

#include <utility>

#include "replay/codegen/vector/vector_emitter.h"

namespace tagalong::array {

using Xbyak::Label;

// The last group of rows overlaps the one before, so that it fills all lanes.
void VectorEmitter::rows() {
  best_ = {.value = allocate(), .index = allocate(), .previous = kUnassigned};
  Label loop;
  Label end;
  L(loop);
  row();
  store_doubles(best_.index, base_of(argmin_.places) + rax * kItemBytes);  // indices have 64 bits, too
  add(rax, machine_.lanes);
  cmp(rax, rsi);
  jge(end);
  lea(rcx, ptr[rsi - machine_.lanes]);
  cmp(rax, rcx);
  cmovg(rax, rcx);
  jmp(loop);
  L(end);
}

void VectorEmitter::row() {
  begin_row();
  for (item_ = 0; item_ < argmin_.row && !is_out_of_registers_; ++item_) {
    forget_registers(item_ > 0);
    compute_all();
  }
}

// One comparison checks two items for NaNs.
void VectorEmitter::update_argmin(int reg) {
  const bool is_odd = best_.previous >= 0;
  if (is_odd || item_ + 1 == argmin_.row) {
    mark_nans(is_odd ? best_.previous : reg, vector(reg));
  }
  if (is_odd) {
    release(std::exchange(best_.previous, kUnassigned));
  } else if (item_ + 1 < argmin_.row) {
    best_.previous = allocate();
    copy(best_.previous, reg);
  }
  if (item_ == 0) {
    copy(best_.value, reg);
  } else {
    update_best(reg);
  }
}

}  // namespace tagalong::array

#endif
