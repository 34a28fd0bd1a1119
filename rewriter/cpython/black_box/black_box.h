// A traced function looks the same as an untraced one: wherever Python shows a code object, or an offset into one,
// programs see what the compiler made (code_link.h), whichever code object is installed and runs. The getters of the
// interpreter's own types are wrapped in place, so the descriptors keep their identity:
//
//   function.__code__   frame.f_code   frame.f_lasti   gi_code, cr_code, ag_code   traceback.tb_lasti   code.co_consts
//
// Other readers of code objects get the same view: comparing, hashing, `replace`, `marshal`, `gc.get_referrers` and
// `gc.get_referents`. Instructions that we have added cause no opcode events. `gc.get_objects` does not show our weak
// references. C code sees the installed code objects, which are always consistent. Nothing is owned, and the replaced
// getters are never restored.
#pragma once

#include "rewriter/base/ref.h"

namespace tagalong::cpython {

// Replaces the getters, in the current interpreter. Calling it again does nothing. Throws InternalError where the types
// are not as expected.
void show_originals();

}  // namespace tagalong::cpython
