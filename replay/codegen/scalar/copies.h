// Register allocation for straight-line code: which machine register holds a copy of which number. Memory always holds
// the numbers too, so a register can be reused at any time without a spill.
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

  // The machine register that holds the number of loop register `place`, or -1.
  int find(std::int32_t place) {
    for (std::size_t index = 0; index < kCount; ++index) {
      if (places_[index] == place) {
        used_[index] = ++now_;
        return static_cast<int>(index);
      }
    }
    return -1;
  }
  // Frees the least recently used machine register and returns it.
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
  // Forgets all machine registers from `first` on.
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
