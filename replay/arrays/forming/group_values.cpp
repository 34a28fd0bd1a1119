#include "replay/arrays/forming/group_values.h"

#include <algorithm>

#include "replay/objects/guards.h"
#include "replay/objects/operations.h"
#include "replay/steps/pure_results.h"
#include "replay/steps/step.h"
#include "rewriter/cpython/objects/exact_numbers.h"
#include "rewriter/cpython/objects/instances.h"
#include "rewriter/cpython/requests.h"

namespace tagalong::replay {
namespace {

using Kind = GroupValue::Kind;
using Operands = boost::container::small_vector<PyObject*, 4>;

PyObject* object_in_register(const GroupValue& value, const GroupRegisters& registers) {
  if (PyObject* object = registers.objects[value.place]) {
    return Py_NewRef(object);
  }
  return registers.may_be_unboxed(value.place)
             ? object_of(registers.kinds[static_cast<std::size_t>(value.place)], registers.unboxed[value.place])
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

// Operators of other types may run code of the program.
bool is_number(PyObject* object) { return unboxed_of(Py_TYPE(object)) != Unboxed::kNone; }

Ref computed_by(LoopCode code, const Operands& operands) {
  const bool are_numbers = info(code).has(loop_trait::kUnboxes)
                               ? std::ranges::all_of(operands, is_number)
                               : std::ranges::all_of(operands, cpython::is_exact_number);
  if (!are_numbers) {
    return {};
  }
  const cpython::SignalsWait wait;
  PyObject* right = operands.size() > 1 ? operands[1] : nullptr;
  return Ref::steal(info(code).has(loop_trait::kGuards) ? PyObject_RichCompare(operands[0], right, comparison_of(code))
                                                        : operation_result(code, operands[0], right));
}

Operands operands_of(const GroupValue& value, const Ref* earlier) {
  Operands operands;
  for (const int operand : value.operands) {
    operands.push_back(operand == GroupValue::kNull ? nullptr : earlier[operand].get());
  }
  return operands;
}

Ref result_of(const GroupValue& value, const GroupRegisters& registers, const Ref* earlier) {
  switch (value.kind) {
    case Kind::kRegister:
      return Ref::steal(object_in_register(value, registers));
    case Kind::kObject:
      return Ref::create(value.object);
    case Kind::kStep: {
      const Operands operands = operands_of(value, earlier);
      return pure_result(*value.step, std::span(operands.data(), operands.size()), value.result);
    }
    case Kind::kOperation:
      return computed_by(value.code, operands_of(value, earlier));
  }
  return {};
}

}  // namespace

Ref evaluate(const GroupValue& value, const GroupRegisters& registers, const Ref* earlier) {
  Ref result = result_of(value, registers, earlier);
  if (!result) {
    PyErr_Clear();
    return {};
  }
  UnboxedNumber unboxed;
  return value.unboxed == Unboxed::kNone || unbox(result.get(), value.unboxed, &unboxed) ? std::move(result) : Ref();
}

bool computes_the_same(const GroupValue& one, const GroupValue& other) {
  if (one.kind != other.kind || one.unboxed != other.unboxed || one.place != other.place ||
      one.object != other.object) {
    return false;
  }
  if (one.kind != Kind::kStep) {
    return one.kind != Kind::kOperation;
  }
  // New objects may be told apart by the program; attributes and items are the same object each time.
  const bool reads = one.step->op == Op::load_attr || one.step->op == Op::load_method ||
                     one.step->op == Op::binary_subscr || one.step->op == Op::cell_get ||
                     one.step->op == Op::closure_cell || one.step->op == Op::tuple_item ||
                     one.step->op == Op::unpack_sequence || one.step->op == Op::function_default;
  return reads && one.step->op == other.step->op && one.step->object == other.step->object &&
         one.step->immediate == other.step->immediate && one.result == other.result && one.operands == other.operands;
}

bool reads_containers(const GroupValue& value, const Ref* earlier) {
  const bool is_call = value.kind == Kind::kStep && (value.step->op == Op::call || value.step->op == Op::known_call);
  const bool keeps_object = value.kind != Kind::kStep || value.step->op == Op::load_method ||
                            value.step->op == Op::load_attr || value.step->op == Op::build_tuple ||
                            value.step->op == Op::build_list || value.step->op == Op::is_op;
  return !keeps_object && std::ranges::any_of(operands_of(value, earlier), [&](PyObject* each) {
    return each != nullptr &&
           (PyList_CheckExact(each) || PyDict_CheckExact(each) || (is_call && PyTuple_CheckExact(each)));
  });
}

bool reads_elements(const GroupValue& value, const Ref* earlier) {
  const Operands operands = operands_of(value, earlier);
  return value.kind == Kind::kStep && reads_elements(*value.step, std::span(operands.data(), operands.size()));
}

bool holds(const Step& guard, PyObject* object) {
  switch (guard.op) {
    case Op::guard_accessor:
      return accessor_is(object, guard.name.get(), guard.immediate, guard.object);
    case Op::guard_no_attribute:
      return object != nullptr && !cpython::may_have_own(object, guard.object);
    default:
      return guard_holds(guard.op, object, guard.object, guard.immediate);
  }
}

Unboxed result_of(const LoopOp& op) {
  const LoopOpInfo& row = info(op.code);
  const bool may_be_operand = op.code == LoopCode::kRemainderInt && op.flag != 0;
  return row.fusion == InFusion::kNumber && !may_be_operand ? row.gives : Unboxed::kNone;
}

}  // namespace tagalong::replay
