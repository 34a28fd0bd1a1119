// The ways in which an instruction reaches a Python function. Internal to recorder/.
#pragma once

#include "recorder/session.h"
#include "replay/operations.h"

namespace tagalong::recorder {

enum class CallForm : std::uint8_t {
  kNone,         // C code of somebody's calls back: an opaque call
  kFunction,     // CALL (null, function, ...)
  kMethodPair,   // CALL (function, self, ...)
  kBoundMethod,  // CALL (null, bound method, ...)
  kBoundFirst,   // CALL (bound method, ...): __exit__ at the regular end of `with`
  kClass,        // CALL (null, class, ...): __init__
  kCallable,     // CALL (null, object, ...): __call__ of its class
  kPartial,      // CALL (null, functools.partial, ...)
  kSpread,       // CALL_FUNCTION_EX of a function
  kSpreadBound,  // CALL_FUNCTION_EX of a bound method
  kProperty,     // LOAD_ATTR, LOAD_METHOD
  kSetter,       // STORE_ATTR
  kSpecial,      // a special method of the first operand with all operands in order
  kReflected,    // __radd__ and the like of the second operand
  kEnter,        // BEFORE_WITH
  kExit,         // WITH_EXCEPT_START
  kNext,         // FOR_ITER
};

struct Session::CallTarget {
  CallForm form = CallForm::kNone;
  int operands = 0;  // values on the caller's stack that belong to the call
  replay::ReturnKind returns = replay::ReturnKind::kPlain;
  int operation = 0;                  // kOperator
  PyObject* function = nullptr;       // borrowed: the callee
  PyObject* object = nullptr;         // borrowed: class, partial object, property that is guarded
  PyObject* exit_function = nullptr;  // borrowed: kEnter
  std::vector<int> order;             // kSpecial: which operand is which argument, from the bottom of the operands
};

}  // namespace tagalong::recorder
