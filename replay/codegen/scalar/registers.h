// Which machine registers have copies of which numbers, while code for operations in a row is made. Memory always has
// the numbers as well, so a register is free for something else at any time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace tagalong::replay::native {

template <std::size_t kCount>
class Copies {
 public:
  Copies() { places_.fill(kNone); }

  // The register with the number of this place; -1: none has it.
  int find(std::int32_t place) {
    for (std::size_t index = 0; index < kCount; ++index) {
      if (places_[index] == place) {
        used_[index] = ++now_;
        return static_cast<int>(index);
      }
    }
    return -1;
  }
  // The one that has not been used for the longest time. It has nothing now.
  int take() {
    const auto oldest = static_cast<std::size_t>(std::ranges::min_element(used_) - used_.begin());
    places_[oldest] = kNone;
    used_[oldest] = ++now_;
    return static_cast<int>(oldest);
  }
  void bind(int index, std::int32_t place) {
    forget(place);
    places_[static_cast<std::size_t>(index)] = place;
    used_[static_cast<std::size_t>(index)] = ++now_;
  }
  void forget(std::int32_t place) {
    for (std::size_t index = 0; index < kCount; ++index) {
      if (places_[index] == place) {
        clear(index);
      }
    }
  }
  // All from this register on.
  void forget_from(std::size_t first) {
    for (std::size_t index = first; index < kCount; ++index) {
      clear(index);
    }
  }
  [[nodiscard]] std::int32_t place(std::size_t index) const { return places_[index]; }
  static constexpr std::int32_t kNone = -1;
  static constexpr std::size_t size() { return kCount; }

 private:
  void clear(std::size_t index) {
    places_[index] = kNone;
    used_[index] = 0;
  }
  std::array<std::int32_t, kCount> places_{};
  std::array<std::uint32_t, kCount> used_{};
  std::uint32_t now_ = 0;
};

}  // namespace tagalong::replay::native
