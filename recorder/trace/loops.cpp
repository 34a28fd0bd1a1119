#include "recorder/trace/loops.h"

#include <algorithm>
#include <string>
#include <utility>

#include "replay/objects/unboxed.h"
#include "rewriter/base/errors.h"

namespace tagalong::recorder {

namespace op = rewriter::op;
using replay::kNoValue;
using replay::letter_of;

bool Loops::is_of_tree() const {
  return place_ == DecodedCode::Place::kHeader || place_ == DecodedCode::Place::kExit ||
         (place_ == DecodedCode::Place::kCall && frames_.front().code->decoded->is_joined &&
          !frames_.front().code->decoded->is_generator);
}

void Loops::forget_loop(int target) {
  std::erase_if(open_loops_,
                [this, target](const OpenLoop& loop) { return loop.frame == top().number && loop.target == target; });
}

// The values of the frame's slots in order, the stack behind the locals; `places` gets where they are.
Values Loops::carried_values(std::vector<Value*>* places) {
  Values values;
  ShadowFrame& frame = top();
  for (Values* slots : {&frame.locals, &frame.stack}) {
    for (Value& value : *slots) {
      if (value != kNoValue && !abstract(value).is_null) {
        values.push_back(value);
        places->push_back(&value);
      }
    }
  }
  return values;
}

// Which slots have a value: the same at each jump back.
std::vector<bool> Loops::slot_shape() {
  std::vector<bool> shape;
  for (const Values* slots : {&top().locals, &top().stack}) {
    for (const Value value : *slots) {
      shape.push_back(value != kNoValue && !abstract(value).is_null);
    }
  }
  return shape;
}

// A jump back to `target`: true if it has ended the trace.
bool Loops::go_round(int target) {
  const bool is_jump = instruction_at(current_).opcode == op::kJUMP_BACKWARD;
  if (instruction_at(current_).opcode == op::kJUMP_BACKWARD_NO_INTERRUPT) {
    return false;
  }
  flush_drops();
  if (frames_.size() == 1 && header_ != target && is_of_tree() && link(target)) {
    return true;
  }
  const auto open = std::ranges::find_if(
      open_loops_, [&](const OpenLoop& loop) { return loop.frame == top().number && loop.target == target; });
  if (open != open_loops_.end()) {
    const OpenLoop loop = std::move(*open);
    open_loops_.erase(open);
    if (loop.shape == slot_shape() && close_loop(loop, snapshot_at(is_jump ? current_ : target, top().stack))) {
      return true;
    }
  }
  const int rounds = top().back_edges[target];
  if (rounds <= limits_.openings) {
    open_loop(target);
    return false;
  }
  if (rounds == limits_.openings + 1) {
    ++times(reached_, replay::Limit::k_openings);
  }
  if (header_ == target && frames_.size() == 1) {
    return link(target);
  }
  return false;
}

// A trace of a tree does not write out the rounds of other loops: it ends where their executors go on. False: none will
// ever be there.
bool Loops::link(int target) {
  const bool is_jump = instruction_at(current_).opcode == op::kJUMP_BACKWARD;
  if (!top().code->decoded->regular[static_cast<std::size_t>(current_)]) {
    return false;
  }
  emit(Op::link, {}, snapshot_at(is_jump ? current_ : target, top().stack));
  leave_recording_code();
  return true;
}

void Loops::open_loop(int target) {
  std::vector<Value*> places;
  OpenLoop loop;
  loop.frame = top().number;
  loop.target = target;
  loop.shape = slot_shape();
  loop.initial = carried_values(&places);
  loop.header = snapshot_at(target, top().stack);
  const auto count = static_cast<std::int64_t>(places.size());
  Ref letters = Ref::steal(PyUnicode_FromString(std::string(places.size(), 'o').c_str()));
  if (!letters) {
    throw PythonError();
  }
  loop.guards = graph_.nodes.size();
  loop.first = emit(Op::loop, loop.initial, loop.header, count, std::move(letters));
  loop.node = graph_.nodes.size() - 1;
  loop.number = static_cast<std::int64_t>(loops_.size()) + 1;
  for (std::size_t index = 0; index < places.size(); ++index) {
    const Value parameter = loop.first + static_cast<Value>(index);
    const Value value = *places[index];
    const AbstractValue known = abstract(value);
    loop.known.push_back(known.exact);
    PyTypeObject* type = known.exact != nullptr ? known.exact : known.seen;
    const bool lasts = type != nullptr && PyType_HasFeature(type, Py_TPFLAGS_IMMUTABLETYPE) != 0 &&
                       PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) == 0 && !known.is_big;
    abstract(parameter).seen = known.seen;
    abstract(parameter).is_big = known.is_big;
    abstract(parameter).assumed = lasts ? type : nullptr;
    if (const auto place = lasti_of_.find(value); place != lasti_of_.end()) {
      lasti_of_.emplace(parameter, place->second);
    }
    hold(parameter);
    *places[index] = parameter;
  }
  state_changed_ = true;
  for (const Value value : loop.initial) {
    release(value);
  }
  flush_drops();
  loops_.push_back(loop);
  open_loops_.push_back(std::move(loop));
}

