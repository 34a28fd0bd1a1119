#include "recorder/deferred/deferred_calls.h"

#include <unordered_map>

#include "recorder/base/hints.h"
#include "recorder/deferred/deferred_expression.h"
#include "replay/arrays/kernels/functions.h"
#include "replay/arrays/numpy/numpy_abi.h"
#include "rewriter/base/ref.h"

namespace tagalong::recorder {
namespace {

constexpr std::size_t kWhereArguments = 3;

long number_in(PyObject* owner, const char* name) {
  const Ref number = Ref::steal(PyObject_GetAttrString(owner, name));
  return number && PyLong_CheckExact(number.get()) ? PyLong_AsLong(number.get()) : -1;
}

// Leaves no exception behind.
std::size_t own_ufunc_arguments(const array::Numpy& np, PyObject* ufunc) {
  const Ref name = Ref::steal(PyObject_GetAttrString(ufunc, "__name__"));
  const Ref attribute = name ? Ref::steal(PyObject_GetAttr(np.umath, name.get())) : Ref();
  const Ref signature = Ref::steal(PyObject_GetAttrString(ufunc, "signature"));
  const long count = attribute.get() == ufunc && signature.get() == Py_None && number_in(ufunc, "nout") == 1
                         ? number_in(ufunc, "nin")
                         : 0;
  PyErr_Clear();
  return count > 0 && count <= static_cast<long>(Expression::kMostOperands) ? static_cast<std::size_t>(count) : 0;
}

}  // namespace

bool is_other_callable(PyObject* callable) {
  return callable == nullptr || PyFunction_Check(callable) || PyCFunction_Check(callable) || PyType_Check(callable);
}

std::size_t elementwise_arguments(PyObject* callable) {
  if (is_other_callable(callable)) {
    return 0;
  }
  if (!is_ufunc(callable)) {
    const bool is_where =
        array::met_numpy() != nullptr && array::known_function(callable).kind == array::KnownFunction::Kind::kWhere;
    return is_where ? kWhereArguments : 0;
  }
  const array::Numpy* np = array::numpy_if_ready();
  if (np == nullptr) {
    return 0;
  }
  // NumPy's own ufuncs, for the whole process.
  static auto* const known = new std::unordered_map<PyObject*, std::size_t>;
  if (const auto found = known->find(callable); found != known->end()) {
    return found->second;
  }
  const std::size_t count = own_ufunc_arguments(*np, callable);
  if (count != 0) {
    known->emplace(Py_NewRef(callable), count);
  }
  return count;
}

array::Reduction reduction_of(PyObject* callable) {
  if (is_other_callable(callable) || is_ufunc(callable) || array::met_numpy() == nullptr) {
    return array::Reduction::kCount;
  }
  const array::KnownFunction known = Py_IS_TYPE(callable, &PyMethodDescr_Type)
                                         ? array::known_descriptor(*array::met_numpy(), callable)
                                         : array::known_function(callable);
  return known.kind == array::KnownFunction::Kind::kReduction ? known.reduction : array::Reduction::kCount;
}

bool death_may_run_code(PyObject* operand) {
  PyObject* object = is_array_type(Py_TYPE(operand)) ? operand : nullptr;
  while (object != nullptr && Py_REFCNT(object) == 1) {
    if (!is_array_type(Py_TYPE(object)) || array::as_array(object)->weakreflist != nullptr) {
      return true;
    }
    object = array::as_array(object)->base;
  }
  return false;
}

}  // namespace tagalong::recorder
