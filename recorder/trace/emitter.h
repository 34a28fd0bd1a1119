// The graph under construction: nodes, values, constants, and what is known of each value. It knows no frames. The
// lowest layer of a session (recorder/README.md).
//
//   const Value sum = add(Op::binary_op, {left, right}, here, NB_ADD, {}, line);
//   note(sum, object);   // what the program has got there: a hint about its type
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "recorder/trace/abstract_value.h"
#include "recorder/trace/graph_objects.h"
#include "recorder/trace/recorded.h"
#include "replay/ir/graph.h"
#include "rewriter/code.h"

namespace tagalong::recorder {

using replay::Op;
using replay::SnapshotId;
using replay::Value;
using replay::Values;

// A row of values that the caller owns, to be copied at once.
class ValueView {
 public:
  ValueView() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): values in either form are given as they are.
  ValueView(const Values& values) : begin_(values.data()), end_(begin_ + values.size()) {}
  ValueView(std::initializer_list<Value> values) : ValueView(values.begin(), values.end()) {}
  ValueView(const Value* begin, const Value* end) : begin_(begin), end_(end) {}
  [[nodiscard]] const Value* begin() const { return begin_; }
  [[nodiscard]] const Value* end() const { return end_; }

 private:
  const Value* begin_ = nullptr;
  const Value* end_ = nullptr;
};

// Makes `values`, which is empty, a copy of `with`; most have few values.
inline void fill(Values& values, ValueView with) {
  values.resize(static_cast<std::size_t>(with.end() - with.begin()), boost::container::default_init);
  std::ranges::copy(with, values.data());
}

class Emitter {
 public:
  Emitter(const Emitter&) = delete;
  Emitter& operator=(const Emitter&) = delete;

 protected:
  explicit Emitter(const Limits& limits) : limits_(limits) {}
  virtual ~Emitter() = default;

  // `line` is the source line of the instruction under way.
  Value add(Op op, ValueView operands, SnapshotId here, std::int64_t immediate, Ref object, int line);
  // Of an object that the graph does not have yet, and of NULL.
  Value add_constant(PyObject* object, int line);
  Value add_null(int line);
  // From here on the graph alone holds what the root frame's stack held at entry.
  void take_root_stack(int line);

  AbstractValue& abstract(Value value) { return abstract_values_[static_cast<std::size_t>(value)]; }
  [[nodiscard]] const AbstractValue& abstract(Value value) const {
    return abstract_values_[static_cast<std::size_t>(value)];
  }
  void note(Value value, PyObject* object);
  [[nodiscard]] bool is_result_of(Value value, Op op) const;

  Limits limits_;
  replay::Reached reached_{};
  replay::Graph graph_;
  std::vector<replay::CodeShapeRef> shapes_;  // of graph_.frames
  std::vector<AbstractValue> abstract_values_;
  GraphObjects objects_;
  DecodedCode::Place place_ = DecodedCode::Place::kCall;  // where the trace starts
  int root_stack_ = 0;                                    // values on the root frame's stack that no node has taken yet
  bool entry_open_ = true;                                // nothing visible has been recorded yet
  bool others_ran_ = false;                               // since the last guard_unwatched
  bool has_raised_ = false;                               // the rule that runs is of an instruction that gave no result
};

}  // namespace tagalong::recorder
