#include "runtime/specialize/dispatch.h"

#include "rewriter/base/errors.h"
#include "rewriter/cpython/functions.h"
#include "runtime/records/dispatching_code.h"
#include "runtime/specialize/specialize.h"

namespace tagalong::runtime {
namespace {

void uninstall(Dispatch& dispatch) {
  PyFunctionObject* function = dispatch.function;
  const bool is_installed = function->func_code == reinterpret_cast<PyObject*>(dispatch.installed);
  const CodeRef old = is_installed ? cpython::install_code(function, dispatch.base.get()) : CodeRef();
}

}  // namespace

PyObject* dispatcher_of(const PyFunctionObject* function) {
  PyObject* dispatcher = dispatcher_of_code(reinterpret_cast<PyCodeObject*>(function->func_code));
  return dispatcher != nullptr && dispatch_of(dispatcher).function == function ? dispatcher : nullptr;
}

void register_dispatcher(const CodeRef& code, PyObject* dispatcher) {
  Dispatch& dispatch = dispatch_of(dispatcher);
  forget_dispatcher_of_code(dispatch.installed);
  set_dispatcher_of_code(code.get(), dispatcher);
  dispatch.installed = code.get();
}

void unregister_dispatcher(PyObject* dispatcher) {
  const PyCodeObject* installed = dispatch_of(dispatcher).installed;
  if (dispatcher_of_code(installed) == dispatcher) {
    forget_dispatcher_of_code(installed);
  }
}

void require_undisturbed(PyObject* dispatcher) {
  Dispatch& dispatch = dispatch_of(dispatcher);
  if (dispatch.asking > 0) {
    dispatch.was_disturbed = true;
    PyErr_Format(
        PyExc_RuntimeError,
        "a guard of %U() changes the specialisations of the function while it is asked, which one with the flag "
        "TAGALONG_QUIET must not do",
        dispatch.function->func_qualname);
    throw PythonError();
  }
}

void remove(PyObject* dispatcher, const SpecializationRef& removed) {
  const Ref keep = Ref::create(dispatcher);
  Dispatch& dispatch = dispatch_of(dispatcher);
  removed->is_removed = true;
  const bool is_last = std::erase(dispatch.specializations, removed) != 0 && dispatch.specializations.empty();
  dispatch.list_changed();
  if (is_last) {
    uninstall(dispatch);
  }
}

void Dispatch::first_has_held() {
  quick.first = nullptr;
  versions.clear();
  others.clear();
  for (const Ref& guard : first->guards) {
    if (!take_versions(guard.get(), versions)) {
      others.push_back(guard.get());
    }
  }
  has_held = true;
  using Kind = Specialization::Kind;
  const bool is_simple = first->kind == Kind::kConstant || first->kind == Kind::kBuiltinOfOne;
  if (is_simple && others.empty() && (versions.size() == 1 || versions.size() == 2)) {
    quick = {first, {versions.front(), versions.back()}};
  }
}

void Dispatch::learn_parameters(const PyCodeObject* code) {
  positional = code->co_argcount;
  keyword_only = code->co_kwonlyargcount;
  has_rest = (code->co_flags & CO_VARARGS) != 0;
  has_keywords = (code->co_flags & CO_VARKEYWORDS) != 0;
  arguments = static_cast<int>(positional) + keyword_only + (has_rest ? 1 : 0) + (has_keywords ? 1 : 0);
  is_plain = !has_rest && !has_keywords;
  if (keyword_only > 0) {
    keyword_names = Ref::steal(
        PyTuple_GetSlice(code->co_localsplusnames, code->co_argcount, code->co_argcount + code->co_kwonlyargcount));
    if (!keyword_names) {
      throw PythonError();
    }
  }
}

}  // namespace tagalong::runtime
