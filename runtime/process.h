// Forks of the process, and the end of the interpreter.
#pragma once

namespace tagalong::runtime {

// Called once, when the module is imported. Throws PythonError.
void watch_process();

}  // namespace tagalong::runtime
