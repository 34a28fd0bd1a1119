// A step in the words of the program that it comes from, for explain().
//
//   construct_text(lowered, step)   // "a call of `cumsum`", "an assignment to `.rate`"
#pragma once

#include <string>

#include "replay/steps/printer.h"

namespace tagalong::replay {

// Never runs user code.
[[nodiscard]] std::string construct_text(const Lowered& lowered, const Step& step);

}  // namespace tagalong::replay
