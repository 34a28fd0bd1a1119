// Function objects: giving one other code without a word to anybody, and letting the collector see what a function owns
// through its code, which is an object that the collector does not look into.
#pragma once

#include "rewriter/base/ref.h"
#include "rewriter/cpython/frames.h"

namespace tagalong::cpython {

// As `function.__code__ = code`, without the audit event: for code that programs are shown as the one before
// (black_box.h). The code must have as many free variables. The old code is given to the caller, whom it may destroy.
[[nodiscard]] CodeRef install_code(PyFunctionObject* function, PyCodeObject* code);

// Whoever keeps what belongs to functions, each thing with exactly one reference, held by something that the collector
// does not know: it is visited as the function's own, and given up when the function is garbage.
struct Belongings {
  int (*visit)(PyFunctionObject* function, visitproc visit, void* argument);
  void (*clear)(PyFunctionObject* function);
};
// From now on, for all functions; the first caller's stays.
void share_belongings(const Belongings& belongings);

// The frame of a call that has not begun goes on with another function, which it owns from now on.
void set_function(Frame* frame, PyFunctionObject* function);
// Whether such a frame has room for this code.
bool can_become(const Frame* frame, const PyCodeObject* code);
// It goes on in this code, at this unit, as if it had been called with it. Its first slots, the arguments, are the
// same; the others are unbound. A value is about to be pushed (frame_redirect.h).
void become(Frame* frame, PyCodeObject* code, int unit, int arguments);

}  // namespace tagalong::cpython
