// What classes overload: in which order the interpreter asks the operands of an operator, and what its C code makes of
// the result of a special method. The recorder asks which method comes next, a run finishes what is left of an operator
// when a method has answered NotImplemented; both read the one list of attempts.
#pragma once

#include <Python.h>

#include <boost/container/static_vector.hpp>
#include <cstdint>

namespace tagalong::replay {

enum class OperatorKind : std::uint8_t { kBinary, kCompare };

// An operator with the attempt that has just been made, or is being made: what FrameInfo and finish_operator keep as a
// number.
struct Operator {
  OperatorKind kind = OperatorKind::kBinary;
  int argument = 0;      // of BINARY_OP, COMPARE_OP
  int attempt = -1;      // index in attempts_of()
  bool negates = false;  // Attempt::negates

  [[nodiscard]] int number() const;
  static Operator of(int number);
};

// One operand that is asked. All pointers are borrowed.
struct Attempt {
  PyObject* receiver = nullptr;
  PyObject* other = nullptr;
  const char* method = nullptr;  // special method in Python; null: C code
  void* slot = nullptr;          // the type's slot that is called
  int comparison = 0;            // as the slot of a comparison is asked
  bool is_right = false;         // the receiver is the right operand
  bool negates = false;          // `!=` of a class that has only `__eq__`: the opposite of its answer
  bool is_quiet = false;         // C code that runs nobody's code, and answers NotImplemented by the types alone
};
using Attempts = boost::container::static_vector<Attempt, 6>;

// Whether the function is what the type has by one of the names that such an operator asks.
bool is_operator_method(OperatorKind kind, int argument, PyTypeObject* type, PyObject* function);

// In the order in which they are asked as long as the answer is NotImplemented. Where a method does not exist, it
// counts as that answer.
Attempts attempts_of(OperatorKind kind, int argument, PyObject* left, PyObject* right);

// What the operator does after the attempt has answered NotImplemented: the next ones, or the error.
PyObject* finish_operator(int number, PyObject* left, PyObject* right);

// A class whose slots are all those of classes that overload: to know the interpreter's functions by.
const PyTypeObject* overloading_type();

// What a slot makes of the result of a special method.
enum class SlotCheck : std::uint8_t {
  kTruth,        // __bool__ must return a bool
  kNot,          // the opposite of it
  kLengthTruth,  // __len__ in the place of __bool__
  kLengthNot,
  kAnyTruth,  // __contains__ may return anything
  kAnyNot,
  kLength,
  kIterator,
  kString,  // __str__ for str()
  kRepresentation,
  kFormat,
  kFormatted,  // __str__ for f"{x!s}"
  kFormattedRepresentation,
  kHash,
  kAnything,
};
// A new reference, or null with the exception of the slot.
PyObject* finish_slot(int check, PyObject* result);
// How many levels the C code between instruction and method counts towards the recursion limit.
[[nodiscard]] int levels_of(int check, bool is_builtin);
[[nodiscard]] bool is_truth_check(int check);  // the result is True or False

// A conditional jump as FrameInfo::operation.
struct Branch {
  int target = 0;
  bool jumps_if_true = false;
  bool keeps_when_taken = false;
  bool by_length = false;

  [[nodiscard]] int number() const;
  static Branch of(int number);
};

}  // namespace tagalong::replay
