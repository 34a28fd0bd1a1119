// An operation on arrays as data: what the program asks for, before anything is known of how it is computed. The
// planner of fusion groups and the recorder describe operations; the builders of plans take them. A new verb gets a
// kind and a row here, and a function in plan_builder.cpp that says which loop computes it.
//
//   const int sum = builder.add({.kind = ArrayVerb::Kind::kBinary, .code = NB_ADD, .operands = {x, y}});
#pragma once

#include <Python.h>

#include <array>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "replay/arrays/numpy/operators.h"
#include "replay/arrays/simd/reduction.h"

namespace tagalong::array {

struct ArrayVerb {
  enum class Kind : std::uint8_t {
    kBinary,
    kUnary,
    kCompare,
    kCall,
    kWhere,
    kAstype,
    kClip,
    kAssign,
    kReduce,
    kRoll,
    kConjugate,
    kComponent,
    kRound,
    kCount
  };
  struct Row {
    std::string_view name;
    std::size_t operands;  // 0: any number
  };
  static constexpr std::array<Row, static_cast<std::size_t>(Kind::kCount)> kRows = {{
      {"binary", 2},   // an operator; an in-place operator's result is its left operand
      {"unary", 1},    // an operator
      {"compare", 2},  // an operator
      {"call", 0},     // a ufunc, perhaps with `out` and `where`
      {"where", 3},    // np.where(condition, one, other)
      {"astype", 1},   // array.astype(dtype); without a dtype array.copy()
      {"clip", 3},     // array.clip(low, high)
      {"assign", 2},   // array[...] = value; the result is the array
      {"reduce", 1},   // sum, max, argmax …
      {"roll", 1},     // np.roll(array, …) of a rolled part of an array
      {"conj", 1},     // array.conj() of complex numbers
      {"part", 1},     // array.real or array.imag of complex numbers (`code` is 1): a view
      {"round", 1},    // array.round(code)
  }};
  using Operands = boost::container::small_vector<int, 4>;

  Kind kind = Kind::kCount;
  int code = 0;                // BinaryOperator, UnaryOperator, Py_LT …, Reduction, which part, or decimals
  PyObject* object = nullptr;  // borrowed: the ufunc, or the dtype
  // The builder's numbers of the operands; of `out` and `where`, or negative.
  Operands operands = {};
  int out = -1;
  int where = -1;
  unsigned temporaries = 0;                   // as in ufunc_site.h
  std::optional<std::vector<int>> axes = {};  // of a reduction; empty: all elements
  bool keeps_dims = false;
  MeanEnd end = {};        // of a mean
  bool is_shared = false;  // the result has no memory of its own: it is a view of another new array

  [[nodiscard]] const Row& row() const { return kRows.at(static_cast<std::size_t>(kind)); }
  // The operand that gets new contents; negative: none.
  [[nodiscard]] int target() const {
    const bool is_first =
        kind == Kind::kAssign || (kind == Kind::kBinary && is_inplace(static_cast<BinaryOperator>(code)));
    return is_first ? operands.front() : out;
  }
  [[nodiscard]] bool fits() const {
    return kind != Kind::kCount && (row().operands == 0 ? !operands.empty() : operands.size() == row().operands);
  }
};

}  // namespace tagalong::array
