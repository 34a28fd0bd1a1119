// The ready guards by what they are about; the types are made once, for the module.
#pragma once

#include <vector>

#include "rewriter/interp/ref.h"

namespace tagalong::runtime {

// Throw PythonError.
void add_argument_guards(std::vector<Ref>& types);
void add_name_guards(std::vector<Ref>& types);

// The version tag of a type, which gets one if it can; 0: it cannot. Runs nobody's code.
unsigned versioned(PyTypeObject* type);

}  // namespace tagalong::runtime
