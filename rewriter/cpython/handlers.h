// Which handler of a code object catches an exception, read from its exception table.
#pragma once

#include <Python.h>

namespace tagalong::cpython {

// The number of the range of the exception table that covers the code unit; -1: an exception there leaves the frame.
int range_at(const PyCodeObject* code, int unit);

}  // namespace tagalong::cpython
