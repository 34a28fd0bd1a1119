// What loops and traces share: the objects of numbers that somebody is going to see, items, and NumPy's scalars.
#include <opcode.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "replay/executor/emergency.h"
#include "replay/executor/interpreter.h"
#include "replay/objects/operations.h"
#include "replay/objects/sequence_items.h"
#include "rewriter/cpython/exact_numbers.h"
#include "rewriter/cpython/iterators.h"

namespace tagalong::replay {

PyObject* Interpreter::pair(std::int32_t place) const {
  const Ref row = Ref::steal(PyLong_FromLongLong(unboxed_[place].i));
  const Ref column = Ref::steal(PyLong_FromLongLong(unboxed_[place + 1].i));
  return row && column ? PyTuple_Pack(2, row.get(), column.get()) : nullptr;
}

// Steps that have no state to raise in: their objects are small, and there is a reserve.
Interpreter::StepResult Interpreter::store_int(const Step& step, std::int64_t number) {
  const bool is_raising = PyErr_Occurred() != nullptr;
  PyObject* object = PyLong_FromLongLong(number);
  if (object == nullptr) [[unlikely]] {
    object = number_from_reserve(Unboxed::kInt, {.i = number}, false);
    if (object != nullptr && !is_raising) {
      PyErr_Clear();
    }
  }
  return store(step, object);
}

Interpreter::StepResult Interpreter::store_cell(const Step& step, PyObject* content) {
  PyObject* cell = PyCell_New(content);
  if (cell == nullptr) [[unlikely]] {
    cell = cell_from_reserve(content);
    if (cell != nullptr) {
      PyErr_Clear();
    }
  }
  return store(step, cell);
}

// The object of a number that somebody is going to see: the same one from now on.
PyObject* Interpreter::box(std::int32_t place) {
  if (registers_[place] == nullptr) {
    const Unboxed kind = executor_.loop_.kinds[static_cast<std::size_t>(place)];
    registers_[place] = kind == Unboxed::kPair ? pair(place) : object_of(kind, unboxed_[place]);
  }
  return registers_[place];
}

// The same where a frame shows it: that must not fail. Where there is neither memory nor any reserve, the frame shows
// None, and a run that leaves raises the MemoryError. One that is under way takes the place of an exception that was.
void Interpreter::box_for_frame(std::int32_t place) {
  const bool is_raising = registers_[place] == nullptr && PyErr_Occurred() != nullptr;
  if (box(place) != nullptr) {
    return;
  }
  if (!is_raising) {
    PyErr_Clear();
  }
  if (!take_from_reserve(place, true)) {
    registers_[place] = Py_NewRef(Py_None);
    lacks_numbers_ = true;
  }
}

bool Interpreter::take_from_reserve(std::int32_t place, bool leaves) {
  const Unboxed kind = executor_.loop_.kinds[static_cast<std::size_t>(place)];
  registers_[place] = kind == Unboxed::kPair ? pair_from_reserve(unboxed_[place], unboxed_[place + 1], leaves)
                                             : number_from_reserve(kind, unboxed_[place], leaves);
  return registers_[place] != nullptr;
}

// For a step that takes the object. False: no memory; a step that has no state to raise that in gets it nevertheless.
bool Interpreter::box_for_step(const Step& step, std::int32_t place) {
  if (box(place) != nullptr) {
    return true;
  }
  if (step.snapshot != kNoSnapshot || !take_from_reserve(place, false)) {
    return false;
  }
  PyErr_Clear();
  return true;
}

bool Interpreter::box_all(const LoweredSnapshot& state, bool leaves) {
  if (unboxed_ != nullptr) {
    const auto number = static_cast<std::size_t>(&state - executor_.snapshots_.data());
    for (const std::int32_t place : executor_.loop_.unboxed[number]) {
      if (leaves) {
        box_for_frame(place);
      } else if (box(place) == nullptr) {
        return false;
      }
    }
  }
  return true;
}

// What a real frame holds may die: then it shows the number now. Where it holds a number, it may be an older one.
void Interpreter::sync_unboxed(const Step& step, std::int32_t place) {
  const int level = real_level(static_cast<std::int32_t>(PyLong_AsLong(step.object)));
  PyObject* old = level < 0 ? nullptr : cpython::locals_of(run_.frames[level])[step.immediate];
  if (old != nullptr && !cpython::is_exact_number(old)) {
    box_for_frame(place);
    sync_local(step);
  }
}

// A loop that the trace does not go back to: each result is one more reference.
Interpreter::StepResult Interpreter::go_round(const Step& step, const std::int32_t* operands) {
  if (step.is_header) {
    return StepResult::kLoop;
  }
  for (std::uint16_t index = 0; index < step.operand_count; ++index) {
    registers_[operands[step.operand_count + index]] = Py_NewRef(registers_[operands[index]]);
  }
  return StepResult::kNext;
}

Interpreter::StepResult Interpreter::execute_item(const Step& step, PyObject* container, PyObject* key,
                                                  PyObject* value) {
  const bool is_exact = (PyList_CheckExact(container) || (value == nullptr && PyTuple_CheckExact(container))) &&
                        is_int(unboxed_of(Py_TYPE(key)));
  if (!is_exact) {
    return StepResult::kAgain;
  }
  if (value == nullptr) {
    PyObject* item = PyObject_GetItem(container, key);
    if (item == nullptr) {
      PyErr_Clear();
      return StepResult::kAgain;
    }
    return store(step, item);
  }
  if (step.op == Op::list_renew) {
    std::int64_t index = 0;
    const Py_ssize_t place = cpython::int64_of(key, &index) ? place_in(container, index) : -1;
    if (place < 0 || !cpython::is_exact_number(items_of(container)[place])) {
      return StepResult::kAgain;
    }
  }
  if (!sync(step)) {
    return StepResult::kRaised;
  }
  return check(PyObject_SetItem(container, key, value));
}

// An item of an array, or what becomes one: with objects, as in a loop's program.
Interpreter::StepResult Interpreter::execute_array_item(const Step& step, PyObject* array, PyObject* key,
                                                        PyObject* value) {
  const Unboxed kind = unboxed_of_items(step.immediate);
  const bool is_pair = PyTuple_CheckExact(key) && PyTuple_GET_SIZE(key) == 2;
  if (type_of(kind) == nullptr || item_type_of(array, is_pair ? 2 : 1) != step.immediate) {
    return StepResult::kAgain;
  }
  UnboxedNumber row;
  UnboxedNumber column;
  char* place = nullptr;
  if (is_pair) {
    const bool are_ints =
        unbox(PyTuple_GET_ITEM(key, 0), Unboxed::kInt, &row) && unbox(PyTuple_GET_ITEM(key, 1), Unboxed::kInt, &column);
    place = are_ints ? item_place(array, step.immediate, row.i, column.i) : nullptr;
  } else if (const Unboxed index = unboxed_of(Py_TYPE(key)); is_int(index) && unbox(key, index, &row)) {
    place = item_place(array, step.immediate, row.i);
  }
  if (place == nullptr) {
    return StepResult::kAgain;
  }
  UnboxedNumber number;
  if (value == nullptr) {
    load_item(place, kind, &number);
    return store(step, object_of(kind, number));
  }
  const Unboxed given = unboxed_of(Py_TYPE(value));
  if (!may_be_written(array) || given == Unboxed::kNone || !unbox(value, given, &number)) {
    return StepResult::kAgain;
  }
  if (kind == Unboxed::kNumpyFloat && is_int(given)) {
    number.d = static_cast<double>(number.i);
  }
  store_item(place, kind, number);
  return StepResult::kNext;
}

// There is no next item: if it is the end, the iterator gives up the array now. The result's register stays as it is:
// it may be that of the loop's variable, which keeps its last value.
Interpreter::StepResult Interpreter::end_array(const Step& step, PyObject* iterator) {
  if (iterated_type_of(iterator) != step.immediate) {
    return StepResult::kAgain;
  }
  if (!sync(step)) {
    return StepResult::kRaised;
  }
  const Ref item = Ref::steal(Py_TYPE(iterator)->tp_iternext(iterator));
  TAGALONG_CHECK(!item, "an array that has ended has one more item in {}", executor_.graph_.name);
  return PyErr_Occurred() != nullptr ? StepResult::kRaised : StepResult::kNext;
}

Interpreter::StepResult Interpreter::execute_array_next(const Step& step, PyObject* iterator) {
  const char* place = next_item_place(iterator, step.immediate);
  if (place == nullptr) {
    registers_[step.result] = nullptr;
    return end_array(step, iterator);
  }
  const Unboxed kind = unboxed_of_items(step.immediate);
  UnboxedNumber number;
  load_item(place, kind, &number);
  return store(step, object_of(kind, number));
}

namespace {

constexpr std::int64_t kBits = 64;

bool is_so(int comparison, double x, double y) {
  switch (comparison) {
    case Py_LT:
      return x < y;
    case Py_LE:
      return x <= y;
    case Py_EQ:
      return x == y;
    case Py_NE:
      return x != y;
    case Py_GT:
      return x > y;
    default:
      return x >= y;
  }
}

std::optional<Float64Operator> float64_operator(int argument) {
  switch (argument % NB_INPLACE_ADD) {
    case NB_ADD:
      return Float64Operator::kAdd;
    case NB_SUBTRACT:
      return Float64Operator::kSubtract;
    case NB_MULTIPLY:
      return Float64Operator::kMultiply;
    case NB_TRUE_DIVIDE:
      return Float64Operator::kDivide;
    default:
      return std::nullopt;
  }
}

// By Python's ints: where theirs fits 64 bits, NumPy's is the same.
bool int64_result(const Step& step, std::int64_t left, std::int64_t right, std::int64_t* result) {
  const int operation = step.immediate % NB_INPLACE_ADD;
  const bool shifts = operation == NB_LSHIFT || operation == NB_RSHIFT;
  if (step.op == Op::int64_binary && shifts && (right < 0 || right >= kBits - 1)) {
    return false;
  }
  const cpython::SignalsWait wait;
  const Ref first = Ref::steal(PyLong_FromLongLong(left));
  const Ref second = Ref::steal(PyLong_FromLongLong(right));
  Ref made;
  if (first && second) {
    made = Ref::steal(step.op == Op::int64_binary ? binary_operation(operation, first.get(), second.get())
                                                  : int_compare(step.immediate, first.get(), second.get()));
  }
  if (!made) {
    PyErr_Clear();
    return false;
  }
  if (PyBool_Check(made.get())) {
    *result = made.get() == Py_True ? 1 : 0;
    return true;
  }
  return PyLong_CheckExact(made.get()) && cpython::int64_of(made.get(), result);
}

}  // namespace

// NumPy's scalars, and Python's numbers beside them.
Interpreter::StepResult Interpreter::execute_scalars(const Step& step, PyObject* left, PyObject* right) {
  const Unboxed kinds[] = {unboxed_of(Py_TYPE(left)), unboxed_of(Py_TYPE(right))};
  UnboxedNumber numbers[2];
  const auto is_number = [](Unboxed kind) { return is_int(kind) || is_float(kind); };
  if (!is_number(kinds[0]) || !is_number(kinds[1]) || !unbox(left, kinds[0], &numbers[0]) ||
      !unbox(right, kinds[1], &numbers[1])) {
    return StepResult::kAgain;
  }
  const bool are_ints = is_int(kinds[0]) && is_int(kinds[1]);
  if (step.op == Op::int64_binary || (step.op == Op::scalar_compare && are_ints)) {
    UnboxedNumber number;
    if (!int64_result(step, numbers[0].i, numbers[1].i, &number.i)) {
      return StepResult::kAgain;
    }
    return store(step, object_of(step.op == Op::int64_binary ? Unboxed::kNumpyInt : Unboxed::kNumpyBool, number));
  }
  for (int index = 0; index < 2; ++index) {
    if (is_int(kinds[index])) {
      numbers[index].d = static_cast<double>(numbers[index].i);
    }
  }
  const double x = numbers[0].d;
  const double y = numbers[1].d;
  if (step.op == Op::scalar_compare) {
    return store(step, object_of(Unboxed::kNumpyBool, {.i = is_so(step.immediate, x, y) ? 1 : 0}));
  }
  UnboxedNumber result;
  const std::optional<Float64Operator> operation = float64_operator(step.immediate);
  if (!operation || !float64_arithmetic(*operation, x, y, &result.d)) {
    return StepResult::kAgain;
  }
  return store(step, object_of(Unboxed::kNumpyFloat, result));
}

}  // namespace tagalong::replay
