// Lines of a program in our messages.
#pragma once

#include <fmt/format.h>

#include <string>

namespace tagalong {

// "line 4", or "lines 4 to 6".
inline std::string lines_text(int first, int last) {
  return first == last ? fmt::format("line {}", first) : fmt::format("lines {} to {}", first, last);
}

}  // namespace tagalong
