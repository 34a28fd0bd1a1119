// The machine code that finds places in short rows, while their elements are computed: a lane for each of some rows.
#ifdef __x86_64__

#include <utility>

#include "replay/codegen/vector/vector_emitter.h"

namespace tagalong::array {

using Xbyak::Label;

// The last rows are taken together with some that are done, so that there are as many as lanes.
void VectorEmitter::rows() {
  found_ = {.value = take(), .place = take(), .before = kNowhere};
  Label loop;
  Label end;
  L(loop);
  row();
  store_doubles(found_.place, base_of(argmin_.places) + rax * kItemBytes);  // any eight bytes
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
  for (item_ = 0; item_ < argmin_.row && !is_full_; ++item_) {
    forget_registers(item_ > 0);
    compute_all();
  }
}

// Whether there is a NaN is asked for two items at a time.
void VectorEmitter::take_place(int place) {
  const bool is_odd = found_.before >= 0;
  if (is_odd || item_ + 1 == argmin_.row) {
    note_nans(is_odd ? found_.before : place, vector(place));
  }
  if (is_odd) {
    release(std::exchange(found_.before, kNowhere));
  } else if (item_ + 1 < argmin_.row) {
    found_.before = take();
    copy(found_.before, place);
  }
  if (item_ == 0) {
    copy(found_.value, place);
  } else {
    take_better(place);
  }
}

}  // namespace tagalong::array

#endif
