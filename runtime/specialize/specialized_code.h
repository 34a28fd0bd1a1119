// The code objects of specialised functions:
//
//   dispatching code   the original with a stub in front of everything, also of the cells and of what makes a
//   generator:
//
//        LOAD_CONST dispatcher;  FOR_ITER none        an item is the result of the call
//        RETURN_VALUE
//        none:   LOAD_CONST landing; FOR_ITER original    an item: the call goes on in other code
//        POP_TOP;  POP_TOP;  PUSH_NULL;  LOAD_CONST land;  PRECALL 0;  CALL 0
//        original: ...
//
//     There the frame is not complete in CPython's sense: nobody is shown it, no traceback names it, nobody who watches
//     is told of it. So the specialised code seems to be called by the function's caller.
//
//   entered code       the specialised code and a pad behind it, where a landing's value is taken away.
#pragma once

#include "rewriter/base/ref.h"

namespace tagalong::runtime {

struct EnteredCode {
  CodeRef code;
  int unit = 0;  // of the pad
};

// Throw RewriteError, PythonError. The dispatching code's frames have room for `slots` values, locals included.
CodeRef dispatching_code(PyCodeObject* original, const Ref& dispatcher, const Ref& redirect_iterator,
                         const Ref& redirect_frame, int slots);
EnteredCode entered_code(PyCodeObject* specialised);

// The constant that code returns without doing anything else; empty: it does more.
Ref constant_result(PyCodeObject* code);

}  // namespace tagalong::runtime
