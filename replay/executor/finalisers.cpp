#include "replay/executor/finalisers.h"

#include <algorithm>

#include "replay/arrays/numpy/numpy_abi.h"
#include "replay/arrays/numpy/operand.h"
#include "replay/passes/abstract_values.h"
#include "rewriter/cpython/objects/exact_numbers.h"

namespace tagalong::replay {

bool dies_without_user_code(PyObject* object) {
  if (is_plain(Py_TYPE(object)) || cpython::is_plain_slice(object)) {
    return true;
  }
  // An index of numbers and slices.
  if (PyTuple_CheckExact(object)) {
    const auto is_noticed = [](PyObject* item) {
      return Py_REFCNT(item) == 1 && !is_plain(Py_TYPE(item)) && !cpython::is_plain_slice(item);
    };
    PyObject** items = PySequence_Fast_ITEMS(object);
    return std::none_of(items, items + PyTuple_GET_SIZE(object), is_noticed);
  }
  // Without an array so far NumPy is not looked for: the interpreter may be about to end.
  const array::Numpy* np = array::met_numpy();
  if (np == nullptr || Py_TYPE(object) != np->array_type) {
    return false;
  }
  const array::ArrayFields& fields = *array::as_array(object);
  const auto number = static_cast<unsigned>(reinterpret_cast<const array::DescrFields*>(fields.descr)->type_num);
  // A view drops its base.
  const bool is_base_noticed =
      fields.base != nullptr && ((fields.flags & array::kWriteBackIfCopy) != 0 ||
                                 (Py_REFCNT(fields.base) == 1 && !dies_without_user_code(fields.base)));
  return !is_base_noticed && fields.weakreflist == nullptr && array::is_handled(number);
}

bool drops_without_user_code(PyObject* object, Py_ssize_t most) {
  constexpr int kMostBases = 8;
  const array::Numpy* np = array::met_numpy();
  for (int depth = 0; depth < kMostBases; ++depth) {
    if (object == nullptr || Py_REFCNT(object) > most || dies_without_user_code(object)) {
      return true;
    }
    const array::OperandCode code = np == nullptr ? array::kForeign : array::classify(*np, object);
    if (array::is_numpy_scalar(code)) {
      return true;
    }
    if (!array::is_array(code) || array::as_array(object)->weakreflist != nullptr) {
      return false;
    }
    object = array::as_array(object)->base;  // which a view may drop, too
  }
  return false;
}

}  // namespace tagalong::replay
