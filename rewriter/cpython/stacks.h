// The two stacks of running Python code. A thread has one C stack and, with greenlets, several stacks of frames: a
// switch inside of a C call exchanges the frames and copies parts of the C stack away and back. What belongs to a stack
// of frames is found by its StackId; what may nest in C asks how much of the C stack is left.
#pragma once

#include <Python.h>

#include <cstddef>
#include <cstdint>

namespace tagalong::cpython {

// Which thread, and which of its stacks of frames. Thread numbers are never used again; the root is the first piece of
// memory of the stack's frames, which lasts as long as the stack has frames.
struct StackId {
  std::uint64_t thread = 0;
  const void* root = nullptr;
  friend bool operator==(const StackId&, const StackId&) = default;
};
StackId stack_of(PyThreadState* thread);

// Whether the thread, which calls this, has so much of its C stack left, and as much as the levels of recursion that
// are left may take as written (seven eighths of the stack at most). No where it runs on memory that is not its own
// stack.
bool has_c_stack(PyThreadState* thread, int kibibytes);

}  // namespace tagalong::cpython
