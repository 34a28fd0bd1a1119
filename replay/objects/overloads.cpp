#include "replay/objects/overloads.h"

#include <opcode.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "rewriter/base/errors.h"
#include "rewriter/base/ref.h"

namespace tagalong::replay {
namespace {

struct OperatorNames {
  const char* symbol;
  const char* method;
  const char* reflected;
  const char* in_place;
  std::size_t slot;
  std::size_t in_place_slot;
};

// In the order of CPython's NB_ constants.
constexpr int kOperators = NB_INPLACE_ADD;
#define TAGALONG_SLOTS(name) offsetof(PyNumberMethods, nb_##name), offsetof(PyNumberMethods, nb_inplace_##name)
constexpr std::array<OperatorNames, kOperators> kOperatorNames = {{
    {"+", "__add__", "__radd__", "__iadd__", TAGALONG_SLOTS(add)},
    {"&", "__and__", "__rand__", "__iand__", TAGALONG_SLOTS(and)},
    {"//", "__floordiv__", "__rfloordiv__", "__ifloordiv__", TAGALONG_SLOTS(floor_divide)},
    {"<<", "__lshift__", "__rlshift__", "__ilshift__", TAGALONG_SLOTS(lshift)},
    {"@", "__matmul__", "__rmatmul__", "__imatmul__", TAGALONG_SLOTS(matrix_multiply)},
    {"*", "__mul__", "__rmul__", "__imul__", TAGALONG_SLOTS(multiply)},
    {"%", "__mod__", "__rmod__", "__imod__", TAGALONG_SLOTS(remainder)},
    {"|", "__or__", "__ror__", "__ior__", TAGALONG_SLOTS(or)},
    {"** or pow()", "__pow__", "__rpow__", "__ipow__", TAGALONG_SLOTS(power)},
    {">>", "__rshift__", "__rrshift__", "__irshift__", TAGALONG_SLOTS(rshift)},
    {"-", "__sub__", "__rsub__", "__isub__", TAGALONG_SLOTS(subtract)},
    {"/", "__truediv__", "__rtruediv__", "__itruediv__", TAGALONG_SLOTS(true_divide)},
    {"^", "__xor__", "__rxor__", "__ixor__", TAGALONG_SLOTS(xor)},
}};
#undef TAGALONG_SLOTS

struct ComparisonNames {
  const char* symbol;
  const char* method;
  int swapped;
};

constexpr std::array<ComparisonNames, Py_GE + 1> kComparisonNames = {{
    {"<", "__lt__", Py_GT},
    {"<=", "__le__", Py_GE},
    {"==", "__eq__", Py_EQ},
    {"!=", "__ne__", Py_NE},
    {">", "__gt__", Py_LT},
    {">=", "__ge__", Py_LE},
}};

const OperatorNames& names_of(int argument) {
  return kOperatorNames.at(static_cast<std::size_t>(argument % kOperators));
}

// An entry of a type's table of number slots, as an address.
void* number_slot(const PyTypeObject* type, std::size_t offset) {
  const PyNumberMethods* methods = type->tp_as_number;
  return methods == nullptr ? nullptr
                            : *reinterpret_cast<void* const*>(reinterpret_cast<const std::byte*>(methods) + offset);
}

PyObject* look_up(PyTypeObject* type, const char* name) {
  const Ref text = Ref::steal(PyUnicode_InternFromString(name));
  if (!text) {
    PyErr_Clear();
  }
  return text ? _PyType_Lookup(type, text.get()) : nullptr;
}

bool runs_no_user_code(const void* slot, std::size_t offset) {
  static constexpr std::array<PyTypeObject*, 7> kTypes = {
      &PyLong_Type, &PyFloat_Type, &PyComplex_Type, &PyBool_Type, &PySet_Type, &PyFrozenSet_Type, &PyDict_Type};
  return std::ranges::any_of(kTypes, [=](const PyTypeObject* type) { return number_slot(type, offset) == slot; });
}

bool runs_no_user_code(richcmpfunc slot) {
  static constexpr std::array<PyTypeObject*, 11> kTypes = {
      &PyBaseObject_Type, &PyLong_Type, &PyFloat_Type,     &PyComplex_Type, &PyUnicode_Type, &PyTuple_Type,
      &PyList_Type,       &PySet_Type,  &PyFrozenSet_Type, &PyDict_Type,    &PyBytes_Type};
  return std::ranges::any_of(kTypes, [=](const PyTypeObject* type) { return type->tp_richcompare == slot; });
}

// Whether the right operand's class has a reflected method other than that of the left operand's class.
bool is_overloaded(PyTypeObject* left, PyTypeObject* right, const char* reflected) {
  const Ref name = Ref::steal(PyUnicode_InternFromString(reflected));
  if (!name) {
    PyErr_Clear();
    return false;
  }
  PyObject* theirs = _PyType_Lookup(right, name.get());
  PyObject* ours = _PyType_Lookup(left, name.get());
  const auto is_plain = [](PyObject* method) { return method == nullptr || PyFunction_Check(method); };
  if (is_plain(theirs) && is_plain(ours)) {
    return theirs != nullptr && theirs != ours;
  }
  const Ref their_value = Ref::steal(PyObject_GetAttr(reinterpret_cast<PyObject*>(right), name.get()));
  if (!their_value) {
    PyErr_Clear();
    return false;
  }
  const Ref our_value = Ref::steal(PyObject_GetAttr(reinterpret_cast<PyObject*>(left), name.get()));
  if (!our_value) {
    PyErr_Clear();
    return true;
  }
  const int differs = PyObject_RichCompareBool(their_value.get(), our_value.get(), Py_NE);
  if (differs < 0) {
    PyErr_Clear();
  }
  return differs > 0;
}

class BinaryAttempts {
 public:
  BinaryAttempts(int argument, PyObject* left, PyObject* right)
      : names_(names_of(argument)), is_in_place_(argument >= kOperators), left_(left), right_(right) {}

