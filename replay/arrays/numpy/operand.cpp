#include "replay/arrays/numpy/operand.h"

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <type_traits>

#include "replay/arrays/numpy/half.h"

namespace tagalong::array {

namespace {

// The exact value of a scalar, in the widest C type of its kind.
struct Value {
  enum class Kind : std::uint8_t { kInteger, kUnsigned, kFloating, kComplex } kind = Kind::kInteger;
  long long integer = 0;           // kInteger
  unsigned long long natural = 0;  // kUnsigned: only for values above the range of long long
  double real = 0;                 // kFloating, kComplex
  double imaginary = 0;
};

template <class T>
T load(const char* place) {
  T value;
  std::memcpy(&value, place, sizeof(value));
  return value;
}

template <class T>
void store(char* place, T value) {
  std::memcpy(place, &value, sizeof(value));
}

void set_integer(Value* value, long long number) {
  value->kind = Value::Kind::kInteger;
  value->integer = number;
}

void set_unsigned(Value* value, unsigned long long number) {
  if (number <= static_cast<unsigned long long>(std::numeric_limits<long long>::max())) {
    set_integer(value, static_cast<long long>(number));
    return;
  }
  value->kind = Value::Kind::kUnsigned;
  value->natural = number;
}

bool read_python_int(PyObject* object, Value* value) {
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow == 0) {
    set_integer(value, number);
    return true;
  }
  if (overflow < 0) {
    return false;
  }
  const unsigned long long natural = PyLong_AsUnsignedLongLong(object);
  if (natural == std::numeric_limits<unsigned long long>::max() && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    return false;
  }
  set_unsigned(value, natural);
  return true;
}

// Eager NumPy reports the conversion of a signalling NaN to another size.
template <class T>
bool is_signalling(const char* place) {
  using Bits = std::conditional_t<sizeof(T) == sizeof(float), std::uint32_t, std::uint64_t>;
  constexpr Bits kQuiet = Bits{1} << (std::numeric_limits<T>::digits - 2);
  return std::isnan(load<T>(place)) && (load<Bits>(place) & kQuiet) == 0;
}

// A floating point number, or a part of a complex one. False: it is a signalling NaN.
template <class T>
bool read_real(const char* place, double* number) {
  if (is_signalling<T>(place)) {
    return false;
  }
  *number = load<T>(place);
  return true;
}

template <class T>
bool read_complex(const char* place, Value* value) {
  value->kind = Value::Kind::kComplex;
  return read_real<T>(place, &value->real) && read_real<T>(place + sizeof(T), &value->imaginary);
}

// Extended and half precision are taken only where no conversion is needed.
bool read_numpy_value(unsigned type, const char* place, Value* value) {
  switch (type) {
    case kBool:
    case kUInt8:
      set_integer(value, load<unsigned char>(place));
      return true;
    case kInt8:
      set_integer(value, load<signed char>(place));
      return true;
    case kInt16:
      set_integer(value, load<short>(place));
      return true;
    case kUInt16:
      set_integer(value, load<unsigned short>(place));
      return true;
    case kIntC:
      set_integer(value, load<int>(place));
      return true;
    case kUIntC:
      set_integer(value, load<unsigned int>(place));
      return true;
    case kLong:
      set_integer(value, load<long>(place));
      return true;
    case kULong:
      set_unsigned(value, load<unsigned long>(place));
      return true;
    case kLongLong:
      set_integer(value, load<long long>(place));
      return true;
    case kULongLong:
      set_unsigned(value, load<unsigned long long>(place));
      return true;
    case kFloat:
      value->kind = Value::Kind::kFloating;
      return read_real<float>(place, &value->real);
    case kDouble:
      value->kind = Value::Kind::kFloating;
      return read_real<double>(place, &value->real);
    case kComplexFloat:
      return read_complex<float>(place, value);
    case kComplexDouble:
      return read_complex<double>(place, value);
    default:
      return false;
  }
}

bool read_value(PyObject* object, OperandCode code, Value* value) {
  switch (code) {
    case kPyBool:
      set_integer(value, object == Py_True ? 1 : 0);
      return true;
    case kPyInt:
      return read_python_int(object, value);
    case kPyFloat: {
      const double number = PyFloat_AS_DOUBLE(object);
      value->kind = Value::Kind::kFloating;
      return read_real<double>(reinterpret_cast<const char*>(&number), &value->real);
    }
    case kPyComplex: {
      const Py_complex number = PyComplex_AsCComplex(object);
      value->kind = Value::Kind::kComplex;
      value->real = number.real;
      value->imaginary = number.imag;
      return true;
    }
    default:
      return read_numpy_value(type_of(code), code >= kNumpyScalar ? scalar_value(object) : as_array(object)->data,
                              value);
  }
}

template <class T>
bool store_integer(const Value& value, char* place) {
  if (value.kind == Value::Kind::kInteger) {
    if constexpr (std::numeric_limits<T>::is_signed) {
      if (value.integer < std::numeric_limits<T>::min() || value.integer > std::numeric_limits<T>::max()) {
        return false;
      }
    } else if (value.integer < 0 || static_cast<unsigned long long>(value.integer) > std::numeric_limits<T>::max()) {
      return false;
    }
    store(place, static_cast<T>(value.integer));
    return true;
  }
  if (value.kind == Value::Kind::kUnsigned &&
      value.natural <= static_cast<unsigned long long>(std::numeric_limits<T>::max())) {
    store(place, static_cast<T>(value.natural));
    return true;
  }
  return false;
}

// Integers up to `limit` are exact in every floating type of at least that many bits, and every conversion gives the
// same result. For larger ones the result depends on the conversion (through double or directly), and 1.x may choose a
// wider result.
bool fits_exactly(const Value& value, long long limit) {
  return value.kind == Value::Kind::kInteger && value.integer >= -limit && value.integer <= limit;
}

constexpr long long kExactInDouble = 1LL << 53;
// NumPy 1.x promotes by the smallest integer type that holds the value; int16 and uint16 still give float32.
constexpr long long kSafeForFloatByValue = 32767;
constexpr long long kExactInFloat = 1LL << 24;
// NumPy 1.x takes long long for values that need 64 bits, also where long has them.
constexpr long long kUnambiguous = std::numeric_limits<int>::max();

// Converts one component to float32. Refuses values whose conversion overflows or underflows: eager NumPy reports that,
// or in 1.x promotes.
bool narrow(double wide, float* narrowed) {
  constexpr double kLargestByValue = 3.4e38;  // the bound that NumPy 1.x uses
  if (std::isfinite(wide) && !(std::fabs(wide) < kLargestByValue)) {
    return false;
  }
  *narrowed = static_cast<float>(wide);
  return wide == 0 || !(std::fabs(*narrowed) < std::numeric_limits<float>::min());
}

bool store_floats(const Numpy& np, const Value& value, bool complex, char* place) {
  float real = 0;
  float imaginary = 0;
  if (value.kind == Value::Kind::kInteger || value.kind == Value::Kind::kUnsigned) {
    if (!fits_exactly(value, np.weak_scalars ? kExactInFloat : kSafeForFloatByValue)) {
      return false;
    }
    real = static_cast<float>(value.integer);
  } else if (value.kind == Value::Kind::kComplex && !np.weak_scalars &&
             !(std::isfinite(value.real) && std::isfinite(value.imaginary))) {
    return false;  // in 1.x no smaller type holds an infinity, by value
  } else if ((value.kind == Value::Kind::kComplex && !complex) || !narrow(value.real, &real) ||
             !narrow(value.imaginary, &imaginary)) {
    return false;
  }
  store(place, real);
  if (complex) {
    store(place + sizeof(float), imaginary);
  }
  return true;
}

// Only numbers that the conversion neither makes infinite nor subnormal, and integers that are exact.
bool store_half(const Numpy& np, const Value& value, char* place) {
  constexpr long long kExactInHalf = 2048;
  constexpr long long kSafeForHalfByValue = 127;
  constexpr double kLargest = 65504;
  constexpr double kLargestByValue = 64999;  // the value of a number from 65000 on makes NumPy 1.26 take a float32 loop
  constexpr double kSmallestNormal = 0x1p-14;
  double number = value.real;
  if (value.kind == Value::Kind::kInteger) {
    if (!fits_exactly(value, np.weak_scalars ? kExactInHalf : kSafeForHalfByValue)) {
      return false;
    }
    number = static_cast<double>(value.integer);
  } else if (value.kind != Value::Kind::kFloating) {
    return false;
  }
  const double magnitude = std::fabs(number);
  const double most = np.weak_scalars ? kLargest : kLargestByValue;
  if (magnitude != 0 && !(magnitude >= kSmallestNormal && magnitude <= most)) {
    return false;
  }
  store(place, half_of(number));
  return true;
}

template <class T>
bool store_wide(const Value& value, bool complex, char* place) {
  T real = 0;
  if (value.kind == Value::Kind::kInteger || value.kind == Value::Kind::kUnsigned) {
    if (!fits_exactly(value, kExactInDouble)) {
      return false;
    }
    real = static_cast<T>(value.integer);
  } else if (value.kind == Value::Kind::kComplex && !complex) {
    return false;
  } else {
    real = static_cast<T>(value.real);
  }
  store(place, real);
  if (complex) {
    store(place + sizeof(T), static_cast<T>(value.imaginary));
  }
  return true;
}

}  // namespace

