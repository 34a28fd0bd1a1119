// The fields of threads and frames in CPython 3.11.
#pragma once

#include <Python.h>
#include <internal/pycore_frame.h>

#include <cstdint>

#include "rewriter/versions/opcodes.h"

namespace tagalong::version {

using Frame = _PyInterpreterFrame;
using rewriter::CodeUnit;

// Address of the interpreter's pointer to the thread that holds the GIL.
extern std::uintptr_t* const kThread;
inline PyThreadState* thread_state() {
  return reinterpret_cast<PyThreadState*>(__atomic_load_n(kThread, __ATOMIC_RELAXED));
}
inline Frame*& current_frame(PyThreadState* thread) { return thread->cframe->current_frame; }
inline int& recursion_left(PyThreadState* thread) { return thread->recursion_remaining; }
// Whether a trace or profile function watches this thread.
inline bool has_watcher(const PyThreadState* thread) { return thread->cframe->use_tracing != 0; }
// Whether trace functions get their events from instructions that the interpreter has changed for them.
inline constexpr bool kEventsAreInCode = false;
inline void prepare_for_events(const PyThreadState* /*thread*/, PyCodeObject* /*code*/) {}
// There is no sys.monitoring.
inline void keep_monitoring_functions() {}
inline void note_local_events(PyCodeObject* /*code*/) {}
inline void copy_local_events(PyCodeObject* /*from*/, PyCodeObject* /*to*/) {}

inline PyCodeObject* code_of(const Frame* frame) { return frame->f_code; }
inline PyFunctionObject* function_of(const Frame* frame) { return frame->f_func; }
// They take over the reference.
inline void set_code(Frame* frame, PyCodeObject* code) { frame->f_code = code; }
inline void set_function(Frame* frame, PyFunctionObject* function) { frame->f_func = function; }
// Whether programs can assign to the variables of running frames, through frame.f_locals.
inline constexpr bool kProgramsWriteLocals = false;
inline PyTypeObject* locals_proxy_type() { return nullptr; }
inline PyFrameObject* frame_of_proxy(PyObject* /*proxy*/) { return nullptr; }
// Whether C code called this frame.
inline bool is_entry(const Frame* frame) { return frame->is_entry; }

// The pointer to the executing instruction, or to the code unit in front of the one at which the frame goes on.
inline CodeUnit* place_of(const Frame* frame) { return reinterpret_cast<CodeUnit*>(frame->prev_instr); }
inline void set_place(Frame* frame, CodeUnit* unit) { frame->prev_instr = reinterpret_cast<_Py_CODEUNIT*>(unit); }
// Where the frame keeps the place.
inline const CodeUnit** place_field(Frame* frame) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): of the same type but for the const
  return reinterpret_cast<const CodeUnit**>(const_cast<const _Py_CODEUNIT**>(&frame->prev_instr));
}
// Makes the frame go on at the code unit when the interpreter comes back to it.
inline void set_next(Frame* frame, CodeUnit* unit) { set_place(frame, unit - 1); }
inline void set_next(Frame* frame, CodeUnit* unit, CodeUnit* /*previous*/) { set_next(frame, unit); }
// `first`: the first code unit of the frame's code.
inline bool has_started(const Frame* frame, const CodeUnit* first) { return place_of(frame) != first - 1; }
// Makes the frame's instruction at the code unit raise the exception that is set.
inline void set_raising(Frame* frame, CodeUnit* unit) { set_place(frame, unit); }
// Whether the handler of such an exception is looked up one unit in front of its place.
inline constexpr bool kHandlerIsInFront = false;
// Whether generators show how large a frame they have room for.
inline constexpr bool kGeneratorsHaveSize = true;
// Whether the frame of a generator that has ended keeps its code, until the generator dies.
inline constexpr bool kGeneratorsKeepCode = false;
// Whether the evaluation loop removes a frame that has ended.
inline constexpr bool kInterpreterPopsFrames = false;
// The fields of a new frame that say how the interpreter came there.
inline void initialise(Frame* frame) { frame->is_entry = false; }

}  // namespace tagalong::version
