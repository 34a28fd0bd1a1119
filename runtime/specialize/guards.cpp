#include "runtime/specialize/guards.h"

#include "rewriter/base/once.h"
#include "rewriter/cpython/code_link.h"
#include "runtime/specialize/guard_types.h"
#include "runtime/specialize/ready_guards.h"

namespace tagalong::runtime {

bool CalledArguments::take(PyObject* args, PyObject* kwargs) {
  owner_ = Ref::steal(PySequence_Tuple(args));
  if (!owner_) {
    return false;
  }
  const Py_ssize_t count = PyTuple_GET_SIZE(owner_.get());
  for (Py_ssize_t index = 0; index < count; ++index) {
    values_.push_back(PyTuple_GET_ITEM(owner_.get(), index));
  }
  if (kwargs != nullptr && kwargs != Py_None) {
    if (!PyDict_Check(kwargs)) {
      PyErr_Format(PyExc_TypeError, "kwargs must be a dict, not %.200s", Py_TYPE(kwargs)->tp_name);
      return false;
    }
    const Ref copy = Ref::steal(PyDict_Copy(kwargs));
    const Ref values = copy ? Ref::steal(PyDict_Values(copy.get())) : Ref();
    const Ref keys = values ? Ref::steal(PyDict_Keys(copy.get())) : Ref();
    names_ = keys ? Ref::steal(PyList_AsTuple(keys.get())) : Ref();
    owner_ = names_ ? Ref::steal(Py_BuildValue("(OO)", owner_.get(), values.get())) : Ref();
    if (!owner_) {
      return false;
    }
    for (Py_ssize_t index = 0; index < PyList_GET_SIZE(values.get()); ++index) {
      values_.push_back(PyList_GET_ITEM(values.get(), index));
    }
  }
  arguments_ = {values_.data(), count, names_.get()};
  return true;
}

namespace {

// The result of a Python method, as a number. Takes over the reference.
int answer_of(const char* method, PyObject* object, int least) {
  const Ref answer = Ref::steal(object);
  if (!answer) {
    return TAGALONG_ERROR;
  }
  if (!PyLong_Check(answer.get())) {
    PyErr_Format(PyExc_TypeError, "%s() of a guard must return an int, not %.200s", method,
                 Py_TYPE(answer.get())->tp_name);
    return TAGALONG_ERROR;
  }
  int overflow = 0;
  const long number = PyLong_AsLongAndOverflow(answer.get(), &overflow);
  const int most = least == TAGALONG_NEVER && method[0] == 'i' ? 0 : TAGALONG_USE;
  if (overflow != 0 || number < least || number > most) {
    PyErr_Format(PyExc_ValueError, "%s() of a guard must return %s, not %S", method,
                 most == 0 ? "0 or -1" : "1, 0 or -1", answer.get());
    return TAGALONG_ERROR;
  }
  return static_cast<int>(number);
}

}  // namespace

int call_python_init(PyObject* self, PyObject* function) {
  return answer_of("init", PyObject_CallMethod(self, "init", "O", function), TAGALONG_NEVER);
}

int call_python_check(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* names) {
  const Ref tuple = Ref::steal(PyTuple_New(nargs));
  const Ref dict = Ref::steal(PyDict_New());
  if (!tuple || !dict) {
    return TAGALONG_ERROR;
  }
  for (Py_ssize_t index = 0; index < nargs; ++index) {
    PyTuple_SET_ITEM(tuple.get(), index, Py_NewRef(args[index]));
  }
  for (Py_ssize_t index = 0; names != nullptr && index < PyTuple_GET_SIZE(names); ++index) {
    if (PyDict_SetItem(dict.get(), PyTuple_GET_ITEM(names, index), args[nargs + index]) != 0) {
      return TAGALONG_ERROR;
    }
  }
  return answer_of("check", PyObject_CallMethod(self, "check", "OO", tuple.get(), dict.get()), TAGALONG_NEVER);
}

PyObject* init_called(PyObject* self, PyObject* function, int (*init)(PyObject*, PyObject*)) {
  const int answer = init(self, function);
  return answer == TAGALONG_ERROR ? nullptr : PyLong_FromLong(answer);
}

PyObject* check_called(PyObject* self, PyObject* args, PyObject* kwargs,
                       int (*check)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*)) {
  static std::array<char*, 3> names = {const_cast<char*>("args"), const_cast<char*>("kwargs"), nullptr};
  PyObject* positional = nullptr;
  PyObject* keywords = nullptr;
  if (PyArg_ParseTupleAndKeywords(args, kwargs, "|OO:check", names.data(), &positional, &keywords) == 0) {
    return nullptr;
  }
  const Ref none = Ref::steal(PyTuple_New(0));
  CalledArguments called;
  if (!none || !called.take(positional == nullptr ? none.get() : positional, keywords)) {
    return nullptr;
  }
  const Arguments& arguments = called.arguments();
  const int answer = check(self, arguments.values, arguments.positional, arguments.names);
  return answer == TAGALONG_ERROR ? nullptr : PyLong_FromLong(answer);
}

