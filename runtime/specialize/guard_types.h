// Makes the types of the ready guards: a condition in C++ becomes a subtype of Guard.
//
//   struct Condition : GuardState { static constexpr const char* kName, *kDocumentation; bool set(args, kwargs);
//     int init(function); int check(arguments); int traverse(visit, argument); void clear(); static attributes(); };
//   Ref type = make_ready_type<Condition>();
#pragma once

#include <fmt/format.h>

#include <array>
#include <new>
#include <string>

#include "rewriter/base/errors.h"
#include "runtime/specialize/guards.h"

namespace tagalong::runtime {

struct GuardState {
  bool is_set = false;  // __init__ has been called
  static int init(PyFunctionObject* /*function*/) { return 0; }
  static PyGetSetDef* attributes() { return nullptr; }
};

template <class Condition>
struct ReadyGuard {
  Tagalong_Guard base;
  Condition condition;
};

// The arguments of check(args, kwargs) called from Python. Owns the values.
class CalledArguments {
 public:
  // False with an exception set.
  bool take(PyObject* args, PyObject* kwargs);
  [[nodiscard]] const Arguments& arguments() const { return arguments_; }

 private:
  Ref owner_;
  Ref names_;
  std::vector<PyObject*> values_;
  Arguments arguments_;
};

// Functions of Guard itself that subtypes inherit.
int call_python_init(PyObject* self, PyObject* function);
int call_python_check(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* names);
// init(function) and check(args, kwargs) called from Python: call the C function.
PyObject* init_called(PyObject* self, PyObject* function, int (*init)(PyObject* self, PyObject* function));
PyObject* check_called(PyObject* self, PyObject* args, PyObject* kwargs,
                       int (*check)(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* names));

template <class Condition>
struct ReadyType {
  static Condition& of(PyObject* self) { return reinterpret_cast<ReadyGuard<Condition>*>(self)->condition; }

  static int refuse_unset() {
    PyErr_Format(PyExc_RuntimeError, "%s.__init__ was not called", Condition::kName);
    return TAGALONG_ERROR;
  }
  static int init(PyObject* self, PyObject* function) {
    if (!PyFunction_Check(function)) {
      PyErr_Format(PyExc_TypeError, "expected a Python function, got %.200s", Py_TYPE(function)->tp_name);
      return TAGALONG_ERROR;
    }
    return of(self).is_set ? of(self).init(reinterpret_cast<PyFunctionObject*>(function)) : refuse_unset();
  }
  static int check(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* names) {
    Condition& condition = of(self);
    return condition.is_set ? condition.check({args, nargs, names}) : refuse_unset();
  }
  static PyObject* python_init(PyObject* self, PyObject* function) { return init_called(self, function, init); }
  static PyObject* python_check(PyObject* self, PyObject* args, PyObject* kwargs) {
    return check_called(self, args, kwargs, check);
  }

  static PyTypeObject*& type() {
    static PyTypeObject* made = nullptr;
    return made;
  }
  static PyObject* create(PyTypeObject* wanted, PyObject* /*args*/, PyObject* /*kwargs*/) {
    PyObject* self = wanted->tp_alloc(wanted, 0);
    if (self != nullptr) {
      new (&of(self)) Condition();
      const bool is_ready = wanted == type();  // a subclass may have methods of its own
      guard_at(self)->init = is_ready ? init : call_python_init;
      guard_at(self)->check = is_ready ? check : call_python_check;
      guard_at(self)->flags = is_ready ? TAGALONG_QUIET : 0;
    }
    return self;
  }
  static int set(PyObject* self, PyObject* args, PyObject* kwargs) {
    Condition made;
    if (!made.set(args, kwargs)) {
      return -1;
    }
    made.is_set = true;
    std::swap(of(self), made);
    return 0;
  }
  static int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    return of(self).traverse(visit, arg);
  }
  static int clear(PyObject* self) {
    const Condition cleared = std::exchange(of(self), Condition());
    return 0;
  }
  static void dealloc(PyObject* self) {
    PyObject_GC_UnTrack(self);
    PyTypeObject* type = Py_TYPE(self);
    of(self).~Condition();
    type->tp_free(self);
    Py_DECREF(type);
  }
};

template <class Function>
void* as_slot(Function* function) {
  return reinterpret_cast<void*>(function);
}

inline constexpr const char* kInitDocumentation =
    "init($self, function, /)\n--\n\nAsked once by specialize(): 0 if the guard may hold, Answer.NEVER if it never "
    "will.";
inline constexpr const char* kCheckDocumentation =
    "check($self, /, args=(), kwargs={})\n--\n\nWhether the guard holds for a call with these arguments: an Answer.";

template <class Condition>
Ref make_ready_type() {
  using Type = ReadyType<Condition>;
  static std::array<PyMethodDef, 3> methods = {{
      {"init", Type::python_init, METH_O, kInitDocumentation},
      {"check", reinterpret_cast<PyCFunction>(as_slot(Type::python_check)), METH_VARARGS | METH_KEYWORDS,
       kCheckDocumentation},
      {},
  }};
  std::vector<PyType_Slot> slots = {
      {Py_tp_doc, const_cast<char*>(Condition::kDocumentation)},
      {Py_tp_new, as_slot(Type::create)},
      {Py_tp_init, as_slot(Type::set)},
      {Py_tp_traverse, as_slot(Type::traverse)},
      {Py_tp_clear, as_slot(Type::clear)},
      {Py_tp_dealloc, as_slot(Type::dealloc)},
      {Py_tp_methods, methods.data()},
  };
  if (PyGetSetDef* attributes = Condition::attributes(); attributes != nullptr) {
    slots.push_back({Py_tp_getset, attributes});
  }
  slots.push_back({0, nullptr});
  static const std::string name = fmt::format("tagalong.guards.{}", Condition::kName);
  PyType_Spec spec = {name.c_str(), sizeof(ReadyGuard<Condition>), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots.data()};
  Ref type = Ref::steal(PyType_FromSpecWithBases(&spec, reinterpret_cast<PyObject*>(guard_type())));
  if (!type) {
    throw PythonError();
  }
  Type::type() = reinterpret_cast<PyTypeObject*>(type.get());
  return type;
}

// A read-only attribute.
template <class Condition, Ref Condition::*field>
PyObject* attribute(PyObject* self, void* /*closure*/) {
  PyObject* value = (ReadyType<Condition>::of(self).*field).get();
  return Py_NewRef(value == nullptr ? Py_None : value);
}

// The argument that a condition is about: a positional index, or the name of a parameter.
class Argument {
 public:
  // `place` is an int or a str; false with an exception set.
  bool set(PyObject* place);
  // Looks up a name among the function's parameters. Returns what init returns.
  int find_in(PyFunctionObject* function);
  // Null: the call has no such argument. Borrowed.
  [[nodiscard]] PyObject* in(const Arguments& arguments) const {
    if (index_ >= 0) {
      return index_ < arguments.positional ? arguments.values[index_] : nullptr;
    }
    return named(arguments);
  }
  [[nodiscard]] PyObject* place() const;  // as given; a new reference
  void clear() { name_ = Ref(); }

 private:
  [[nodiscard]] PyObject* named(const Arguments& arguments) const;
  Py_ssize_t index_ = -1;  // -1: by name
  Ref name_;
};

}  // namespace tagalong::runtime
