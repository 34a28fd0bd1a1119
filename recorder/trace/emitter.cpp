#include "recorder/trace/emitter.h"

#include <algorithm>
#include <utility>

namespace tagalong::recorder {

using replay::kNoSnapshot;
using replay::kNoValue;

Value Emitter::add(Op op, ValueView operands, SnapshotId here, std::int64_t immediate, Ref object, int line) {
  const replay::OpInfo& row = replay::info(op);
  if (!row.is_invisible() && op != Op::drop && op != Op::leave_frame) {
    take_root_stack(line);
    entry_open_ = false;
  } else if (row.may_raise() && root_stack_ != 0 && place_ != DecodedCode::Place::kYield) {
    take_root_stack(line);  // if the node raises, the stack belongs to the graph
  }
  if (object && (row.is_guard() || op == Op::constant)) {
    object = objects_.watched_object(op, std::move(object));
  }
  // Like Graph::add(), but without copying the operands around, because this runs for every instruction.
  replay::Node& node = graph_.nodes.emplace_back();
  node.op = op;
  node.immediate = immediate;
  node.object = std::move(object);
  fill(node.operands, operands);
  node.snapshot = here;
  node.line = line;
  unrecorded_code_ran_ = unrecorded_code_ran_ || op == Op::call || op == Op::call_ex;
  node.result_count = row.results == replay::kVariadic ? static_cast<std::int32_t>(immediate) : row.results;
  if (node.result_count == 0) {
    return kNoValue;
  }
  node.first_result = graph_.value_count;
  graph_.value_count += node.result_count;
  for (std::int32_t result = 0; result < node.result_count; ++result) {
    abstract_values_.emplace_back();
  }
  return node.first_result;
}

void Emitter::take_root_stack(int line) {
  if (root_stack_ != 0) {
    const int depth = std::exchange(root_stack_, 0);
    add(Op::take_stack, {}, kNoSnapshot, depth, {}, line);
  }
}

Value Emitter::add_constant(PyObject* object, int line) {
  const Value value = add(Op::constant, {}, kNoSnapshot, 0, Ref::create(object), line);
  abstract(value).counted = false;
  note(value, object);
  abstract(value).exact = Py_TYPE(object);
  objects_.add_constant(object, value);
  return value;
}

Value Emitter::add_null(int line) {
  const Value value = add(Op::null, {}, kNoSnapshot, 0, {}, line);
  abstract(value).counted = false;
  abstract(value).is_null = true;
  objects_.add_constant(nullptr, value);
  return value;
}

void Emitter::note(Value value, PyObject* object) {
  if (has_raised_) {
    return;  // NULL
  }
  AbstractValue& known = abstract(value);
  known.is_null = object == nullptr;
  if (object != nullptr) {
    known.seen = Py_TYPE(object);
    if (limits_.loops != 0 && PyLong_CheckExact(object)) {
      int overflow = 0;
      static_cast<void>(PyLong_AsLongLongAndOverflow(object, &overflow));
      known.is_big = overflow != 0;
    }
  }
}

bool Emitter::is_result_of(Value value, Op op) const {
  return std::ranges::any_of(graph_.nodes, [value, op](const replay::Node& node) {
    return node.first_result == value && node.result_count == 1 && node.op == op;
  });
}

}  // namespace tagalong::recorder
