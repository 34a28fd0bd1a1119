// The iteration space of a fusion group that is not one row of memory: broadcast shapes, strides of any kind, and the
// order in which NumPy would lay out a new result (its iterator's "K order"; test_arrays_fusion.py compares this with
// NumPy for random shapes and strides). Blocks go through all axes in one order. An array that does not lie in that
// order is gathered into a block, or scattered from it.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "replay/arrays/numpy/numpy_abi.h"
#include "replay/arrays/simd/row_copies.h"

namespace tagalong::array {

inline constexpr int kMaxFusionDims = 6;
using Strides = std::array<Extent, kMaxFusionDims>;  // in bytes; 0 along broadcast axes
using Starts = std::array<Extent, kMaxFusionDims>;   // of a rolled array: the index of the first element in memory

struct Shape {
  int nd = 0;
  std::array<Extent, kMaxFusionDims> dims{};
  [[nodiscard]] Extent count() const;
  bool operator==(const Shape& other) const;
};

// An array as loops see it: an object's memory, or a part of it without an object of its own.
struct View {
  char* data = nullptr;
  Shape shape;
  Strides strides{};
  Starts starts{};
  bool is_aligned = false;
  bool is_rolled = false;  // some start is not 0
  [[nodiscard]] bool is_contiguous(Extent item_size, bool fortran) const;
};

// False: the array has more dimensions than a fusion group can have.
[[nodiscard]] bool view_of(const ArrayFields* array, View* view);

// Broadcasts `shape` with the other one; false: that is not possible.
[[nodiscard]] bool broadcast(const Shape& other, Shape* shape);

// The strides of `view` in `space`, to which its shape can be broadcast.
[[nodiscard]] Strides strides_in(const View& view, const Shape& space);

// The axes from the innermost one in C order on, as NumPy's iterator orders them: a stable insertion sort by strides.
[[nodiscard]] std::array<int, kMaxFusionDims> axis_order(std::span<const Strides* const> operands, const Shape& shape);

// The strides of a new array of this shape, the result of an operation on operands with these strides.
[[nodiscard]] Strides result_strides(std::span<const Strides* const> operands, const Shape& shape, Extent item_size);
// The strides of a copy of an array ("K order"), in elements.
[[nodiscard]] Strides copied_strides(const Strides& strides, const Shape& shape);
[[nodiscard]] Strides contiguous_strides(const Shape& shape, Extent item_size, bool fortran);

// The address range that a view touches.
struct Bytes {
  const char* first = nullptr;
  const char* last = nullptr;
  [[nodiscard]] bool overlaps(const Bytes& other) const { return first < other.last && other.first < last; }
};
[[nodiscard]] Bytes bytes_of(const View& view, Extent item_size);
// Whether some element of one view shares memory with some element of the other. True where strides are so irregular
// that the answer takes long.
[[nodiscard]] bool overlap(const View& one, Extent item_size, const View& other, Extent other_item_size);

// Whether no two elements share memory, as far as a cheap test shows.
[[nodiscard]] bool is_injective(const View& view, Extent item_size);

// Goes through the elements of a space. Axes are in the order in which blocks are taken, innermost first; axes that are
// contiguous to each other in all arrays are merged.
class Walk {
 public:
  // `arrays`: the strides of all arrays that are read or written; `rolled`: the starts of those that are rolled.
  // `leading` decides the order.
  Walk(const Shape& space, const Strides& leading, std::span<Strides* const> arrays, std::span<Starts* const> rolled);

  // Whether an array with these strides is one row with the stride of its first axis.
  [[nodiscard]] bool is_row(const Strides& strides) const;
  // Whether all rows of the array are the same memory.
  [[nodiscard]] bool repeats(const Strides& strides) const;
  [[nodiscard]] int nd() const { return nd_; }
  [[nodiscard]] Extent row() const { return dims_[0]; }

  void begin() { at_ = {}; }
  void advance(Extent count);
  [[nodiscard]] Extent left_in_row() const { return dims_[0] - at_[0]; }
  // Rows until the next axis advances, including the current one.
  [[nodiscard]] Extent left_of_rows() const { return nd_ > 1 ? dims_[1] - at_[1] : 1; }
  // Elements along the axis, from the current one on, until a rolled array goes on at its other end.
  [[nodiscard]] Extent left_before_wrap(const Starts& starts, int axis) const {
    return dims_[axis] - wrapped(starts, axis);
  }
  // The address of the array's current element.
  [[nodiscard]] char* place(char* data, const Strides& strides) const;
  [[nodiscard]] char* place(char* data, const Strides& strides, const Starts& starts) const;
  // Copies the next `count` elements to or from the block.
  void gather(const char* data, const Strides& strides, std::size_t item_size, Extent count, char* block) const;
  void gather_rolled(char* data, const Strides& strides, const Starts& starts, std::size_t item_size, Extent count,
                     char* block) const;
  void scatter(char* data, const Strides& strides, std::size_t item_size, Extent count, const char* block) const;

 private:
  void gather_rows(const char* from, const Strides& strides, std::size_t item_size, Extent rows, char* block) const;
  [[nodiscard]] Extent wrapped(const Starts& starts, int axis) const {
    const Extent index = at_[axis] + starts[axis];
    return index < dims_[axis] ? index : index - dims_[axis];
  }
  template <class Copy>
  void rows(Extent offset, const Strides& strides, Extent count, Copy copy) const;

  int nd_ = 1;
  std::array<Extent, kMaxFusionDims> dims_{1};
  std::array<Extent, kMaxFusionDims> at_{};
};

}  // namespace tagalong::array
