#include "replay/objects/unboxed.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "replay/arrays/numpy/float_status.h"
#include "replay/arrays/numpy/numpy_abi.h"
#include "rewriter/cpython/objects/exact_numbers.h"
#include "rewriter/cpython/objects/iterators.h"

namespace tagalong::replay {
namespace {

struct Row {
  Unboxed kind;
  char letter;
  array::TypeNumber type_number;
};

constexpr std::array kRows{Row{Unboxed::kNumpyInt, 'l', array::kLong}, Row{Unboxed::kNumpyFloat, 'd', array::kDouble},
                           Row{Unboxed::kNumpyBool, '?', array::kBool}};

// Null if NumPy's scalars are not supported.
const array::Numpy* known(const array::Numpy* np) { return np != nullptr && np->weak_scalars ? np : nullptr; }

const Row* row_of(Unboxed kind) {
  for (const Row& row : kRows) {
    if (row.kind == kind) {
      return &row;
    }
  }
  return nullptr;
}

bool is_of(PyObject* array, int type_number, int dimensions) {
  const array::ArrayFields* fields = array::as_array(array);
  return fields->descr == array::met_numpy()->descr[static_cast<std::size_t>(type_number)] && fields->nd == dimensions;
}

bool find_index(array::Extent extent, std::int64_t* index) {
  *index += *index < 0 ? extent : 0;
  return *index >= 0 && *index < extent;
}

double computed(Float64Operator operation, double left, double right) {
  switch (operation) {
    case Float64Operator::kAdd:
      return left + right;
    case Float64Operator::kSubtract:
      return left - right;
    case Float64Operator::kMultiply:
      return left * right;
    default:
      return left / right;
  }
}

// For results that NumPy might report as errors: whether it would report nothing.
[[gnu::noinline]] bool is_silent(Float64Operator operation, double left, double right) {
  volatile double first = left;
  volatile double second = right;
  volatile double result = 0;
  array::clear_float_status();
  result = computed(operation, first, second);
  static_cast<void>(result);
  const bool is_raised = array::float_status_raised(array::FloatUnits::kVector);
  array::clear_float_status();
  return !is_raised;
}

}  // namespace

Unboxed unboxed_of(const PyTypeObject* type) {
  if (type == &PyLong_Type) {
    return Unboxed::kInt;
  }
  if (type == &PyFloat_Type) {
    return Unboxed::kFloat;
  }
  if (type == &PyBool_Type) {
    return Unboxed::kBool;
  }
  if (const array::Numpy* np = known(array::met_numpy()); np != nullptr && type != nullptr) {
    for (const Row& row : kRows) {
      if (type == np->scalar_type.at(row.type_number)) {
        return row.kind;
      }
    }
  }
  return Unboxed::kNone;
}

PyTypeObject* type_of(Unboxed kind) {
  switch (kind) {
    case Unboxed::kInt:
      return &PyLong_Type;
    case Unboxed::kFloat:
      return &PyFloat_Type;
    case Unboxed::kBool:
      return &PyBool_Type;
    default:
      break;
  }
  const Row* row = row_of(kind);
  const array::Numpy* np = known(array::met_numpy());
  return row == nullptr || np == nullptr ? nullptr : np->scalar_type.at(row->type_number);
}

Unboxed unboxed_of(char letter) {
  switch (letter) {
    case 'i':
      return Unboxed::kInt;
    case 'f':
      return Unboxed::kFloat;
    case 'b':
      return Unboxed::kBool;
    default:
      break;
  }
  for (const Row& row : kRows) {
    if (row.letter == letter) {
      return row.kind;
    }
  }
  return Unboxed::kNone;
}

char letter_of(const PyTypeObject* type) {
  const Unboxed kind = unboxed_of(type);
  switch (kind) {
    case Unboxed::kInt:
      return 'i';
    case Unboxed::kFloat:
      return 'f';
    case Unboxed::kBool:
      return 'b';
    default:
      break;
  }
  const Row* row = row_of(kind);
  return row == nullptr ? 'o' : row->letter;
}

bool unbox(PyObject* object, Unboxed kind, UnboxedNumber* number) {
  switch (kind) {
    case Unboxed::kInt:
      return PyLong_CheckExact(object) && cpython::int64_of(object, &number->i);
    case Unboxed::kFloat:
      if (!PyFloat_CheckExact(object)) {
        return false;
      }
      number->d = PyFloat_AS_DOUBLE(object);
      return true;
    case Unboxed::kBool:
      number->i = object == Py_True ? 1 : 0;
      return object == Py_True || object == Py_False;
    case Unboxed::kNumpyInt:
    case Unboxed::kNumpyFloat:
    case Unboxed::kNumpyBool:
      if (Py_TYPE(object) != type_of(kind)) {
        return false;
      }
      load_item(array::scalar_value(object), kind, number);
      return true;
    default:
      return true;
  }
}

PyObject* spare_float = nullptr;

bool replace_float(PyObject** slot, double value) {
  if (spare_float == nullptr) {
    spare_float = PyFloat_FromDouble(value);
    if (spare_float == nullptr) {
      return false;
    }
  }
  reinterpret_cast<PyFloatObject*>(spare_float)->ob_fval = value;
  std::swap(*slot, spare_float);
  return true;
}

PyObject* object_of(Unboxed kind, UnboxedNumber number) {
  switch (kind) {
    case Unboxed::kInt:
      return PyLong_FromLongLong(number.i);
    case Unboxed::kFloat:
      return PyFloat_FromDouble(number.d);
    case Unboxed::kBool:
      return Py_NewRef(number.i != 0 ? Py_True : Py_False);
    case Unboxed::kNumpyBool:
      return Py_NewRef(array::met_numpy()->truth[number.i != 0 ? 1 : 0]);
    case Unboxed::kNumpyInt:
    case Unboxed::kNumpyFloat: {
      PyTypeObject* type = type_of(kind);
      PyObject* object = type->tp_alloc(type, 0);
      if (object != nullptr) {
        store_item(const_cast<char*>(array::scalar_value(object)), kind, number);
      }
      return object;
    }
    default:
      return nullptr;
  }
}

Unboxed unboxed_of_items(int type_number) {
  for (const Row& row : kRows) {
    if (row.type_number == type_number) {
      return row.kind;
    }
  }
  return Unboxed::kNone;
}

int item_type_of(PyObject* object, int dimensions) {
  const array::Numpy* np = known(array::numpy_if_ready());
  if (np == nullptr || object == nullptr || Py_TYPE(object) != np->array_type) {
    return -1;
  }
  for (const Row& row : kRows) {
    if (is_of(object, row.type_number, dimensions)) {
      return row.type_number;
    }
  }
  return -1;
}

int iterated_type_of(PyObject* iterator) {
  return Py_TYPE(iterator) == &PySeqIter_Type ? item_type_of(cpython::iterated(iterator), 1) : -1;
}

const char* next_item_place(PyObject* iterator, int type_number) {
  const array::Numpy* np = array::met_numpy();
  auto* state = reinterpret_cast<cpython::SequenceIterator*>(iterator);
  if (np == nullptr || state->sequence == nullptr || Py_TYPE(state->sequence) != np->array_type || state->index < 0) {
    return nullptr;
  }
  const char* place = item_place(state->sequence, type_number, state->index);
  state->index += place != nullptr ? 1 : 0;
  return place;
}

char* item_place(PyObject* array, int type_number, std::int64_t index) {
  const array::ArrayFields* fields = array::as_array(array);
  if (!is_of(array, type_number, 1) || !find_index(fields->dimensions[0], &index)) {
    return nullptr;
  }
  return fields->data + index * fields->strides[0];
}

char* item_place(PyObject* array, int type_number, std::int64_t row, std::int64_t column) {
  const array::ArrayFields* fields = array::as_array(array);
  if (!is_of(array, type_number, 2) || !find_index(fields->dimensions[0], &row) ||
      !find_index(fields->dimensions[1], &column)) {
    return nullptr;
  }
  return fields->data + row * fields->strides[0] + column * fields->strides[1];
}

bool has_plain_items(PyObject* object) {
  const array::Numpy* np = array::met_numpy();
  if (np == nullptr || Py_TYPE(object) != np->array_type) {
    return false;
  }
  const auto* dtype = reinterpret_cast<const array::DescrFields*>(array::as_array(object)->descr);
  return array::is_handled(static_cast<unsigned>(dtype->type_num));
}

bool may_be_written(PyObject* array) {
  return (array::as_array(array)->flags & (array::kWriteable | array::kWarnOnWrite)) == array::kWriteable;
}

// An item of an array need not be aligned.
void load_item(const char* place, Unboxed kind, UnboxedNumber* number) {
  if (kind == Unboxed::kNumpyBool) {
    number->i = *place != 0 ? 1 : 0;
  } else {
    std::memcpy(number, place, sizeof(*number));
  }
}

void store_item(char* place, Unboxed kind, UnboxedNumber number) {
  if (kind == Unboxed::kNumpyBool) {
    *place = static_cast<char>(number.i);
  } else {
    std::memcpy(place, &number, sizeof(number));
  }
}

bool float64_arithmetic(Float64Operator operation, double left, double right, double* result) {
  *result = computed(operation, left, right);
  const double size = std::fabs(*result);
  const bool is_product = operation == Float64Operator::kMultiply || operation == Float64Operator::kDivide;
  // The sum of such small numbers is exact.
  if (size <= std::numeric_limits<double>::max() && (!is_product || size > std::numeric_limits<double>::min()))
      [[likely]] {
    return true;
  }
  return !(std::isnan(left) && std::isnan(right)) && is_silent(operation, left, right);
}

}  // namespace tagalong::replay