  Attempts list() {
    const PyTypeObject* generic = overloading_type();
    PyTypeObject* first = Py_TYPE(left_);
    PyTypeObject* second = Py_TYPE(right_);
    if (is_in_place_) {
      if (void* slot = number_slot(first, names_.in_place_slot)) {
        if (slot == number_slot(generic, names_.in_place_slot)) {
          add(false, names_.in_place, slot, false);
        } else {
          add(false, nullptr, slot, runs_no_user_code(slot, names_.in_place_slot));
        }
      }
    }
    generic_ = number_slot(generic, names_.slot);
    void* own = number_slot(first, names_.slot);
    void* others = first == second ? nullptr : number_slot(second, names_.slot);
    if (others == own) {
      others = nullptr;
    }
    if (own != nullptr) {
      if (others != nullptr && PyType_IsSubtype(second, first) != 0) {
        expand(others);
        others = nullptr;
      }
      expand(own);
    }
    if (others != nullptr) {
      expand(others);
    }
    return attempts_;
  }

 private:
  void add(bool is_right, const char* method, void* slot, bool has_no_user_code) {
    Attempt attempt;
    attempt.receiver = is_right ? right_ : left_;
    attempt.other = is_right ? left_ : right_;
    attempt.method = method;
    attempt.slot = slot;
    attempt.is_right = is_right;
    attempt.has_no_user_code = has_no_user_code;
    attempts_.push_back(attempt);
  }

  // One call of a slot: of C code, or of the slot function for Python classes, which may call methods of both operands.
  void expand(void* slot) {
    if (slot != generic_) {
      add(false, nullptr, slot, runs_no_user_code(slot, names_.slot));
      return;
    }
    PyTypeObject* first = Py_TYPE(left_);
    PyTypeObject* second = Py_TYPE(right_);
    bool asks_right = first != second && number_slot(second, names_.slot) == generic_;
    if (number_slot(first, names_.slot) == generic_) {
      if (asks_right && PyType_IsSubtype(second, first) != 0 && is_overloaded(first, second, names_.reflected)) {
        add(true, names_.reflected, slot, false);
        asks_right = false;
      }
      add(false, names_.method, slot, false);
    }
    if (asks_right) {
      add(true, names_.reflected, slot, false);
    }
  }

