// Operations that classes overload: the order in which the interpreter tries the operands of an operator, and how its C
// code processes the result of a special method. The recorder looks up which method comes next, and a replay finishes
// an operator after a method has returned NotImplemented; both use the same list of attempts.
#pragma once

#include <Python.h>

#include <boost/container/static_vector.hpp>
#include <cstdint>

namespace tagalong::replay {

enum class OperatorKind : std::uint8_t { kBinary, kCompare };

// An operator and its current or last attempt; FrameInfo and finish_operator store it as a number.
struct Operator {
  OperatorKind kind = OperatorKind::kBinary;
  int argument = 0;      // the argument of BINARY_OP or COMPARE_OP
  int attempt = -1;      // index in attempts_of()
  bool negates = false;  // Attempt::negates

  [[nodiscard]] int number() const;
  static Operator of(int number);
};

// One attempt: a call of one operand's slot or method. All pointers are borrowed.
struct Attempt {
  PyObject* receiver = nullptr;
  PyObject* other = nullptr;
  const char* method = nullptr;  // special method in Python; null: C code
  void* slot = nullptr;          // the type's slot to call
  int comparison = 0;            // the comparison with which a comparison slot is called
  bool is_right = false;         // the receiver is the right operand
  bool negates = false;          // for `!=` of a class that has only `__eq__`: the result is negated
  bool has_no_user_code =
      false;  // C code that runs no user code and returns NotImplemented depending on the types only
};
using Attempts = boost::container::static_vector<Attempt, 6>;

// Whether the function is a method of the type that such an operator calls.
bool is_operator_method(OperatorKind kind, int argument, PyTypeObject* type, PyObject* function);

// The attempts in order; each one is made if the previous one returned NotImplemented. A missing method counts as
// NotImplemented.
Attempts attempts_of(OperatorKind kind, int argument, PyObject* left, PyObject* right);

// Finishes the operator after the attempt has returned NotImplemented: the next attempts, or the error.
PyObject* finish_operator(int number, PyObject* left, PyObject* right);

// A class that overrides all slots: its slots hold the interpreter's slot functions for Python classes, for comparing.
const PyTypeObject* overloading_type();

// How a slot processes the result of a special method.
enum class SlotCheck : std::uint8_t {
  kTruth,        // __bool__ must return a bool
  kNot,          // the negated truth
  kLengthTruth,  // __len__ where a class has no __bool__
  kLengthNot,
  kAnyTruth,  // __contains__ may return any object
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
// A new reference, or null with the exception that the slot raises.
PyObject* finish_slot(int check, PyObject* result);
// Number of recursion levels that the C code between instruction and method counts.
[[nodiscard]] int levels_of(int check, bool is_builtin);
[[nodiscard]] bool is_truth_check(int check);  // whether the result is True or False

// A conditional jump, encoded as FrameInfo::operation.
struct Branch {
  int target = 0;
  bool jumps_if_true = false;
  bool keeps_when_taken = false;
  bool by_length = false;

  [[nodiscard]] int number() const;
  static Branch of(int number);
};

}  // namespace tagalong::replay
