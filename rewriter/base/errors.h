// Three kinds of failure, never mixed: a broken invariant (TAGALONG_CHECK), "cannot do this" (an enumerated reason of
// the library concerned), and a Python error (PythonError: the exception is set in the thread state; it is propagated
// as it is).
#pragma once

#include <fmt/format.h>

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

namespace tagalong {

// A Python exception is set; whoever catches this at the boundary returns the C API's error value.
class PythonError : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "a Python exception is set"; }
};

// A broken invariant of our own. In debug builds the check aborts where it failed; in release builds it is thrown and
// stops whatever was being traced.
class InternalError : public std::logic_error {
  using std::logic_error::logic_error;
};

[[noreturn]] void fail_check(const char* file, int line, const char* condition, const std::string& message);

}  // namespace tagalong

// TAGALONG_CHECK(depth >= 0, "depth {} at {}", depth, where)
#define TAGALONG_CHECK(condition, ...)                                                    \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      ::tagalong::fail_check(__FILE__, __LINE__, #condition, ::fmt::format(__VA_ARGS__)); \
    }                                                                                     \
  } while (false)
