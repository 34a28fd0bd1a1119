/* tagalong for other extensions: specialised functions with guards (PEP 510).
 *
 *     #include <tagalong/tagalong.h>
 *
 *     const Tagalong_API *api = Tagalong_Import();             // NULL with an exception set
 *     if (api == NULL || api->specialize(function, code, guards) < 0) { return NULL; }
 *
 * `python -c "import tagalong; print(tagalong.get_include())"` prints the folder to be searched for this header. The
 * table is found through a capsule, so nothing has to be linked. All of it needs the GIL. C99 and C++.
 */
#ifndef TAGALONG_TAGALONG_H
#define TAGALONG_TAGALONG_H

#include <Python.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-*): C */

/* Results of Tagalong_Guard.check. */
#define TAGALONG_USE 1      /* the guard holds */
#define TAGALONG_NOT_NOW 0  /* it does not hold for this call */
#define TAGALONG_NEVER (-1) /* it will never hold again: the specialisation is removed */
#define TAGALONG_ERROR (-2) /* an exception is set; the call raises it */

/* Bits of Tagalong_Guard.flags. */
#define TAGALONG_QUIET                                                                                  \
  1 /* check never runs code of the program and never gives up the GIL: it is called directly, and once \
       more when other guards have run such code */

/* A guard. Types of your own begin with this struct and have Tagalong_API.guard_type as their base; a tp_new that calls
 * the base's and then sets `check`, `init` and `flags` is all they need (see the example below). Their objects are
 * tracked by the collector: a type that owns objects needs tp_traverse and tp_clear, as any other.
 *
 *     static PyObject *even_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
 *       PyObject *self = api->guard_type->tp_new(type, args, kwargs);
 *       if (self != NULL) {
 *         ((Tagalong_Guard *)self)->check = even_check;
 *         ((Tagalong_Guard *)self)->flags = TAGALONG_QUIET;
 *       }
 *       return self;
 *     }
 */
typedef struct Tagalong_Guard {
  PyObject_HEAD
  /* Called once by specialize(). 0: fine; TAGALONG_NEVER: the guard will always fail, so the specialisation is ignored;
   * TAGALONG_ERROR: an exception is set. */
  int (*init)(PyObject* self, PyObject* function);
  /* Called in front of each call of the function, with its arguments as they are bound to parameters, in the vectorcall
   * convention: `nargs` positional ones (defaults filled in, then those of *args), then a value for each name of the
   * tuple `names` (keyword-only ones, then those of **kwargs), which may be NULL. All are borrowed. */
  int (*check)(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* names);
  int flags;
} Tagalong_Guard;

#define TAGALONG_API_VERSION 1
#define TAGALONG_CAPSULE "tagalong._core._C_API"

typedef struct Tagalong_API {
  int version;              /* TAGALONG_API_VERSION; later ones only add to the end */
  PyTypeObject* guard_type; /* tagalong.guards.Guard */
  /* tagalong.specialize(): 0 if it was added, 1 if it was ignored because a guard will always fail, -1 with an
   * exception set. `code` is a code object or any callable, `guards` an iterable of guards. */
  int (*specialize)(PyObject* function, PyObject* code, PyObject* guards);
  /* tagalong.get_specialized(): a new list of tuples (code, list of guards). */
  PyObject* (*get_specialized)(PyObject* function);
  /* What a call with these arguments would use: a new reference to the code object or callable, or to None if no
   * guards hold and the call would use recorded graphs or the original code. Asks the guards as a call
   * does. `args` is a tuple, `kwargs` a dict or NULL. */
  PyObject* (*choose)(PyObject* function, PyObject* args, PyObject* kwargs);
  /* Removes one specialisation, by its place in the list, or all of them with -1. 0, or -1 with an exception set. */
  int (*remove)(PyObject* function, Py_ssize_t index);
} Tagalong_API;

/* Imports tagalong. The table lives as long as the process; NULL with an exception set. */
static inline const Tagalong_API* Tagalong_Import(void) {
  const Tagalong_API* api = (const Tagalong_API*)PyCapsule_Import(TAGALONG_CAPSULE, 0);
  if (api != NULL && api->version < TAGALONG_API_VERSION) {
    PyErr_Format(PyExc_ImportError, "tagalong has version %d of its C API, version %d is needed", api->version,
                 TAGALONG_API_VERSION);
    return NULL;
  }
  return api;
}

/* NOLINTEND(modernize-*) */

#ifdef __cplusplus
}
#endif

#endif
