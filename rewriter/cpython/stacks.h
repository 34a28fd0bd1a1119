// The two stacks of running Python code. A thread has one C stack and, with greenlets, several stacks of frames: a
// switch inside of a C call exchanges the frames and copies parts of the C stack away and back. Data that belongs to a
// stack of frames is found by its StackId. Code that may nest in C checks how much of the C stack is left.
#pragma once

#include <Python.h>

#include <cstddef>
#include <cstdint>

namespace tagalong::cpython {

// Identifies a thread and one of its stacks of frames. Thread numbers are never reused. The root is the stack's first
// chunk of frames, which lives as long as the stack has frames.
struct StackId {
  std::uint64_t thread = 0;
  const void* root = nullptr;
  friend bool operator==(const StackId&, const StackId&) = default;
};
StackId stack_of(PyThreadState* thread);

// Whether the calling thread has this much C stack left, and also enough for the remaining levels of the recursion
// limit in eager execution (at most seven eighths of the stack). False if the thread runs on memory that is not its own
// stack.
bool has_c_stack(PyThreadState* thread, int kibibytes);

}  // namespace tagalong::cpython
