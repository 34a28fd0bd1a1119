/* ask(list): a pending call imports a module and appends the globals and the builtins of the current frame to the list. */
#include <Python.h>

static int answer(void *argument) {
  PyObject *list = argument;
  PyObject *module = PyImport_ImportModule("gc"); /* looks for __import__ in the builtins of the current frame */
  const int failed = module == NULL || PyList_Append(list, PyEval_GetGlobals()) < 0 ||
                     PyList_Append(list, PyEval_GetBuiltins()) < 0;
  Py_XDECREF(module);
  Py_DECREF(list);
  return failed ? -1 : 0;
}

static PyObject *ask(PyObject *self, PyObject *list) {
  if (Py_AddPendingCall(answer, Py_NewRef(list)) < 0) {
    Py_DECREF(list);
    PyErr_SetString(PyExc_RuntimeError, "too many pending calls");
    return NULL;
  }
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {{"ask", ask, METH_O, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "pending_calls", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_pending_calls(void) { return PyModule_Create(&module); }
