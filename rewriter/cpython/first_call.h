// Noticing the first call of a function that still has the compiler's code object, at almost no cost until then. The
// first instructions of the code object are replaced in place by a stub of five, which calls C once:
//
//   LOAD_CONST stub;  POP_JUMP_BACKWARD_IF_FALSE start    false: the original instructions are back
//   PUSH_NULL;  LOAD_CONST redirect;  CALL 0              true: the function redirects the frame, which waits for it
//
// Where no conditional jump calls C, an operator calls it, and a function redirects the frame in any case:
//
//   LOAD_CONST stub;  UNARY_NEGATIVE;  PUSH_NULL;  CALL 0
//
// An original with a stub ("armed") never runs: each of its frames continues in other code, or the stub is removed. Its
// stack is larger by `kStubStack`, which replay code needs. Programs are shown what the compiler made (black_box.h). A
// stub dies with its code object.
#pragma once

#include <cstdint>
#include <vector>

#include "rewriter/base/ref.h"
#include "rewriter/cpython/frames.h"

namespace tagalong::cpython {

// Additional stack size of armed code.
inline constexpr int kStubStack = 6;

// Where the frame of a first call continues: at `unit` of `code`, which pops the redirect's result. Without code: in
// the original, from which the stub is removed.
struct Continuation {
  CodeRef code;
  int unit = 0;
  bool is_last = false;  // no other function has armed code: the stub is removed after the redirect
};

// The code object that makes the functions: `maker` is a weak reference to it. Its constant number `spare` is unused,
// unless `spare` is -1.
struct DefiningCode {
  Ref maker;
  int spare = -1;
};

// `handler` decides about first calls. It reports no errors, and releases the GIL only where an allocation may do so.
using FirstCallHandler = Continuation (*)(PyThreadState* thread, Frame* frame);
void set_first_call_handler(FirstCallHandler handler);

// Arms code that has never run. False: the code was not changed, because it has run, is derived, is too short or has
// too many constants, or (with an exception set) because memory ran out.
bool arm(PyCodeObject* code, const DefiningCode& defining_code);
bool is_armed(PyCodeObject* code);
// Removes the stub for good. A frame of the code may be in the stub.
void disarm(PyCodeObject* code);

// Only for armed code.
DefiningCode defining_code(PyCodeObject* code);
void set_defining_code(PyCodeObject* code, const DefiningCode& defining_code);

// A frame of armed code that has not started continues in other code, as if it had reached its stub.
void pass_stub(PyThreadState* thread, Frame* frame);

// The compiler's code units, of armed code and any other: for readers of code objects.
std::vector<std::uint16_t> compiled_units(PyCodeObject* code);
// Only the opcodes, none of them specialised; CACHE for all units of inline caches.
std::vector<std::uint8_t> compiled_opcodes(PyCodeObject* code);
Py_ssize_t compiled_constant_count(PyCodeObject* code);
int compiled_stack_size(PyCodeObject* code);
// Borrowed, or null with an exception set.
PyObject* compiled_constants(PyCodeObject* code);

// The code for frames that begin in the middle of an original: the original itself, or, while it is armed, a twin with
// the same code units. Throws PythonError.
CodeRef code_to_run(PyCodeObject* original);

// Whether an instruction jumps back.
bool has_backward_jump(PyCodeObject* code);

// Within the scope, the instructions of the code object (if it is armed) are as the compiler made them, for C code that
// reads them. If the code is called within the scope, they stay so.
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
