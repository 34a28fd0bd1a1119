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

bool Loops::is_in_trace_tree() const {
  return place_ == DecodedCode::Place::kHeader || place_ == DecodedCode::Place::kExit ||
         (place_ == DecodedCode::Place::kCall && frames_.front().code->decoded->is_joined &&
          !frames_.front().code->decoded->is_generator);
}

void Loops::forget_loop(int target) {
  std::erase_if(open_loops_,
                [this, target](const OpenLoop& loop) { return loop.frame == top().number && loop.target == target; });
}

// The values of the frame's slots in order, the stack behind the locals; `places` gets the slots.
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

// Which slots have a value. This must be equal at each jump back.
std::vector<bool> Loops::slot_shape() {
  std::vector<bool> shape;
  for (const Values* slots : {&top().locals, &top().stack}) {
    for (const Value value : *slots) {
      shape.push_back(value != kNoValue && !abstract(value).is_null);
    }
  }
  return shape;
}

// Records a jump back to `target`. True: this has ended the trace.
bool Loops::record_jump_back(int target) {
  const bool is_jump = instruction_at(current_).opcode == op::kJUMP_BACKWARD;
  if (instruction_at(current_).opcode == op::kJUMP_BACKWARD_NO_INTERRUPT) {
    return false;
  }
  flush_drops();
  if (frames_.size() == 1 && header_ != target && is_in_trace_tree() && link(target)) {
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

// A trace of a trace tree does not record the rounds of other loops: it ends with a link to their executors. False: no
// executor can be attached there.
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
    const bool has_fixed_type = type != nullptr && PyType_HasFeature(type, Py_TPFLAGS_IMMUTABLETYPE) != 0 &&
                                PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) == 0 && !known.is_big;
    abstract(parameter).seen = known.seen;
    abstract(parameter).is_big = known.is_big;
    abstract(parameter).assumed = has_fixed_type ? type : nullptr;
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

// Determines which parameters must have their assumed types: those that the body relies on, and those that follow from
// these. False: a round changes a type.
bool Loops::resolve_types(const OpenLoop& loop, const Values& next) {
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
        // Numbers that a round does not change stay unboxed from trace to trace.
        if (header_ == loop.target && loop.frame == 0 && letter_of(assumed) != 'o') {
          abstract(parameter).exact = assumed;
        }
        continue;
      }
      if (abstract(parameter).exact == nullptr) {
        // Even if the body does not need the number's type, a number is cheaper unboxed.
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

// If the body relies on a parameter's type, the parameter's initial value must have that type. The initial value may
// itself be the parameter of an earlier loop, which then is relied on as well.
void Loops::propagate_assumptions(std::size_t from) {
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

// A trace that begins with a loop node but does not jump back to it also takes its numbers unboxed. If the call returns
// at the end of the trace, no other trace gets these numbers; so the types that the trace does not rely on are left
// open.
void Loops::resolve_entry_types() {
  if (!is_in_trace_tree() || loops_.empty() || graph_.nodes.back().op == Op::jump_back) {
    return;
  }
  propagate_assumptions(0);
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

// Puts the guards for the types that loops rely on in front of each loop. They are known only at the end of the trace.
void Loops::guard_loops() {
  propagate_assumptions(0);
  for (std::size_t place = loops_.size(); place-- > 0;) {
    const OpenLoop& loop = loops_[place];
    std::ptrdiff_t guards = 0;
    for (std::size_t index = 0; index < loop.initial.size(); ++index) {
      PyTypeObject* exact = abstract(loop.first + static_cast<Value>(index)).exact;
      // `exact` may come from a guard behind the loop, so it does not prove that the type is guarded in front. The
      // parameter of an earlier loop has been guarded in front of that loop.
      const AbstractValue& initial = abstract(loop.initial[index]);
      const bool is_guarded = initial.exact == exact && initial.assumed == exact;
      if (exact != nullptr && loop.known[index] != exact && !is_guarded) {
        emit(Op::guard_type, {loop.initial[index]}, loop.header, 0, Ref::create(reinterpret_cast<PyObject*>(exact)));
        graph_.nodes.back().line = graph_.nodes[loop.node].line;
        ++guards;
      }
    }
    // If a guard fails behind a take_stack, the run has to put the values back on the frame's stack. So the guards are
    // put in front of it.
    const auto node = graph_.nodes.begin() + static_cast<std::ptrdiff_t>(loop.guards);
    std::rotate(node, graph_.nodes.end() - guards, graph_.nodes.end());
  }
}

bool Loops::close_loop(const OpenLoop& loop, SnapshotId here) {
  std::vector<Value*> places;
  const Values next = carried_values(&places);
  propagate_assumptions(static_cast<std::size_t>(loop.number));
  if (!resolve_types(loop, next)) {
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
