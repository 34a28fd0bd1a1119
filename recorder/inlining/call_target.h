// The forms in which an instruction reaches a Python function, and which one a call has.
#pragma once

#include <Python.h>

#include <cstdint>
#include <vector>

#include "replay/ir/graph.h"
#include "rewriter/base/ref.h"

namespace tagalong::recorder {

enum class CallForm : std::uint8_t {
  kNone,         // other C code calls back: an opaque call
  kFunction,     // CALL (null, function, ...)
  kMethodPair,   // CALL (function, self, ...)
  kBoundMethod,  // CALL (null, bound method, ...)
  kBoundFirst,   // CALL (bound method, ...): __exit__ at the regular end of `with`
  kClass,        // CALL (null, class, ...): __init__
  kCallable,     // CALL (null, object, ...): __call__ of its class
  kPartial,      // CALL (null, functools.partial, ...)
  kSpread,       // CALL_FUNCTION_EX of a function
  kSpreadBound,  // CALL_FUNCTION_EX of a bound method
  kSpreadClass,
  kSpreadCallable,
  kProperty,    // LOAD_ATTR, LOAD_METHOD
  kSetter,      // STORE_ATTR, DELETE_ATTR
  kHook,        // __getattr__ and the like, of the owner's class
  kDescriptor,  // __get__ and the like, of what lies in the owner's class
  kSpecial,     // a special method of an operand with all operands in order
  kBuiltin,     // CALL (null, len, object) and the like: its special method
  kEnter,       // BEFORE_WITH
  kExit,        // WITH_EXCEPT_START
  kNext,        // FOR_ITER
};

struct CallTarget {
  CallForm form = CallForm::kNone;
  int operands = 0;  // values on the caller's stack that belong to the call
  replay::ReturnKind returns = replay::ReturnKind::kPlain;
  int operation = 0;             // kOperator
  PyObject* function = nullptr;  // borrowed: the callee
  PyObject* object = nullptr;  // borrowed: class, partial object, builtin that is guarded; kSpecial: one more argument
  PyObject* exit_function = nullptr;  // borrowed: kEnter
  bool is_fallback = false;           // kHook: __getattr__, for what the object and its class do not have
  bool is_guarded = false;            // the guards stand where the method before it has returned
  Ref keywords;                       // names that a mapping gives
  std::vector<int> order;             // kSpecial: which operand is which argument, from the bottom of the operands
};

}  // namespace tagalong::recorder
