// What one operand is, in one byte: an exact ndarray of a native numeric dtype, a NumPy scalar or 0-d array of one, or
// a Python number of an exact type. Everything else is kForeign. The file also converts a scalar operand to the dtype
// that a loop takes. The conversion refuses unless the value surely is the one that eager NumPy would pass to the loop,
// without a warning and under the promotion rules of this NumPy version.
//
//   const OperandCode code = classify(np, object);
//   if (!read_scalar(np, object, code, loop_type, buffer)) { /* general call */ }
#pragma once

#include "replay/arrays/numpy/numpy_abi.h"

namespace tagalong::array {

inline constexpr unsigned kMaxInputs = 4;  // operands of one operation, at most

using OperandCode = std::uint8_t;
inline constexpr OperandCode kZeroDim = 0x20;      // plus the type number: an array without dimensions
inline constexpr OperandCode kNumpyScalar = 0x40;  // plus the type number
inline constexpr OperandCode kPyBool = 0x60;
inline constexpr OperandCode kPyInt = 0x61;
inline constexpr OperandCode kPyFloat = 0x62;
inline constexpr OperandCode kPyComplex = 0x63;
inline constexpr OperandCode kForeign = 0xFF;

// Codes below kZeroDim are arrays with at least one dimension; such a code is the type number.
[[nodiscard]] constexpr bool is_array(OperandCode code) { return code < kZeroDim; }
[[nodiscard]] constexpr bool is_python_number(OperandCode code) { return code >= kPyBool && code <= kPyComplex; }
[[nodiscard]] constexpr bool is_numpy_scalar(OperandCode code) { return code >= kNumpyScalar && code < kPyBool; }
// Whether eager NumPy ever computes into a temporary right operand when the left operand has this code.
[[nodiscard]] inline bool may_elide_right(const Numpy& np, OperandCode left) {
  return !is_numpy_scalar(left) || np.elides_after_numpy_scalar;
}
// The type number of a NumPy operand; for Python numbers the type that NumPy gives them when no other operand decides.
[[nodiscard]] constexpr unsigned type_of(OperandCode code) {
  switch (code) {
    case kPyBool:
      return kBool;
    case kPyInt:
      return kLong;
    case kPyFloat:
      return kDouble;
    case kPyComplex:
      return kComplexDouble;
    default:
      return code & 0x1FU;
  }
}

[[nodiscard]] OperandCode classify_scalar(const Numpy& np, PyObject* object);

[[nodiscard]] inline unsigned type_number(const ArrayFields* array) {
  return static_cast<unsigned>(reinterpret_cast<const DescrFields*>(array->descr)->type_num);
}
[[nodiscard]] inline OperandCode array_code(const ArrayFields* array, unsigned number) {
  return static_cast<OperandCode>(array->nd == 0 ? kZeroDim + number : number);
}

[[nodiscard]] inline OperandCode classify(const Numpy& np, PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (type == np.array_type) {
    const ArrayFields* array = as_array(object);
    const unsigned number = type_number(array);
    if (number >= kTypeNumbers || np.descr[number] != array->descr) {
      return kForeign;  // a byte-swapped or structured dtype, one with metadata, or one that is not numeric
    }
    return array_code(array, number);
  }
  if (type == &PyFloat_Type) {
    return kPyFloat;
  }
  if (type == &PyLong_Type) {
    return kPyInt;
  }
  return classify_scalar(np, object);
}

// As classify(), but an array of another byte order, or whose dtype has metadata, gets the code of its type number.
[[nodiscard]] inline OperandCode classify_numbers(const Numpy& np, PyObject* object) {
  const OperandCode code = classify(np, object);
  if (code != kForeign || Py_TYPE(object) != np.array_type) {
    return code;
  }
  const ArrayFields* array = as_array(object);
  const unsigned number = type_number(array);
  return number < kTypeNumbers && np.descr[number] != nullptr ? array_code(array, number) : kForeign;
}

// The size of the elements of an array with this code.
[[nodiscard]] inline Extent bytes_of(const Numpy& np, PyObject* array, OperandCode code) {
  return element_count(as_array(array)) * np.item_size[type_of(code)];
}

inline constexpr std::size_t kScalarBytes = 32;

// Writes the scalar as `loop_type` into `buffer` (kScalarBytes). May raise floating point flags.
[[nodiscard]] bool read_scalar(const Numpy& np, PyObject* object, OperandCode code, unsigned loop_type, char* buffer);

}  // namespace tagalong::array
