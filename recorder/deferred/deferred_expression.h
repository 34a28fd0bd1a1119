// Deferred operations of large arrays, computed together as few fusion groups: `a * b + c` at its addition, or later.
// They are kept in program order and use each other's results. Where a fusion group is not exact, or has something to
// report, its operations are done one by one, and the frame shows for each the instruction of that operation. An
// operation that cannot be fused separates two fusion groups. deferred_arrays.h says which results are deferred, and
// until when.
#pragma once

#include <Python.h>

#include <boost/container/static_vector.hpp>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "recorder/deferred/operations.h"
#include "replay/arrays/simd/tally.h"
#include "rewriter/base/ref.h"

namespace tagalong::recorder {

class Expression {
 public:
  static constexpr std::size_t kMost = 96;         // operations in one expression
  static constexpr std::size_t kMostOperands = 3;  // of one operation

  struct Operand {
    Ref object;     // an array or number; empty: the operand is a result
    int node = -1;  // the operation whose result the operand is, or -1
    // The interpreter had the only reference, as in eager execution, so the memory may be reused.
    bool is_anonymous = false;
  };
  using Operands = boost::container::static_vector<Operand, kMostOperands>;

  Expression();
  Expression(const Expression&) = delete;
  Expression& operator=(const Expression&) = delete;
  ~Expression();

  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  // `unit`: the frame's instruction at this operation.
  void add(ArrayOperator op, Operands operands, int unit);

  // The dtype of this operation's result, an array; negative: that is not known.
  int type_of(std::size_t node);

  // Computes the whole expression as one fusion group; only the results in `seen` are made. Unless it returns kDone,
  // nothing has happened.
  enum class Fused : std::uint8_t { kDone, kNotOneGroup, kFailed };
  Fused compute_fused(std::span<const std::size_t> seen, std::vector<Ref>* results);
  // Computes the last operation's result straight into an array, or a part of one; no other result is seen. False:
  // nothing has happened.
  [[nodiscard]] bool store(PyObject* target);
  // Computes the whole expression for the current frame, with as few fusion groups as possible if `tries_groups`.
  // `reach` is called in front of each operation that is done alone; earlier operations then have their results, as far
  // as they are in `visible` or used later. False: an exception is set, and the frame is at the instruction that raised
  // it.
  struct Steps {
    std::span<const std::size_t> visible;
    std::function<void(std::size_t node)> reach;
    std::function<bool(std::size_t node)> is_needed;  // whether the result will be seen
    bool tries_groups = true;
  };
  bool compute(const Steps& steps, std::vector<Ref>* results);

  // Whether an operation has raised after the interpreter had gone on to later instructions; clears that state.
  static bool has_raised_late();
  // As has_raised_late(), but keeps the state. While it is true the frame shows the instruction of the operation that
  // raised.
  [[nodiscard]] static bool is_raising_late();

 private:
  struct Node {
    ArrayOperator op;
    Operands operands;
    int unit;
  };
  struct Range {
    std::size_t begin;
    std::size_t end;
  };

  // The number of the operation's result in a fusion group; negative: the operation cannot be fused.
  struct Building;
  int build_node(std::size_t number, const std::vector<Ref>& before, Building* building) const;
  // Adds operations up to `end`, as many as one fusion group may have.
  void extend_group(std::size_t end, const std::vector<Ref>& before, Building* building) const;
  [[nodiscard]] std::unique_ptr<Building> build_group(Range range, const std::vector<Ref>& before) const;
  // Takes the fusion group of all operations; it may be run once only.
  [[nodiscard]] std::unique_ptr<Building> take_whole_group();
  // Which results of the range are seen, or used by later operations.
  [[nodiscard]] std::vector<std::size_t> needed(Range range, std::span<const std::size_t> seen) const;
  bool run_group(Building* building, std::span<const std::size_t> outputs, std::vector<Ref>* results) const;
  // Shortens the range where that many operations have too many results.
  bool run_longest_group(Range* range, const Steps& steps, std::vector<Ref>* results) const;
  bool run_alone(std::size_t number, std::vector<Ref>* results);
  // Drops results that are not used any more.
  void drop_unused(std::size_t number, const Steps& steps, std::vector<Ref>* results) const;

  std::vector<Node> nodes_;
  std::unique_ptr<Building> whole_group_;  // the fusion group of all operations, as far as it has been built
};

// Expressions of several operations: computed as one fusion group, or one by one.
extern array::LoopTally expression_tally;

}  // namespace tagalong::recorder
