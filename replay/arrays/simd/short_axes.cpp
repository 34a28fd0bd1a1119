#include "replay/arrays/simd/short_axes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "replay/arrays/simd/reduction.h"

namespace tagalong::array {

Tally short_rows_reduced;
Tally short_rows_added;

namespace {

constexpr int kTogether = 8;  // elements of a row that are added at a time, and NumPy's partial sums of a leaf

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

// Calls call() with the length, from 1 on, as a constant. False: the row has another length.
template <class Call, int... length>
bool with_constant(Extent row, const Call& call, std::integer_sequence<int, length...> /*lengths*/) {
  return ((row == length + 1 && (call(std::integral_constant<int, length + 1>()), true)) || ...);
}

// --- Sums of rows. NumPy adds the sum of a row to the zero that is the sum of no elements.

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

// Of eight elements or more.
template <class T>
void sum_longer_rows(const char* data, Extent row, Extent rows, char* results) {
  for (Extent i = 0; i < rows; ++i, data += row * static_cast<Extent>(sizeof(T))) {
    std::array<T, kTogether> sums;
    std::memcpy(sums.data(), data, sizeof(sums));
    Extent done = kTogether;
    for (; done + kTogether <= row; done += kTogether) {
      std::array<T, kTogether> values;
      std::memcpy(values.data(), data + done * static_cast<Extent>(sizeof(T)), sizeof(values));
      for (std::size_t place = 0; place < kTogether; ++place) {
        sums[place] += values[place];
      }
    }
    T sum = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
    for (; done < row; ++done) {
      sum += element<T>(data, done);
    }
    set_element<T>(T{0} + sum, i, results);
  }
}

template <class T>
void sums_of_rows(const ReductionKernel& /*kernel*/, const char* data, Extent row, Extent rows, char* results) {
  short_rows_reduced.add(static_cast<std::uint64_t>(rows));
  const auto sum = [&]<int length>(std::integral_constant<int, length> /*row*/) {
    sum_rows<T, length>(data, rows, results);
  };
  if (!with_constant(row, sum, std::make_integer_sequence<int, kTogether - 1>())) {
    sum_longer_rows<T>(data, row, rows, results);
  }
}

// --- Extremes of rows

// The bits of a NaN, and of a zero, depend on the order in which NumPy's loop compares. Such rows are left to it.
template <class T, bool of_largest>
void extremes_of_rows(const ReductionKernel& kernel, const char* data, Extent row, Extent rows, char* results) {
  short_rows_reduced.add(static_cast<std::uint64_t>(rows));
  for (Extent i = 0; i < rows; ++i, data += row * static_cast<Extent>(sizeof(T))) {
    T best = element<T>(data, 0);
    bool is_open = false;
    for (Extent place = 0; place < row; ++place) {
      const T value = element<T>(data, place);
      if constexpr (std::is_floating_point_v<T>) {  // quiet comparisons raise no flags
        is_open |= std::isunordered(value, value);
        best = (of_largest ? std::isgreater(value, best) : std::isless(value, best)) ? value : best;
      } else {
        best = of_largest ? std::max(best, value) : std::min(best, value);
      }
    }
    set_element(best, i, results);
    if (std::is_floating_point_v<T> && (is_open || best == 0)) {
      static_cast<void>(reduce_row(kernel, of_largest ? Reduction::kMax : Reduction::kMin, data, sizeof(T), row,
                                   results + i * static_cast<Extent>(sizeof(T))));
    }
  }
}

// --- Sums of columns

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
void sums_of_columns(const char* data, Extent row, Extent rows, char* sums) {
  short_rows_added.add(static_cast<std::uint64_t>(rows));
  for (Extent first = 0; first < row; first += kTogether) {
    const Extent offset = first * static_cast<Extent>(sizeof(T));
    const auto add = [&]<int length>(std::integral_constant<int, length> /*count*/) {
      add_rows<T, length>(data + offset, row, rows, sums + offset);
    };
    static_cast<void>(
        with_constant(std::min<Extent>(row - first, kTogether), add, std::make_integer_sequence<int, kTogether>()));
  }
}

// --- Which loops a kernel has

// Whether the kernel's loop gives the bits of short rows, with numbers whose sums depend on the order of additions.
template <class T>
bool agrees(const ReductionKernel& kernel) {
  constexpr T kLarge = 70001;
  constexpr T kStep = 997;
  std::array<T, kMostShortRow> numbers;
  std::array<T, kMostShortRow> zeros;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const T number = (kLarge - kStep * static_cast<T>(i)) / static_cast<T>(i + 1);
    numbers.at(i) = i % 3 == 0 ? -number : number;
    zeros.at(i) = -T{0};
  }
  const auto is_same = [&](const std::array<T, kMostShortRow>& values) {
    const auto* data = reinterpret_cast<const char*>(values.data());
    for (Extent row = 1; row <= kMostShortRow; ++row) {
      Accumulator own{};
      Accumulator theirs{};
      sums_of_rows<T>(kernel, data, row, 1, own.bytes);
      if (!reduce_row(kernel, Reduction::kSum, data, sizeof(T), row, theirs.bytes) ||
          std::memcmp(own.bytes, theirs.bytes, sizeof(T)) != 0) {
        return false;
      }
    }
    return true;
  };
  return is_same(numbers) && is_same(zeros);
}

template <class T>
ShortAxes sums() {
  return {.of_rows = sums_of_rows<T>, .of_columns = sums_of_columns<T>};
}

template <class T>
ShortAxes extremes(Reduction reduction) {
  return {.of_rows = reduction == Reduction::kMax ? extremes_of_rows<T, true> : extremes_of_rows<T, false>};
}

}  // namespace

ShortAxes short_axes(const ReductionKernel& kernel, Reduction reduction) {
  const bool is_extreme = begins_with_element(reduction);
  if (!is_extreme && reduction != Reduction::kSum && reduction != Reduction::kMean) {
    return {};
  }
  switch (kernel.type) {
    case kFloat:
      return is_extreme ? extremes<float>(reduction) : agrees<float>(kernel) ? sums<float>() : ShortAxes();
    case kDouble:
      return is_extreme ? extremes<double>(reduction) : agrees<double>(kernel) ? sums<double>() : ShortAxes();
    case kLong:
    case kLongLong:
      return is_extreme ? extremes<std::int64_t>(reduction) : sums<std::uint64_t>();
    case kULong:
    case kULongLong:
      return is_extreme ? extremes<std::uint64_t>(reduction) : sums<std::uint64_t>();
    default:
      return {};
  }
}

}  // namespace tagalong::array
