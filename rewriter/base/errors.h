// Three kinds of failure, never mixed: a broken invariant (TAGALONG_CHECK), "cannot do this" (each library has an
// enumeration of reasons), and a Python error (PythonError: the exception is set in the thread state and is propagated
// unchanged).
#pragma once

#include <fmt/format.h>

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

namespace tagalong {

// Says that a Python exception is set. The boundary catches this and returns the C API's error value.
class PythonError : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "a Python exception is set"; }
};

// A broken invariant of our own. In debug builds a failed check aborts; in release builds it throws, which stops the
// recording or the rewriting.
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
