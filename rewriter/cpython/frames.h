// The interpreter's frames: all other parts of tagalong access CPython's private frame layout through these functions.
// Nothing is owned except between push_frame and pop_frame.
//
//   Frame* frame = current_frame(thread);   PyObject** slots = locals_of(frame);
#pragma once

#include <Python.h>

#include <cstdint>

#include "rewriter/base/ref.h"
#include "version/frames.h"

namespace tagalong::cpython {

using version::Frame;

inline PyThreadState* thread_state() { return version::thread_state(); }
inline Frame* current_frame(PyThreadState* thread) { return version::current_frame(thread); }
inline void set_current_frame(PyThreadState* thread, Frame* frame) { version::current_frame(thread) = frame; }
inline Frame* caller_of(Frame* frame) { return frame->previous; }

inline PyObject** locals_of(Frame* frame) { return frame->localsplus; }
inline PyCodeObject* code_of(const Frame* frame) { return version::code_of(frame); }
inline PyFunctionObject* function_of(Frame* frame) { return version::function_of(frame); }
// The mapping that holds the frame's variables, if its code keeps them in one; borrowed.
inline PyObject* names_of(const Frame* frame) { return frame->f_locals; }
inline void set_names(Frame* frame, PyObject* mapping) { frame->f_locals = Py_XNewRef(mapping); }
// Gives a frame of ours the globals and builtins of a frame below it.
inline void set_globals(Frame* frame, const Frame* source) {
  frame->f_globals = source->f_globals;
  frame->f_builtins = source->f_builtins;
}
using rewriter::CodeUnit;
// The code object's code units, perhaps specialised.
inline CodeUnit* units_of(PyCodeObject* code) { return reinterpret_cast<CodeUnit*>(code->co_code_adaptive); }
inline int slot_count(const PyCodeObject* code) { return code->co_nlocalsplus; }
inline PyObject** stack_base(Frame* frame) { return frame->localsplus + code_of(frame)->co_nlocalsplus; }

// Not 0 while tracemalloc is on (cpython/requests.cpp).
extern const int* const kTraceMalloc;

// Whether a trace or profile function watches this thread.
inline bool has_watcher(const PyThreadState* thread) { return version::has_watcher(thread); }
// Like has_watcher(), or tracemalloc records allocations: recording and replaying stop in both cases.
inline bool is_watched(PyThreadState* thread) { return has_watcher(thread) || *kTraceMalloc != 0; }
// How many more Python calls the recursion limit allows.
inline int recursion_left(PyThreadState* thread) { return version::recursion_left(thread); }

// Whether the frame object has owners besides the frame: a traceback, or a caller of sys._getframe().
inline bool is_held(const Frame* frame) { return frame->frame_obj != nullptr && Py_REFCNT(frame->frame_obj) > 1; }

// Type of the marks that tell when a frame ends (cpython/frame_end.h).
extern PyTypeObject frame_end_type;
// Whether a program has asked for the frame's locals() as a dict.
inline bool has_locals_dict(const Frame* frame) {
  return frame->f_locals != nullptr && Py_TYPE(frame->f_locals) != &frame_end_type;
}

// The code unit that the frame is executing, or the one just before the unit at which it continues.
inline int unit_of(const Frame* frame) { return static_cast<int>(version::place_of(frame) - units_of(code_of(frame))); }

// Makes the frame appear to execute the instruction at this code unit: line numbers and tracebacks come from it.
inline void set_location(Frame* frame, int unit) { version::set_place(frame, units_of(code_of(frame)) + unit); }

// Counts frames of ours towards the recursion limit while they exist as real frames.
inline void enter_recursion(PyThreadState* thread, int levels = 1) { version::recursion_left(thread) -= levels; }
inline void leave_recursion(PyThreadState* thread, int levels = 1) { version::recursion_left(thread) += levels; }

// --- frames of our own, for inlined callees that need a real frame

// A new frame for a call of `function` in `code` (same local slots as the function's own code), linked under the
// current frame and made current; all slots are empty. Null with MemoryError set.
Frame* push_frame(PyThreadState* thread, PyFunctionObject* function, PyCodeObject* code);
// Removes the current frame, which push_frame made. If its frame object has other owners, the content moves into it.
void pop_frame(PyThreadState* thread, Frame* frame);

// Within the scope, frames that the thread makes lie in one piece of memory that is large enough for most programs. The
// interpreter's own pieces are small; calls that go back and forth across the end of a piece cost two system calls
// each.
class RoomForFrames {
 public:
  explicit RoomForFrames(PyThreadState* thread);
  RoomForFrames(const RoomForFrames&) = delete;
  RoomForFrames& operator=(const RoomForFrames&) = delete;
  ~RoomForFrames();

 private:
  PyThreadState* thread_;
  PyObject** base_;
};

// Releases what an unlinked frame holds, or moves it into the frame object if that has other owners.
void clear_frame(PyThreadState* thread, Frame* frame);
// Runs a pushed frame, whose arguments are in their slots, from its first instruction. The rest is as in run_frame.
PyObject* start_frame(PyThreadState* thread, Frame* frame);
// Lets the interpreter run a pushed frame to its end, from `unit` with `depth` values on its stack; with `raise`, as if
// the instruction at `unit` had just raised the exception that is set. A new reference, or null with an exception. The
// frame is popped; the frame of a generator is not, but in some versions it has been cleared if the generator has
// ended.
PyObject* run_frame(PyThreadState* thread, Frame* frame, int unit, int depth, bool raise);
// For the first event of a frame that run_frame() runs with `raise`, in this code: true. To enter a frame so is a
// "throw" event, which tools must not be told of.
bool takes_hidden_throw(const PyCodeObject* code);

// --- changing a frame that waits for a redirect (cpython/frame_redirect.h)

// Makes the frame continue at code unit `unit` of `code` with `depth` values on its stack; the redirect's result is
// pushed on top.
void redirect(Frame* frame, PyCodeObject* code, int unit, int depth);
// The same, as if the instruction at the unit `previous` had been executed before it. Trace functions are told of a
// line if that instruction is in another line.
void redirect(Frame* frame, PyCodeObject* code, int unit, int depth, int previous);
// Makes the frame continue as if the instruction at `unit` had raised an exception. In some versions the interpreter
// looks for the handler just in front of the place that it shows. So where this is a handler of its own, the place is
// one unit behind, which is shown wrongly if the instruction has no further units.
void redirect_raising(Frame* frame, PyCodeObject* code, int unit, int depth);

// Whether C code called this frame: the interpreter loop of its caller then does not reload the frame's state.
inline bool is_entry(const Frame* frame) { return version::is_entry(frame); }

// Replaces a constant of code that we made; running frames load the new one at their next LOAD_CONST.
void replace_constant(PyCodeObject* code, int index, const Ref& object);

// Whether the frame has as many slots as this code needs. Frames of calls can be exchanged; the frame of a generator
// lies in the generator's object and has the size that the function's code needed at the call.
bool has_room(Frame* frame, const PyCodeObject* code);

// Exchanges the code of a frame that has not started, and makes room for a larger stack; false if there is no room.
bool exchange_code(PyThreadState* thread, Frame* frame, PyCodeObject* code);

}  // namespace tagalong::cpython