  const OperatorNames& names_;
  bool is_in_place_;
  PyObject* left_;
  PyObject* right_;
  void* generic_ = nullptr;
  Attempts attempts_;
};

void add_comparison(Attempts& attempts, PyObject* receiver, PyObject* other, int comparison, bool is_right) {
  const richcmpfunc slot = Py_TYPE(receiver)->tp_richcompare;
  if (slot == nullptr) {
    return;
  }
  Attempt attempt;
  attempt.receiver = receiver;
  attempt.other = other;
  attempt.slot = reinterpret_cast<void*>(slot);
  attempt.comparison = comparison;
  attempt.is_right = is_right;
  if (slot == overloading_type()->tp_richcompare) {
    attempt.method = kComparisonNames.at(static_cast<std::size_t>(comparison)).method;
    // object's own `__ne__` calls `__eq__`.
    attempt.negates =
        comparison == Py_NE && look_up(Py_TYPE(receiver), "__ne__") == look_up(&PyBaseObject_Type, "__ne__");
    if (attempt.negates) {
      attempt.method = "__eq__";
    }
  } else {
    attempt.has_no_user_code = runs_no_user_code(slot);
  }
  attempts.push_back(attempt);
}

Attempts comparisons(int argument, PyObject* left, PyObject* right) {
  Attempts attempts;
  const int swapped = kComparisonNames.at(static_cast<std::size_t>(argument)).swapped;
  const bool is_right_first = Py_TYPE(left) != Py_TYPE(right) && PyType_IsSubtype(Py_TYPE(right), Py_TYPE(left)) != 0 &&
                              Py_TYPE(right)->tp_richcompare != nullptr;
  if (is_right_first) {
    add_comparison(attempts, right, left, swapped, true);
  }
  add_comparison(attempts, left, right, argument, false);
  if (!is_right_first) {
    add_comparison(attempts, right, left, swapped, true);
  }
  return attempts;
}

// Calls the special method of one operand with the other one; NotImplemented if it has no such method.
PyObject* ask(PyObject* object, const char* method, PyObject* other) {
  const Ref name = Ref::steal(PyUnicode_InternFromString(method));
  if (!name) {
    return nullptr;
  }
  const Ref attribute = Ref::create(_PyType_Lookup(Py_TYPE(object), name.get()));
  if (!attribute) {
    return Py_NewRef(Py_NotImplemented);
  }
  descrgetfunc bind = Py_TYPE(attribute.get())->tp_descr_get;
  const Ref bound = bind == nullptr
                        ? attribute
                        : Ref::steal(bind(attribute.get(), object, reinterpret_cast<PyObject*>(Py_TYPE(object))));
  return bound ? PyObject_CallOneArg(bound.get(), other) : nullptr;
}

PyObject* try_operand(const Attempt& attempt, const Operator& what, PyObject* left, PyObject* right) {
  if (what.kind == OperatorKind::kCompare) {
    return reinterpret_cast<richcmpfunc>(attempt.slot)(attempt.receiver, attempt.other, attempt.comparison);
  }
  if (attempt.method != nullptr) {
    return ask(attempt.receiver, attempt.method, attempt.other);
  }
  if (what.argument % kOperators == NB_POWER) {
    return reinterpret_cast<ternaryfunc>(attempt.slot)(left, right, Py_None);
  }
  return reinterpret_cast<binaryfunc>(attempt.slot)(left, right);
}

PyObject* repeat(ssizeargfunc function, PyObject* sequence, PyObject* times) {
  if (PyIndex_Check(times) == 0) {
    return PyErr_Format(PyExc_TypeError, "can't multiply sequence by non-int of type '%.200s'",
                        Py_TYPE(times)->tp_name);
  }
  const Py_ssize_t count = PyNumber_AsSsize_t(times, PyExc_OverflowError);
  return count == -1 && PyErr_Occurred() != nullptr ? nullptr : function(sequence, count);
}

PyObject* unsupported(const Operator& what, PyObject* left, PyObject* right) {
  if (what.kind == OperatorKind::kCompare) {
    if (what.argument == Py_EQ || what.argument == Py_NE) {
      return Py_NewRef((left == right) == (what.argument == Py_EQ) ? Py_True : Py_False);
    }
    return PyErr_Format(PyExc_TypeError, "'%s' not supported between instances of '%.100s' and '%.100s'",
                        kComparisonNames.at(static_cast<std::size_t>(what.argument)).symbol, Py_TYPE(left)->tp_name,
                        Py_TYPE(right)->tp_name);
  }
  const bool is_in_place = what.argument >= kOperators;
  const bool is_power = what.argument % kOperators == NB_POWER;
  const bool is_print = what.argument == NB_RSHIFT && PyCFunction_CheckExact(left) &&
                        std::string_view(reinterpret_cast<PyCFunctionObject*>(left)->m_ml->ml_name) == "print";
  return PyErr_Format(PyExc_TypeError, "unsupported operand type(s) for %s%s: '%.100s' and '%.100s'%s",
                      is_in_place && is_power ? "**" : names_of(what.argument).symbol, is_in_place ? "=" : "",
                      Py_TYPE(left)->tp_name, Py_TYPE(right)->tp_name,
                      is_print ? ". Did you mean \"print(<message>, file=<output_stream>)\"?" : "");
}

// Concatenation and repetition of sequences are tried after all number slots.
PyObject* finish_as_sequence(const Operator& what, PyObject* left, PyObject* right) {
  const PySequenceMethods* first = Py_TYPE(left)->tp_as_sequence;
  const PySequenceMethods* second = Py_TYPE(right)->tp_as_sequence;
  const bool is_in_place = what.argument >= kOperators;
  if (what.argument % kOperators == NB_ADD && first != nullptr) {
    const binaryfunc join =
        is_in_place && first->sq_inplace_concat != nullptr ? first->sq_inplace_concat : first->sq_concat;
    if (join != nullptr) {
      return join(left, right);
    }
  } else if (what.argument % kOperators == NB_MULTIPLY) {
    if (first != nullptr) {
      const ssizeargfunc own =
          is_in_place && first->sq_inplace_repeat != nullptr ? first->sq_inplace_repeat : first->sq_repeat;
      if (own != nullptr) {
        return repeat(own, left, right);
      }
    }
    // For an in-place operator, the right operand is tried only if the left one's type has no such table.
    if (second != nullptr && second->sq_repeat != nullptr && (first == nullptr || !is_in_place)) {
      return repeat(second->sq_repeat, right, left);
    }
  }
  return unsupported(what, left, right);
}

constexpr int kAttemptShift = 8;
constexpr int kAttemptMask = 0x7F;
constexpr int kNegates = 1 << 15;
constexpr int kKindShift = 16;
constexpr int kArgumentMask = 0xFF;

PyObject* text(PyObject* result, const char* message) {
  return PyUnicode_Check(result) ? Py_NewRef(result) : PyErr_Format(PyExc_TypeError, message, Py_TYPE(result)->tp_name);
}

// A str of a subclass is formatted again.
PyObject* formatted(PyObject* result, const char* message) {
  const Ref string = Ref::steal(text(result, message));
  return !string || PyUnicode_CheckExact(string.get()) ? Ref(string).release() : PyObject_Format(string.get(), nullptr);
}

Py_ssize_t length(PyObject* result) {
  const Ref number = Ref::steal(PyNumber_Index(result));
  if (!number) {
    return -1;
  }
  if (_PyLong_Sign(number.get()) < 0) {
    PyErr_SetString(PyExc_ValueError, "__len__() should return >= 0");
    return -1;
  }
  return PyNumber_AsSsize_t(number.get(), PyExc_OverflowError);
}

PyObject* hash(PyObject* result) {
  if (!PyLong_Check(result)) {
    PyErr_SetString(PyExc_TypeError, "__hash__ method should return an integer");
    return nullptr;
  }
  Py_ssize_t value = PyLong_AsSsize_t(result);
  if (value == -1 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    value = PyLong_Type.tp_hash(result);
  }
  return PyLong_FromSsize_t(value == -1 ? -2 : value);
}

PyObject* truth(PyObject* result, bool is_opposite) {
  const int value = PyObject_IsTrue(result);
  return value < 0 ? nullptr : Py_NewRef((value != 0) != is_opposite ? Py_True : Py_False);
}

}  // namespace

int Operator::number() const {
  return (static_cast<int>(kind) << kKindShift) | (negates ? kNegates : 0) | (attempt << kAttemptShift) | argument;
}

Operator Operator::of(int number) {
  return {static_cast<OperatorKind>(number >> kKindShift), number & kArgumentMask,
          (number >> kAttemptShift) & kAttemptMask, (number & kNegates) != 0};
}

const PyTypeObject* overloading_type() {
  static const PyTypeObject* const type = [] {
    Ref names = Ref::steal(PyDict_New());
    const auto add = [&names](const char* name) { return PyDict_SetItemString(names.get(), name, Py_None) == 0; };
    bool is_whole = static_cast<bool>(names);
    for (const OperatorNames& row : kOperatorNames) {
      is_whole = is_whole && add(row.method) && add(row.reflected) && add(row.in_place);
    }
    for (const char* name : {"__eq__", "__lt__", "__setattr__", "__getattr__"}) {
      is_whole = is_whole && add(name);
    }
    PyObject* made =
        is_whole ? PyObject_CallFunction(reinterpret_cast<PyObject*>(&PyType_Type), "s()O", "overloads", names.get())
                 : nullptr;
    TAGALONG_CHECK(made != nullptr, "no class has {} operators", kOperators);
    return reinterpret_cast<const PyTypeObject*>(made);
  }();
  return type;
}

bool is_operator_method(OperatorKind kind, int argument, PyTypeObject* type, PyObject* function) {
  const auto has = [=](const char* method) { return look_up(type, method) == function; };
  if (kind == OperatorKind::kCompare) {
    const ComparisonNames& row = kComparisonNames.at(static_cast<std::size_t>(argument));
    return has(row.method) || has(kComparisonNames.at(static_cast<std::size_t>(row.swapped)).method) || has("__eq__");
  }
  const OperatorNames& row = names_of(argument);
  return has(row.method) || has(row.reflected) || has(row.in_place);
}

Attempts attempts_of(OperatorKind kind, int argument, PyObject* left, PyObject* right) {
  return kind == OperatorKind::kCompare ? comparisons(argument, left, right)
                                        : BinaryAttempts(argument, left, right).list();
}

PyObject* finish_operator(int number, PyObject* left, PyObject* right) {
  const Operator what = Operator::of(number);
  const Attempts attempts = attempts_of(what.kind, what.argument, left, right);
  for (std::size_t next = static_cast<std::size_t>(what.attempt) + 1; next < attempts.size(); ++next) {
    PyObject* answer = try_operand(attempts[next], what, left, right);
    if (answer != Py_NotImplemented) {
      return answer;
    }
    Py_DECREF(answer);
  }
  return what.kind == OperatorKind::kCompare ? unsupported(what, left, right) : finish_as_sequence(what, left, right);
}

int levels_of(int check, bool is_builtin) {
  const auto kind = static_cast<SlotCheck>(check);
  const bool is_text = kind == SlotCheck::kString || kind == SlotCheck::kRepresentation ||
                       kind == SlotCheck::kFormatted || kind == SlotCheck::kFormattedRepresentation;
  // The interpreter specialises calls of these, and its specialised instructions count no level of recursion.
  const bool is_uncounted = kind == SlotCheck::kLength || kind == SlotCheck::kIterator || kind == SlotCheck::kString;
  return (is_text ? 1 : 0) + (is_builtin && !is_uncounted ? 1 : 0);
}

bool is_truth_check(int check) { return check <= static_cast<int>(SlotCheck::kAnyNot); }

PyObject* finish_slot(int check, PyObject* result) {
  const auto kind = static_cast<SlotCheck>(check);
  switch (kind) {
    case SlotCheck::kTruth:
    case SlotCheck::kNot:
      if (!PyBool_Check(result)) {
        return PyErr_Format(PyExc_TypeError, "__bool__ should return bool, returned %s", Py_TYPE(result)->tp_name);
      }
      return truth(result, kind == SlotCheck::kNot);
    case SlotCheck::kLengthTruth:
    case SlotCheck::kLengthNot: {
      const Py_ssize_t value = length(result);
      return value < 0 ? nullptr : Py_NewRef((value != 0) == (kind == SlotCheck::kLengthTruth) ? Py_True : Py_False);
    }
    case SlotCheck::kAnyTruth:
    case SlotCheck::kAnyNot:
      return truth(result, kind == SlotCheck::kAnyNot);
    case SlotCheck::kLength: {
      const Py_ssize_t value = length(result);
      return value < 0 ? nullptr : PyLong_FromSsize_t(value);
    }
    case SlotCheck::kIterator:
      return PyIter_Check(result) != 0 ? Py_NewRef(result)
                                       : PyErr_Format(PyExc_TypeError, "iter() returned non-iterator of type '%.100s'",
                                                      Py_TYPE(result)->tp_name);
    case SlotCheck::kString:
      return text(result, "__str__ returned non-string (type %.200s)");
    case SlotCheck::kRepresentation:
      return text(result, "__repr__ returned non-string (type %.200s)");
    case SlotCheck::kFormat:
      return text(result, "__format__ must return a str, not %.200s");
    case SlotCheck::kFormatted:
      return formatted(result, "__str__ returned non-string (type %.200s)");
    case SlotCheck::kFormattedRepresentation:
      return formatted(result, "__repr__ returned non-string (type %.200s)");
    case SlotCheck::kHash:
      return hash(result);
    default:
      return Py_NewRef(result);
  }
}

namespace {

constexpr int kByLength = 1;
constexpr int kKeeps = 2;
constexpr int kIfTrue = 4;
constexpr int kTargetShift = 3;

}  // namespace

int Branch::number() const {
  return (target << kTargetShift) | (jumps_if_true ? kIfTrue : 0) | (keeps_when_taken ? kKeeps : 0) |
         (by_length ? kByLength : 0);
}

Branch Branch::of(int number) {
  return {number >> kTargetShift, (number & kIfTrue) != 0, (number & kKeeps) != 0, (number & kByLength) != 0};
}

}  // namespace tagalong::replay
