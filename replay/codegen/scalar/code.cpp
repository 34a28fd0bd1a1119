#include "replay/codegen/scalar/code.h"

#include "replay/codegen/executable_memory.h"

namespace tagalong::replay::native {

std::unique_ptr<const Code> Code::make(std::span<const std::uint8_t> code, const std::vector<std::ptrdiff_t>& entries) {
  void* memory = place_code(code);
  if (memory == nullptr) {
    return nullptr;
  }
  std::unique_ptr<Code> made(new Code);
  made->memory_ = memory;
  made->size_ = code.size();
  auto* start = static_cast<std::uint8_t*>(memory);
  made->run_ = reinterpret_cast<const LoopOp* (*)(Frame*, const void*)>(memory);
  for (const std::ptrdiff_t offset : entries) {
    made->entries_.push_back(offset < 0 ? nullptr : start + offset);
  }
  return made;
}

Code::~Code() { remove_code(memory_, size_); }

}  // namespace tagalong::replay::native