OperandCode classify_scalar(const Numpy& np, PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (type == &PyBool_Type) {
    return kPyBool;
  }
  if (type == &PyComplex_Type) {
    return kPyComplex;
  }
  if (type == np.scalar_type[kDouble]) {
    return kNumpyScalar + kDouble;
  }
  for (unsigned number = 0; number < kTypeNumbers; ++number) {
    if (np.scalar_type[number] == type) {
      return static_cast<OperandCode>(kNumpyScalar + number);
    }
  }
  return kForeign;
}

bool read_scalar(const Numpy& np, PyObject* object, OperandCode code, unsigned loop_type, char* buffer) {
  if (code == kPyFloat && loop_type == kDouble) {
    store(buffer, PyFloat_AS_DOUBLE(object));
    return true;
  }
  if (!is_python_number(code)) {
    if (code < kNumpyScalar && (as_array(object)->flags & kAligned) == 0) {
      return false;
    }
    if (type_of(code) == loop_type) {
      std::memcpy(buffer, code >= kNumpyScalar ? scalar_value(object) : as_array(object)->data,
                  np.item_size[loop_type]);
      return true;
    }
  }
  Value value;
  if (!read_value(object, code, &value)) {
    return false;
  }
  switch (loop_type) {
    case kBool:
      if (type_of(code) != kBool) {
        return false;
      }
      store(buffer, static_cast<unsigned char>(value.integer != 0));
      return true;
    case kInt8:
      return store_integer<signed char>(value, buffer);
    case kUInt8:
      return store_integer<unsigned char>(value, buffer);
    case kInt16:
      return store_integer<short>(value, buffer);
    case kUInt16:
      return store_integer<unsigned short>(value, buffer);
    case kIntC:
      return store_integer<int>(value, buffer);
    case kUIntC:
      return store_integer<unsigned int>(value, buffer);
    case kLong:
      return (np.weak_scalars || fits_exactly(value, kUnambiguous)) && store_integer<long>(value, buffer);
    case kULong:
      return (np.weak_scalars || fits_exactly(value, kUnambiguous)) && store_integer<unsigned long>(value, buffer);
    case kLongLong:
      return store_integer<long long>(value, buffer);
    case kULongLong:
      return store_integer<unsigned long long>(value, buffer);
    case kFloat:
    case kComplexFloat:
      return store_floats(np, value, loop_type == kComplexFloat, buffer);
    case kDouble:
    case kComplexDouble:
      return store_wide<double>(value, loop_type == kComplexDouble, buffer);
    case kHalf:
      return store_half(np, value, buffer);
    default:  // extended precision
      return false;
  }
}

}  // namespace tagalong::array
