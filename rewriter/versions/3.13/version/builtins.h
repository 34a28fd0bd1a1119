// Builtin functions of CPython 3.13, for code that replaces them.
#pragma once

namespace tagalong::version {

// sum() adds floats with a compensation, so that its additions are not those of the operator.
inline constexpr bool kSumCompensates = true;

}  // namespace tagalong::version
