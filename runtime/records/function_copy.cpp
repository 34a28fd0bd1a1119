#include "runtime/records/function_copy.h"

#include <utility>

namespace tagalong::runtime {

Ref function_with_code(PyObject* function, PyCodeObject* code) {
  const auto* source = reinterpret_cast<PyFunctionObject*>(function);
  Ref copy = Ref::steal(PyFunction_New(reinterpret_cast<PyObject*>(code), source->func_globals));
  if (!copy) {
    return {};
  }
  auto* target = reinterpret_cast<PyFunctionObject*>(copy.get());
  const auto assign = [](PyObject*& place, PyObject* value) {
    PyObject* old = std::exchange(place, Py_XNewRef(value));
    Py_XDECREF(old);
  };
  assign(target->func_defaults, source->func_defaults);
  assign(target->func_kwdefaults, source->func_kwdefaults);
  assign(target->func_closure, source->func_closure);
  assign(target->func_annotations, source->func_annotations);
  assign(target->func_name, source->func_name);
  assign(target->func_qualname, source->func_qualname);
  assign(target->func_module, source->func_module);
  assign(target->func_dict, source->func_dict);
  assign(target->func_doc, source->func_doc);
  return copy;
}

}  // namespace tagalong::runtime
