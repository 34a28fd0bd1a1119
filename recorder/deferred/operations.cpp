#include "recorder/deferred/operations.h"

#include <opcode.h>

#include "recorder/base/hints.h"
#include "replay/arrays/forming/fusion_groups.h"
#include "replay/ir/stages.h"
#include "replay/objects/operations.h"
#include "rewriter/cpython/frames.h"

namespace tagalong::recorder {

array::LoopTally proxy_tally;

unsigned temporaries(std::span<PyObject* const> operands) {
  unsigned mask = 0;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    mask |= Py_REFCNT(operands[i]) == 1 ? array::kAnonymous << i : 0;
  }
  return mask;
}

array::ArrayVerb verb_of(const ArrayOperator& op, std::span<const int> numbers, unsigned temporaries) {
  const bool is_faulty = replay::is_faulty(replay::Stage::deferred_arrays);
  return {.kind = op.kind,
          .code = op.kind == ArrayOperator::Kind::kUnary                                      ? op.code
                  : is_faulty && op.kind == ArrayOperator::Kind::kBinary && op.code == NB_ADD ? NB_SUBTRACT
                                                                                              : op.code,
          .object = op.kind == ArrayOperator::Kind::kCall ? op.callable.get() : nullptr,
          .operands = {numbers.begin(), numbers.end()},
          .temporaries = temporaries};
}

bool run_once(array::MultiPassBuilder* builder, std::span<const int> results, PyObject* const* externals, Ref* output,
              std::optional<OperationRange> range) {
  const auto passes = builder->finish(results);
  const array::FusionReason reason =
      passes == nullptr ? builder->reason() : passes->run(*array::met_numpy(), externals, output);
  if (recorded_group_listener != nullptr) {
    const int unit = cpython::unit_of(cpython::current_frame(cpython::thread_state()));
    recorded_group_listener(
        print_recorded_group(range.value_or(OperationRange{.first = unit, .last = unit}), passes.get(), reason));
  }
  return passes != nullptr && reason == array::FusionReason::kNone;
}

PyObject* execute_operator(const ArrayOperator& op, std::span<PyObject* const> operands) {
  // Reports come from frames of NumPy's Python code.
  if (op.kind == ArrayOperator::Kind::kReduce) {
    proxy_tally.left.add();
    return PyObject_Vectorcall(op.callable.get(), operands.data(), operands.size(), nullptr);
  }
  return execute(
      operands,
      [&](array::UfuncSite& site, unsigned mask, Ref* result) {
        switch (op.kind) {
          case ArrayOperator::Kind::kBinary:
            return site.binary(static_cast<array::BinaryOperator>(op.code), operands[0], operands[1], mask, result);
          case ArrayOperator::Kind::kUnary:
            return site.unary(static_cast<replay::UnaryOperator>(op.code), operands[0], mask, result);
          case ArrayOperator::Kind::kCompare:
            return site.compare(op.code, operands[0], operands[1], mask, result);
          default:
            return site.call(op.callable.get(), operands.data(), static_cast<unsigned>(operands.size()), mask, result);
        }
      },
      [&](std::span<const int> numbers) { return verb_of(op, numbers, temporaries(operands)); },
      [&] {
        switch (op.kind) {
          case ArrayOperator::Kind::kBinary:
            return replay::binary_operation(op.code, operands[0], operands[1]);
          case ArrayOperator::Kind::kUnary:
            return replay::unary_operation(static_cast<replay::UnaryOperator>(op.code), operands[0]);
          case ArrayOperator::Kind::kCompare:
            return PyObject_RichCompare(operands[0], operands[1], op.code);
          default:
            return PyObject_Vectorcall(op.callable.get(), operands.data(), operands.size(), nullptr);
        }
      });
}

}  // namespace tagalong::recorder
