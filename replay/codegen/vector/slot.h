// Slots: numbers of the pointers to memory that loops and kernels read or write.
#pragma once

#include <cstdint>

namespace tagalong::array {

using Slot = std::uint16_t;

}  // namespace tagalong::array
