#include "replay/arrays/simd/short_sums.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "replay/arrays/simd/reduction.h"

namespace tagalong::array {

Tally short_rows_summed;
Tally short_rows_added;

namespace {

constexpr int kTogether = 8;  // elements of a row that are added at a time

template <class T>
T element(const char* data, Extent index) {
  T value;
  std::memcpy(&value, data + index * static_cast<Extent>(sizeof(T)), sizeof(T));
  return value;
}

template <class T>
void set_element(T value, Extent index, char* data) {
  std::memcpy(data + index * static_cast<Extent>(sizeof(T)), &value, sizeof(T));
}

// Calls call() with the length as a constant. There is nothing to do for other lengths.
template <class Call, int... length>
void with_constant(Extent row, const Call& call, std::integer_sequence<int, length...> /*lengths*/) {
  static_cast<void>(((row == length + 1 && (call(std::integral_constant<int, length + 1>()), true)) || ...));
}

// NumPy begins with the zero that is the sum of no elements, and adds the sum of the row to it.
template <class T, int row>
void sum_rows(const char* data, Extent rows, char* results) {
  for (Extent i = 0; i < rows; ++i) {
    T sum = element<T>(data, i * row);
    for (int place = 1; place < row; ++place) {
      sum += element<T>(data, i * row + place);
    }
    set_element<T>(T{0} + sum, i, results);
  }
}

template <class T>
void of_rows(const char* data, Extent row, Extent rows, char* results) {
  short_rows_summed.add(static_cast<std::uint64_t>(rows));
  with_constant(
      row, [&]<int length>(std::integral_constant<int, length> /*row*/) { sum_rows<T, length>(data, rows, results); },
      std::make_integer_sequence<int, kMostShortRow>());
}

template <class T, int count>
void add_rows(const char* data, Extent row, Extent rows, char* sums) {
  std::array<T, count> added;
  std::memcpy(added.data(), sums, sizeof(added));
  for (Extent i = 0; i < rows; ++i) {
    std::array<T, count> values;
    std::memcpy(values.data(), data + i * row * static_cast<Extent>(sizeof(T)), sizeof(values));
    for (std::size_t place = 0; place < count; ++place) {
      added[place] += values[place];
    }
  }
  std::memcpy(sums, added.data(), sizeof(added));
}

template <class T>
void of_columns(const char* data, Extent row, Extent rows, char* sums) {
  short_rows_added.add(static_cast<std::uint64_t>(rows));
  for (Extent first = 0; first < row; first += kTogether) {
    const Extent offset = first * static_cast<Extent>(sizeof(T));
    with_constant(
        std::min<Extent>(row - first, kTogether),
        [&]<int length>(std::integral_constant<int, length> /*count*/) {
          add_rows<T, length>(data + offset, row, rows, sums + offset);
        },
        std::make_integer_sequence<int, kTogether>());
  }
}

// Whether the kernel's loop gives the bits of short rows, with numbers whose sums depend on the order of additions.
template <class T>
bool agrees(const ReductionKernel& kernel) {
  constexpr std::array<T, kMostShortRow> kNumbers{T{1} / 3, T{-70001}, T{1} / 7, T{70000}, T{9} / 11, T{-1} / 13, T{3}};
  const auto is_same = [&](const std::array<T, kMostShortRow>& numbers) {
    const auto* data = reinterpret_cast<const char*>(numbers.data());
    for (Extent row = 1; row <= kMostShortRow; ++row) {
      Accumulator own{};
      Accumulator theirs{};
      of_rows<T>(data, row, 1, own.bytes);
      if (!reduce_row(kernel, Reduction::kSum, data, sizeof(T), row, theirs.bytes) ||
          std::memcmp(own.bytes, theirs.bytes, sizeof(T)) != 0) {
        return false;
      }
    }
    return true;
  };
  std::array<T, kMostShortRow> zeros{};
  zeros.fill(-T{0});
  return is_same(kNumbers) && is_same(zeros);
}

template <class T>
ShortSums sums_of() {
  return {.of_rows = of_rows<T>, .of_columns = of_columns<T>};
}

}  // namespace

ShortSums short_sums(const ReductionKernel& kernel) {
  if (kernel.type == kFloat) {
    return agrees<float>(kernel) ? sums_of<float>() : ShortSums();
  }
  if (kernel.type == kDouble) {
    return agrees<double>(kernel) ? sums_of<double>() : ShortSums();
  }
  // Integers are added in any order.
  return is_integer(kernel.type) && kernel.item_size == sizeof(std::uint64_t) ? sums_of<std::uint64_t>() : ShortSums();
}

}  // namespace tagalong::array
