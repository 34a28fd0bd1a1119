// What becomes of the engine when the process forks, and when the interpreter ends.
#pragma once

namespace tagalong::runtime {

// Once, when the module is imported. Throws PythonError.
void watch_process();

}  // namespace tagalong::runtime
