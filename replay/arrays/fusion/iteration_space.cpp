#include "replay/arrays/fusion/iteration_space.h"

#include <algorithm>
#include <array>
#include <boost/container/static_vector.hpp>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "replay/arrays/simd/broadcast.h"

namespace tagalong::array {

std::array<int, kMaxFusionDims> axis_order(std::span<const Strides* const> operands, const Shape& shape) {
  const int nd = shape.nd;
  std::array<int, kMaxFusionDims> order{};
  for (int i = 0; i < nd; ++i) {
    order[i] = nd - 1 - i;
  }
  for (int i = 1; i < nd; ++i) {
    const int axis = order[i];
    int insert = i;
    for (int j = i - 1; j >= 0; --j) {
      const int other = order[j];
      bool is_ambiguous = true;
      bool is_before = false;
      // An axis of length one has no stride.
      const bool is_empty = shape.dims[axis] == 1 || shape.dims[other] == 1;
      for (const Strides* strides : is_empty ? std::span<const Strides* const>() : operands) {
        const Extent here = std::abs((*strides)[axis]);
        const Extent there = std::abs((*strides)[other]);
        if (here == 0 || there == 0) {
          continue;
        }
        if (there <= here) {
          is_before = false;  // where operands disagree, the C order is kept
        } else if (is_ambiguous) {
          is_before = true;
        }
        is_ambiguous = false;
      }
      if (is_ambiguous) {
        continue;
      }
      if (!is_before) {
        break;
      }
      insert = j;
    }
    std::rotate(order.begin() + insert, order.begin() + i, order.begin() + i + 1);
  }
  return order;
}

Extent Shape::count() const {
  Extent product = 1;
  for (int i = 0; i < nd; ++i) {
    product *= dims[i];
  }
  return product;
}

bool Shape::operator==(const Shape& other) const {
  return nd == other.nd && std::equal(dims.begin(), dims.begin() + nd, other.dims.begin());
}

bool View::is_contiguous(Extent item_size, bool fortran) const {
  Extent stride = item_size;
  for (int i = 0; i < shape.nd; ++i) {
    const int axis = fortran ? i : shape.nd - 1 - i;
    if (shape.dims[axis] != 1 && strides[axis] != stride) {
      return false;
    }
    stride *= shape.dims[axis];
  }
  return true;
}

bool view_of(const ArrayFields* array, View* view) {
  if (array->nd > kMaxFusionDims) {
    return false;
  }
  view->data = array->data;
  view->shape.nd = array->nd;
  std::copy_n(array->dimensions, array->nd, view->shape.dims.begin());
  std::copy_n(array->strides, array->nd, view->strides.begin());
  view->is_aligned = (array->flags & kAligned) != 0;
  return true;
}

bool broadcast(const Shape& other, Shape* shape) {
  if (other.nd > shape->nd) {
    const int more = other.nd - shape->nd;
    std::copy_backward(shape->dims.begin(), shape->dims.begin() + shape->nd, shape->dims.begin() + other.nd);
    std::fill_n(shape->dims.begin(), more, 1);
    shape->nd = other.nd;
  }
  const int skipped = shape->nd - other.nd;
  for (int i = 0; i < other.nd; ++i) {
    Extent& extent = shape->dims[skipped + i];
    if (extent == 1) {
      extent = other.dims[i];
    } else if (other.dims[i] != 1 && other.dims[i] != extent) {
      return false;
    }
  }
  return true;
}

Strides strides_in(const View& view, const Shape& space) {
  Strides strides{};
  const int skipped = space.nd - view.shape.nd;
  for (int i = 0; i < view.shape.nd; ++i) {
    strides[skipped + i] = view.shape.dims[i] == 1 ? 0 : view.strides[i];
  }
  return strides;
}

Strides result_strides(std::span<const Strides* const> operands, const Shape& shape, Extent item_size) {
  const auto order = axis_order(operands, shape);
  Strides strides{};
  for (int i = 0; i < shape.nd; ++i) {
    strides[order[i]] = item_size;
    item_size *= shape.dims[order[i]];
  }
  return strides;
}

Strides copied_strides(const Strides& strides, const Shape& shape) {
  std::array<int, kMaxFusionDims> order{};  // outermost first; equal strides keep the C order
  for (int i = 0; i < shape.nd; ++i) {
    int place = i;
    while (place > 0 && std::abs(strides[order[place - 1]]) < std::abs(strides[i])) {
      order[place] = order[place - 1];
      --place;
    }
    order[place] = i;
  }
  Strides copied{};
  Extent stride = 1;
  for (int i = shape.nd; i-- > 0;) {
    copied[order[i]] = stride;
    stride *= shape.dims[order[i]];
  }
  return copied;
}

Strides contiguous_strides(const Shape& shape, Extent item_size, bool fortran) {
  Strides strides{};
  for (int i = 0; i < shape.nd; ++i) {
    const int axis = fortran ? i : shape.nd - 1 - i;
    strides[axis] = item_size;
    item_size *= shape.dims[axis];
  }
  return strides;
}

Bytes bytes_of(const View& view, Extent item_size) {
  Bytes bytes{view.data, view.data + item_size};
  for (int i = 0; i < view.shape.nd; ++i) {
    if (view.shape.dims[i] == 0) {
      return {view.data, view.data};
    }
    const Extent span = (view.shape.dims[i] - 1) * view.strides[i];
    (span < 0 ? bytes.first : bytes.last) += span;
  }
  return bytes;
}

namespace {

// The sums of `terms`, each of them a multiple of its step.
class Sums {
 public:
  void add(Extent step, Extent most) {
    const auto same = std::ranges::find(terms_, step, &Term::step);
    if (same != terms_.end()) {
      same->most += most;
    } else {
      terms_.push_back({.step = step, .most = most});
    }
  }
  // Whether some sum has this value. True also where that takes long to find out.
  [[nodiscard]] bool reach(Extent value) {
    std::ranges::sort(terms_, std::ranges::greater(), &Term::step);
    Extent largest = 0;
    for (std::size_t number = terms_.size(); number-- > 0;) {
      terms_[number].behind = largest;
      largest += terms_[number].step * terms_[number].most;
    }
    return value >= 0 && value <= largest && reach(0, value);
  }