// Which parameters the body needs to be of their types, and those that follow from them; false: a round changes a type.
bool Loops::settle_types(const OpenLoop& loop, const Values& next) {
  const auto is_parameter = [&](Value value) {
    return value >= loop.first && value < loop.first + static_cast<Value>(loop.initial.size());
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t index = 0; index < next.size(); ++index) {
      const Value parameter = loop.first + static_cast<Value>(index);
      const Value value = next[index];
      PyTypeObject* assumed = abstract(parameter).assumed;
      if (assumed == nullptr) {
        continue;
      }
      if (value == parameter) {
        // Numbers that go through pass from trace to trace without objects.
        if (header_ == loop.target && loop.frame == 0 && letter_of(assumed) != 'o') {
          abstract(parameter).exact = assumed;
        }
        continue;
      }
      if (abstract(parameter).exact == nullptr) {
        // A number that the body does not need as one is still cheaper without an object.
        if (letter_of(assumed) != 'o' && abstract(value).exact == assumed && !abstract(value).is_big) {
          abstract(parameter).exact = assumed;
          changed = true;
        }
        continue;
      }
      if (abstract(value).exact == assumed) {
        continue;
      }
      if (is_parameter(value) && abstract(value).assumed == assumed) {
        abstract(value).exact = assumed;
        changed = true;
      } else if (abstract(value).exact != nullptr || abstract(value).seen != assumed || abstract(value).is_big) {
        return false;
      }
    }
  }
  return true;
}

// What a loop's parameter is relied on to be, the value that it starts with has to be; that may be the parameter of an
// earlier loop, on which it is relied now.
void Loops::pass_on_assumptions(std::size_t from) {
  for (std::size_t place = loops_.size(); place-- > from;) {
    const OpenLoop& loop = loops_[place];
    for (std::size_t index = 0; index < loop.initial.size(); ++index) {
      const AbstractValue known = abstract(loop.first + static_cast<Value>(index));
      AbstractValue& initial = abstract(loop.initial[index]);
      if (known.exact != nullptr && initial.exact == nullptr && initial.assumed == known.exact) {
        initial.exact = known.exact;
      }
    }
  }
}

// A trace that begins with a loop node, but does not come back to it, still takes its numbers as they are. A call that
// is over at the end of the trace passes them on to no other trace: those that nothing relies on may be anything next
// time.
void Loops::settle_entry() {
  if (!is_of_tree() || loops_.empty() || graph_.nodes.back().op == Op::jump_back) {
    return;
  }
  pass_on_assumptions(0);
  const bool is_over = place_ == DecodedCode::Place::kCall && graph_.nodes.back().op == Op::return_value;
  const OpenLoop& entry = loops_.front();
  std::string letters;
  for (std::size_t index = 0; index < entry.initial.size(); ++index) {
    AbstractValue& known = abstract(entry.first + static_cast<Value>(index));
    if (known.exact == nullptr && letter_of(known.assumed) != 'o' && !is_over) {
      known.exact = known.assumed;
    }
    letters.push_back(letter_of(known.exact));
  }
  graph_.nodes[entry.node].object = Ref::steal(PyUnicode_FromString(letters.c_str()));
  if (!graph_.nodes[entry.node].object) {
    throw PythonError();
  }
}

// The guards for what loops rely on, in front of them; known only now.
void Loops::guard_loops() {
  pass_on_assumptions(0);
  for (std::size_t place = loops_.size(); place-- > 0;) {
    const OpenLoop& loop = loops_[place];
    std::ptrdiff_t guards = 0;
    for (std::size_t index = 0; index < loop.initial.size(); ++index) {
      PyTypeObject* exact = abstract(loop.first + static_cast<Value>(index)).exact;
      // What is known by now may have been learned behind the loop, from a guard there. What the
      // parameter of an earlier loop is, has been guarded in front of that.
      const AbstractValue& initial = abstract(loop.initial[index]);
      const bool is_guarded = initial.exact == exact && initial.assumed == exact;
      if (exact != nullptr && loop.known[index] != exact && !is_guarded) {
        emit(Op::guard_type, {loop.initial[index]}, loop.header, 0, Ref::create(reinterpret_cast<PyObject*>(exact)));
        graph_.nodes.back().line = graph_.nodes[loop.node].line;
        ++guards;
      }
    }
    // What a run has taken from the frame's stack it has to put back where a guard fails; so they stand in front of
    // that.
    const auto node = graph_.nodes.begin() + static_cast<std::ptrdiff_t>(loop.guards);
    std::rotate(node, graph_.nodes.end() - guards, graph_.nodes.end());
  }
}

bool Loops::close_loop(const OpenLoop& loop, SnapshotId here) {
  std::vector<Value*> places;
  const Values next = carried_values(&places);
  pass_on_assumptions(static_cast<std::size_t>(loop.number));
  if (!settle_types(loop, next)) {
    return false;
  }
  std::string letters;
  for (std::size_t index = 0; index < next.size(); ++index) {
    PyTypeObject* exact = abstract(loop.first + static_cast<Value>(index)).exact;
    letters.push_back(letter_of(exact));
    if (exact != nullptr && abstract(next[index]).exact != exact) {
      emit(Op::guard_type, {next[index]}, here, 0, Ref::create(reinterpret_cast<PyObject*>(exact)));
      abstract(next[index]).exact = exact;
    }
  }
  graph_.nodes[loop.node].object = Ref::steal(PyUnicode_FromString(letters.c_str()));
  if (!graph_.nodes[loop.node].object) {
    throw PythonError();
  }
  emit(Op::jump_back, next, here, loop.number);
  leave_recording_code();
  return true;
}

}  // namespace tagalong::recorder
