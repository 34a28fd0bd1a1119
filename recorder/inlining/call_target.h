// The ways in which an instruction can call a Python function, and the one that a call has.
#pragma once

#include <Python.h>

#include <cstdint>
#include <vector>

#include "replay/ir/graph.h"
#include "rewriter/base/ref.h"

namespace tagalong::recorder {

enum class CallForm : std::uint8_t {
  kNone,         // unknown C code calls back: an opaque call
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
  kHook,        // __getattr__ and similar methods of the owner's class
  kDescriptor,  // __get__ and similar methods of an object in the owner's class
  kSpecial,     // a special method of an operand, with all operands in order
  kBuiltin,     // CALL (null, len, object) and similar builtins: the builtin's special method
  kEnter,       // BEFORE_WITH
  kExit,        // WITH_EXCEPT_START
  kNext,        // FOR_ITER
};

struct CallTarget {
  CallForm form = CallForm::kNone;
  int operands = 0;  // number of values on the caller's stack that belong to the call
  replay::ReturnKind returns = replay::ReturnKind::kPlain;
  int operation = 0;             // for kOperator
  PyObject* function = nullptr;  // borrowed: the callee
  // Borrowed: a guarded class, partial object or builtin; for kSpecial an additional argument.
  PyObject* object = nullptr;
  PyObject* exit_function = nullptr;  // borrowed; for kEnter
  bool is_fallback = false;  // for kHook: __getattr__, called for attributes that the object and its class do not have
  bool is_guarded = false;   // the guards were emitted where the previous method returned
  Ref keywords;              // names of arguments that come from a mapping
  // For kSpecial: for each argument the number of its operand, counted from the bottom of the operands.
  std::vector<int> order;
};

}  // namespace tagalong::recorder
