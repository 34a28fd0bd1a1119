#include "replay/passes/evaluate.h"

#include <array>
#include <string_view>

#include "replay/ir/operators.h"
#include "rewriter/cpython/requests.h"

namespace tagalong::replay {
namespace {

constexpr std::size_t kMaxBits = 128;

bool is_number(PyObject* object) { return PyLong_CheckExact(object) || PyFloat_CheckExact(object); }

PyObject* power(PyObject* left, PyObject* right) { return PyNumber_Power(left, right, Py_None); }

struct Arithmetic {
  std::string_view text;
  PyObject* (*function)(PyObject*, PyObject*);
};

constexpr std::array kArithmetic = {
    Arithmetic{"+", PyNumber_Add},
    Arithmetic{"-", PyNumber_Subtract},
    Arithmetic{"*", PyNumber_Multiply},
    Arithmetic{"/", PyNumber_TrueDivide},
    Arithmetic{"//", PyNumber_FloorDivide},
    Arithmetic{"%", PyNumber_Remainder},
    Arithmetic{"**", power},
    Arithmetic{"<<", PyNumber_Lshift},
    Arithmetic{">>", PyNumber_Rshift},
    Arithmetic{"&", PyNumber_And},
    Arithmetic{"|", PyNumber_Or},
    Arithmetic{"^", PyNumber_Xor},
};

// Compares an upper bound for the bits of the result; the operands are exact ints.
bool is_small(std::string_view text, PyObject* left, PyObject* right) {
  const std::size_t left_bits = _PyLong_NumBits(left);
  const std::size_t right_bits = _PyLong_NumBits(right);
  if (left_bits > kMaxBits || right_bits > kMaxBits) {
    return false;
  }
  if (text == "*") {
    return left_bits + right_bits <= kMaxBits;
  }
  if (text == "**" || text == "<<") {
    int overflow = 0;
    const long long count = PyLong_AsLongLongAndOverflow(right, &overflow);
    if (overflow != 0 || count > static_cast<long long>(kMaxBits)) {
      return false;
    }
    const auto times = static_cast<std::size_t>(count < 0 ? 0 : count);
    return text == "**" ? left_bits * times <= kMaxBits : left_bits + times <= kMaxBits;
  }
  return true;
}

PyObject* binary(const Node& node, PyObject* left, PyObject* right) {
  const auto text = operator_text(node.op, node.immediate);
  if (!text || !is_number(left) || !is_number(right)) {
    return nullptr;
  }
  // Numbers have no in-place operators, so `+=` means `+`.
  const std::string_view plain = text->ends_with('=') ? text->substr(0, text->size() - 1) : *text;
  if (PyLong_CheckExact(left) && PyLong_CheckExact(right) && !is_small(plain, left, right)) {
    return nullptr;
  }
  for (const Arithmetic& row : kArithmetic) {
    if (row.text == plain) {
      return row.function(left, right);
    }
  }
  return nullptr;
}

PyObject* unary(const Node& node, PyObject* operand) {
  const auto text = operator_text(node.op, node.immediate);
  if (!text || !is_number(operand) || (PyLong_CheckExact(operand) && _PyLong_NumBits(operand) > kMaxBits)) {
    return nullptr;
  }
  return *text == "-"   ? PyNumber_Negative(operand)
         : *text == "+" ? PyNumber_Positive(operand)
                        : PyNumber_Invert(operand);
}

PyObject* compare(const Node& node, PyObject* left, PyObject* right) {
  const bool comparable =
      (is_number(left) && is_number(right)) || (PyUnicode_CheckExact(left) && PyUnicode_CheckExact(right));
  return comparable && operator_text(node.op, node.immediate)
             ? PyObject_RichCompare(left, right, static_cast<int>(node.immediate))
             : nullptr;
}

PyObject* truth(PyObject* operand, bool wanted) {
  if (!is_number(operand) && !PyUnicode_CheckExact(operand) && !PyBool_Check(operand) && operand != Py_None) {
    return nullptr;
  }
  const int answer = PyObject_IsTrue(operand);
  return answer < 0 ? nullptr : PyBool_FromLong(static_cast<long>((answer == 1) == wanted));
}

PyObject* result_of(const Node& node, PyObject* left, PyObject* right) {
  switch (node.op) {
    case Op::unary_op:
      return unary(node, left);
    case Op::bool_not:
    case Op::unary_not:
      return truth(left, false);
    case Op::to_bool:
    case Op::number_truth:
      return truth(left, true);
    case Op::is_op:
      return PyBool_FromLong(static_cast<long>((left == right) != (node.immediate != 0)));
    case Op::binary_op:
    case Op::int_binary:
    case Op::float_binary:
      return binary(node, left, right);
    case Op::compare_op:
    case Op::int_compare:
    case Op::float_compare:
      return compare(node, left, right);
    default:
      return nullptr;
  }
}

}  // namespace

Ref evaluate(const Node& node, Borrowed left, Borrowed right) {
  const cpython::SignalsWait wait;
  Ref result = Ref::steal(result_of(node, left.get(), right.get()));
  if (!result) {
    PyErr_Clear();
  } else if (PyFloat_CheckExact(result.get()) && PyFloat_AS_DOUBLE(result.get()) != PyFloat_AS_DOUBLE(result.get())) {
    return {};  // containers compare NaNs by identity, so every run must make its own object
  }
  return result;
}

}  // namespace tagalong::replay
