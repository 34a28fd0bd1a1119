// Unboxed numbers: what a register of a loop can hold instead of an object, and the conversion in both directions.
// NumPy's scalars are supported if the program has imported NumPy 2.0 or later: in older versions the dtype of a Python
// number beside a scalar depends on its value.
//
//   UnboxedNumber number;
//  if (unbox(object, Unboxed::kNumpyFloat, &number)) ... object_of(Unboxed::kNumpyFloat, number) ...
#pragma once

#include <Python.h>

#include <cstdint>

namespace tagalong::replay {

enum class Unboxed : std::uint8_t {
  kNone,
  kInt,
  kFloat,
  kBool,
  kNumpyInt,    // numpy.int64
  kNumpyFloat,  // numpy.float64
  kNumpyBool,   // numpy.bool_
  kPair,        // a tuple of two ints; the second one is the number of the next register
};

union UnboxedNumber {
  std::int64_t i;  // for ints; for bools 0 or 1
  double d;        // for floats
};

[[nodiscard]] constexpr bool is_numpy(Unboxed kind) {
  return kind == Unboxed::kNumpyInt || kind == Unboxed::kNumpyFloat || kind == Unboxed::kNumpyBool;
}
[[nodiscard]] constexpr bool is_int(Unboxed kind) { return kind == Unboxed::kInt || kind == Unboxed::kNumpyInt; }
[[nodiscard]] constexpr bool is_float(Unboxed kind) { return kind == Unboxed::kFloat || kind == Unboxed::kNumpyFloat; }

// kNone for all other types, and for NumPy's until the first NumPy scalar has been seen.
[[nodiscard]] Unboxed unboxed_of(const PyTypeObject* type);
// Null for kNone and kPair.
[[nodiscard]] PyTypeObject* type_of(Unboxed kind);
// The letter in the object of a loop node; NumPy's types have their NumPy codes. o: any object.
[[nodiscard]] Unboxed unboxed_of(char letter);
[[nodiscard]] char letter_of(const PyTypeObject* type);

// False if the object has another type, or is an int that does not fit.
bool unbox(PyObject* object, Unboxed kind, UnboxedNumber* number);
// A new object; null with an exception set.
[[nodiscard]] PyObject* object_of(Unboxed kind, UnboxedNumber number);

// A float that a list has released, with the only reference to it, or null. When an item of a list is replaced and the
// old float has no other owner, the new value is written into the spare float, which takes the old one's slot; the old
// float becomes the spare one. So old and new are different objects, as in eager execution, and nothing is allocated.
// One for the process, under the GIL; never freed.
extern PyObject* spare_float;
// Puts a float into a list's slot that holds a float without other owners. False: an exception is set.
[[nodiscard]] bool replace_float(PyObject** slot, double value);

// The kind of an array's items, by NumPy's type number (array::TypeNumber).
[[nodiscard]] Unboxed unboxed_of_items(int type_number);
// The type number of the array's items, if they can be unboxed; -1 for other arrays and other objects. Imports nothing:
// NumPy must have been imported.
[[nodiscard]] int item_type_of(PyObject* object, int dimensions);
// The same for the array over which one of the interpreter's own iterators goes.
[[nodiscard]] int iterated_type_of(PyObject* iterator);
// Takes the next item from such an iterator; null: there is none, or the array has changed its type or shape.
[[nodiscard]] const char* next_item_place(PyObject* iterator, int type_number);
// The current address of the item; null: the array is not such an array any more, or has no such item.
[[nodiscard]] char* item_place(PyObject* array, int type_number, std::int64_t index);
[[nodiscard]] char* item_place(PyObject* array, int type_number, std::int64_t row, std::int64_t column);
// Whether the object is an array of numbers of any kind: taking an item or a row of it runs no user code.
[[nodiscard]] bool has_plain_items(PyObject* object);
[[nodiscard]] bool may_be_written(PyObject* array);
void load_item(const char* place, Unboxed kind, UnboxedNumber* number);
void store_item(char* place, Unboxed kind, UnboxedNumber number);

// Operations of NumPy's float64 scalars, for operands where NumPy reports no error (whatever the program's errstate),
// and where it is known which of two NaNs NumPy returns.
enum class Float64Operator : std::uint8_t { kAdd, kSubtract, kMultiply, kDivide };
[[nodiscard]] bool float64_arithmetic(Float64Operator operation, double left, double right, double* result);

}  // namespace tagalong::replay
