#include "recorder/hook.h"

#include <structmember.h>

#include <array>

#include "recorder/base/postponed_requests.h"
#include "recorder/deferred/array_proxy.h"
#include "recorder/session.h"
#include "rewriter/base/errors.h"
#include "rewriter/base/once.h"
#include "rewriter/cpython/requests.h"
#include "rewriter/hook_key.h"

namespace tagalong::recorder {
namespace {

struct Hook {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  Session* session;
};

PyObject* hook_call(PyObject* self, PyObject* const* arguments, std::size_t count, PyObject* /*names*/) {
  Session* session = reinterpret_cast<Hook*>(self)->session;
  if (session == nullptr || PyVectorcall_NARGS(count) != 1) {
    resume_postponed(cpython::thread_state());
    if (!force_arrays(cpython::current_frame(cpython::thread_state()))) {
      return nullptr;
    }
    Py_RETURN_NONE;
  }
  const long key = rewriter::hook_key_of(arguments[0]);
  cpython::Frame* frame = cpython::current_frame(session->thread());
  session->resume_recording(frame);
  // Computed first, because the session may finish below.
  const bool polls_eval_breaker = !resume_postponed(session->thread()) && key != kUnwound &&
                                  session->is_poll_place(frame, static_cast<int>(key >> 1), (key & 1) != 0);
  const auto is_over = [self] { return reinterpret_cast<Hook*>(self)->session == nullptr; };
  const bool returns = key != kUnwound && (key & 1) == 0 && session->returns(frame, static_cast<int>(key >> 1));
  PyObject* raised[3] = {};  // exception of a deferred operation; it replaces the one that leaves the frame
  try {
    if (key == kUnwound) {
      if (!force_arrays(frame)) {
        PyErr_Fetch(&raised[0], &raised[1], &raised[2]);
      }
      session->unwound(frame);
    } else if ((key & 1) == 0) {
      if (!session->prepare_array_operation(frame, static_cast<int>(key >> 1))) {
        return nullptr;
      }
      session->before(frame, static_cast<int>(key >> 1));
      if (!is_over() && !session->put_array_operation(frame, static_cast<int>(key >> 1))) {
        return nullptr;
      }
    } else {
      session->after(frame, static_cast<int>(key >> 1));
    }
  } catch (const PythonError&) {
    PyErr_Clear();
    session->stop(Stop::k_internal);
  } catch (const std::exception&) {
    session->stop(Stop::k_internal);
  }
  if (PyErr_Occurred() != nullptr) [[unlikely]] {
    PyErr_Clear();  // out of memory for something that the recorder does not need
  }
  if (returns) {
    discard_returned(frame);
  }
  if (is_over()) {
    Session::free_finished(cpython::thread_state());  // the session has just finished
    if (!force_arrays(frame)) {
      return nullptr;  // the frame continues without hooks
    }
  }
  if (raised[0] != nullptr) {
    PyErr_Restore(raised[0], raised[1], raised[2]);
    return nullptr;
  }
  if (polls_eval_breaker && !has_deferred_arrays(frame)) {
    Py_RETURN_NONE;
  }
  return cpython::result_without_poll(cpython::thread_state());
}

PyObject* hook_repr(PyObject* /*self*/) { return PyUnicode_FromString("<recorder>"); }

PyTypeObject* hook_type() {
  static PyTypeObject* type = nullptr;
  return cpython::once(type, [] {
    static std::array<PyMemberDef, 2> members{{
        {"__vectorcalloffset__", T_PYSSIZET, offsetof(Hook, vectorcall), READONLY, nullptr},
        {nullptr, 0, 0, 0, nullptr},
    }};
    static std::array<PyType_Slot, 4> slots = {{
        {Py_tp_members, members.data()},
        {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
        {Py_tp_repr, reinterpret_cast<void*>(hook_repr)},
        {0, nullptr},
    }};
    static PyType_Spec spec = {"tagalong._core.Recorder", sizeof(Hook), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               slots.data()};
    return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  });
}

}  // namespace

Ref make_hook(Session* session) {
  PyTypeObject* type = hook_type();
  Ref object = type == nullptr ? Ref() : Ref::steal(type->tp_alloc(type, 0));
  if (object) {
    auto* hook = reinterpret_cast<Hook*>(object.get());
    hook->vectorcall = hook_call;
    hook->session = session;
  }
  return object;
}

void detach_hook(const Ref& hook) { reinterpret_cast<Hook*>(hook.get())->session = nullptr; }

}  // namespace tagalong::recorder
