#include "replay/arrays/simd/row_copies.h"

#include <array>
#include <cstdint>
#include <cstring>

namespace tagalong::array {

namespace {

// Writes the element several times at once.
template <class T>
void fill(const char* from, char* to, Extent count) {
  constexpr std::size_t kMany = 32 / sizeof(T);
  constexpr auto kItem = static_cast<Extent>(sizeof(T));
  T value;
  std::memcpy(&value, from, sizeof(value));
  std::array<T, kMany> values;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
  values.fill(value);
  Extent i = 0;
  for (; i + static_cast<Extent>(kMany) <= count; i += static_cast<Extent>(kMany)) {
    std::memcpy(to + i * kItem, values.data(), sizeof(values));
  }
  for (; i < count; ++i) {
    std::memcpy(to + i * kItem, &value, sizeof(value));
  }
}

template <std::size_t kSize>
void copy_strided(const char* from, Extent from_stride, char* to, Extent to_stride, Extent count) {
  for (Extent i = 0; i < count; ++i) {
    std::memcpy(to, from, kSize);
    from += from_stride;
    to += to_stride;
  }
}

// Rows with any strides; an element that is repeated for a row is read once.
template <class T>
void copy_rows_of(const char* from, RowSteps from_steps, char* to, RowSteps to_steps, Extent count, Extent rows) {
  for (Extent i = 0; i < rows; ++i, from += from_steps.row, to += to_steps.row) {
    if (from_steps.item == 0 && to_steps.item == static_cast<Extent>(sizeof(T))) {
      fill<T>(from, to, count);
    } else {
      copy_strided<sizeof(T)>(from, from_steps.item, to, to_steps.item, count);
    }
  }
}

// Copies at least `kSize` and at most twice as many bytes: the first ones and the last ones, which may be partly the
// same.
template <std::size_t kSize>
void copy_ends(const char* from, char* to, std::size_t bytes) {
  std::array<char, kSize> first;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
  std::array<char, kSize> last;   // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
  std::memcpy(first.data(), from, kSize);
  std::memcpy(last.data(), from + bytes - kSize, kSize);
  std::memcpy(to, first.data(), kSize);
  std::memcpy(to + bytes - kSize, last.data(), kSize);
}

template <std::size_t kSize>
void copy_rows_by_ends(const char* from, Extent from_step, char* to, Extent to_step, std::size_t bytes, Extent rows) {
  for (Extent i = 0; i < rows; ++i) {
    copy_ends<kSize>(from + i * from_step, to + i * to_step, bytes);
  }
}

// Rows of adjacent elements. Where they are short there are many of them, so calling memcpy for each would take longer
// than copying it.
void copy_adjacent(const char* from, Extent from_step, char* to, Extent to_step, std::size_t bytes, Extent rows) {
  switch (bytes) {
    case 1:
      return copy_strided<1>(from, from_step, to, to_step, rows);
    case 2:
      return copy_strided<2>(from, from_step, to, to_step, rows);
    case 4:
      return copy_strided<4>(from, from_step, to, to_step, rows);
    case 8:
      return copy_strided<8>(from, from_step, to, to_step, rows);
    case 16:
      return copy_strided<16>(from, from_step, to, to_step, rows);
    case 32:
      return copy_strided<32>(from, from_step, to, to_step, rows);
    default:
      break;
  }
  if (bytes > 32) {
    for (Extent i = 0; i < rows; ++i) {
      std::memcpy(to + i * to_step, from + i * from_step, bytes);
    }
  } else if (bytes > 16) {
    copy_rows_by_ends<16>(from, from_step, to, to_step, bytes, rows);
  } else if (bytes > 8) {
    copy_rows_by_ends<8>(from, from_step, to, to_step, bytes, rows);
  } else if (bytes > 4) {
    copy_rows_by_ends<4>(from, from_step, to, to_step, bytes, rows);
  } else if (bytes > 2) {
    copy_rows_by_ends<2>(from, from_step, to, to_step, bytes, rows);
  }
}

}  // namespace

void copy_rows(const char* from, RowSteps from_steps, char* to, RowSteps to_steps, std::size_t size, Extent count,
               Extent rows) {
  const auto item = static_cast<Extent>(size);
  if (from_steps.item == item && to_steps.item == item) {
    return copy_adjacent(from, from_steps.row, to, to_steps.row, size * static_cast<std::size_t>(count), rows);
  }
  switch (size) {
    case 1:
      return copy_rows_of<std::uint8_t>(from, from_steps, to, to_steps, count, rows);
    case 2:
      return copy_rows_of<std::uint16_t>(from, from_steps, to, to_steps, count, rows);
    case 4:
      return copy_rows_of<std::uint32_t>(from, from_steps, to, to_steps, count, rows);
    case 8:
      return copy_rows_of<std::uint64_t>(from, from_steps, to, to_steps, count, rows);
    default:
      return copy_rows_of<std::array<char, 16>>(from, from_steps, to, to_steps, count, rows);
  }
}

void fill_row(const char* from, std::size_t item_size, Extent count, char* to) {
  switch (item_size) {
    case 1:
      return fill<std::uint8_t>(from, to, count);
    case 2:
      return fill<std::uint16_t>(from, to, count);
    case 4:
      return fill<std::uint32_t>(from, to, count);
    case 8:
      return fill<std::uint64_t>(from, to, count);
    default:
      return fill<std::array<char, 16>>(from, to, count);
  }
}

}  // namespace tagalong::array
