#include "runtime/module/hooks_object.h"

#include <structmember.h>

#include <array>
#include <cstddef>

#include "rewriter/base/errors.h"
#include "rewriter/hook_key.h"

namespace tagalong {

namespace {

struct Hooks {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  PyObject* before;
  PyObject* after;
  long long calls;
};

Hooks* hooks(PyObject* self) { return reinterpret_cast<Hooks*>(self); }

PyObject* call_hook(PyObject* self, PyObject* const* arguments, std::size_t count_and_flags, PyObject* keywords) {
  if (PyVectorcall_NARGS(count_and_flags) != 1 || keywords != nullptr || PyLong_Check(arguments[0]) == 0) {
    PyErr_SetString(PyExc_TypeError, "a hook takes one integer");
    return nullptr;
  }
  const long key = rewriter::hook_key_of(arguments[0]);
  if (PyErr_Occurred() != nullptr) {
    return nullptr;
  }
  ++hooks(self)->calls;
  PyObject* callee = (key & 1) != 0 ? hooks(self)->after : hooks(self)->before;
  if (callee == Py_None) {
    Py_RETURN_NONE;
  }
  const Ref index = Ref::steal(PyLong_FromLong(key >> 1));
  return index ? PyObject_CallOneArg(callee, index.get()) : nullptr;
}

PyObject* make_hooks(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  static std::array<char*, 3> names = {const_cast<char*>("before"), const_cast<char*>("after"), nullptr};
  PyObject* before = Py_None;
  PyObject* after = Py_None;
  if (PyArg_ParseTupleAndKeywords(arguments, keywords, "|OO:Hooks", names.data(), &before, &after) == 0) {
    return nullptr;
  }
  for (PyObject* callee : {before, after}) {
    if (callee != Py_None && PyCallable_Check(callee) == 0) {
      PyErr_Format(PyExc_TypeError, "a hook must be callable or None, not %.200s", Py_TYPE(callee)->tp_name);
      return nullptr;
    }
  }
  PyObject* self = type->tp_alloc(type, 0);
  if (self != nullptr) {
    hooks(self)->vectorcall = call_hook;
    hooks(self)->before = Ref::create(before).release();
    hooks(self)->after = Ref::create(after).release();
  }
  return self;
}

int traverse_hooks(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(hooks(self)->before);
  Py_VISIT(hooks(self)->after);
  return 0;
}

int clear_hooks(PyObject* self) {
  Py_CLEAR(hooks(self)->before);
  Py_CLEAR(hooks(self)->after);
  return 0;
}

void delete_hooks(PyObject* self) {
  PyObject_GC_UnTrack(self);
  PyTypeObject* type = Py_TYPE(self);
  clear_hooks(self);
  type->tp_free(self);
  Py_DECREF(type);
}

std::array<PyMemberDef, 5> members = {{
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Hooks, vectorcall), READONLY, nullptr},
    {"before", T_OBJECT, offsetof(Hooks, before), READONLY, "called in front of an instruction, with its index"},
    {"after", T_OBJECT, offsetof(Hooks, after), READONLY, "called behind an instruction, with its index"},
    {"calls", T_LONGLONG, offsetof(Hooks, calls), 0, "how often a hook was reached"},
    {},
}};

template <class Function>
void* slot(Function* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

Ref make_hooks_type() {
  static const char* const doc =
      "Hooks(before=None, after=None)\n--\n\nWhat instrumented code calls: `before(index)` in front of an instruction "
      "and "
      "`after(index)` behind it. Without them the hooks are empty; `calls` counts them all the same.";
  std::array<PyType_Slot, 9> slots = {{{Py_tp_doc, const_cast<char*>(doc)},
                                       {Py_tp_new, slot(make_hooks)},
                                       {Py_tp_call, slot(PyVectorcall_Call)},
                                       {Py_tp_traverse, slot(traverse_hooks)},
                                       {Py_tp_clear, slot(clear_hooks)},
                                       {Py_tp_dealloc, slot(delete_hooks)},
                                       {Py_tp_members, members.data()},
                                       {0, nullptr}}};
  PyType_Spec spec = {"tagalong.rewriter.Hooks", sizeof(Hooks), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, slots.data()};
  Ref type = Ref::steal(PyType_FromSpec(&spec));
  if (!type) {
    throw PythonError();
  }
  return type;
}

}  // namespace tagalong
