/* An extension of its own that specialises functions: a type of guard written in C, and calls through tagalong's table.
 *
 *     cc -shared -fPIC $(python3-config --includes) -I$(python -c "import tagalong; print(tagalong.get_include())") \
 *        below.c -o below$(python3-config --extension-suffix)
 */
#include <Python.h>
#include <structmember.h>
#include <tagalong/tagalong.h>

static const Tagalong_API* api;

/* Below(limit): the first argument is an int below the limit; with limit 0 it never holds. */
typedef struct {
  Tagalong_Guard base;
  long limit;
  long asked;
} Below;

static int below_check(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* names) {
  Below* below = (Below*)self;
  ++below->asked;
  if (below->limit <= 0) {
    return TAGALONG_NEVER;
  }
  if (nargs + (names == NULL ? 0 : PyTuple_GET_SIZE(names)) < 1 || !PyLong_CheckExact(args[0])) {
    return TAGALONG_NOT_NOW;
  }
  int overflow;
  const long value = PyLong_AsLongAndOverflow(args[0], &overflow);
  if (value == 13 && overflow == 0) {
    PyErr_SetString(PyExc_ValueError, "13 brings bad luck");
    return TAGALONG_ERROR;
  }
  return overflow < 0 || (overflow == 0 && value < below->limit) ? TAGALONG_USE : TAGALONG_NOT_NOW;
}

static int below_init(PyObject* self, PyObject* function) {
  if (PyObject_HasAttrString(function, "unlucky")) {
    PyErr_SetString(PyExc_LookupError, "an unlucky function");
    return TAGALONG_ERROR;
  }
  return ((Below*)self)->limit < 0 ? TAGALONG_NEVER : 0;
}

static PyObject* below_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  long limit;
  if (!PyArg_ParseTuple(args, "l", &limit)) {
    return NULL;
  }
  Below* self = (Below*)api->guard_type->tp_new(type, args, kwargs);
  if (self != NULL) {
    self->base.init = below_init;
    self->base.check = below_check;
    self->limit = limit;
  }
  return (PyObject*)self;
}

static PyMemberDef below_members[] = {{"asked", T_LONG, offsetof(Below, asked), READONLY, "how often it was asked"},
                                      {"limit", T_LONG, offsetof(Below, limit), 0, "what the argument is below of"},
                                      {NULL, 0, 0, 0, NULL}};

static PyType_Slot below_slots[] = {{Py_tp_new, below_new}, {Py_tp_members, below_members}, {0, NULL}};
static PyType_Spec below_spec = {"below.Below", sizeof(Below), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                                 below_slots};

/* specialize(function, code, guards), get_specialized(function), choose(function, args, kwargs=None), remove(function,
 * index=-1): through the table. */
static PyObject* specialize(PyObject* module, PyObject* args) {
  PyObject *function, *code, *guards;
  if (!PyArg_ParseTuple(args, "OOO", &function, &code, &guards)) {
    return NULL;
  }
  const int result = api->specialize(function, code, guards);
  return result < 0 ? NULL : PyLong_FromLong(result);
}

static PyObject* get_specialized(PyObject* module, PyObject* function) { return api->get_specialized(function); }

static PyObject* choose(PyObject* module, PyObject* args) {
  PyObject *function, *arguments, *keywords = NULL;
  if (!PyArg_ParseTuple(args, "OO|O", &function, &arguments, &keywords)) {
    return NULL;
  }
  return api->choose(function, arguments, keywords);
}

static PyObject* remove_one(PyObject* module, PyObject* args) {
  PyObject* function;
  Py_ssize_t index = -1;
  if (!PyArg_ParseTuple(args, "O|n", &function, &index) || api->remove(function, index) < 0) {
    return NULL;
  }
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {{"specialize", specialize, METH_VARARGS, NULL},
                                {"get_specialized", get_specialized, METH_O, NULL},
                                {"choose", choose, METH_VARARGS, NULL},
                                {"remove", remove_one, METH_VARARGS, NULL},
                                {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "below", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_below(void) {
  api = Tagalong_Import();
  if (api == NULL) {
    return NULL;
  }
  PyObject* module = PyModule_Create(&definition);
  PyObject* type = module == NULL ? NULL : PyType_FromSpecWithBases(&below_spec, (PyObject*)api->guard_type);
  if (type == NULL || PyModule_AddObject(module, "Below", type) < 0) {
    Py_XDECREF(type);
    Py_XDECREF(module);
    return NULL;
  }
  return module;
}