namespace {

PyObject* create_guard(PyTypeObject* type, PyObject* /*args*/, PyObject* /*kwargs*/) {
  PyObject* self = type->tp_alloc(type, 0);
  if (self != nullptr) {
    guard_at(self)->init = call_python_init;
    guard_at(self)->check = call_python_check;
    guard_at(self)->flags = 0;
  }
  return self;
}

PyObject* base_init(PyObject* self, PyObject* function) {
  if (guard_at(self)->init != call_python_init && guard_at(self)->init != nullptr) {
    return init_called(self, function, guard_at(self)->init);
  }
  return PyLong_FromLong(0);
}

PyObject* base_check(PyObject* self, PyObject* args, PyObject* kwargs) {
  if (guard_at(self)->check != call_python_check && guard_at(self)->check != nullptr) {
    return check_called(self, args, kwargs, guard_at(self)->check);
  }
  PyErr_Format(PyExc_NotImplementedError, "%.200s has no method check(args, kwargs)", Py_TYPE(self)->tp_name);
  return nullptr;
}

int traverse_guard(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return 0;
}

void delete_guard(PyObject* self) {
  PyObject_GC_UnTrack(self);
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyTypeObject* make_guard_type() {
  static std::array<PyMethodDef, 3> methods = {{
      {"init", base_init, METH_O, kInitDocumentation},
      {"check", reinterpret_cast<PyCFunction>(as_slot(base_check)), METH_VARARGS | METH_KEYWORDS, kCheckDocumentation},
      {},
  }};
  static const char* const documentation =
      "A condition under which a specialisation is used.\n\n"
      "A subclass has a method check(self, args, kwargs), called in front of each call of the function with the bound\n"
      "arguments (args: positional ones, with defaults; kwargs: keyword-only ones and those of **kwargs). It may have\n"
      "init(self, func), called once by specialize(). check returns 1 (use it), 0 (not this time) or -1 (never again: "
      "the\n"
      "specialisation is removed); init returns 0, or -1 (the specialisation is ignored): see tagalong.guards.Answer.\n"
      "Exceptions propagate to the caller of the function.";
  std::array<PyType_Slot, 7> slots = {{{Py_tp_doc, const_cast<char*>(documentation)},
                                       {Py_tp_new, as_slot(create_guard)},
                                       {Py_tp_traverse, as_slot(traverse_guard)},
                                       {Py_tp_dealloc, as_slot(delete_guard)},
                                       {Py_tp_methods, methods.data()},
                                       {0, nullptr}}};
  PyType_Spec spec = {"tagalong.guards.Guard", sizeof(Tagalong_Guard), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots.data()};
  return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
}

struct Recorded : GuardState {
  static constexpr const char* kName = "Recorded";
  static constexpr const char* kDocumentation =
      "Recorded(text)\n--\n\nA condition of a recorded graph, as get_specialized() lists it: `text` says which.\n\nIt "
      "is "
      "asked by its graph alone.";
  Ref text;
  bool set(PyObject* args, PyObject* kwargs) {
    static std::array<const char*, 2> parameters = {"text", nullptr};
    PyObject* given = nullptr;
    if (PyArg_ParseTupleAndKeywords(args, kwargs, "U:Recorded", const_cast<char**>(parameters.data()), &given) == 0) {
      return false;
    }
    text = Ref::create(given);
    return true;
  }
  static int refuse() {
    PyErr_SetString(PyExc_TypeError, "a recorded guard is asked by its graph alone");
    return TAGALONG_ERROR;
  }
  static int init(PyFunctionObject* /*function*/) { return refuse(); }
  static int check(const Arguments& /*arguments*/) { return refuse(); }
  static int traverse(visitproc /*visit*/, void* /*arg*/) { return 0; }
  static PyGetSetDef* attributes() {
    static std::array<PyGetSetDef, 2> table = {
        {{"text", attribute<Recorded, &Recorded::text>, nullptr, "the condition", nullptr}, {}}};
    return table.data();
  }
};

}  // namespace

PyTypeObject* guard_type() {
  static PyTypeObject* type = nullptr;
  return cpython::once(type, make_guard_type);
}

std::vector<Ref> ready_guard_types() {
  if (guard_type() == nullptr) {
    throw PythonError();
  }
  std::vector<Ref> types = {Ref::create(reinterpret_cast<PyObject*>(guard_type()))};
  add_argument_guards(types);
  add_name_guards(types);
  types.push_back(make_ready_type<Recorded>());
  return types;
}

Ref recorded_guard(const char* text) {
  return Ref::steal(PyObject_CallFunction(reinterpret_cast<PyObject*>(ReadyType<Recorded>::type()), "s", text));
}

int init_guard(PyObject* guard, PyObject* function) {
  const Tagalong_Guard* base = guard_at(guard);
  if (base->check == nullptr) {
    PyErr_Format(PyExc_TypeError, "a guard of type %.200s has no function to check it", Py_TYPE(guard)->tp_name);
    return TAGALONG_ERROR;
  }
  const int answer = base->init == nullptr ? 0 : base->init(guard, function);
  if (answer != TAGALONG_ERROR && answer != TAGALONG_NEVER && answer != 0) {
    PyErr_Format(PyExc_SystemError, "init of a guard of type %.200s has answered %d", Py_TYPE(guard)->tp_name, answer);
    return TAGALONG_ERROR;
  }
  if (PyErr_Occurred() != nullptr) {
    return TAGALONG_ERROR;
  }
  if (answer == TAGALONG_ERROR) {
    PyErr_Format(PyExc_SystemError, "init of a guard of type %.200s has failed without an exception",
                 Py_TYPE(guard)->tp_name);
  }
  return answer;
}

bool Argument::set(PyObject* place) {
  if (PyUnicode_CheckExact(place)) {
    index_ = -1;
    name_ = Ref::create(place);
    return true;
  }
  if (!PyLong_Check(place)) {
    PyErr_Format(PyExc_TypeError, "which argument must be an int or a str, not %.200s", Py_TYPE(place)->tp_name);
    return false;
  }
  index_ = PyLong_AsSsize_t(place);
  if (index_ < 0 && PyErr_Occurred() == nullptr) {
    PyErr_Format(PyExc_ValueError, "the index of an argument must not be negative: %zd", index_);
  }
  name_ = Ref();
  return index_ >= 0;
}

int Argument::find_in(PyFunctionObject* function) {
  const auto* code = reinterpret_cast<PyCodeObject*>(function->func_code);
  if (!name_) {
    if (index_ < code->co_argcount || (code->co_flags & CO_VARARGS) != 0) {
      return 0;
    }
    PyErr_Format(PyExc_ValueError, "%U() has no argument %zd", function->func_qualname, index_);
    return TAGALONG_ERROR;
  }
  Py_ssize_t found = -1;
  const int parameters = code->co_argcount + code->co_kwonlyargcount;
  for (int slot = 0; slot < parameters; ++slot) {
    if (PyUnicode_Compare(PyTuple_GET_ITEM(code->co_localsplusnames, slot), name_.get()) == 0) {
      found = slot;
    }
  }
  if (found < 0 && (code->co_flags & CO_VARKEYWORDS) == 0) {
    PyErr_Format(PyExc_ValueError, "%U() has no argument %R", function->func_qualname, name_.get());
    return TAGALONG_ERROR;
  }
  const Py_ssize_t place = found < code->co_argcount ? found : -1;
  if (index_ >= 0 && index_ != place) {
    PyErr_Format(PyExc_ValueError, "argument %R of %U() is not where it was in the function that has the guard already",
                 name_.get(), function->func_qualname);
    return TAGALONG_ERROR;
  }
  index_ = place;
  return 0;
}

PyObject* Argument::named(const Arguments& arguments) const {
  const Py_ssize_t count = arguments.names == nullptr ? 0 : PyTuple_GET_SIZE(arguments.names);
  for (Py_ssize_t index = 0; index < count; ++index) {
    PyObject* name = PyTuple_GET_ITEM(arguments.names, index);
    if (name == name_.get() || (PyUnicode_Check(name) && name_ && PyUnicode_Compare(name, name_.get()) == 0)) {
      return arguments.values[arguments.positional + index];
    }
  }
  return nullptr;
}

PyObject* Argument::place() const { return name_ ? Py_NewRef(name_.get()) : PyLong_FromSsize_t(index_); }

}  // namespace tagalong::runtime
