#include "rewriter/cpython/frames.h"

#include <cstring>
#include <optional>
#include <utility>

#include "rewriter/base/errors.h"
#include "rewriter/base/pending_error.h"
#include "rewriter/cpython/handlers.h"

namespace tagalong::cpython {
namespace {

std::size_t frame_size(const PyCodeObject* code) {
  return static_cast<std::size_t>(code->co_nlocalsplus) + static_cast<std::size_t>(code->co_stacksize) +
         FRAME_SPECIALS_SIZE;
}

// CPython 3.11 keeps frames on a stack of chunks; a new chunk comes from the arena allocator, as its own do, because
// the interpreter may be the one to free it.
constexpr std::size_t kChunkSize = 16 * 1024;

PyObject** push_chunk(PyThreadState* thread, std::size_t size, std::size_t bytes = kChunkSize) {
  constexpr std::size_t kOverhead = 1000;
  while (bytes < sizeof(PyObject*) * (size + kOverhead)) {
    bytes *= 2;
  }
  PyObjectArenaAllocator arena;
  PyObject_GetArenaAllocator(&arena);
  auto* chunk = static_cast<_PyStackChunk*>(arena.alloc(arena.ctx, bytes));
  if (chunk == nullptr) {
    return nullptr;
  }
  chunk->previous = thread->datastack_chunk;
  chunk->size = bytes;
  chunk->top = 0;
  if (thread->datastack_chunk != nullptr) {
    // NOLINTNEXTLINE(clang-analyzer-core.NullPointerArithm): where there is a piece of the stack, there is its top
    thread->datastack_chunk->top = static_cast<std::size_t>(thread->datastack_top - &thread->datastack_chunk->data[0]);
  }
  thread->datastack_chunk = chunk;
  thread->datastack_limit = reinterpret_cast<PyObject**>(reinterpret_cast<char*>(chunk) + bytes);
  PyObject** base = &chunk->data[chunk->previous == nullptr ? 1 : 0];
  thread->datastack_top = base + size;
  return base;
}

PyObject** allocate(PyThreadState* thread, std::size_t size) {
  PyObject** base = thread->datastack_top;
  if (base != nullptr && size < static_cast<std::size_t>(thread->datastack_limit - base)) {
    thread->datastack_top = base + size;
    return base;
  }
  return push_chunk(thread, size);
}

void release(PyThreadState* thread, PyObject** base) {
  _PyStackChunk* chunk = thread->datastack_chunk;
  if (base != &chunk->data[0]) {
    thread->datastack_top = base;
    return;
  }
  _PyStackChunk* previous = chunk->previous;
  thread->datastack_top = &previous->data[previous->top];
  thread->datastack_chunk = previous;
  thread->datastack_limit = reinterpret_cast<PyObject**>(reinterpret_cast<char*>(previous) + previous->size);
  PyObjectArenaAllocator arena;
  PyObject_GetArenaAllocator(&arena);
  arena.free(arena.ctx, chunk, chunk->size);
}

// A traceback or a caller of sys._getframe() owns the frame object: the frame's content moves into it.
void move_to_frame_object(PyThreadState* thread, PyFrameObject* object, Frame* frame) {
  const auto size = static_cast<std::size_t>(reinterpret_cast<char*>(&frame->localsplus[frame->stacktop]) -
                                             reinterpret_cast<char*>(frame));
  auto* copy = reinterpret_cast<Frame*>(object->_f_frame_data);
  std::memcpy(static_cast<void*>(copy), frame, size);
  if (frame->owner == FRAME_OWNED_BY_GENERATOR && version::kGeneratorsKeepCode) {
    Py_INCREF(code_of(frame));
  }
  object->f_frame = copy;
  copy->owner = FRAME_OWNED_BY_FRAME_OBJECT;
  Frame* previous = frame->previous;
  while (previous != nullptr && _PyFrame_IsIncomplete(previous)) {
    previous = previous->previous;
  }
  copy->previous = nullptr;
  if (previous != nullptr) {
    const PendingError pending;  // making the caller's frame object may fail, and leaves no exception then
    Frame* current = current_frame(thread);
    set_current_frame(thread, previous);
    object->f_back = PyThreadState_GetFrame(thread);  // makes the caller's frame object if it does not exist yet
    set_current_frame(thread, current);
  }
  if (PyObject_GC_IsTracked(reinterpret_cast<PyObject*>(object)) == 0) {
    PyObject_GC_Track(object);
  }
}

// Entering a frame with an exception is a "call" event for trace and profile functions, as for generator.throw(). If
// the frame has been running already there must be no such event, so the first event is hidden.
class HiddenCall {
 public:
  HiddenCall(PyThreadState* thread, const PyCodeObject* code)
      : thread_(thread), outer_(std::exchange(t_hidden, this)), code_(code) {
    hide(trace_, thread->c_tracefunc, watch<&HiddenCall::trace_, &PyThreadState::c_tracefunc>);
    hide(profile_, thread->c_profilefunc, watch<&HiddenCall::profile_, &PyThreadState::c_profilefunc>);
  }
  HiddenCall(const HiddenCall&) = delete;
  HiddenCall& operator=(const HiddenCall&) = delete;
  ~HiddenCall() {
    // The first event restores them; this is for the case that the interpreter reported none.
    restore(trace_, thread_->c_tracefunc, watch<&HiddenCall::trace_, &PyThreadState::c_tracefunc>);
    restore(profile_, thread_->c_profilefunc, watch<&HiddenCall::profile_, &PyThreadState::c_profilefunc>);
    t_hidden = outer_;
  }
  static bool takes_throw(const PyCodeObject* code) {
    return t_hidden != nullptr && t_hidden->code_ == code && std::exchange(t_hidden->code_, nullptr) != nullptr;
  }

