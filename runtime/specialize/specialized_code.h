// The code objects of specialised functions:
//
//   dispatching code   the original with a stub in front of all its instructions, also of those that make cells and
//                      generators:
//
//        LOAD_CONST dispatcher;  FOR_ITER none        an item is the result of the call
//        RETURN_VALUE
//        none:   LOAD_CONST redirect; FOR_ITER original   an item: the call continues in other code
//        POP_TOP;  POP_TOP;  PUSH_NULL;  LOAD_CONST enter;  PRECALL 0;  CALL 0
//        original: ...
//
//     In the stub the frame is not complete in CPython's sense: tracebacks, trace functions and sys._getframe do not
//     show it. So the specialised code seems to be called by the function's caller.
//
//   entered code       the specialised code and a pad behind it, which removes the value that the redirect pushes.
#pragma once

#include "rewriter/base/ref.h"

namespace tagalong::runtime {

struct EnteredCode {
  CodeRef code;
  int unit = 0;  // of the pad
};

// Both throw RewriteError, PythonError. Frames of the dispatching code have `slots` slots, locals included.
CodeRef dispatching_code(PyCodeObject* original, const Ref& dispatcher, const Ref& redirect_iterator,
                         const Ref& redirect_frame, int slots);
EnteredCode entered_code(PyCodeObject* specialised);

// The constant that the code returns if it does nothing else; empty otherwise.
Ref constant_result(PyCodeObject* code);

}  // namespace tagalong::runtime
