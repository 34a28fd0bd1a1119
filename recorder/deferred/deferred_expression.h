// Operations of large arrays that wait to be computed together: `a * b + c` at its addition, or later still, as one
// fusion group. They stand in the order of the program, and take each other's results. Where a fusion group is not
// exact, or has something to report, its operations are done one by one, the frame showing for each that the
// interpreter is there. An operation that is none for fusion groups stands between two of them. Who waits, and for
// what: deferred_arrays.h.
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
  static constexpr std::size_t kMost = 96;         // operations that wait together
  static constexpr std::size_t kMostOperands = 3;  // of each

  struct Operand {
    Ref object;     // or
    int node = -1;  // the result of that operation
    // The interpreter had the only reference, as in eager execution: nobody else looks at its memory.
    bool is_anonymous = false;
  };
  using Operands = boost::container::static_vector<Operand, kMostOperands>;

  Expression();
  Expression(const Expression&) = delete;
  Expression& operator=(const Expression&) = delete;
  ~Expression();

  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  // `unit`: where the frame is.
  void add(ArrayOperator op, Operands operands, int unit);

  // The dtype of this operation's result, which is an array; negative: that is not known.
  int type_of(std::size_t node);

  // Computes all of it as one fusion group, of which only these results are seen. Unless it is done nothing has
  // happened.
  enum class AtOnce : std::uint8_t { kDone, kNotOneGroup, kFailed };
  AtOnce compute_at_once(std::span<const std::size_t> seen, std::vector<Ref>* results);
  // The last operation's result straight into an array, or a part of one; no other is seen. False: nothing has
  // happened.
  [[nodiscard]] bool store(PyObject* target);
  // Computes all of it for the current frame, by as few fusion groups as possible if they are tried. `reach` is called
  // in front of each operation that is done alone, once those before it have their results, as far as somebody sees
  // them then or later (`shown`). False: an exception is set, the frame being where that was raised.
  struct Steps {
    std::span<const std::size_t> shown;
    std::function<void(std::size_t node)> reach;
    std::function<bool(std::size_t node)> is_awaited;  // by somebody who will see it
    bool tries_groups = true;
  };
  bool compute(const Steps& steps, std::vector<Ref>* results);

  // Whether an operation has raised while the interpreter was further on, since that was asked.
  static bool has_raised_late();
  // The same, without asking: the interpreter names the instruction of that operation meanwhile.
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

  // The number of its result in a fusion group; negative: it is none for fusion groups.
  struct Building;
  int build_node(std::size_t number, const std::vector<Ref>& before, Building* building) const;
  // As many operations from there on as one fusion group may have; or more of them, if there are more now.
  void build_more(std::size_t end, const std::vector<Ref>& before, Building* building) const;
  [[nodiscard]] std::unique_ptr<Building> build_group(Range range, const std::vector<Ref>& before) const;
  // Of all, not to be used a second time.
  [[nodiscard]] std::unique_ptr<Building> take_whole();
  // Which of their results are seen, or taken by those behind.
  [[nodiscard]] std::vector<std::size_t> needed(Range range, std::span<const std::size_t> seen) const;
  static bool run_group(Building* building, std::span<const std::size_t> outputs, std::vector<Ref>* results);
  // With fewer operations if that many have too many results.
  bool run_most(Range* range, const Steps& steps, std::vector<Ref>* results) const;
  bool run_alone(std::size_t number, std::vector<Ref>* results);
  // Results that are of no use any more.
  void give_up(std::size_t number, const Steps& steps, std::vector<Ref>* results) const;

  std::vector<Node> nodes_;
  std::unique_ptr<Building> whole_;  // as far as somebody has asked
};

extern array::LoopTally expression_tally;  // of several operations: computed as one, or one by one

}  // namespace tagalong::recorder
