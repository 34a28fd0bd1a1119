#include "replay/codegen/executable_memory.h"

#include <sys/mman.h>

#include <algorithm>

namespace tagalong::replay::native {

void* place_code(std::span<const std::uint8_t> code) {
  void* memory = mmap(nullptr, code.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return nullptr;
  }
  std::ranges::copy(code, static_cast<std::uint8_t*>(memory));
  if (mprotect(memory, code.size(), PROT_READ | PROT_EXEC) != 0) {
    remove_code(memory, code.size());
    return nullptr;
  }
  return memory;
}

void remove_code(void* memory, std::size_t size) { munmap(memory, size); }

}  // namespace tagalong::replay::native
