// The fields of threads and frames in CPython 3.13.
#pragma once

#include <Python.h>

#define Py_BUILD_CORE 1  // NOLINT: what the header asks for
#include <internal/pycore_frame.h>
#undef Py_BUILD_CORE

#include "rewriter/versions/opcodes.h"

namespace tagalong::version {

using Frame = _PyInterpreterFrame;
using rewriter::CodeUnit;

inline PyThreadState* thread_state() { return PyThreadState_GetUnchecked(); }
inline Frame*& current_frame(PyThreadState* thread) { return thread->current_frame; }
inline int& recursion_left(PyThreadState* thread) { return thread->py_recursion_remaining; }
// Whether a trace or profile function watches this thread.
inline bool has_watcher(const PyThreadState* thread) {
  return thread->c_tracefunc != nullptr || thread->c_profilefunc != nullptr;
}

inline PyCodeObject* code_of(const Frame* frame) { return reinterpret_cast<PyCodeObject*>(frame->f_executable); }
inline PyFunctionObject* function_of(const Frame* frame) {
  return reinterpret_cast<PyFunctionObject*>(frame->f_funcobj);
}
// They take over the reference.
inline void set_code(Frame* frame, PyCodeObject* code) { frame->f_executable = reinterpret_cast<PyObject*>(code); }
inline void set_function(Frame* frame, PyFunctionObject* function) {
  frame->f_funcobj = reinterpret_cast<PyObject*>(function);
}
// Whether C code called this frame.
inline bool is_entry(const Frame* frame) {
  return frame->previous == nullptr || frame->previous->owner == FRAME_OWNED_BY_CSTACK;
}

// The pointer to the executing instruction, or to the one at which the frame goes on.
inline CodeUnit* place_of(const Frame* frame) { return reinterpret_cast<CodeUnit*>(frame->instr_ptr); }
inline void set_place(Frame* frame, CodeUnit* unit) { frame->instr_ptr = reinterpret_cast<_Py_CODEUNIT*>(unit); }
// Where the frame keeps the place.
inline const CodeUnit** place_field(Frame* frame) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): of the same type but for the const
  return reinterpret_cast<const CodeUnit**>(const_cast<const _Py_CODEUNIT**>(&frame->instr_ptr));
}
// Makes the frame go on at the code unit when the interpreter comes back to it.
inline void set_next(Frame* frame, CodeUnit* unit) {
  set_place(frame, unit);
  frame->return_offset = 0;
}
// `first`: the first code unit of the frame's code.
inline bool has_started(const Frame* frame, const CodeUnit* first) { return place_of(frame) != first; }
// Makes the frame's instruction at the code unit raise the exception that is set.
inline void set_raising(Frame* frame, CodeUnit* unit) {
  set_place(frame, unit);
  frame->return_offset = 0;
}
// Whether the handler of such an exception is looked up one unit in front of its place.
inline constexpr bool kHandlerIsInFront = true;
// Whether generators show how large a frame they have room for.
inline constexpr bool kGeneratorsHaveSize = false;
// Whether the frame of a generator that has ended keeps its code, until the generator dies.
inline constexpr bool kGeneratorsKeepCode = true;
// Whether the evaluation loop removes a frame that has ended.
inline constexpr bool kInterpreterPopsFrames = true;
// The fields of a new frame that say how the interpreter came there.
inline void initialise(Frame* frame) { frame->return_offset = 0; }

}  // namespace tagalong::version
