// The machine code that finds places in short rows, while their elements are computed: a lane for each of eight rows.
#ifdef __x86_64__

#include <utility>

#include "replay/array/exact_emitter.h"
#include "replay/array/lanes.h"

namespace tagalong::array {

using Xbyak::Label;
using Xbyak::Zmm;

// The last rows are taken together with some that are done, so that there are eight.
void ExactEmitter::rows() {
  found_ = {.value = take(), .place = take(), .before = kNowhere};
  Label loop;
  Label end;
  L(loop);
  row();
  vmovdqu64(ptr[base_of(finding_.places) + rax * kItemBytes], Zmm(found_.place));
  add(rax, kLanes);
  cmp(rax, rsi);
  jge(end);
  lea(rcx, ptr[rsi - kLanes]);
  cmp(rax, rcx);
  cmovg(rax, rcx);
  jmp(loop);
  L(end);
}

void ExactEmitter::row() {
  vpxorq(Zmm(found_.place), Zmm(found_.place), Zmm(found_.place));
  for (item_ = 0; item_ < finding_.row && !is_full_; ++item_) {
    forget_registers(item_ > 0);
    compute_all();
  }
}

// Whether there is a NaN is asked for two items at a time.
void ExactEmitter::take_place(int place) {
  const Zmm value(place);
  const bool is_odd = found_.before >= 0;
  if (is_odd || item_ + 1 == finding_.row) {
    vcmppd(k4, Zmm(is_odd ? found_.before : place), value, kCompareUnordered);
    kandnw(k2, k4, k2);
  }
  if (is_odd) {
    release(std::exchange(found_.before, kNowhere));
  } else if (item_ + 1 < finding_.row) {
    found_.before = take();
    vmovapd(Zmm(found_.before), value);
  }
  if (item_ == 0) {
    vmovapd(Zmm(found_.value), value);
    return;
  }
  vcmppd(k3, value, Zmm(found_.value), finding_.of_largest ? kCompareGreater : kCompareLess);
  vmovapd(Zmm(found_.value) | k3, value);
  vpbroadcastq(Zmm(found_.place) | k3, ptr[rip + numbers_ + static_cast<int>(item_) * kItemBytes]);
}

}  // namespace tagalong::array

#endif
