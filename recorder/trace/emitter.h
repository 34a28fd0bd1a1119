// The graph under construction: nodes, values, constants, and the abstract values. It does not know frames. The lowest
// layer of a session (recorder/README.md).
//
//   const Value sum = add(Op::binary_op, {left, right}, here, NB_ADD, {}, line);
//   note(sum, object);   // the object that the program got: a hint about the value's type
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

// A view of values that the caller owns; it must be copied at once.
class ValueView {
 public:
  ValueView() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): callers pass values in either form.
  ValueView(const Values& values) : begin_(values.data()), end_(begin_ + values.size()) {}
  ValueView(std::initializer_list<Value> values) : ValueView(values.begin(), values.end()) {}
  ValueView(const Value* begin, const Value* end) : begin_(begin), end_(end) {}
  [[nodiscard]] const Value* begin() const { return begin_; }
  [[nodiscard]] const Value* end() const { return end_; }

 private:
  const Value* begin_ = nullptr;
  const Value* end_ = nullptr;
};

// Makes `values`, which is empty, a copy of `with`.
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

  // `line` is the source line of the current instruction.
  Value add(Op op, ValueView operands, SnapshotId here, std::int64_t immediate, Ref object, int line);
  // For NULL, or an object that the graph does not have yet.
  Value add_constant(PyObject* object, int line);
  Value add_null(int line);
  // Makes the graph the only owner of what the root frame's stack held at entry.
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
  std::vector<replay::CodeShapeRef> shapes_;  // the shapes of graph_.frames
  std::vector<AbstractValue> abstract_values_;
  GraphObjects objects_;
  DecodedCode::Place place_ = DecodedCode::Place::kCall;  // where the trace starts
  int root_stack_ = 0;                // number of values on the root frame's stack that the graph does not own yet
  bool entry_open_ = true;            // whether nothing with an effect has been recorded yet
  bool unrecorded_code_ran_ = false;  // whether unrecorded code has run since the last guard_unwatched
  bool has_raised_ = false;           // whether the current rule is of an instruction that raised
};

}  // namespace tagalong::recorder
