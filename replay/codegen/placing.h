// Machine code is written first and run afterwards: its memory is never open for both at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tagalong::replay::native {

// Copies position-independent code to where it can be run; null: no memory.
void* place_code(std::span<const std::uint8_t> code);
void remove_code(void* placed, std::size_t size);

}  // namespace tagalong::replay::native
