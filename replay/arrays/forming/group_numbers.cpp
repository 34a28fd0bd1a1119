#include "replay/arrays/forming/group_numbers.h"

#include "replay/objects/operations.h"
#include "replay/steps/step.h"
#include "rewriter/cpython/objects/exact_numbers.h"
#include "rewriter/cpython/requests.h"

namespace tagalong::replay {
namespace {

PyObject* object_in_register(const FusionNumber& number, const NumberRegisters& registers) {
  if (PyObject* object = registers.objects[number.place]) {
    return Py_NewRef(object);
  }
  return registers.may_be_unboxed(number.place)
             ? object_of(registers.kinds[static_cast<std::size_t>(number.place)], registers.unboxed[number.place])
             : nullptr;
}

PyObject* operation_result(LoopCode code, PyObject* left, PyObject* right) {
  switch (code) {
    case LoopCode::kAddInt:
    case LoopCode::kAddFloat:
      return PyNumber_Add(left, right);
    case LoopCode::kSubtractInt:
    case LoopCode::kSubtractFloat:
      return PyNumber_Subtract(left, right);
    case LoopCode::kMultiplyInt:
    case LoopCode::kMultiplyFloat:
      return PyNumber_Multiply(left, right);
    case LoopCode::kFloorDivideInt:
      return PyNumber_FloorDivide(left, right);
    case LoopCode::kRemainderInt:
      return PyNumber_Remainder(left, right);
    case LoopCode::kTrueDivideInt:
    case LoopCode::kDivideFloat:
      return PyNumber_TrueDivide(left, right);
    case LoopCode::kNegateInt:
    case LoopCode::kNegateFloat:
      return PyNumber_Negative(left);
    case LoopCode::kFloatOfInt:
      return PyFloat_FromDouble(static_cast<double>(PyLong_AsLongLong(left)));
    default:  // kUnbox...
      return Py_XNewRef(left);
  }
}

PyObject* step_result(const Step& step, PyObject* left, PyObject* right) {
  return step.op == Op::int_binary ? binary_operation(step.immediate, left, right)
                                   : float_binary(step.immediate, left, right);
}

}  // namespace

Ref evaluate(const FusionNumber& number, const NumberRegisters& registers, const Ref* earlier) {
  using Kind = FusionNumber::Kind;
  PyObject* left = number.left < 0 ? nullptr : earlier[number.left].get();
  PyObject* right = number.right < 0 ? nullptr : earlier[number.right].get();
  const auto is_other_object = [](PyObject* object) { return object != nullptr && !cpython::is_exact_number(object); };
  if (is_other_object(left) || is_other_object(right)) {
    return {};  // operators of other types may run code of the program
  }
  const cpython::SignalsWait wait;
  Ref result;
  switch (number.kind) {
    case Kind::kRegister:
      result = Ref::steal(object_in_register(number, registers));
      break;
    case Kind::kObject:
      result = Ref::create(number.object);
      break;
    case Kind::kStep:
      result = Ref::steal(step_result(*number.step, left, right));
      break;
    case Kind::kOperation:
      result = Ref::steal(operation_result(number.code, left, right));
      break;
  }
  if (!result) {
    PyErr_Clear();
  }
  UnboxedNumber unboxed;
  return result && cpython::is_exact_number(result.get()) && unbox(result.get(), number.unboxed, &unboxed)
             ? std::move(result)
             : Ref();
}

Unboxed result_of(const LoopOp& op) {
  const LoopOpInfo& row = info(op.code);
  const bool may_be_operand = op.code == LoopCode::kRemainderInt && op.flag != 0;
  return row.fusion == InFusion::kNumber && !may_be_operand ? row.gives : Unboxed::kNone;
}

}  // namespace tagalong::replay
