// Memory in which Xbyak writes code that runs elsewhere (placing.h): the heap's. Pages of their own, as it has
// otherwise, cost several calls of the system for each piece of code, and interrupt the processes' other processors.
#pragma once

#include <xbyak/xbyak.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace tagalong::replay::native {

class Drafts final : public Xbyak::Allocator {
 public:
  // For the process.
  static Xbyak::Allocator* memory() {
    static Drafts drafts;
    return &drafts;
  }
  // At the beginning of a page, as where it runs, so that what is aligned in one is in the other.
  std::uint8_t* alloc(std::size_t size) override {
    constexpr std::size_t kPage = 4096;
    return static_cast<std::uint8_t*>(std::aligned_alloc(kPage, (size + kPage - 1) / kPage * kPage));
  }
  void free(std::uint8_t* code) override { std::free(code); }  // NOLINT(cppcoreguidelines-no-malloc)
  [[nodiscard]] bool useProtect() const override { return false; }
};

}  // namespace tagalong::replay::native
