#include "rewriter/cpython/frame_redirect.h"

#include <array>
#include <string>
#include <utility>

#include "rewriter/base/once.h"
#include "rewriter/cpython/code_object.h"
#include "rewriter/cpython/eval_hook.h"
#include "rewriter/cpython/foreign_eval.h"
#include "rewriter/cpython/thunks.h"
#include "version/snippets.h"

namespace tagalong::cpython {
namespace {

struct Redirector {
  PyObject_HEAD
  RedirectFunction redirect_frame;
  bool takes_argument;
};

// Trace and profile functions of the thread must not see the end of the redirect function's frame. Where they would,
// they are replaced by functions that hide its events and pass on all others, until that frame has ended. Where events
// are in code, only an exception gives any, at once, and they show the frame below.
struct Hidden {
  const PyCodeObject* code = nullptr;
  Py_tracefunc trace = nullptr;
  Py_tracefunc profile = nullptr;
};
thread_local Hidden t_hidden;

template <Py_tracefunc Hidden::*kept, Py_tracefunc PyThreadState::*place>
int watch(PyObject* object, PyFrameObject* frame, int event, PyObject* argument) {
  if (!version::kEventsAreInCode && code_of(frame->f_frame) != t_hidden.code) {
    return (t_hidden.*kept)(object, frame, event, argument);
  }
  if (event == PyTrace_RETURN) {
    thread_state()->*place = t_hidden.*kept;
  }
  return 0;
}

template <Py_tracefunc Hidden::*kept, Py_tracefunc PyThreadState::*place>
void hide(PyThreadState* thread) {
  constexpr Py_tracefunc kWatch = watch<kept, place>;
  if (thread->*place != nullptr && thread->*place != kWatch) {
    t_hidden.*kept = std::exchange(thread->*place, kWatch);
  }
}

void hide_from_watchers(PyThreadState* thread, Frame* frame) {
  if (has_watcher(thread) && thread->tracing == 0) {
    t_hidden.code = code_of(frame);
    hide<&Hidden::trace, &PyThreadState::c_tracefunc>(thread);
    hide<&Hidden::profile, &PyThreadState::c_profilefunc>(thread);
  }
}

PyObject* redirector_call(PyObject* self) {
  PyThreadState* thread = thread_state();
  restore_evaluation_function(thread);
  restore_hook(thread);
  // The current frame is the redirect function's own; the frame to change is its caller.
  Frame* own = current_frame(thread);
  if (!version::kEventsAreInCode) {
    hide_from_watchers(thread, own);
  }
  Frame* frame = caller_of(own);
  const auto* redirector = reinterpret_cast<Redirector*>(self);
  PyObject* argument = redirector->takes_argument ? locals_of(own)[0] : nullptr;
  PyObject* result = redirector->redirect_frame(thread, frame, argument, !is_entry(own));
  if (version::kEventsAreInCode && result == nullptr) {
    hide_from_watchers(thread, own);
  }
  return result;
}

PyTypeObject* redirector_type() {
  static PyTypeObject* type = nullptr;
  return once(type, [] {
    static std::array<PyType_Slot, 2> slots = {{
        {Py_nb_negative, reinterpret_cast<void*>(redirector_call)},
        {0, nullptr},
    }};
    static PyType_Spec spec = {"tagalong._core.Lander", sizeof(Redirector), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots.data()};
    return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  });
}

// The bytecode calls C before RESUME, so the frame stays incomplete. It calls through an operator, because after a call
// the interpreter would poll the eval breaker, which it must not do yet in a generator that delegates.
std::string redirect_bytecode() {
  std::string code;
  const auto emit = [&code](rewriter::Opcode opcode, int argument) { append_instruction(&code, {opcode, argument}); };
  emit(op::kLOAD_CONST, 0);
  emit(op::kUNARY_NEGATIVE, 0);
  emit(op::kCOPY, 1);
  emit(op::kLOAD_CONST, 1);
  emit(op::kIS_OP, 0);
  emit(version::kJumpIfTrue, 1);
  emit(op::kRETURN_VALUE, 0);
  emit(op::kPOP_TOP, 0);
  emit(op::kPUSH_NULL, 0);
  emit(op::kRETURN_VALUE, 0);
  emit(op::kRESUME, 0);
  emit(op::kRETURN_VALUE, 0);
  return code;
}

// Stands for the NULL of the calling convention, which a function cannot return.
PyObject* redirect_null() {
  static PyObject* object = nullptr;
  return once(object, [] { return PyObject_CallNoArgs(reinterpret_cast<PyObject*>(&PyBaseObject_Type)); });
}

}  // namespace

PyObject* redirect_result(PyObject* top) { return top != nullptr ? top : Py_NewRef(redirect_null()); }

PyObject* redirect_to_empty_stack(Frame* frame, PyCodeObject* code, int unit, int previous) {
  PyObject* last = std::exchange(locals_of(frame)[slot_count(code) - 1], nullptr);
  redirect(frame, code, unit, -1, previous);
  return redirect_result(last);
}

Ref make_redirect_function(const char* name, RedirectFunction redirect_frame, bool takes_argument) {
  PyTypeObject* type = redirector_type();
  if (type == nullptr || redirect_null() == nullptr) {
    return {};
  }
  Ref redirector = Ref::steal(type->tp_alloc(type, 0));
  if (!redirector) {
    return {};
  }
  auto* object = reinterpret_cast<Redirector*>(redirector.get());
  object->redirect_frame = redirect_frame;
  object->takes_argument = takes_argument;

  const std::string bytes = redirect_bytecode();
  const Ref nothing = Ref::steal(PyTuple_New(0));
  const Ref globals = Ref::steal(PyDict_New());
  constexpr int kStackSize = 4;
  const CodeRef code = make_internal_code(
      {.code = Ref::steal(PyBytes_FromStringAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size()))),
       .constants = Ref::steal(PyTuple_Pack(2, redirector.get(), redirect_null())),
       .names = nothing,
       .variables = takes_argument ? Ref::steal(Py_BuildValue("(s)", "index")) : nothing,
       .name = Ref::steal(PyUnicode_FromString(name)),
       .flags = CO_OPTIMIZED | CO_NEWLOCALS,
       .stack_size = kStackSize});
  if (!code || !globals) {
    return {};
  }
  return Ref::steal(PyFunction_New(reinterpret_cast<PyObject*>(code.get()), globals.get()));
}

void expect_redirect(PyThreadState* thread) {
  suspend_hook(thread);
  if (foreign_hook(thread)) [[unlikely]] {
    suspend_evaluation_function(thread);
  }
}

}  // namespace tagalong::cpython
