// Landing: changing where a running frame goes on. Bytecode of the frame calls a small Python function (an inlined
// call, so the interpreter reloads the frame's state afterwards); that function calls C, and the C code changes the
// frame that waits for it. The function's own frame is never "complete" in CPython's sense, so no traceback and no
// sys._getframe shows it.
#pragma once

#include "rewriter/base/ref.h"
#include "rewriter/cpython/frames.h"

namespace tagalong::cpython {

// Changes `frame` (see redirect; only if `can_redirect`, otherwise its caller would not notice) and returns a new
// reference to push on its stack, or null with an exception set: the frame then behaves as if its redirected
// instruction had raised. `argument` is null for functions without one.
using RedirectFunction = PyObject* (*)(PyThreadState* thread, Frame* frame, PyObject* argument, bool can_redirect);

// What a RedirectFunction returns (borrowed here) to push NULL, of the calling convention, instead of an object.
PyObject* redirect_null();

// The Python function to be called from bytecode with no or one argument. Null with an exception set.
Ref make_redirect_function(const char* name, RedirectFunction redirect_frame, bool takes_argument);

// Between deciding to land and landing no evaluation hook may be installed, or the call would not be inlined: the
// decision suspends the hook, the landing restores it. No bytecode that could give up the GIL lies between.
void expect_redirect(PyThreadState* thread);

}  // namespace tagalong::cpython
