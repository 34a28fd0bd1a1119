// Stress mode: every Python function of the process is traced, whoever makes it. Owns the audit hook that sees code
// objects just before they are executed. Refuses code whose file name begins with one of the excluded paths, and
// whatever runs in another interpreter than the main one.
#pragma once

#include <string>
#include <vector>

#include "rewriter/base/ref.h"

namespace tagalong::runtime {

// From now on functions that executed code makes are traced. Once per process; later calls only replace the exclusions.
// Throws PythonError.
void start_stress(std::vector<std::string> excluded);

// Traces a function that exists, and those its code will make. Throws PythonError.
void adopt_function(PyObject* function);

}  // namespace tagalong::runtime
