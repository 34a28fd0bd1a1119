#include "rewriter/base/errors.h"

#include <cstdio>
#include <cstdlib>

namespace tagalong {

void fail_check(const char* file, int line, const char* condition, const std::string& message) {
  const std::string text = fmt::format("tagalong: {}:{}: {} does not hold: {}", file, line, condition, message);
#ifdef TAGALONG_CHECKS
  std::fputs((text + "\n").c_str(), stderr);
  std::abort();
#else
  throw InternalError(text);
#endif
}

}  // namespace tagalong
