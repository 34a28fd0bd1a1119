/* Quiet(action): a guard that says TAGALONG_QUIET and calls a Python function nevertheless, for tests. */
#include <Python.h>
#include <structmember.h>
#include <tagalong/tagalong.h>

static const Tagalong_API *api;

typedef struct {
  Tagalong_Guard base;
  PyObject *action;
} Quiet;

static int quiet_check(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names) {
  PyObject *result = PyObject_CallNoArgs(((Quiet *)self)->action);
  if (result == NULL) return TAGALONG_ERROR;
  const long answer = PyLong_AsLong(result);
  Py_DECREF(result);
  return (int)answer;
}

static PyObject *quiet_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  PyObject *action;
  if (!PyArg_ParseTuple(args, "O", &action)) return NULL;
  Quiet *self = (Quiet *)api->guard_type->tp_new(type, args, kwargs);
  if (self != NULL) {
    self->base.check = quiet_check;
    self->base.flags = TAGALONG_QUIET;
    self->action = Py_NewRef(action);
  }
  return (PyObject *)self;
}

static int quiet_traverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(((Quiet *)self)->action);
  return api->guard_type->tp_traverse == NULL ? 0 : api->guard_type->tp_traverse(self, visit, arg);
}

static int quiet_clear(PyObject *self) {
  Py_CLEAR(((Quiet *)self)->action);
  return 0;
}

static PyType_Slot slots[] = {{Py_tp_new, quiet_new}, {Py_tp_traverse, quiet_traverse}, {Py_tp_clear, quiet_clear}, {0, NULL}};
static PyType_Spec spec = {"quiet_guard.Quiet", sizeof(Quiet), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "quiet_guard", NULL, -1, NULL, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_quiet_guard(void) {
  api = Tagalong_Import();
  PyObject *module = api == NULL ? NULL : PyModule_Create(&definition);
  PyObject *type = module == NULL ? NULL : PyType_FromSpecWithBases(&spec, (PyObject *)api->guard_type);
  if (type == NULL || PyModule_AddObject(module, "Quiet", type) < 0) return NULL;
  return module;
}
