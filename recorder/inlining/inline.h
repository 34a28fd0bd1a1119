// Recording callees into the caller's graph: the frame-evaluation handler of a running session. Internal to recorder/.
#pragma once

#include "rewriter/cpython/frames.h"

namespace tagalong::recorder {

PyObject* handle_frame(PyThreadState* thread, cpython::Frame* frame, int throw_flag);

}  // namespace tagalong::recorder
