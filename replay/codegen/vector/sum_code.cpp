#include "replay/codegen/vector/sum_code.h"

#ifdef __x86_64__

namespace tagalong::array {

void SumCode::begin_leaf() {
  for (int& sum : sums_) {
    sum = allocate();
    memory_.load(sum, Constant::kSignBit);  // -0.0, the neutral element of addition
  }
}

void SumCode::add(int reg) {
  if (!asm_.is_remainder()) {
    const Vector sum = asm_.vector(sums_.at((first_ + position_.vector) % sums_.size()));
    asm_.vaddpd(sum, sum, asm_.vector(reg));
    return;
  }
  asm_.mov(rdx, ptr[rsp]);
  if (asm_.unit().has_masks) {
    asm_.vmovupd(ptr[rdx], asm_.vector(reg));
  } else {
    asm_.vmovsd(ptr[rdx], Xmm(reg));
    asm_.add(qword[rsp], static_cast<int>(sizeof(double)));
  }
}

void SumCode::store_leaf(const Reg64& leaf) {
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    asm_.vmovupd(ptr[leaf + static_cast<int>(i) * asm_.vector_bytes()], asm_.vector(sums_[i]));
  }
}

}  // namespace tagalong::array

#endif
