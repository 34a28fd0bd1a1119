// The iteration space of a fusion group that is not one row of memory: shapes that are broadcast, strides of any kind,
// and in which order NumPy would lay out a new result (its iterator's "K order"; test_arrays_fusion.py holds this
// against NumPy for random shapes and strides). Blocks are taken in one order through all axes; an array that does not
// lie in that order is gathered into a block, or scattered from it.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "replay/arrays/numpy/numpy_abi.h"

namespace tagalong::array {

inline constexpr int kMaxFusionDims = 6;
using Strides = std::array<Extent, kMaxFusionDims>;  // in bytes; 0 where it is broadcast

struct Shape {
  int nd = 0;
  std::array<Extent, kMaxFusionDims> dims{};
  [[nodiscard]] Extent count() const;
  bool operator==(const Shape& other) const;
};

// An array as loops see it: an object's memory, or a part of it that no object stands for.
struct View {
  char* data = nullptr;
  Shape shape;
  Strides strides{};
  bool is_aligned = false;
  [[nodiscard]] bool is_contiguous(Extent item_size, bool fortran) const;
};

// False: more dimensions than a fusion group has.
[[nodiscard]] bool view_of(const ArrayFields* array, View* view);

// The shape of both together; false: they cannot be broadcast.
[[nodiscard]] bool broadcast(const Shape& other, Shape* shape);

// The strides of `view` in the space; its shape can be broadcast to it.
[[nodiscard]] Strides strides_in(const View& view, const Shape& space);

// From the innermost axis of a C order on, as NumPy's iterator numbers them: its stable insertion sort by the strides.
[[nodiscard]] std::array<int, kMaxFusionDims> axis_order(std::span<const Strides* const> operands, const Shape& shape);

// The strides of a new array of this shape that is the result of an operation on operands with these strides.
[[nodiscard]] Strides result_strides(std::span<const Strides* const> operands, const Shape& shape, Extent item_size);
// Those of a copy of an array ("K order"), in elements.
[[nodiscard]] Strides copied_strides(const Strides& strides, const Shape& shape);
[[nodiscard]] Strides contiguous_strides(const Shape& shape, Extent item_size, bool fortran);

// `count` times the same element.
void fill_row(const char* from, std::size_t item_size, Extent count, char* to);
void copy_row(const char* from, Extent from_stride, char* to, Extent to_stride, std::size_t size, Extent count);

// The bytes that a view touches.
struct Bytes {
  const char* first = nullptr;
  const char* last = nullptr;
  [[nodiscard]] bool overlaps(const Bytes& other) const { return first < other.last && other.first < last; }
};
[[nodiscard]] Bytes bytes_of(const View& view, Extent item_size);

// No two elements share memory, as far as that is seen without trying.
[[nodiscard]] bool is_injective(const View& view, Extent item_size);

// The axes in the order in which blocks are taken, innermost first; those that lie one in the other for all arrays are
// one.
class Walk {
 public:
  // `arrays`: the strides of all that is read and written. The order is that of `leading`.
  Walk(const Shape& space, const Strides& leading, std::span<Strides* const> arrays);

  // Whether an array, of the walk's own strides, is one row with the stride of its first axis.
  [[nodiscard]] bool is_row(const Strides& strides) const;
  // Whether all rows of the array are the same one.
  [[nodiscard]] bool repeats(const Strides& strides) const;
  [[nodiscard]] int nd() const { return nd_; }
  [[nodiscard]] Extent row() const { return dims_[0]; }

  void begin() { at_ = {}; }
  // Goes on by `count` elements.
  void advance(Extent count);
  [[nodiscard]] Extent left_in_row() const { return dims_[0] - at_[0]; }
  // With this one, as far as the next axis goes.
  [[nodiscard]] Extent left_of_rows() const { return nd_ > 1 ? dims_[1] - at_[1] : 1; }
  // Where the array is now.
  [[nodiscard]] char* place(char* data, const Strides& strides) const;
  // The next `count` elements from or to the block.
  void gather(const char* data, const Strides& strides, std::size_t item_size, Extent count, char* block) const;
  void scatter(char* data, const Strides& strides, std::size_t item_size, Extent count, const char* block) const;

 private:
  template <class Copy>
  void rows(Extent offset, const Strides& strides, Extent count, Copy copy) const;

  int nd_ = 1;
  std::array<Extent, kMaxFusionDims> dims_{1};
  std::array<Extent, kMaxFusionDims> at_{};
};

}  // namespace tagalong::array
