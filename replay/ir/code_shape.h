// Where the instructions of a code object are: what the graph calls instruction i is found at a code unit of the
// original code, and of code derived from it.
#pragma once

#include <memory>
#include <vector>

#include "rewriter/base/ref.h"

namespace tagalong::replay {

// Not owned; read like a CodeRef.
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
  BorrowedCode code;        // original code object; whoever uses the shape keeps it alive
  std::vector<int> units;   // code unit of instruction i
  std::vector<int> shown;   // the same for whoever looks at the frame: in front of a CALL it is the CALL
  std::vector<int> starts;  // where to go on in order to execute it: its first EXTENDED_ARG; one more entry: the end
  std::vector<int> depths;  // stack depth before instruction i; -1: unreachable
  std::vector<int> pads;    // where to land with an empty stack (the place takes a value away), -1: nowhere; or empty
};

// Where the instructions at `units` begin, EXTENDED_ARG included, and the end of the code. Throws PythonError.
std::vector<int> starts_of(PyCodeObject* code, const std::vector<int>& units);

using CodeShapeRef = std::shared_ptr<const CodeShape>;

}  // namespace tagalong::replay
