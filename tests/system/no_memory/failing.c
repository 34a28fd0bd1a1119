/* Lets allocations fail: loaded in front of the C library (LD_PRELOAD), and imported as the module `failing`.
 *
 * Only those of the thread that has asked for it, between arm() and disarm(), which allocate nothing themselves: the nth
 * one that anything asks the C library for (with PYTHONMALLOC=malloc that is what CPython, NumPy and C++ ask for), or the
 * nth one that Python's allocators are asked for, and all of those behind it. */
#define _GNU_SOURCE
#include <Python.h>
#include <dlfcn.h>
#include <errno.h>

/* The dynamic linker loads this before it has anything of Python's. */
#pragma weak _Py_NoneStruct
#pragma weak _Py_TrueStruct

static __thread long g_left = 0;     /* allocations before the one that fails; 0: none fails */
static __thread long g_counted = 0;  /* since arm() */
static __thread int g_armed = 0; /* 1: one of the C library's; 2: Python's, from one on */

static void *(*g_malloc)(size_t);
static void *(*g_calloc)(size_t, size_t);
static void *(*g_realloc)(void *, size_t);

static int fails(int level) {
  if (g_armed != level) return 0;
  ++g_counted;
  if (g_left == 0) return 0;
  if (g_left > 1) {
    --g_left;
    return 0;
  }
  g_left = level == 2;
  errno = ENOMEM;
  return 1;
}

/* dlsym() may ask for memory before it has found calloc(). */
static char g_early[4096];
static size_t g_early_used = 0;

void *malloc(size_t size) {
  if (!g_malloc) g_malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
  return fails(1) ? NULL : g_malloc(size);
}

void *calloc(size_t count, size_t size) {
  static int is_looking = 0;
  if (!g_calloc) {
    if (is_looking) {
      void *found = g_early + g_early_used;
      g_early_used += (count * size + 15) / 16 * 16;
      return g_early_used <= sizeof g_early ? found : NULL;
    }
    is_looking = 1;
    g_calloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
  }
  return fails(1) ? NULL : g_calloc(count, size);
}

void *realloc(void *old, size_t size) {
  if (!g_realloc) g_realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
  return fails(1) ? NULL : g_realloc(old, size);
}

static PyMemAllocatorEx g_before[3];

static void *python_malloc(void *domain, size_t size) {
  PyMemAllocatorEx *before = domain;
  return fails(2) ? NULL : before->malloc(before->ctx, size);
}

static void *python_calloc(void *domain, size_t count, size_t size) {
  PyMemAllocatorEx *before = domain;
  return fails(2) ? NULL : before->calloc(before->ctx, count, size);
}

static void *python_realloc(void *domain, void *old, size_t size) {
  PyMemAllocatorEx *before = domain;
  return fails(2) ? NULL : before->realloc(before->ctx, old, size);
}

static void python_free(void *domain, void *old) {
  PyMemAllocatorEx *before = domain;
  before->free(before->ctx, old);
}

/* arm(n, level) */
static PyObject *arm(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  g_left = PyLong_AsLong(args[0]);
  g_counted = 0;
  g_armed = (int)PyLong_AsLong(args[1]);
  Py_RETURN_NONE;
}

static PyObject *disarm(PyObject *self, PyObject *none) {
  g_armed = 0;
  Py_RETURN_NONE;
}

static PyObject *counted(PyObject *self, PyObject *none) { return PyLong_FromLong(g_counted); }

static PyMethodDef g_methods[] = {{"arm", (PyCFunction)(void (*)(void))arm, METH_FASTCALL, NULL},
                                  {"disarm", disarm, METH_NOARGS, NULL},
                                  {"counted", counted, METH_NOARGS, NULL},
                                  {NULL, NULL, 0, NULL}};
static struct PyModuleDef g_module = {PyModuleDef_HEAD_INIT, "failing", NULL, -1, g_methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_failing(void) {
  const PyMemAllocatorDomain domains[3] = {PYMEM_DOMAIN_RAW, PYMEM_DOMAIN_MEM, PYMEM_DOMAIN_OBJ};
  for (int index = 0; index < 3; ++index) {
    PyMem_GetAllocator(domains[index], &g_before[index]);
    PyMemAllocatorEx ours = {&g_before[index], python_malloc, python_calloc, python_realloc, python_free};
    PyMem_SetAllocator(domains[index], &ours);
  }
  return PyModule_Create(&g_module);
}
