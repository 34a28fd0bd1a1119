#include "version/frames.h"

#include "version/threads.h"

namespace tagalong::version {

std::uintptr_t* const kThread = &_PyRuntime.gilstate.tstate_current._value;

}  // namespace tagalong::version
