// Slots: numbers of the pointers to memory that loops and kernels read or write.
#pragma once

#include <cstdint>

namespace tagalong::array {

using Slot = std::uint16_t;

// A complex number is two values of a kernel: the real part has the number of the slot, the imaginary part another one.
// In memory both parts are in turn. Intermediate results of complex operations have no memory.
inline constexpr Slot kImaginaryPart = 512;  // added to a slot
inline constexpr Slot kFirstWithoutMemory = 2 * kImaginaryPart;
inline constexpr Slot kMostKernelSlots = 4 * kImaginaryPart;
[[nodiscard]] constexpr Slot imaginary_of(Slot slot) { return static_cast<Slot>(slot + kImaginaryPart); }
[[nodiscard]] constexpr bool is_imaginary(Slot slot) { return slot >= kImaginaryPart && slot < kFirstWithoutMemory; }
[[nodiscard]] constexpr Slot memory_of(Slot slot) {
  return static_cast<Slot>(is_imaginary(slot) ? slot - kImaginaryPart : slot);
}

}  // namespace tagalong::array
