#include "replay/arrays/fusion/kernel_variants.h"

#include <algorithm>
#include <utility>

namespace tagalong::array {
namespace {

constexpr std::size_t kMostArgmins = 16;
constexpr Extent kMinArgmin = 1 << 18;  // elements for which generating the code pays

}  // namespace

const VectorCode* KernelVariants::non_temporal(const VectorCode& kernel, std::span<const Slot> stored) {
  if (!std::exchange(non_temporal_.is_made, true)) {
    non_temporal_.code = kernel.with_non_temporal(stored);
  }
  return non_temporal_.code.get();
}

const VectorCode* KernelVariants::prefetching(const VectorCode& kernel) {
  if (!std::exchange(prefetching_.is_made, true)) {
    prefetching_.code = kernel.with_prefetch();
  }
  return prefetching_.code.get();
}

const VectorCode* KernelVariants::argmin(const VectorCode& kernel, const Items& items, const VectorArgmin& what,
                                         Extent elements) {
  const auto known =
      std::ranges::find_if(argmins_, [&](const Argmin& made) { return made.row == what.row && made.items == items; });
  if (known != argmins_.end()) {
    return known->code.get();
  }
  argmin_elements_ += elements;
  if (argmins_.size() == kMostArgmins || (argmin_elements_ < kMinArgmin && fusion_enabled <= 1)) {
    return nullptr;
  }
  argmins_.push_back({.code = kernel.argmin({items.data(), items.size()}, what), .row = what.row, .items = items});
  return argmins_.back().code.get();
}

void KernelVariants::append_to(Kernels* kernels) const {
  kernels->push_back(non_temporal_.code);
  kernels->push_back(prefetching_.code);
  for (const Argmin& argmin : argmins_) {
    kernels->push_back(argmin.code);
  }
}

}  // namespace tagalong::array
