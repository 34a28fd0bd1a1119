// The operands of a call, by its form (CallForm): the guards that the call reaches this function, and the arguments in
// order. A table in operand_forms.cpp has a row for each form.
#pragma once

#include "recorder/inlining/call_forms.h"

namespace tagalong::recorder {

class OperandForms : public CallForms {
 protected:
  using CallForms::CallForms;

  // The arguments, in order. Plain calls take the operands off the caller's stack; if C code is in between, they stay
  // there until it returns (FrameInfo::pops).
  Values take_operands(ShadowFrame& callee, const CallTarget& target, SnapshotId here);

 private:
  struct Call {
    ShadowFrame& callee;
    const CallTarget& target;
    SnapshotId here;
    Values operands;        // from the bottom
    PyObject* const* live;  // the same objects on the real stack
    Values arguments;       // the operands behind the first two
  };
  struct FormRow;
  static const FormRow kFormRows[];

  // --- calls
  Values take_function(Call& call);
  Values take_method_pair(Call& call);
  Values take_bound_method(Call& call);
  Values take_bound_first(Call& call);
  Values take_class(Call& call);
  Values take_callable(Call& call);
  Values take_partial(Call& call);
  Values take_spread(Call& call);
  Values take_builtin(Call& call);
  // --- calls that other instructions imply
  Values take_accessor(Call& call);
  Values take_hook(Call& call);
  Values take_descriptor(Call& call);
  Values take_special(Call& call);
  Values take_enter(Call& call);
  Values take_exit(Call& call);
  Values take_next(Call& call);

  // --- parts of a form
  // The callee is a constant that its type's version vouches for; its code is guarded.
  void take_constant_function(Call& call);
  // The callee is a value of the graph.
  void take_called_function(Call& call, Value function);
  // The callee is the function of a bound method; returns its `self`.
  Value take_method(Call& call, Value method);
  // A new object of the class that is called.
  Value make_instance(Call& call);
  // The object that is called, for `__call__` of its class.
  Value take_called_object(Call& call);
  // The arguments that a mapping gives.
  Values spread_keywords(const Call& call, Value keywords);
  Value member_of(const Call& call, Value object, const char* name);
  void guard_version(const Call& call, Value value, PyTypeObject* type);
  void guard_member(const Call& call, Value object, const char* name, PyObject* expected);
  // LOAD_METHOD has two results, NULL and the value: the NULL goes below the owner.
  void put_null_below_owner();
};

}  // namespace tagalong::recorder
