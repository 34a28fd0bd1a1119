// Which kind of call is this? The instruction being executed and the frame that starts give the form of the call: a
// plain call, a method, a property, an operator's special method, ... If no form fits, the call is opaque.
//
//   note_callee(callable);                             // in front of the call
//   const CallTarget target = find_target(instruction, callee);
//   if (target.form == CallForm::kNone) ...            // opaque
#pragma once

#include "recorder/inlining/call_returns.h"
#include "recorder/inlining/call_target.h"

namespace tagalong::recorder {

class CallForms : public CallReturns {
 protected:
  using CallReturns::CallReturns;

  // When a call has ended with an exception or a result, its operands may be dead while a finaliser starts. So
  // find_target() compares addresses, and looks into an operand only if the callee shows that it is alive. A method or
  // partial is not visible in the callee: the function that it calls is noted before the call.
  void note_callee(PyObject* callable);
  CallTarget find_target(int instruction, cpython::Frame* callee);
  // Whether a Python function that starts now may have been called by the instruction, which has been partly executed.
  [[nodiscard]] bool may_call(int instruction) const;

  // Notes a class that a class statement in this trace has made: the next run makes another class.
  void note_made_class(PyObject* type) { made_classes_.push_back(type); }
  // Whether the call depends on a class that this trace has made.
  [[nodiscard]] bool depends_on_made_class(const CallTarget& target, cpython::Frame* callee) const;

 private:
  void find_call(CallTarget& target, PyObject* const* operands, cpython::Frame* callee) const;
  void find_spread(CallTarget& target, PyObject* const* operands, cpython::Frame* callee) const;
  void find_special(CallTarget& target, PyObject* const* end, cpython::Frame* callee) const;
  // Operations that classes overload (overloads.cpp).
  void find_operator(CallTarget& target, PyObject* const* end, PyObject* self) const;
  void find_truth(CallTarget& target, PyObject* operand, PyObject* self) const;
  void find_format(CallTarget& target, PyObject* const* end, PyObject* self) const;
  void find_builtin(CallTarget& target, PyObject* callable, PyObject* self) const;
  void find_attribute(CallTarget& target, PyObject* const* end, cpython::Frame* callee) const;
  // Whether a call in this trace gave the value: then the next run gets another object.
  [[nodiscard]] bool is_made_here(Value value) const;

  std::vector<PyObject*> made_classes_;  // for comparing addresses only
};

}  // namespace tagalong::recorder