 private:
  static void hide(Py_tracefunc& kept, Py_tracefunc& place, Py_tracefunc ours) {
    if (place != nullptr) {
      kept = std::exchange(place, ours);
    }
  }
  static void restore(Py_tracefunc& kept, Py_tracefunc& place, Py_tracefunc ours) {
    if (kept != nullptr && place == ours) {
      place = kept;
    }
    kept = nullptr;
  }
  template <Py_tracefunc HiddenCall::*kept, Py_tracefunc PyThreadState::*place>
  static int watch(PyObject* object, PyFrameObject* frame, int event, PyObject* argument) {
    HiddenCall& self = *t_hidden;
    const Py_tracefunc inner = self.*kept;
    restore(self.*kept, self.thread_->*place, watch<kept, place>);
    return event == PyTrace_CALL ? 0 : inner(object, frame, event, argument);
  }

  static thread_local HiddenCall* t_hidden;
  PyThreadState* thread_;
  HiddenCall* outer_;
  const PyCodeObject* code_;  // null: its first event has come
  Py_tracefunc trace_ = nullptr;
  Py_tracefunc profile_ = nullptr;
};
thread_local HiddenCall* HiddenCall::t_hidden = nullptr;

}  // namespace

Frame* push_frame(PyThreadState* thread, PyFunctionObject* function, PyCodeObject* code) {
  auto* frame = reinterpret_cast<Frame*>(allocate(thread, frame_size(code)));
  if (frame == nullptr) {
    PyErr_NoMemory();
    return nullptr;
  }
  Py_INCREF(function);
  Py_INCREF(code);
  version::set_function(frame, function);
  frame->f_globals = function->func_globals;
  frame->f_builtins = function->func_builtins;
  frame->f_locals = nullptr;
  version::set_code(frame, code);
  frame->frame_obj = nullptr;
  frame->previous = current_frame(thread);
  version::set_place(frame, units_of(code) + code->_co_firsttraceable);
  frame->stacktop = code->co_nlocalsplus;
  version::initialise(frame);
  frame->owner = FRAME_OWNED_BY_THREAD;
  std::memset(static_cast<void*>(frame->localsplus), 0,
              sizeof(PyObject*) * static_cast<std::size_t>(code->co_nlocalsplus));
  set_current_frame(thread, frame);
  return frame;
}

void clear_frame(PyThreadState* thread, Frame* frame) {
  PyFrameObject* object = frame->frame_obj;
  if (object != nullptr) {
    frame->frame_obj = nullptr;
    if (Py_REFCNT(object) > 1) {
      move_to_frame_object(thread, object, frame);
      Py_DECREF(object);
      return;
    }
    Py_DECREF(object);
  }
  for (int slot = 0; slot < frame->stacktop; ++slot) {
    Py_XDECREF(frame->localsplus[slot]);
  }
  Py_XDECREF(frame->f_locals);
  Py_DECREF(function_of(frame));
  if (frame->owner != FRAME_OWNED_BY_GENERATOR || !version::kGeneratorsKeepCode) {
    Py_DECREF(code_of(frame));
  }
}

void pop_frame(PyThreadState* thread, Frame* frame) {
  TAGALONG_CHECK(current_frame(thread) == frame, "popping {} while {} is current", fmt::ptr(frame),
                 fmt::ptr(current_frame(thread)));
  // The slots die in order, after the frame has stopped being the current one, as after a return.
  set_current_frame(thread, frame->previous);
  clear_frame(thread, frame);
  release(thread, reinterpret_cast<PyObject**>(frame));
}

namespace {

void set_raising(Frame* frame, int unit) {
  const bool is_behind =
      version::kHandlerIsInFront && range_at(code_of(frame), unit) != range_at(code_of(frame), unit - 1);
  version::set_raising(frame, units_of(code_of(frame)) + unit + (is_behind ? 1 : 0));
}

PyObject* evaluate(PyThreadState* thread, Frame* frame, bool raise) {
  const bool is_ours = frame->owner == FRAME_OWNED_BY_THREAD;
  set_current_frame(thread, frame->previous);
  PyObject* result = _PyEval_EvalFrameDefault(thread, frame, raise ? 1 : 0);
  if (!version::kInterpreterPopsFrames) {
    set_current_frame(thread, frame);
    if (is_ours) {
      pop_frame(thread, frame);
    }
  }
  return result;
}

}  // namespace

PyObject* run_frame(PyThreadState* thread, Frame* frame, int unit, int depth, bool raise) {
  version::prepare_for_events(thread, code_of(frame));
  if (raise) {
    set_raising(frame, unit);
  } else {
    version::set_next(frame, units_of(code_of(frame)) + unit);
  }
  frame->stacktop = code_of(frame)->co_nlocalsplus + depth;
  std::optional<HiddenCall> hidden;
  if (raise && is_watched(thread) && thread->tracing == 0) {
    hidden.emplace(thread, code_of(frame));
  }
  return evaluate(thread, frame, raise);
}

bool takes_hidden_throw(const PyCodeObject* code) { return HiddenCall::takes_throw(code); }

PyObject* start_frame(PyThreadState* thread, Frame* frame) {
  version::set_next(frame, units_of(code_of(frame)));
  return evaluate(thread, frame, false);
}

namespace {

void take_code(Frame* frame, PyCodeObject* code) {
  version::prepare_for_events(thread_state(), code);
  if (code_of(frame) != code) {
    version::copy_local_events(code_of(frame), code);
    TAGALONG_CHECK(code->co_nlocalsplus == code_of(frame)->co_nlocalsplus, "{} slots instead of {}",
                   code->co_nlocalsplus, code_of(frame)->co_nlocalsplus);
    Py_INCREF(code);
    PyCodeObject* old = code_of(frame);
    version::set_code(frame, code);
    Py_DECREF(old);
  }
}

}  // namespace

void redirect(Frame* frame, PyCodeObject* code, int unit, int depth, int previous) {
  take_code(frame, code);
  version::set_next(frame, units_of(code) + unit, units_of(code) + previous);
  frame->stacktop = code->co_nlocalsplus + depth;
}

void redirect(Frame* frame, PyCodeObject* code, int unit, int depth) { redirect(frame, code, unit, depth, unit); }

void redirect_raising(Frame* frame, PyCodeObject* code, int unit, int depth) {
  take_code(frame, code);
  set_raising(frame, unit);
  frame->stacktop = code->co_nlocalsplus + depth;
}

bool has_room(Frame* frame, const PyCodeObject* code) {
  if (frame->owner != FRAME_OWNED_BY_GENERATOR || !version::kGeneratorsHaveSize) {
    return code->co_stacksize <= code_of(frame)->co_stacksize;
  }
  return code->co_nlocalsplus + code->co_stacksize <= Py_SIZE(_PyFrame_GetGenerator(frame));
}

void replace_constant(PyCodeObject* code, int index, const Ref& object) {
  TAGALONG_CHECK(index >= 0 && index < PyTuple_GET_SIZE(code->co_consts), "constant {} of {}", index,
                 PyTuple_GET_SIZE(code->co_consts));
  PyObject* old = PyTuple_GET_ITEM(code->co_consts, index);
  PyTuple_SET_ITEM(code->co_consts, index, Py_NewRef(object.get()));
  Py_DECREF(old);
}

// Untouched memory costs nothing. One word of the piece stays in use, so that no frame lies at its beginning and the
// interpreter does not free it.
RoomForFrames::RoomForFrames(PyThreadState* thread) : thread_(thread) {
  constexpr std::size_t kRoom = std::size_t{4} << 20;
  base_ = push_chunk(thread, 1, kRoom);
}

RoomForFrames::~RoomForFrames() {
  if (base_ != nullptr) {
    release(thread_, base_);
  }
}

bool exchange_code(PyThreadState* thread, Frame* frame, PyCodeObject* code) {
  PyCodeObject* old = code_of(frame);
  if (code->co_nlocalsplus != old->co_nlocalsplus) {
    return false;
  }
  if (code->co_stacksize > old->co_stacksize) {
    auto* base = reinterpret_cast<PyObject**>(frame);
    const std::size_t size = frame_size(code);
    // Only the newest frame can grow, and only within its chunk.
    if (thread->datastack_top != base + frame_size(old) ||
        size >= static_cast<std::size_t>(thread->datastack_limit - base)) {
      return false;
    }
    thread->datastack_top = base + size;
  }
  Py_INCREF(code);
  version::set_code(frame, code);
  version::set_next(frame, units_of(code));
  Py_DECREF(old);
  return true;
}

}  // namespace tagalong::cpython
