// Builtin functions and types of CPython 3.11, for code that replaces them.
#pragma once

namespace tagalong::version {

// sum() adds floats with a compensation, so that its additions are not those of the operator.
inline constexpr bool kSumCompensates = false;
// What min() and max() say of nothing.
inline constexpr const char* kNoSmallest = "%s() arg is an empty sequence";
// ~ of a bool gives a warning.
inline constexpr bool kInvertingBoolWarns = false;

}  // namespace tagalong::version
