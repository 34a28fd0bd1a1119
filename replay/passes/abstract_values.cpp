#include "replay/passes/abstract_values.h"

#include <algorithm>

#include "replay/ir/operators.h"
#include "replay/objects/known_functions.h"
#include "replay/objects/unboxed.h"
#include "rewriter/cpython/watch.h"

namespace tagalong::replay {

bool is_plain(const PyTypeObject* type) {
  return type == &PyFloat_Type || type == &PyLong_Type || type == &PyBool_Type || type == &PyUnicode_Type ||
         type == &PyComplex_Type || type == &PyBytes_Type || type == Py_TYPE(Py_None) || type == &PyRange_Type ||
         type == &PyRangeIter_Type || is_numpy(unboxed_of(type));
}

bool is_lasting(const PyTypeObject* type) {
  // `__class__` can be assigned only for instances of mutable types, and for modules.
  return PyType_HasFeature(const_cast<PyTypeObject*>(type), Py_TPFLAGS_IMMUTABLETYPE) != 0 &&
         PyType_IsSubtype(const_cast<PyTypeObject*>(type), &PyModule_Type) == 0;
}

const PyTypeObject* AbstractValues::number_type(const Node& node) const {
  const PyTypeObject* left = type(node.operands[0]);
  const auto text = operator_text(node.op, node.immediate).value_or("?");
  if (node.op == Op::unary_op) {  // a heap type supports only its own operator methods
    const Unboxed kind = unboxed_of(left);
    return kind == Unboxed::kInt || (is_float(kind) && text != "~") || (kind == Unboxed::kNumpyInt && text == "-")
               ? left
               : nullptr;
  }
  if (text.starts_with("**")) {
    return nullptr;  // int, float or complex, depending on the values
  }
  return node.op == Op::float_binary || text == "/" || text == "/=" ? &PyFloat_Type : &PyLong_Type;
}

const PyTypeObject* AbstractValues::result_type(const Node& node) const {
  switch (node.info().type) {
    case ResultType::kNothing:
    case ResultType::kAny:
      return nullptr;
    case ResultType::kOfObject:
      return node.object && is_lasting(Py_TYPE(node.object.get())) ? Py_TYPE(node.object.get()) : nullptr;
    case ResultType::kOfOperands:
      return number_type(node);
    case ResultType::kOfItems:
      return type_of(unboxed_of_items(static_cast<int>(node.immediate)));
    case ResultType::kOfCall:
      return result_of(known_function(node.object.get()), type(node.operands[0]));
    case ResultType::kBool:
      return &PyBool_Type;
    case ResultType::kInt:
      return &PyLong_Type;
    case ResultType::kNumpyBool:
      return type_of(Unboxed::kNumpyBool);
    case ResultType::kNumpyInt:
      return type_of(Unboxed::kNumpyInt);
    case ResultType::kNumpyFloat:
      return type_of(Unboxed::kNumpyFloat);
    case ResultType::kTuple:
      return &PyTuple_Type;
    case ResultType::kList:
      return &PyList_Type;
    case ResultType::kSet:
      return &PySet_Type;
    case ResultType::kDict:
      return &PyDict_Type;
    case ResultType::kSlice:
      return &PySlice_Type;
    case ResultType::kFunction:
      return &PyFunction_Type;
    case ResultType::kCell:
      return &PyCell_Type;
  }
  return nullptr;
}

void AbstractValues::learn(const Node& node) {
  switch (node.op) {
    case Op::guard_true:
    case Op::guard_false:
      at(node.operands[0]) = {&PyBool_Type, true};
      return;
    case Op::guard_is: {
      const PyTypeObject* type = Py_TYPE(node.object.get());
      // The graph does not own an object that can be watched (Executor), so dropping it may destroy it.
      at(node.operands[0]) = {is_lasting(type) ? type : nullptr, !cpython::is_watchable(node.object.get())};
      return;
    }
    case Op::guard_type:
    case Op::guard_type_version: {
      const auto* type = reinterpret_cast<PyTypeObject*>(node.object.get());
      if (is_lasting(type)) {
        at(node.operands[0]).type = type;
      }
      return;
    }
    case Op::guard_null:
      at(node.operands[0]).held = true;
      return;
    default:
      break;
  }
  if (node.op == Op::loop) {
    learn_loop(node);
  } else if (node.result_count == 1) {
    at(node.first_result) = {result_type(node), node.info().has(trait::kHeld)};
  }
}

// The types that the recorder has guarded on both edges to the header.
void AbstractValues::learn_loop(const Node& node) {
  const char* letters = PyUnicode_AsUTF8(node.object.get());
  for (std::int32_t index = 0; index < node.result_count; ++index) {
    at(node.first_result + index) = {type_of(unboxed_of(letters[index])), false};
  }
}

bool AbstractValues::is_inert(Value value) const {
  const AbstractValue& fact = at(value);
  return fact.held || (fact.type != nullptr && is_plain(fact.type));
}

bool AbstractValues::disturbs(const Node& node) const {
  if (node.op == Op::drop) {
    return !std::ranges::all_of(node.operands, [this](Value value) { return is_inert(value); });
  }
  if (node.info().has(trait::kUndisturbing)) {
    return false;
  }
  // Making an object may run the collector, with finalisers and callbacks. The collector does not track strings, so
  // making one cannot.
  return !(node.info().is_pure() || node.info().effect == Effect::kReads);
}

}  // namespace tagalong::replay
