// Operations of large arrays that wait for the operation which takes their results: `a * b + c` is computed at its
// addition, as one region. Nobody sees the stack between an operation and the one that takes its result, and what
// stands there only loads names and takes parts of arrays (array_spans.h); so eager execution shows nothing else.
// Where the region is not exact, or has to report something, the operations are done one by one, the frame showing for
// each that the interpreter is there. An operation that is none for regions stands between two of them.
#pragma once

#include <Python.h>

#include <boost/container/static_vector.hpp>
#include <vector>

#include "recorder/array_operations.h"
#include "replay/array/tally.h"
#include "rewriter/interp/ref.h"

namespace tagalong::recorder {

class Expression {
 public:
  static constexpr std::size_t kMost = 24;         // operations that wait together
  static constexpr std::size_t kMostOperands = 3;  // of each

  struct Operand {
    Ref object;     // or
    int node = -1;  // the result of that operation
  };

  using Operands = boost::container::static_vector<Operand, kMostOperands>;

  // All of another expression; what its last operation gives.
  Operand append(Expression other);
  // `unit`: where the frame is.
  void add(ArrayOperator op, Operands operands, int unit);

  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  // Empty with an exception set, the frame being where that was raised. For the current frame. `right`: the right
  // operand of the last operation if somebody else keeps it, whose reference is the one that counts.
  Ref compute(PyObject* right = nullptr);
  // Computes straight into an array, or a part of one. False: nothing has happened.
  [[nodiscard]] bool store(PyObject* target) const;

  // Whether an operation has raised while the interpreter was further on, since that was asked.
  static bool has_raised_late();

 private:
  struct Node {
    ArrayOperator op;
    Operands operands;
    int unit;
  };

  // Empty: nothing has happened; `refused`, if there is such, is the first operation that is none for regions. With a
  // target: that.
  [[nodiscard]] Ref run_as_region(PyObject* right, PyObject* target, std::size_t* refused) const;
  // The number of its result in a region; negative: it is none for regions.
  struct Building;
  static int build_node(const Node& node, PyObject* right, Building* building);
  Ref run_one_by_one(PyObject* right);
  // So many of the first operations; their results become operands of the others. False: an exception is set.
  bool compute_first(std::size_t count);

  std::vector<Node> nodes_;
};

extern array::LoopTally expression_tally;  // of several operations: computed as one, or one by one

}  // namespace tagalong::recorder
