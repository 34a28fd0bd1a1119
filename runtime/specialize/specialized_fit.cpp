#include "runtime/specialize/specialized_fit.h"

#include <array>
#include <cstdarg>

#include "rewriter/base/errors.h"
#include "rewriter/cpython/code_link.h"
#include "runtime/specialize/specialize.h"

namespace tagalong::runtime {
namespace {

template <class... Values>
[[noreturn]] void refuse(const char* format, Values... values) {
  PyErr_Format(PyExc_ValueError, format, values...);
  throw PythonError();
}

void require_equal(const char* what, int own, int specialised) {
  if (own != specialised) {
    refuse("the specialised code has %d %s, the function %d", specialised, what, own);
  }
}

Ref field(const PyCodeObject* code, const char* name) {
  Ref value = Ref::steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(const_cast<PyCodeObject*>(code)), name));
  if (!value) {
    throw PythonError();
  }
  return value;
}

// Both are tuples of strings.
void require_same(const char* what, const Ref& own, const Ref& specialised) {
  const int answer = PyObject_RichCompareBool(own.get(), specialised.get(), Py_EQ);
  if (answer < 0) {
    throw PythonError();
  }
  if (answer == 0) {
    refuse("the specialised code has other %s: %R, the function %R", what, specialised.get(), own.get());
  }
}

Ref keyword_only(const PyCodeObject* code) {
  Ref names = Ref::steal(
      PyTuple_GetSlice(code->co_localsplusnames, code->co_argcount, code->co_argcount + code->co_kwonlyargcount));
  if (!names) {
    throw PythonError();
  }
  return names;
}

void require_flag(const PyCodeObject* own, const PyCodeObject* specialised, int flag, const char* what) {
  const bool has_own = (own->co_flags & flag) != 0;
  if (has_own != ((specialised->co_flags & flag) != 0)) {
    refuse(
        has_own ? "the function %s, the specialised code does not" : "the specialised code %s, the function does not",
        what);
  }
}

// Equal, or both missing. PEP 510 compares them with ==.
void require_defaults(const char* what, PyObject* own, PyObject* specialised) {
  const bool has_both = own != nullptr && specialised != nullptr;
  const int answer =
      has_both ? PyObject_RichCompareBool(own, specialised, Py_EQ) : static_cast<int>(own == specialised);
  if (answer < 0) {
    throw PythonError();
  }
  if (answer == 0) {
    refuse("the specialised function has other %s", what);
  }
}

// A copy of the code with the name and the first line of the function's code.
Ref renamed(const PyCodeObject* own, PyCodeObject* specialised) {
  const bool has_names = PyUnicode_Compare(own->co_name, specialised->co_name) == 0 &&
                         PyUnicode_Compare(own->co_qualname, specialised->co_qualname) == 0;
  auto* object = reinterpret_cast<PyObject*>(specialised);
  if (has_names && own->co_firstlineno == specialised->co_firstlineno) {
    return Ref::create(object);
  }
  const Ref method = Ref::steal(PyObject_GetAttrString(object, "replace"));
  const Ref nothing = Ref::steal(PyTuple_New(0));
  const Ref fields = Ref::steal(Py_BuildValue("{sOsOsi}", "co_name", own->co_name, "co_qualname", own->co_qualname,
                                              "co_firstlineno", own->co_firstlineno));
  Ref made = method && nothing && fields ? Ref::steal(PyObject_Call(method.get(), nothing.get(), fields.get())) : Ref();
  if (!made) {
    throw PythonError();
  }
  return made;
}

}  // namespace

void require_fit(const PyCodeObject* own, const PyCodeObject* specialised) {
  constexpr int kFunction = CO_OPTIMIZED | CO_NEWLOCALS;
  if ((specialised->co_flags & kFunction) != kFunction) {
    refuse("the code of a module or a class cannot stand for a function's");
  }
  require_equal("positional parameters", own->co_argcount, specialised->co_argcount);
  require_equal("positional-only parameters", own->co_posonlyargcount, specialised->co_posonlyargcount);
  require_equal("keyword-only parameters", own->co_kwonlyargcount, specialised->co_kwonlyargcount);
  require_same("keyword-only parameters", keyword_only(own), keyword_only(specialised));
  require_flag(own, specialised, CO_VARARGS, "takes *args");
  require_flag(own, specialised, CO_VARKEYWORDS, "takes **kwargs");
  require_flag(own, specialised, CO_GENERATOR, "is a generator's");
  require_flag(own, specialised, CO_COROUTINE, "is a coroutine's");
  require_flag(own, specialised, CO_ITERABLE_COROUTINE, "is an iterable coroutine's");
  require_flag(own, specialised, CO_ASYNC_GENERATOR, "is an asynchronous generator's");
  require_same("cell variables", field(own, "co_cellvars"), field(specialised, "co_cellvars"));
  require_same("free variables", field(own, "co_freevars"), field(specialised, "co_freevars"));
}

Ref fitted(PyFunctionObject* function, PyObject* code) {
  PyCodeObject* own = base_code(function);
  PyCodeObject* specialised = nullptr;
  if (PyFunction_Check(code)) {
    auto* other = reinterpret_cast<PyFunctionObject*>(code);
    if (base_code(other) != reinterpret_cast<PyCodeObject*>(other->func_code)) {
      refuse("%U() is specialised itself, so it cannot be specialised code", other->func_qualname);
    }
    require_defaults("default values", function->func_defaults, other->func_defaults);
    require_defaults("default values of keyword-only parameters", function->func_kwdefaults, other->func_kwdefaults);
    specialised = reinterpret_cast<PyCodeObject*>(other->func_code);
  } else if (PyCode_Check(code)) {
    specialised = reinterpret_cast<PyCodeObject*>(code);
  } else if (PyCallable_Check(code) != 0) {
    return Ref::create(code);
  } else {
    PyErr_Format(PyExc_TypeError, "specialised code must be a code object or a callable, not %.200s",
                 Py_TYPE(code)->tp_name);
    throw PythonError();
  }
  specialised = cpython::shown_of(specialised);
  require_fit(own, specialised);
  return renamed(cpython::shown_of(own), specialised);
}

}  // namespace tagalong::runtime
