// The fields of threads and frames in CPython 3.11.
#pragma once

#include <Python.h>
#include <internal/pycore_frame.h>

namespace tagalong::version {

using Frame = _PyInterpreterFrame;

inline Frame*& current_frame(PyThreadState* thread) { return thread->cframe->current_frame; }
inline int& recursion_left(PyThreadState* thread) { return thread->recursion_remaining; }
// Whether a trace or profile function watches this thread.
inline bool has_watcher(const PyThreadState* thread) { return thread->cframe->use_tracing != 0; }

inline PyCodeObject*& code_of(Frame* frame) { return frame->f_code; }
inline PyCodeObject* code_of(const Frame* frame) { return frame->f_code; }
inline PyFunctionObject*& function_of(Frame* frame) { return frame->f_func; }
// Whether C code called this frame.
inline bool is_entry(const Frame* frame) { return frame->is_entry; }

inline _Py_CODEUNIT* units_of(PyCodeObject* code) { return reinterpret_cast<_Py_CODEUNIT*>(code->co_code_adaptive); }
// The pointer to the executing instruction, or to the code unit in front of the one at which the frame goes on.
inline _Py_CODEUNIT*& place_of(Frame* frame) { return frame->prev_instr; }
inline _Py_CODEUNIT* place_of(const Frame* frame) { return frame->prev_instr; }
// Makes the frame go on at the code unit when the interpreter comes back to it.
inline void set_next(Frame* frame, _Py_CODEUNIT* unit) { frame->prev_instr = unit - 1; }
// A frame that has not started; `first`: its first code unit.
inline bool has_started(const Frame* frame, const _Py_CODEUNIT* first) { return frame->prev_instr != first - 1; }
// The fields of a new frame that say how the interpreter came there.
inline void initialise(Frame* frame) { frame->is_entry = false; }

}  // namespace tagalong::version
