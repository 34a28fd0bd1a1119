// One array operation of a recorded call, executed as a replay executes it (replay/arrays/kernels/ufunc_site.h): by
// NumPy's loops, in kept memory, by several threads; where that is not exact, by the general operation.
//
//   PyObject* sum = execute_operator({ArrayOperator::Kind::kBinary, NB_ADD}, operands);
#pragma once

#include <Python.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "recorder/deferred/printer.h"
#include "replay/arrays/kernels/ufunc_site.h"
#include "replay/arrays/numpy/numpy_abi.h"
#include "replay/arrays/planning/multi_pass_builder.h"
#include "replay/arrays/simd/tally.h"
#include "rewriter/base/ref.h"

namespace tagalong::recorder {

// An array::ArrayVerb without its operands, which keeps its callable alive.
struct ArrayOperator {
  using Kind = array::ArrayVerb::Kind;
  Kind kind;
  int code = 0;       // NB_ADD …, UnaryOperator, Py_LT …, or array::Reduction
  Ref callable = {};  // of a call: the ufunc, or np.where; of a reduction: np.sum …
};

inline constexpr std::size_t kMostInputs = 4;  // operands of one operation

extern array::LoopTally proxy_tally;  // operations that have been executed as replays do, or left to NumPy

// A new reference, or null with an exception set. Nothing but the caller and the interpreter refers to the operands.
PyObject* execute_operator(const ArrayOperator& op, std::span<PyObject* const> operands);

// The operation for a builder in which its operands have these numbers.
array::ArrayVerb verb_of(const ArrayOperator& op, std::span<const int> numbers, unsigned temporaries);

// Which operands are temporaries. In eager execution the interpreter has the only reference to a result without a name,
// so an operand with a single reference may give its memory to the result.
unsigned temporaries(std::span<PyObject* const> operands);

// Runs the fusion groups that have been built, once, without what replays under way have prepared for reports. False:
// nothing has happened. `range`, for the log: the operations; empty: the current instruction.
bool run_once(array::MultiPassBuilder* builder, std::span<const int> results, PyObject* const* externals, Ref* output,
              std::optional<OperationRange> range = {});

// Executes an operation as a fusion group of its own, where a ufunc site does not because the arrays have other layouts
// or need casts. Empty: nothing has happened.
template <class MakeVerb>
Ref run_alone(std::span<PyObject* const> operands, const MakeVerb& make_verb) {
  const array::Numpy* np = array::met_numpy();
  if (np == nullptr || array::fusion_enabled == 0) {
    return {};
  }
  const std::vector<PyObject*> externals(operands.begin(), operands.end());
  array::MultiPassBuilder builder(*np, &externals, false);
  std::array<int, kMostInputs> numbers{};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    numbers.at(i) = builder.external(operands[i], static_cast<unsigned>(i));
    if (numbers.at(i) < 0) {
      return {};
    }
  }
  const int result = builder.add(make_verb(std::span<const int>(numbers.data(), operands.size())));
  Ref output;
  return result >= 0 && run_once(&builder, {&result, 1}, operands.data(), &output) ? output : Ref();
}

// Executes an operation by a ufunc site, as a fusion group of its own, or in general.
template <class Operation, class MakeVerb, class General>
PyObject* execute(std::span<PyObject* const> operands, const Operation& operation, const MakeVerb& make_verb,
                  const General& general) {
  static auto* const site = new array::UfuncSite;  // one site for all proxies of the process
  Ref result;
  const array::Outcome outcome = operation(*site, temporaries(operands), &result);
  if (outcome == array::Outcome::kError) {
    return nullptr;
  }
  if (outcome == array::Outcome::kFallback) {
    result = run_alone(operands, make_verb);
  }
  if (!result) {
    proxy_tally.left.add();
    return general();
  }
  proxy_tally.computed.add();
  return result.release();
}

}  // namespace tagalong::recorder
