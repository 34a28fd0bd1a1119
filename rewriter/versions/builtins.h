// Differences of builtin functions between CPython versions, for code that replaces the functions.
#pragma once

#include <Python.h>

namespace tagalong::rewriter {

// sum() adds floats with a compensation, so that its additions are not those of the operator.
inline constexpr bool kSumCompensates = PY_VERSION_HEX >= 0x030C0000;

}  // namespace tagalong::rewriter
