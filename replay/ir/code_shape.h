// Where the instructions of a code object are: maps instruction i of the graph to a code unit of the original code, and
// of code derived from it.
#pragma once

#include <memory>
#include <vector>

#include "rewriter/base/ref.h"

namespace tagalong::replay {

// A code object that is not owned, with the interface of a CodeRef.
class BorrowedCode {
 public:
  BorrowedCode() = default;
  explicit BorrowedCode(PyCodeObject* code) : code_(code) {}
  [[nodiscard]] PyCodeObject* get() const { return code_; }
  PyCodeObject* operator->() const { return code_; }

 private:
  PyCodeObject* code_ = nullptr;
};

struct CodeShape {
  BorrowedCode code;       // the original code object; the user of the shape keeps it alive
  std::vector<int> units;  // code unit of instruction i
  std::vector<int> shown;  // the unit that the frame shows: for the instructions of a call, the unit of the CALL
  // The unit at which to continue in order to execute it: its first EXTENDED_ARG; the last entry is the end of the
  // code.
  std::vector<int> starts;
  std::vector<int> depths;  // stack depth before instruction i; -1: unreachable
  // The unit to which a redirect with an empty stack goes (it pops the redirect's value), -1: none; or the vector is
  // empty.
  std::vector<int> pads;
};

// The code units at which the instructions at `units` begin, including EXTENDED_ARG, and the end of the code. Throws
// PythonError.
std::vector<int> starts_of(PyCodeObject* code, const std::vector<int>& units);

using CodeShapeRef = std::shared_ptr<const CodeShape>;

}  // namespace tagalong::replay
