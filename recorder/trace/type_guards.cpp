#include "recorder/trace/type_guards.h"

#include "recorder/base/hints.h"
#include "replay/objects/unboxed.h"

namespace tagalong::recorder {

using replay::kNoSnapshot;
using replay::Unboxed;

void TypeGuards::guard_exact(Value value, PyTypeObject* type, SnapshotId here) {
  if (abstract(value).exact != type && abstract(value).assumed == type) {
    abstract(value).exact = type;  // guarded in front of the loop
  }
  if (abstract(value).exact != type) {
    emit(Op::guard_type, {value}, here, 0, Ref::create(reinterpret_cast<PyObject*>(type)));
    abstract(value).exact = type;
  }
}

PyTypeObject* TypeGuards::known_number(Value value) const {
  const AbstractValue& known = abstract(value);
  PyTypeObject* type = known.exact != nullptr ? known.exact : (entry_open_ || is_in_loop() ? known.seen : nullptr);
  if (is_in_loop() && known.is_big) {
    return nullptr;
  }
  return type == &PyLong_Type || type == &PyFloat_Type ? type : nullptr;
}

PyTypeObject* TypeGuards::known_scalar(Value value) const {
  const AbstractValue& known = abstract(value);
  PyTypeObject* type = known.exact != nullptr ? known.exact : known.seen;
  return replay::unboxed_of(type) == replay::Unboxed::kNone || known.is_big ? nullptr : type;
}

bool TypeGuards::may_be_exact(Value value, PyTypeObject* type) const {
  const AbstractValue& known = abstract(value);
  return known.exact == type || (known.exact == nullptr && known.seen == type && !known.is_big);
}

bool TypeGuards::is_big_result() const {
  PyObject* result = live_stack(0);
  int overflow = 0;
  if (result != nullptr && PyLong_CheckExact(result)) {
    static_cast<void>(PyLong_AsLongLongAndOverflow(result, &overflow));
  }
  return overflow != 0;
}

bool TypeGuards::establish_numbers(Value left, Value right, SnapshotId here) {
  PyTypeObject* left_type = known_number(left);
  PyTypeObject* right_type = known_number(right);
  if (left_type == nullptr || right_type == nullptr) {
    return false;
  }
  guard_exact(left, left_type, here);
  guard_exact(right, right_type, here);
  return true;
}

bool TypeGuards::establish_scalars(Value left, Value right) {
  if (!is_in_loop() || has_raised_) {
    return false;
  }
  PyTypeObject* left_type = known_scalar(left);
  PyTypeObject* right_type = known_scalar(right);
  const Unboxed left_kind = replay::unboxed_of(left_type);
  const Unboxed right_kind = replay::unboxed_of(right_type);
  const auto is_number = [](Unboxed kind) { return replay::is_int(kind) || replay::is_float(kind); };
  if (!is_number(left_kind) || !is_number(right_kind) ||
      !(replay::is_numpy(left_kind) || replay::is_numpy(right_kind))) {
    return false;
  }
  guard_exact(left, left_type, snapshot());
  guard_exact(right, right_type, snapshot());
  return true;
}

Op TypeGuards::scalar_operation(std::uint32_t argument, Value left, Value right) {
  const bool is_double = replay::is_float(replay::unboxed_of(known_scalar(left))) ||
                         replay::is_float(replay::unboxed_of(known_scalar(right)));
  switch (argument % NB_INPLACE_ADD) {
    case NB_ADD:
    case NB_SUBTRACT:
    case NB_MULTIPLY:
    case NB_TRUE_DIVIDE:
      break;
    case NB_FLOOR_DIVIDE:
    case NB_REMAINDER:
    case NB_AND:
    case NB_OR:
    case NB_XOR:
    case NB_LSHIFT:
    case NB_RSHIFT:
      if (is_double) {
        return Op::binary_op;
      }
      break;
    default:
      return Op::binary_op;
  }
  if (!establish_scalars(left, right)) {
    return Op::binary_op;
  }
  return is_double || is_true_divide(argument) ? Op::float64_binary : Op::int64_binary;
}

bool TypeGuards::establish_item(Value container, Value key, bool stores) {
  PyTypeObject* number = known_scalar(key);
  if (!is_in_loop() || has_raised_ || !replay::is_int(replay::unboxed_of(number)) ||
      (stores && number != &PyLong_Type)) {
    return false;
  }
  PyTypeObject* type = nullptr;
  if (may_be_exact(container, &PyList_Type)) {
    type = &PyList_Type;
  } else if (!stores && may_be_exact(container, &PyTuple_Type)) {
    type = &PyTuple_Type;
  }
  if (type == nullptr) {
    return false;
  }
  guard_exact(container, type, snapshot());
  guard_exact(key, number, snapshot());
  return true;
}

namespace {

// Number of ints in a key on the stack: 1 for an int, 2 for a tuple of two ints, 0 for anything else.
int numbers_in_key(PyObject* key) {
  if (key == nullptr) {
    return 0;
  }
  if (PyTuple_CheckExact(key)) {
    const bool is_pair = PyTuple_GET_SIZE(key) == 2 && PyLong_CheckExact(PyTuple_GET_ITEM(key, 0)) &&
                         PyLong_CheckExact(PyTuple_GET_ITEM(key, 1));
    return is_pair ? 2 : 0;
  }
  return replay::is_int(replay::unboxed_of(Py_TYPE(key))) ? 1 : 0;
}

}  // namespace

void TypeGuards::note_array(PyObject* container, PyObject* key) {
  const int count = is_in_loop() && container != nullptr && is_array_type(Py_TYPE(container)) ? numbers_in_key(key) : 0;
  top().array_items = count == 0 ? -1 : replay::item_type_of(container, count);
}

bool TypeGuards::establish_array_item(Value container, Value key) {
  if (top().array_items < 0 || has_raised_ || abstract(container).seen == nullptr || abstract(key).seen == nullptr) {
    return false;
  }
  PyTypeObject* type = abstract(container).seen;
  PyTypeObject* key_type = abstract(key).seen;
  if (!may_be_exact(container, type) || !may_be_exact(key, key_type) || !is_array_type(type)) {
    return false;
  }
  guard_exact(container, type, snapshot());
  guard_exact(key, key_type, snapshot());
  return true;
}

bool TypeGuards::establish_stored(Value value) {
  PyTypeObject* type = known_scalar(value);
  const Unboxed kind = replay::unboxed_of(type);
  const Unboxed items = replay::unboxed_of_items(top().array_items);
  const bool fits = items == Unboxed::kNumpyFloat ? replay::is_int(kind) || replay::is_float(kind)
                    : items == Unboxed::kNumpyInt ? replay::is_int(kind)
                                                  : kind == Unboxed::kBool || kind == Unboxed::kNumpyBool;
  if (fits) {
    guard_exact(value, type, snapshot());
  }
  return fits;
}

void TypeGuards::establish_pair() {
  constexpr std::size_t kBelow = 3;
  const Values& stack = top().stack;
  if (!is_in_loop() || has_raised_ || stack.size() < kBelow ||
      !is_array_type(abstract(stack[stack.size() - kBelow]).seen)) {
    return;
  }
  const Value row = stack[stack.size() - 2];
  const Value column = stack.back();
  if (may_be_exact(row, &PyLong_Type) && may_be_exact(column, &PyLong_Type)) {
    guard_exact(row, &PyLong_Type, snapshot());
    guard_exact(column, &PyLong_Type, snapshot());
  }
}

Value TypeGuards::truth_of(Value value, SnapshotId here) {
  const auto is_simple = [this](PyTypeObject* type) {
    return type == &PyBool_Type || type == &PyLong_Type || type == &PyFloat_Type || type == &PyUnicode_Type ||
           type == Py_TYPE(Py_None) || (is_in_loop() && replay::is_numpy(replay::unboxed_of(type)));
  };
  PyTypeObject* seen = abstract(value).seen;
  if (abstract(value).exact == nullptr && (entry_open_ || is_in_loop()) && is_simple(seen) && !abstract(value).is_big) {
    guard_exact(value, seen, here);
  }
  PyTypeObject* exact = abstract(value).exact;
  if (exact == &PyBool_Type) {
    return value;
  }
  const bool is_scalar =
      is_simple(exact) && replay::is_numpy(replay::unboxed_of(exact));  // only a loop program supports it
  const Value truth = emit(is_simple(exact) ? Op::number_truth : Op::to_bool, {value}, is_scalar ? kNoSnapshot : here);
  abstract(truth).exact = &PyBool_Type;
  abstract(truth).seen = &PyBool_Type;
  return truth;
}

}  // namespace tagalong::recorder
