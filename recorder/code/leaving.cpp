#include "recorder/code/leaving.h"

#include <array>
#include <memory>
#include <utility>

#include "recorder/base/postponed_requests.h"
#include "rewriter/base/errors.h"
#include "rewriter/base/once.h"
#include "rewriter/cpython/code_link.h"
#include "rewriter/cpython/first_call.h"
#include "rewriter/cpython/frame_redirect.h"
#include "rewriter/cpython/requests.h"
#include "rewriter/hook_key.h"

namespace tagalong::recorder {
namespace {

// The instruction at which a frame continues instead of the hook: the first of KW_NAMES, PRECALL and CALL.
std::size_t place_of(const DecodedCode& decoded, long key) {
  const auto instruction = static_cast<int>(key >> 1);
  const bool is_after = (key & 1) != 0;
  return static_cast<std::size_t>(is_after ? instruction + 1 : decoded.call_start(instruction));
}

using DecodedRef = std::shared_ptr<const DecodedCode>;

// Objects of ours among the constants of recording code.
template <class T>
constexpr const char* kName = nullptr;
template <>
constexpr const char* kName<HomeRef> = "tagalong.home";
template <>
constexpr const char* kName<DecodedRef> = "tagalong.decoded";

template <class T>
Ref constant_of(T object) {
  auto content = std::make_unique<T>(std::move(object));
  Ref capsule = Ref::steal(PyCapsule_New(
      content.get(), kName<T>, [](PyObject* self) { delete static_cast<T*>(PyCapsule_GetPointer(self, kName<T>)); }));
  if (capsule) {
    content.release();  // the capsule owns it now
  }
  return capsule;
}

template <class T>
T found_in(PyCodeObject* code) {
  for (Py_ssize_t index = PyTuple_GET_SIZE(code->co_consts); index > 0; --index) {
    PyObject* constant = PyTuple_GET_ITEM(code->co_consts, index - 1);
    if (PyCapsule_CheckExact(constant) && PyCapsule_IsValid(constant, kName<T>) != 0) {
      return *static_cast<T*>(PyCapsule_GetPointer(constant, kName<T>));
    }
  }
  return nullptr;
}

// Redirects the frame to its home; false: the frame stays in recording code.
bool redirect_home(cpython::Frame* frame, const Home& home, std::size_t place, int depth) {
  PyObject* code = PyWeakref_GET_OBJECT(home.code.get());
  if (code == Py_None || !cpython::has_room(frame, reinterpret_cast<PyCodeObject*>(code))) {
    return false;
  }
  cpython::redirect(frame, reinterpret_cast<PyCodeObject*>(code), home.shape->starts[place], depth);
  return true;
}

// Continues in recording code. The interpreter polls behind a call that was not inlined.
PyObject* continue_here(PyThreadState* thread, bool polls_eval_breaker) {
  if (polls_eval_breaker) {
    Py_RETURN_NONE;
  }
  return cpython::result_without_poll(thread);
}

PyObject* leave(PyThreadState* thread, cpython::Frame* frame, PyObject* argument, bool can_redirect) {
  const long key = argument == nullptr ? kUnwound : rewriter::hook_key_of(argument);
  PyCodeObject* original = cpython::original_of(cpython::code_of(frame));
  const bool has_deferred = resume_postponed(thread);
  if (key == kUnwound || original == cpython::code_of(frame)) {
    return continue_here(thread, can_redirect);
  }
  // The traceback holds an offset into the current code, which is meaningless in other code.
  if (can_redirect && cpython::is_held(frame) && !cpython::has_watcher(thread)) {
    Py_RETURN_NONE;
  }
  const auto home = found_in<HomeRef>(cpython::code_of(frame));
  const auto here = found_in<DecodedRef>(cpython::code_of(frame));
  if (here == nullptr) {
    return continue_here(thread, can_redirect);  // the program has made another code object from recording code
  }
  if (!can_redirect) {
    return continue_here(thread, !has_deferred && here->polls_eval_breaker(static_cast<int>(key >> 1), (key & 1) != 0));
  }
  const std::size_t place = place_of(*here, key);
  const int depth = here->shape->depths[place];
  if (depth == 0 || !here->regular[place]) {
    Py_RETURN_NONE;  // the redirect pushes a value, so it waits for a hook at which the stack is not empty
  }
  PyObject* top = cpython::stack_base(frame)[depth - 1];
  if (home == nullptr) {
    try {
      cpython::redirect(frame, cpython::code_to_run(original).get(), here->shape->starts[place], depth - 1);
    } catch (const PythonError&) {  // out of memory: the frame stays in recording code
      PyErr_Clear();
      Py_RETURN_NONE;
    }
  } else if (!redirect_home(frame, *home, place, depth - 1)) {
    Py_RETURN_NONE;
  }
  return cpython::redirect_result(top);
}

PyObject* departure_next(PyObject* /*self*/) {
  cpython::expect_redirect(cpython::thread_state());
  Py_RETURN_NONE;
}

PyTypeObject* departure_type() {
  static PyTypeObject* type = nullptr;
  return cpython::once(type, [] {
    static std::array<PyType_Slot, 3> slots = {{
        {Py_tp_iter, reinterpret_cast<void*>(PyObject_SelfIter)},
        {Py_tp_iternext, reinterpret_cast<void*>(departure_next)},
        {0, nullptr},
    }};
    static PyType_Spec spec = {"tagalong._core.Departure", sizeof(PyObject), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots.data()};
    return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  });
}

}  // namespace

Ref leaving_iterator() {
  static PyObject* object = nullptr;
  return Ref::create(cpython::once(object, [] {
    PyTypeObject* type = departure_type();
    return type == nullptr ? nullptr : type->tp_alloc(type, 0);
  }));
}

Ref leaving_function() {
  static PyObject* function = nullptr;
  return Ref::create(
      cpython::once(function, [] { return cpython::make_redirect_function("leave", leave, true).release(); }));
}

Ref home_constant(HomeRef home) { return constant_of(std::move(home)); }

Ref decoded_constant(std::shared_ptr<const DecodedCode> decoded) { return constant_of(std::move(decoded)); }

void leave_at_next_hook(const RecordingCode& recording) {
  const Ref function = leaving_function();
  if (!function) {
    PyErr_Clear();  // out of memory: the frames continue with hooks that do nothing
    return;
  }
  cpython::replace_constant(recording.code.get(), recording.callable_constant, function);
}

}  // namespace tagalong::recorder
