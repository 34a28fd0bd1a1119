// Noticing the first call of a function whose code object is as the compiler made it, at hardly any cost until then.
// The first instructions of the code object are exchanged in place for a stub of five, which asks C once:
//
//        LOAD_CONST stub;  POP_JUMP_BACKWARD_IF_FALSE start    false: the original instructions are here again
//        PUSH_NULL;  LOAD_CONST land;  CALL 0                  true: the function changes this frame while it waits
//
// An original with a stub ("armed") never runs: each frame of it goes on in other code, or the stub is taken away. Its
// room for the stack is larger by `kStubStack`, which replay code needs. Programs are shown what the compiler made
// (black_box.h). A stub ends with its code object.
#pragma once

#include <cstdint>
#include <vector>

#include "rewriter/base/ref.h"
#include "rewriter/cpython/frames.h"

namespace tagalong::cpython {

// What frames of armed code have room for, besides what their instructions need.
inline constexpr int kStubStack = 6;

// Where the frame of a first call goes on: at `unit` of `code`, where a landing's value is taken away. Without code: in
// the original, whose stub is taken away.
struct Continuation {
  CodeRef code;
  int unit = 0;
  bool is_last = false;  // no other function has armed code: the stub is taken away behind the frame
};

// Where functions are made of a code object: in code that `maker` refers to weakly; the constant `spare` of it, unless
// it is -1, is free.
struct MadeIn {
  Ref maker;
  int spare = -1;
};

// `handler` decides about first calls. It reports no errors and gives up the GIL only by what allocations may run.
using FirstCallHandler = Continuation (*)(PyThreadState* thread, Frame* frame);
void set_first_call_handler(FirstCallHandler handler);

// Arms code that has never run. False: it stays as it is, for it has run, is derived, too short or has too many
// constants, or (with an exception set) there is no memory.
bool arm(PyCodeObject* code, const MadeIn& made_in);
bool is_armed(PyCodeObject* code);
// Takes the stub away for good. The code may belong to a frame that is at its stub.
void disarm(PyCodeObject* code);

// Of armed code.
MadeIn made_in(PyCodeObject* code);
void set_made_in(PyCodeObject* code, const MadeIn& made_in);

// A frame of armed code that has not started goes on in other code, as if it had come to its stub.
void pass_stub(PyThreadState* thread, Frame* frame);

// What the compiler made, of armed code and any other: for those who read code objects.
std::vector<std::uint16_t> compiled_units(PyCodeObject* code);
// The same, opcodes only, none of them specialised; CACHE for inline caches, whatever lies in them.
std::vector<std::uint8_t> compiled_opcodes(PyCodeObject* code);
Py_ssize_t compiled_constant_count(PyCodeObject* code);
int compiled_stack_size(PyCodeObject* code);
// Borrowed, or null with an exception set.
PyObject* compiled_constants(PyCodeObject* code);

// Code for frames that begin in the middle of an original: itself, or, as long as it is armed, a twin with the same
// code units. Throws PythonError.
CodeRef code_to_run(PyCodeObject* original);

// Whether an instruction jumps back.
bool has_backward_jump(PyCodeObject* code);

// As long as this lives, the instructions of the code object (if it is armed) are as the compiler made them, for C code
// that reads them. If it is called meanwhile, they stay so.
class AsCompiled {
 public:
  explicit AsCompiled(PyCodeObject* code);
  AsCompiled(AsCompiled&& other) noexcept : code_(std::move(other.code_)) {}
  AsCompiled(const AsCompiled&) = delete;
  AsCompiled& operator=(const AsCompiled&) = delete;
  AsCompiled& operator=(AsCompiled&&) = delete;
  ~AsCompiled();

 private:
  CodeRef code_;
};

}  // namespace tagalong::cpython
