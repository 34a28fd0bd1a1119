#include "replay/native/code.h"

#include <sys/mman.h>

#include <algorithm>

namespace tagalong::replay::native {

std::unique_ptr<const Code> Code::make(std::span<const std::uint8_t> code, const std::vector<std::ptrdiff_t>& entries) {
  // Written first, run afterwards, never both at once.
  void* memory = mmap(nullptr, code.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return nullptr;
  }
  std::unique_ptr<Code> made(new Code);
  made->memory_ = memory;
  made->size_ = code.size();
  auto* start = static_cast<std::uint8_t*>(memory);
  std::ranges::copy(code, start);
  if (mprotect(memory, code.size(), PROT_READ | PROT_EXEC) != 0) {
    return nullptr;
  }
  made->run_ = reinterpret_cast<const LoopOp* (*)(Frame*, const void*)>(memory);
  for (const std::ptrdiff_t offset : entries) {
    made->entries_.push_back(offset < 0 ? nullptr : start + offset);
  }
  return made;
}

Code::~Code() { munmap(memory_, size_); }

}  // namespace tagalong::replay::native
