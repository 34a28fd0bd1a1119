#include "replay/ir/ops.h"

namespace tagalong::replay {

std::optional<Op> op_named(std::string_view name) {
  for (std::size_t index = 0; index < kOpCount; ++index) {
    if (detail::kOps.at(index).name == name) {
      return static_cast<Op>(index);
    }
  }
  return std::nullopt;
}

}  // namespace tagalong::replay
