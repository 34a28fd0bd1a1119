// To the rest of the world a traced function looks like itself: wherever Python shows a code object, or an offset in
// one, programs see what the compiler made (code_link.h), whatever is installed and runs. The getters of the
// interpreter's own types are wrapped in place, so that the descriptors stay the objects they are:
//
//   function.__code__   frame.f_code   frame.f_lasti   gi_code, cr_code, ag_code   traceback.tb_lasti   code.co_consts
//
// What else reads code objects is told the same: comparing, hashing, `replace`, `marshal`, `gc.get_referrers` and
// `gc.get_referents`, and opcode events, of which there are none for instructions that we have added. `gc.get_objects`
// does not show our weak references.
// C code sees the real ones, always consistent with each other. Nothing is owned, nothing is ever taken back.
#pragma once

#include "rewriter/base/ref.h"

namespace tagalong::cpython {

// From now on, in the current interpreter; more than once does no harm. Throws InternalError where the types are not as
// expected.
void show_originals();

}  // namespace tagalong::cpython
