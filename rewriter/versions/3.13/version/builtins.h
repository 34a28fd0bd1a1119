// Builtin functions and types of CPython 3.13, for code that replaces them.
#pragma once

namespace tagalong::version {

// sum() adds floats with a compensation, so that its additions are not those of the operator.
inline constexpr bool kSumCompensates = true;
// What min() and max() say of nothing.
inline constexpr const char* kNoSmallest = "%s() iterable argument is empty";
// ~ of a bool gives a warning.
inline constexpr bool kInvertingBoolWarns = true;

}  // namespace tagalong::version
