// Functions of the interpreter that instructions of some versions call by number, where others have an instruction for
// each.
#pragma once

#include <cstdint>

namespace tagalong::version {

enum class Intrinsic : std::uint8_t {
  kPrint,
  kImportStar,
  kStopIterationError,
  kAsyncGenWrap,
  kUnaryPositive,
  kListToTuple,
  kPrepareReraiseStar,
  kTypeParameter,  // makes a parameter of a generic function, class or alias, or what has such parameters
};

}  // namespace tagalong::version
