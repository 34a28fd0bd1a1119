#include "runtime/main_hook.h"

#include <utility>

#include "rewriter/base/dicts.h"
#include "rewriter/cpython/eval_hook.h"
#include "runtime/exec_hook.h"

namespace tagalong::runtime {
namespace {

// Empty after the main module's frame was seen.
Ref& callback_slot() {
  static auto* slot = new Ref();
  return *slot;
}

bool is_main_module(cpython::Frame* frame) {
  PyObject* globals = cpython::function_of(frame)->func_globals;
  PyObject* name = PyDict_Check(globals) ? item_of(globals, "__name__") : nullptr;
  return name != nullptr && PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, "__main__") == 0 &&
         PyUnicode_CompareWithASCIIString(cpython::code_of(frame)->co_name, "<module>") == 0;
}

PyObject* handle_main(PyThreadState* thread, cpython::Frame* frame, int throw_flag) {
  if (!callback_slot() || throw_flag != 0 || !is_main_module(frame)) {
    return cpython::pass_on(thread, frame, throw_flag);
  }
  const Ref callback = std::exchange(callback_slot(), Ref());
  cpython::set_first_handler(nullptr);
  cpython::release_hook();
  Ref code;  // while the frame is in recording code nothing else owns its replay code
  if (!is_changed_execution(cpython::code_of(frame))) {  // `python -m` runs it through exec, which has changed it
    code = Ref::steal(PyObject_CallOneArg(callback.get(), reinterpret_cast<PyObject*>(cpython::code_of(frame))));
    if (!code) {
      return nullptr;
    }
    if (PyCode_Check(code.get())) {
      cpython::exchange_code(thread, frame, reinterpret_cast<PyCodeObject*>(code.get()));
    }
  }
  const cpython::RoomForFrames room(thread);
  return cpython::pass_on(thread, frame, throw_flag);
}

}  // namespace

void install_main_hook(const Ref& callback) {
  const bool is_new = !callback_slot();
  callback_slot() = callback;
  // Modules that are imported before may have functions that are recorded meanwhile.
  cpython::set_first_handler(handle_main);
  if (is_new) {
    cpython::acquire_hook();
  }
}

}  // namespace tagalong::runtime
