#include "runtime/process.h"

#include <Python.h>

#include "rewriter/base/ending.h"
#include "rewriter/base/errors.h"
#include "rewriter/cpython/eval_hook.h"
#include "runtime/policy/recording_budget.h"
#include "runtime/records/anchor.h"
#include "version/threads.h"

namespace tagalong::runtime {
namespace {

// Recordings of other threads do not continue in the child. Their objects are not freed: frames that will never run
// refer to them.
PyObject* after_fork(PyObject* /*module*/, PyObject* /*unused*/) {
  PyThreadState* thread = cpython::thread_state();
  cpython::forget_other_threads();
  recorder::Session::forget_other_threads(thread);
  recording_budget().after_fork();
  for_each_record(
      [](CodeRecord& record, void* own) { record.recordings.drop_other_threads(static_cast<PyThreadState*>(own)->id); },
      thread);
  Py_RETURN_NONE;
}

PyObject* at_exit(PyObject* /*module*/, PyObject* /*unused*/) {
  cpython::begin_ending(version::is_finalizing);
  Py_RETURN_NONE;
}

Ref function(PyMethodDef& definition) {
  Ref object = Ref::steal(PyCFunction_New(&definition, nullptr));
  if (!object) {
    throw PythonError();
  }
  return object;
}

}  // namespace

void watch_process() {
  static PyMethodDef after_fork_definition = {"after_fork", after_fork, METH_NOARGS, nullptr};
  static PyMethodDef at_exit_definition = {"at_exit", at_exit, METH_NOARGS, nullptr};
  const Ref os = Ref::steal(PyImport_ImportModule("os"));
  const Ref method = os ? Ref::steal(PyObject_GetAttrString(os.get(), "register_at_fork")) : Ref();
  const Ref nothing = Ref::steal(PyTuple_New(0));
  const Ref words = Ref::steal(Py_BuildValue("{sO}", "after_in_child", function(after_fork_definition).get()));
  const Ref forks =
      method && nothing && words ? Ref::steal(PyObject_Call(method.get(), nothing.get(), words.get())) : Ref();
  const Ref atexit = forks ? Ref::steal(PyImport_ImportModule("atexit")) : Ref();
  const Ref ends =
      atexit ? Ref::steal(PyObject_CallMethod(atexit.get(), "register", "O", function(at_exit_definition).get()))
             : Ref();
  if (!ends) {
    throw PythonError();
  }
}

}  // namespace tagalong::runtime
