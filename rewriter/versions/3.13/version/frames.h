// The fields of threads and frames in CPython 3.13.
#pragma once

#include <Python.h>
#include <frameobject.h>

#include <cstddef>
#include <cstdint>
#include <limits>

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

// Whether trace functions and tools get their events from instructions that the interpreter has changed for them. What
// is in front of the first RESUME is not changed.
inline constexpr bool kEventsAreInCode = true;
// The events that tools of sys.monitoring and trace functions have asked for have a version, which stands above the
// requests in the eval breaker and in code objects whose instructions have been changed for it.
inline constexpr std::uintptr_t kEventsVersion = ~std::uintptr_t{0xff};
// A version in which no tool has events.
extern std::uintptr_t quiet_version;
// Whether a tool has events; finds the quiet version.
bool has_tool(const PyThreadState* thread);
// Whether a trace or profile function watches this thread, or a tool some code.
inline bool has_watcher(const PyThreadState* thread) {
  return thread->c_tracefunc != nullptr || thread->c_profilefunc != nullptr ||
         ((thread->eval_breaker & kEventsVersion) != quiet_version && has_tool(thread));
}
// Keeps the functions of sys.monitoring that the others call, before they are replaced.
void keep_monitoring_functions();
// To be called when the events of a tool in this code have been changed.
void note_local_events(PyCodeObject* code);
// Gives code that replaces other code the events that were asked for in that.
void copy_local_events(PyCodeObject* from, PyCodeObject* to);
// Changes the instructions of code for the events, which the interpreter does only where code begins.
void prepare_for_events(PyCodeObject* code);
inline void prepare_for_events(const PyThreadState* thread, PyCodeObject* code) {
  if (code->_co_instrumentation_version != (thread->eval_breaker & kEventsVersion)) {
    prepare_for_events(code);
  }
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
// Whether programs can assign to the variables of running frames, through frame.f_locals.
inline constexpr bool kProgramsWriteLocals = true;
inline PyTypeObject* locals_proxy_type() { return &PyFrameLocalsProxy_Type; }
inline PyFrameObject* frame_of_proxy(PyObject* proxy) {
  return reinterpret_cast<PyFrameLocalsProxyObject*>(proxy)->frame;
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
// The same, as if the instruction at `previous` had been executed before: whether a line begins depends on it.
inline void set_next(Frame* frame, CodeUnit* unit, CodeUnit* previous) {
  const std::ptrdiff_t distance = unit - previous;
  if (distance < 0 || distance > std::numeric_limits<decltype(frame->return_offset)>::max()) {
    return set_next(frame, unit);
  }
  set_place(frame, previous);
  frame->return_offset = static_cast<decltype(frame->return_offset)>(distance);
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
