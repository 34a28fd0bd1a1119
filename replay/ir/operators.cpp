#include "replay/ir/operators.h"

#include <Python.h>
#include <opcode.h>

#include <array>
#include <span>

namespace tagalong::replay {
namespace {

struct Operator {
  std::int64_t number;
  std::string_view text;
};

constexpr std::array kUnary = {
    Operator{static_cast<std::int64_t>(UnaryOperator::kPositive), "+"},
    Operator{static_cast<std::int64_t>(UnaryOperator::kNegative), "-"},
    Operator{static_cast<std::int64_t>(UnaryOperator::kInvert), "~"},
};

constexpr std::array kBinary = {
    Operator{NB_ADD, "+"},
    Operator{NB_AND, "&"},
    Operator{NB_FLOOR_DIVIDE, "//"},
    Operator{NB_LSHIFT, "<<"},
    Operator{NB_MATRIX_MULTIPLY, "@"},
    Operator{NB_MULTIPLY, "*"},
    Operator{NB_REMAINDER, "%"},
    Operator{NB_OR, "|"},
    Operator{NB_POWER, "**"},
    Operator{NB_RSHIFT, ">>"},
    Operator{NB_SUBTRACT, "-"},
    Operator{NB_TRUE_DIVIDE, "/"},
    Operator{NB_XOR, "^"},
    Operator{NB_INPLACE_ADD, "+="},
    Operator{NB_INPLACE_AND, "&="},
    Operator{NB_INPLACE_FLOOR_DIVIDE, "//="},
    Operator{NB_INPLACE_LSHIFT, "<<="},
    Operator{NB_INPLACE_MATRIX_MULTIPLY, "@="},
    Operator{NB_INPLACE_MULTIPLY, "*="},
    Operator{NB_INPLACE_REMAINDER, "%="},
    Operator{NB_INPLACE_OR, "|="},
    Operator{NB_INPLACE_POWER, "**="},
    Operator{NB_INPLACE_RSHIFT, ">>="},
    Operator{NB_INPLACE_SUBTRACT, "-="},
    Operator{NB_INPLACE_TRUE_DIVIDE, "/="},
    Operator{NB_INPLACE_XOR, "^="},
};

constexpr std::array kCompare = {
    Operator{Py_LT, "<"},  Operator{Py_LE, "<="}, Operator{Py_EQ, "=="},
    Operator{Py_NE, "!="}, Operator{Py_GT, ">"},  Operator{Py_GE, ">="},
};

constexpr std::array kIs = {Operator{0, "is"}, Operator{1, "is not"}};
constexpr std::array kContains = {Operator{0, "in"}, Operator{1, "not in"}};

std::span<const Operator> operators_of(Op op) {
  switch (info(op).immediates) {
    case Immediates::kUnary:
      return kUnary;
    case Immediates::kBinary:
      return kBinary;
    case Immediates::kCompare:
      return kCompare;
    case Immediates::kIs:
      return kIs;
    case Immediates::kContains:
      return kContains;
    default:
      return {};
  }
}

}  // namespace

std::optional<std::string_view> operator_text(Op op, std::int64_t number) {
  for (const Operator& row : operators_of(op)) {
    if (row.number == number) {
      return row.text;
    }
  }
  return std::nullopt;
}

std::optional<std::int64_t> operator_number(Op op, std::string_view text) {
  for (const Operator& row : operators_of(op)) {
    if (row.text == text) {
      return row.number;
    }
  }
  return std::nullopt;
}

}  // namespace tagalong::replay
