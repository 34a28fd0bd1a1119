// Goes through the elements of a run, or of a part of it, block by block. The order is chosen once: blocks one after
// another, as pairwise summation splits all elements, or whole rows.
#pragma once

#include "replay/arrays/fusion/blocks.h"

namespace tagalong::array {

class Traversal {
 public:
  // `space`: null where all arrays are one row of memory in the same order. The operands, the results and the
  // reductions along axes are bound.
  Traversal(const FusionPlan& plan, RunState* state, Space* space);

  // Computes all elements. False: as BlockComputation::compute().
  [[nodiscard]] bool compute();
  // As compute(), for sums; add_pieces() adds the pieces.
  [[nodiscard]] bool compute_pieces(Pieces* pieces);
  void add_pieces(const Pieces& pieces);

 private:
  enum class Order : std::uint8_t { kBlocks, kTree, kRows };
  struct RowSpan {
    Extent rows, row;  // `rows` rows of `row` elements
  };
  bool compute_blocks();
  bool compute_next(Extent count);
  void gather(Extent count);
  void scatter(Extent count);
  [[nodiscard]] Extent tree_block() const;
  bool compute_tree(Extent count, Accumulator* sums);
  bool compute_rows();
  bool compute_row(Extent count, Accumulator* sums);
  bool compute_long_row(Extent row);

  // short_rows.cpp
  [[nodiscard]] bool has_row_spans() const;
  [[nodiscard]] RowSpan row_span(Extent left) const;
  bool compute_row_span(const RowSpan& row_span);

  // argmin_rows.cpp
  Extent compute_argmins();

  const FusionPlan& plan_;
  RunState& state_;
  Space* space_;
  BlockComputation block_;
  Order order_;
  bool checks_nans_;  // whether NaNs in results would show how the elements are split
};

}  // namespace tagalong::array
