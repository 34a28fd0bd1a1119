// Executable memory. Machine code is written to the heap first (code_allocator.h) and copied here, so no page is ever
// writable and executable at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tagalong::replay::native {

// Copies position-independent code into executable memory. Returns null where there is no memory.
void* place_code(std::span<const std::uint8_t> code);
void remove_code(void* memory, std::size_t size);

}  // namespace tagalong::replay::native
