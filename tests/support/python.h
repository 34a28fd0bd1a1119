// Python in C++ tests: statements and expressions in a namespace of their own, results and exceptions as text. An
// unexpected exception fails the test.
//
//   Namespace names("def f(x): return x + 1");
//   BOOST_TEST(names.show("f(1)") == "2");
#pragma once

#include <string>

#include "rewriter/code.h"

namespace tagalong::testing {

// Fails the test, with the traceback, if the object is null.
Ref checked(PyObject* object);
std::string repr(PyObject* object);
// The pending exception as its repr ("none" if there is none); it is cleared.
std::string take_exception();

class Namespace {
 public:
  explicit Namespace(const std::string& source = "");
  // Runs statements; an exception fails the test.
  void run(const std::string& source) const;
  [[nodiscard]] Ref operator()(const std::string& expression) const;
  // repr of the expression's value, or "raised " and the repr of what it raised.
  [[nodiscard]] std::string show(const std::string& expression) const;
  [[nodiscard]] PyFunctionObject* function(const std::string& name) const;  // borrowed
  [[nodiscard]] CodeRef code(const std::string& name) const;                // of a function
  void set(const std::string& name, PyObject* value) const;

 private:
  Ref names_;
};

// Index of the n-th instruction with this name; fails the test if there is none.
int instruction_named(PyCodeObject* code, const std::string& name, int n = 0);

// Number of memory blocks that Python has allocated: a leak of any object changes it (not with PYTHONMALLOC=malloc,
// where it is always 0).
Py_ssize_t allocated_blocks();

}  // namespace tagalong::testing
