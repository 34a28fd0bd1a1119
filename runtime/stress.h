// Stress mode: every Python function of the process is traced. Owns the audit hook that sees code objects just before
// they are executed. Refuses code whose file name begins with one of the excluded paths, and sub-interpreters.
#pragma once

#include <string>
#include <vector>

#include "rewriter/base/ref.h"

namespace tagalong::runtime {

// From now on traces the functions that executed code makes. Later calls only replace the exclusions. Throws
// PythonError.
void start_stress(std::vector<std::string> excluded);

// Traces an existing function, and those that its code will make. Throws PythonError.
void adopt_function(PyObject* function);

}  // namespace tagalong::runtime
