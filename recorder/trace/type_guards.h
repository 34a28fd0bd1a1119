// On which operand types the trace relies: a type that was seen is only a hint until a guard has established it, and a
// guard must pay for itself.
//
//   if (establish_numbers(left, right, snapshot())) ...   // both are guarded: an operation of numbers can be recorded
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
  // The exact type int or float of a value, if it is established or can still be added to the entry check.
  [[nodiscard]] PyTypeObject* known_number(Value value) const;
  // The exact type of a number that a loop can keep unboxed, including NumPy's scalars.
  [[nodiscard]] PyTypeObject* known_scalar(Value value) const;
  // Whether the trace may assume exactly this type, at the cost of a guard.
  [[nodiscard]] bool may_be_exact(Value value, PyTypeObject* type) const;
  // Whether the instruction gave an int beyond 64 bits.
  [[nodiscard]] bool is_big_result() const;

  bool establish_numbers(Value left, Value right, SnapshotId here);
  // In a loop: whether both are numbers and one is a NumPy scalar; if so, guards are emitted.
  bool establish_scalars(Value left, Value right);
  // The op for a BINARY_OP on such numbers, binary_op if there is none.
  [[nodiscard]] Op scalar_operation(std::uint32_t argument, Value left, Value right);
  // In a loop: whether container[key] is an item of a list or tuple with an int index; if so, guards are emitted.
  bool establish_item(Value container, Value key, bool stores);
  // Called in front of the instruction: notes which items the container has, if it is an array and the key is an index.
  void note_array(PyObject* container, PyObject* key);
  // Whether container[key] is what note_array() found; if so, guards are emitted.
  bool establish_array_item(Value container, Value key);
  // Whether the value can be stored as an item of the array without running user code; if so, guards are emitted.
  bool establish_stored(Value value);
  // In a loop: two ints that become a tuple on top of an array may be an index of the array, which needs no tuple.
  void establish_pair();

  // The truth of a value, as a value: the value itself if it is a bool.
  Value truth_of(Value value, SnapshotId here);
};

}  // namespace tagalong::recorder
