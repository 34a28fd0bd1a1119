// The allocator that Xbyak writes machine code with: plain heap memory. The finished code is copied to executable
// memory (executable_memory.h). Xbyak's own allocator maps pages for each piece of code, which takes several system
// calls and TLB shootdowns on the other processors.
#pragma once

#include <xbyak/xbyak.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace tagalong::replay::native {

class CodeAllocator final : public Xbyak::Allocator {
 public:
  // One allocator for the whole process.
  static Xbyak::Allocator* instance() {
    static CodeAllocator allocator;
    return &allocator;
  }
  // The block begins at a page, as executable memory does, so an alignment inside the code survives the copy.
  std::uint8_t* alloc(std::size_t size) override {
    constexpr std::size_t kPage = 4096;
    return static_cast<std::uint8_t*>(std::aligned_alloc(kPage, (size + kPage - 1) / kPage * kPage));
  }
  void free(std::uint8_t* code) override { std::free(code); }  // NOLINT(cppcoreguidelines-no-malloc)
  [[nodiscard]] bool useProtect() const override { return false; }
};

}  // namespace tagalong::replay::native
