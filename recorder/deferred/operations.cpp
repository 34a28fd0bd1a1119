#include "recorder/deferred/operations.h"

#include <opcode.h>

#include "recorder/base/hints.h"
#include "replay/arrays/forming/fusion_groups.h"
#include "replay/ir/stages.h"
#include "replay/objects/operations.h"

namespace tagalong::recorder {

array::LoopTally proxy_tally;

unsigned temporaries(std::span<PyObject* const> operands) {
  unsigned mask = 0;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    mask |= Py_REFCNT(operands[i]) == 1 ? array::kAnonymous << i : 0;
  }
  return mask;
}

int build(const ArrayOperator& op, array::MultiPassBuilder* builder, std::span<const int> numbers,
          unsigned temporaries) {
  const bool is_faulty = replay::is_faulty(replay::Stage::deferred_arrays);
  const int code = is_faulty && op.code == NB_ADD ? NB_SUBTRACT : op.code;
  switch (op.kind) {
    case ArrayOperator::Kind::kBinary:
      return builder->binary(static_cast<array::BinaryOperator>(code), numbers[0], numbers[1], temporaries);
    case ArrayOperator::Kind::kUnary:
      return builder->unary(replay::unary_operator(op.code), numbers[0], temporaries);
    case ArrayOperator::Kind::kCall:
      return is_ufunc(op.callable.get()) ? builder->call(op.callable.get(), numbers)
                                         : builder->where(numbers[0], numbers[1], numbers[2]);
    case ArrayOperator::Kind::kReduce:
      return builder->reduce(static_cast<array::Reduction>(op.code), numbers[0]);
    default:
      return builder->compare(op.code, numbers[0], numbers[1]);
  }
}

bool run_once(array::MultiPassBuilder* builder, std::span<const int> results, PyObject* const* externals, Ref* output) {
  const auto passes = builder->finish(results);
  return passes != nullptr && passes->run(*array::met_numpy(), externals, output) == array::FusionReason::kNone;
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
            return site.unary(replay::unary_operator(op.code), operands[0], mask, result);
          case ArrayOperator::Kind::kCall:
            return site.call(op.callable.get(), operands.data(), static_cast<unsigned>(operands.size()), mask, result);
          default:
            return site.compare(op.code, operands[0], operands[1], mask, result);
        }
      },
      [&](array::MultiPassBuilder& builder, std::span<const int> numbers) {
        return build(op, &builder, numbers, temporaries(operands));
      },
      [&] {
        switch (op.kind) {
          case ArrayOperator::Kind::kBinary:
            return replay::binary_operation(op.code, operands[0], operands[1]);
          case ArrayOperator::Kind::kUnary:
            return replay::unary_operation(op.code, operands[0]);
          case ArrayOperator::Kind::kCall:
            return PyObject_Vectorcall(op.callable.get(), operands.data(), operands.size(), nullptr);
          default:
            return PyObject_RichCompare(operands[0], operands[1], op.code);
        }
      });
}

}  // namespace tagalong::recorder
