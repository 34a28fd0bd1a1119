// Redirecting: changing where a running frame continues. Bytecode of the frame calls a small Python function (an
// inlined call, so the interpreter reloads the frame's state afterwards). That function calls C, and the C code changes
// the calling frame. The function's own frame is never "complete" in CPython's sense, so no traceback and no
// sys._getframe shows it.
#pragma once

#include "rewriter/base/ref.h"
#include "rewriter/cpython/frames.h"

namespace tagalong::cpython {

// Changes `frame` with redirect() and returns a new reference to push on its stack, or null with an exception set: the
// frame then behaves as if its redirected instruction had raised. If not `can_redirect`, the frame's C caller would not
// notice the change, so the function must not make it. `argument` is null for functions without one.
using RedirectFunction = PyObject* (*)(PyThreadState* thread, Frame* frame, PyObject* argument, bool can_redirect);

// What a RedirectFunction returns for the value on top of the stack, which may be the NULL of the calling convention.
// Steals the reference.
PyObject* redirect_result(PyObject* top);
// Redirects a frame to an empty stack, in code that has a local slot, and returns what the RedirectFunction has to
// return: the interpreter puts it into the last slot. The rest is as for redirect().
PyObject* redirect_to_empty_stack(Frame* frame, PyCodeObject* code, int unit, int previous);

// The Python function that bytecode calls with no argument or one. Null with an exception set.
Ref make_redirect_function(const char* name, RedirectFunction redirect_frame, bool takes_argument);

// Between the decision to redirect and the redirect no evaluation hook may be installed, because the call would not be
// inlined. The decision suspends the hook and the redirect restores it. No bytecode in between can release the GIL.
void expect_redirect(PyThreadState* thread);

}  // namespace tagalong::cpython
