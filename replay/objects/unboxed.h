// Numbers without objects: what a register of a loop may hold in place of an object, and how one becomes the other.
// NumPy's scalars are among them where the NumPy that the program has imported is one whose scalars are known here:
// from 2.0 on, where Python numbers beside them have no dtype of their own.
//
//   UnboxedNumber number;
//   if (unbox(object, Raw::kNumpyFloat, &number)) ... object_of(Raw::kNumpyFloat, number) ...
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
  kPair,        // a tuple of two ints: the other one is the number of the next register
};

union UnboxedNumber {
  std::int64_t i;  // of ints; of bools 0 or 1
  double d;        // of floats
};

[[nodiscard]] constexpr bool is_numpy(Unboxed kind) {
  return kind == Unboxed::kNumpyInt || kind == Unboxed::kNumpyFloat || kind == Unboxed::kNumpyBool;
}
[[nodiscard]] constexpr bool is_int(Unboxed kind) { return kind == Unboxed::kInt || kind == Unboxed::kNumpyInt; }
[[nodiscard]] constexpr bool is_float(Unboxed kind) { return kind == Unboxed::kFloat || kind == Unboxed::kNumpyFloat; }

// kNone: others, and NumPy's as long as nobody has met it.
[[nodiscard]] Unboxed unboxed_of(const PyTypeObject* type);
// Null: kNone, kPair.
[[nodiscard]] PyTypeObject* type_of(Unboxed kind);
// As in the object of a loop node; NumPy's are its own codes. o: any object.
[[nodiscard]] Unboxed unboxed_of(char letter);
[[nodiscard]] char letter_of(const PyTypeObject* type);

// False: the object is not one of this kind, or an int that does not fit.
bool unbox(PyObject* object, Unboxed kind, UnboxedNumber* number);
// A new object; null: an exception is set.
[[nodiscard]] PyObject* object_of(Unboxed kind, UnboxedNumber number);

// The float that a list has given up last, with the only reference to it, or null. Where a list's float is replaced
// that nothing else has, the new value goes into this one, which takes its place, and the old one is kept here: so the
// two are different objects, as in eager execution, and nothing is allocated. One for the process, under the GIL; never
// freed.
extern PyObject* spare_float;
// Puts a float into a list's slot, in place of a float that nothing else has. False: an exception is set.
[[nodiscard]] bool replace_float(PyObject** slot, double value);

// Items of arrays: those of these dtypes, by NumPy's type number (array::TypeNumber).
[[nodiscard]] Unboxed unboxed_of_items(int type_number);
// The type number of the array's items, if each of them is a number without an object; -1: it is not an array, or one
// of others. Asks for NumPy.
[[nodiscard]] int item_type_of(PyObject* object, int dimensions);
// The same of what an iterator of the interpreter's own goes through, item by item.
[[nodiscard]] int iterated_type_of(PyObject* iterator);
// The next item of such an iterator, which it is taken from then; null: there is none, or no such array any more.
[[nodiscard]] const char* next_item_place(PyObject* iterator, int type_number);
// Where the array has the item now; null: it is no such array any more, or has no such item.
[[nodiscard]] char* item_place(PyObject* array, int type_number, std::int64_t index);
[[nodiscard]] char* item_place(PyObject* array, int type_number, std::int64_t row, std::int64_t column);
// An array of numbers of any kind: an item of it, or a row, is made without running anybody's code.
[[nodiscard]] bool has_plain_items(PyObject* object);
[[nodiscard]] bool may_be_written(PyObject* array);
void load_item(const char* place, Unboxed kind, UnboxedNumber* number);
void store_item(char* place, Unboxed kind, UnboxedNumber number);

// What NumPy's scalar of float64 gives where it has nothing to report, whatever the program has asked it to report, and
// where it is known which of two NaNs it gives.
enum class Float64Operator : std::uint8_t { kAdd, kSubtract, kMultiply, kDivide };
[[nodiscard]] bool float64_arithmetic(Float64Operator operation, double left, double right, double* result);

}  // namespace tagalong::replay
