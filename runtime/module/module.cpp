// tagalong._core: the C++ part of the Python package.
#include <boost/python.hpp>

#include "replay/executor/emergency.h"
#include "rewriter/base/ref.h"
#include "runtime/module/exports.h"

namespace {

void fill_module() {
  tagalong::replay::prepare_emergencies();
  tagalong::export_rewriter();
  tagalong::export_arrays();
  tagalong::export_engine();
  tagalong::export_specialize();
}

}  // namespace

// BOOST_PYTHON_MODULE written out, since it cannot refuse. Sub-interpreters are refused: Boost.Python registers types
// for all interpreters, and each interpreter numbers the extra data of code objects for itself.
extern "C" BOOST_SYMBOL_EXPORT PyObject* PyInit__core() {  // NOLINT(bugprone-reserved-identifier): the protocol's name
  using tagalong::Ref;
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
    const Ref text =
        Ref::steal(PyUnicode_FromString("tagalong works in the main interpreter; this is a sub-interpreter"));
    const Ref name = Ref::steal(PyUnicode_FromString("tagalong._core"));
    return PyErr_SetImportError(text.get(), name.get(), nullptr);
  }
  static PyModuleDef definition = {
      PyModuleDef_HEAD_INIT, "_core", nullptr, -1, nullptr, nullptr, nullptr, nullptr, nullptr};
  return boost::python::detail::init_module(definition, fill_module);
}
