// Function objects: giving one other code without an audit event, and letting the collector see what a function owns
// through its code, since the collector does not look into code objects.
#pragma once

#include "rewriter/base/ref.h"
#include "rewriter/cpython/frames.h"

namespace tagalong::cpython {

// Like `function.__code__ = code`, without the audit event: for code that programs are shown as the previous one
// (black_box.h). The code must have as many free variables. Returns the old code, so that the caller decides when it
// dies.
[[nodiscard]] CodeRef install_code(PyFunctionObject* function, PyCodeObject* code);

// Objects that belong to functions, each with exactly one reference, held by an object that the collector does not
// know. The collector visits them as if the function owned them; they are released when the function is garbage.
struct OwnedObjects {
  int (*visit)(PyFunctionObject* function, visitproc visit, void* argument);
  void (*clear)(PyFunctionObject* function);
};
// Registers the callbacks, for all functions; later calls are ignored.
void register_owned_objects(const OwnedObjects& objects);

// The frame of a call that has not begun continues with another function, which the frame owns from now on.
void set_function(Frame* frame, PyFunctionObject* function);
// Whether the frame has room for this code.
bool can_become(const Frame* frame, const PyCodeObject* code);
// The frame continues in this code at this unit, as if the call had been one of this code. The first slots (the
// arguments) are kept, the others are unbound. The caller pushes a value next (frame_redirect.h).
void become(Frame* frame, PyCodeObject* code, int unit, int arguments);

}  // namespace tagalong::cpython