 private:
  struct Term {
    Extent step;
    Extent most;        // the largest factor
    Extent behind = 0;  // the largest sum of all later terms
  };

  // With regular strides a step is larger than all that the later terms add up to. So there are few factors to try.
  bool reach(std::size_t number, Extent value) {
    if (number == terms_.size()) {
      return value == 0;
    }
    const Term& term = terms_[number];
    const Extent least = value <= term.behind ? 0 : (value - term.behind + term.step - 1) / term.step;
    for (Extent factor = least; factor <= std::min(term.most, value / term.step); ++factor) {
      if (left_-- == 0 || reach(number + 1, value - factor * term.step)) {
        return true;
      }
    }
    return false;
  }

  static constexpr int kMostTried = 100;
  boost::container::static_vector<Term, 2 * kMaxFusionDims + 1> terms_;
  int left_ = kMostTried;
};

}  // namespace

bool overlap(const View& one, Extent item_size, const View& other, Extent other_item_size) {
  const Bytes bytes = bytes_of(one, item_size);
  const Bytes other_bytes = bytes_of(other, other_item_size);
  if (!bytes.overlaps(other_bytes) || one.shape.count() == 0 || other.shape.count() == 0) {
    return false;
  }
  // The distance of two bytes is a sum of strides: from the first byte of `one` upwards, and from the last byte of
  // `other` downwards. The bytes are the same if the distance is that of the first byte and the last one.
  Sums distances;
  for (const View* view : {&one, &other}) {
    for (int axis = 0; axis < view->shape.nd; ++axis) {
      if (view->shape.dims[axis] > 1 && view->strides[axis] != 0) {
        distances.add(std::abs(view->strides[axis]), view->shape.dims[axis] - 1);
      }
    }
  }
  distances.add(1, item_size + other_item_size - 2);
  return distances.reach(other_bytes.last - 1 - bytes.first);
}

bool is_injective(const View& view, Extent item_size) {
  for (int i = 0; i < view.shape.nd; ++i) {
    if (view.shape.dims[i] < 2) {
      continue;
    }
    const Extent stride = std::abs(view.strides[i]);
    Extent inside = item_size;  // bytes that the inner axes span
    for (int j = 0; j < view.shape.nd; ++j) {
      const Extent other = std::abs(view.strides[j]);
      if (j != i && other <= stride) {
        inside += (view.shape.dims[j] - 1) * other;
      }
    }
    if (stride < inside) {
      return false;
    }
  }
  return true;
}

Walk::Walk(const Shape& space, const Strides& leading, std::span<Strides* const> arrays,
           std::span<Starts* const> rolled) {
  const Strides* only = &leading;
  const auto order = axis_order({&only, 1}, space);
  nd_ = 0;
  // By axis of the walk: the innermost axis of the space that is merged into it.
  std::array<int, kMaxFusionDims> inner{};
  for (int i = 0; i < space.nd; ++i) {
    const int axis = order[i];
    if (space.dims[axis] == 1) {
      continue;
    }
    // Whole rows may be rolled along an outer axis of what is merged, but no row in itself.
    const bool can_merge =
        nd_ > 0 &&
        std::ranges::all_of(
            arrays,
            [&](const Strides* strides) { return (*strides)[axis] == (*strides)[inner[nd_ - 1]] * dims_[nd_ - 1]; }) &&
        std::ranges::all_of(rolled, [&](const Starts* starts) { return (*starts)[inner[nd_ - 1]] == 0; });
    if (can_merge) {
      for (Starts* starts : rolled) {
        (*starts)[inner[nd_ - 1]] = (*starts)[axis] * dims_[nd_ - 1];
      }
      dims_[nd_ - 1] *= space.dims[axis];
    } else {
      inner[nd_] = axis;
      dims_[nd_++] = space.dims[axis];
    }
  }
  const auto merge = [&](std::array<Extent, kMaxFusionDims>* all) {
    std::array<Extent, kMaxFusionDims> merged{};
    for (int i = 0; i < nd_; ++i) {
      merged[i] = (*all)[inner[i]];
    }
    *all = merged;
  };
  std::ranges::for_each(arrays, merge);
  std::ranges::for_each(rolled, merge);
  if (nd_ == 0) {
    nd_ = 1;
    dims_[0] = 1;
  }
}

bool Walk::is_row(const Strides& strides) const {
  for (int i = 1; i < nd_; ++i) {
    if (strides[i] != strides[i - 1] * dims_[i - 1]) {
      return false;
    }
  }
  return true;
}

bool Walk::repeats(const Strides& strides) const {
  return nd_ > 1 && std::all_of(strides.begin() + 1, strides.begin() + nd_, [](Extent stride) { return stride == 0; });
}

void Walk::advance(Extent count) {
  at_[0] += count;
  for (int i = 0; i + 1 < nd_ && at_[i] >= dims_[i]; ++i) {
    at_[i + 1] += at_[i] / dims_[i];
    at_[i] %= dims_[i];
  }
}

char* Walk::place(char* data, const Strides& strides) const {
  for (int i = 0; i < nd_; ++i) {
    data += at_[i] * strides[i];
  }
  return data;
}

char* Walk::place(char* data, const Strides& strides, const Starts& starts) const {
  for (int i = 0; i < nd_; ++i) {
    data += wrapped(starts, i) * strides[i];
  }
  return data;
}

// Calls copy(offset in the array, elements of a row, rows, bytes from one row to the next) for whole rows and for
// pieces of rows.
template <class Copy>
void Walk::rows(Extent offset, const Strides& strides, Extent count, Copy copy) const {
  std::array<Extent, kMaxFusionDims> at = at_;
  for (int i = 0; i < nd_; ++i) {
    offset += at[i] * strides[i];
  }
  while (count > 0) {
    if (nd_ > 1 && at[0] == 0 && count >= dims_[0]) {
      const Extent number = std::min(count / dims_[0], dims_[1] - at[1]);
      copy(offset, dims_[0], number, strides[1]);
      count -= number * dims_[0];
      offset += number * strides[1];
      at[1] += number;
    } else {
      const Extent piece = std::min(count, dims_[0] - at[0]);
      copy(offset, piece, Extent{1}, Extent{0});
      count -= piece;
      offset += piece * strides[0];
      at[0] += piece;
    }
    for (int i = 0; i + 1 < nd_; ++i) {
      if (at[i] == dims_[i]) {
        offset += strides[i + 1] - (dims_[i] * strides[i]);
        at[i] = 0;
        ++at[i + 1];
      }
    }
  }
}

void Walk::gather(const char* data, const Strides& strides, std::size_t item_size, Extent count, char* block) const {
  const auto item = static_cast<Extent>(item_size);
  rows(0, strides, count, [&](Extent offset, Extent piece, Extent number, Extent /*step*/) {
    if (number > 1) {
      gather_rows(data + offset, strides, item_size, number, block);
    } else {
      copy_row(data + offset, strides[0], block, item, item_size, piece);
    }
    block += number * piece * item;
  });
}

// Copies whole rows that have the same distance from each other.
void Walk::gather_rows(const char* from, const Strides& strides, std::size_t item_size, Extent rows,
                       char* block) const {
  const auto item = static_cast<Extent>(item_size);
  const Extent bytes = dims_[0] * item;         // of a row in the block
  if (strides[0] == item && strides[1] == 0) {  // a repeated row
    auto done = static_cast<std::size_t>(bytes);
    const auto all = static_cast<std::size_t>(rows * bytes);
    std::memcpy(block, from, done);
    for (; done < all; done *= 2) {
      std::memcpy(block + done, block, std::min(done, all - done));
    }
    return;
  }
  if (strides[0] == item && strides[1] == bytes) {
    std::memcpy(block, from, static_cast<std::size_t>(rows * bytes));
    return;
  }
  if (strides[0] == 0 && broadcast(from, strides[1], item_size, dims_[0], rows, block)) {
    return;
  }
  copy_rows(from, {strides[0], strides[1]}, block, {item, bytes}, item_size, dims_[0], rows);
}

void Walk::gather_rolled(char* data, const Strides& strides, const Starts& starts, std::size_t item_size, Extent count,
                         char* block) const {
  const auto item = static_cast<Extent>(item_size);
  for (Walk walk = *this; count > 0;) {
    const Extent piece = std::min({count, walk.left_in_row(), walk.left_before_wrap(starts, 0)});
    copy_row(walk.place(data, strides, starts), strides[0], block, item, item_size, piece);
    block += piece * item;
    count -= piece;
    walk.advance(piece);
  }
}

void Walk::scatter(char* data, const Strides& strides, std::size_t item_size, Extent count, const char* block) const {
  const auto item = static_cast<Extent>(item_size);
  rows(0, strides, count, [&](Extent offset, Extent piece, Extent number, Extent step) {
    copy_rows(block, {item, piece * item}, data + offset, {strides[0], step}, item_size, piece, number);
    block += number * piece * item;
  });
}

}  // namespace tagalong::array
