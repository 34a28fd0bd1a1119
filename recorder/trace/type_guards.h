// Which types operands have, as far as the trace may rely on it: a type that was seen is only a hint until a guard has
// established it, and a guard must be worth its price.
//
//   if (establish_numbers(left, right, snapshot())) ...   // both are guarded: an operation of numbers will do
#pragma once

#include <opcode.h>

#include "recorder/trace/loops.h"

namespace tagalong::recorder {

inline bool is_true_divide(std::uint32_t argument) {
  return argument == NB_TRUE_DIVIDE || argument == NB_INPLACE_TRUE_DIVIDE;
}

class TypeGuards : public Loops {
 protected:
  using Loops::Loops;

  void guard_exact(Value value, PyTypeObject* type, SnapshotId here);
  // The exact type int or float of a value, if that is established or may still be put into the entry check.
  [[nodiscard]] PyTypeObject* known_number(Value value) const;
  // The exact type of a number that needs no object in a loop, NumPy's scalars among them.
  [[nodiscard]] PyTypeObject* known_scalar(Value value) const;
  // Whether the value may be taken for one of exactly this type, at the price of a guard.
  [[nodiscard]] bool may_be_exact(Value value, PyTypeObject* type) const;
  // Whether the instruction has given an int beyond 64 bits.
  [[nodiscard]] bool is_big_result() const;

  bool establish_numbers(Value left, Value right, SnapshotId here);
  // In a loop: whether both are numbers of which one is a scalar of NumPy's; guarded then.
  bool establish_scalars(Value left, Value right);
  // The operation for a BINARY_OP on such numbers, binary_op if there is none.
  [[nodiscard]] Op scalar_operation(std::uint32_t argument, Value left, Value right);
  // In a loop: whether container[key] is an item of a list or tuple by number; guarded then.
  bool establish_item(Value container, Value key, bool stores);
  // In front of the instruction: which items the container has, if it is an array and the key finds one.
  void note_array(PyObject* container, PyObject* key);
  // Whether container[key] is what note_array() has found; guarded then.
  bool establish_array_item(Value container, Value key);
  // Whether the items of the array can be such a number without running the program's code; guarded then.
  bool establish_stored(Value value);
  // In a loop: two ints that are made a tuple on top of an array may become one of its indices, which needs no tuple.
  void establish_pair();

  // The truth of a value, as a value: itself where it is a bool.
  Value truth_of(Value value, SnapshotId here);
};

}  // namespace tagalong::recorder
