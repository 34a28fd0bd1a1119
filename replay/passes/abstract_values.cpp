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
  // Only mutable types can be left by assigning to __class__, with one exception: modules.
  return PyType_HasFeature(const_cast<PyTypeObject*>(type), Py_TPFLAGS_IMMUTABLETYPE) != 0 &&
         PyType_IsSubtype(const_cast<PyTypeObject*>(type), &PyModule_Type) == 0;
}

const PyTypeObject* AbstractValues::number_type(const Node& node) const {
  const PyTypeObject* left = type(node.operands[0]);
  const auto text = operator_text(node.op, node.immediate).value_or("?");
  if (node.op == Op::unary_op) {  // a type of its own has only what its own operator gives
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
  switch (node.op) {
    case Op::function:
    case Op::make_function:
      return &PyFunction_Type;
    case Op::constant:
      return node.object && is_lasting(Py_TYPE(node.object.get())) ? Py_TYPE(node.object.get()) : nullptr;
    case Op::int_binary:
    case Op::float_binary:
    case Op::unary_op:
      return number_type(node);
    case Op::float64_binary:
      return type_of(Unboxed::kNumpyFloat);
    case Op::int64_binary:
      return type_of(Unboxed::kNumpyInt);
    case Op::scalar_compare:
      return type_of(Unboxed::kNumpyBool);
    case Op::array_item:
      return type_of(unboxed_of_items(static_cast<int>(node.immediate)));
    case Op::unary_not:
    case Op::to_bool:
    case Op::bool_not:
    case Op::is_op:
    case Op::contains_op:
    case Op::int_compare:
    case Op::float_compare:
    case Op::number_truth:
    case Op::match_mapping:
    case Op::match_sequence:
      return &PyBool_Type;
    case Op::make_cell:
      return &PyCell_Type;
    case Op::build_tuple:
    case Op::list_to_tuple:
      return &PyTuple_Type;
    case Op::build_list:
      return &PyList_Type;
    case Op::build_set:
      return &PySet_Type;
    case Op::build_map:
    case Op::build_const_key_map:
      return &PyDict_Type;
    case Op::build_slice:
      return &PySlice_Type;
    case Op::get_len:
      return &PyLong_Type;
    case Op::known_call:
      return result_of(known_function(node.object.get()), type(node.operands[0]));
    default:
      return nullptr;
  }
}

void AbstractValues::learn(const Node& node) {
  switch (node.op) {
    case Op::guard_true:
    case Op::guard_false:
      at(node.operands[0]) = {&PyBool_Type, true};
      return;
    case Op::guard_is: {
      const PyTypeObject* type = Py_TYPE(node.object.get());
      // What can be watched is not held by the graph (Executor), so dropping it may be its end.
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
    // A range gives an int or nothing, an array one of NumPy's scalars or nothing.
    const bool held =
        node.op == Op::constant || node.op == Op::null || node.op == Op::range_next || node.op == Op::array_next;
    at(node.first_result) = {result_type(node), held};
  }
}

// What the recorder has made sure of on both ways to the header.
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
  if (node.op == Op::rebind_global || node.op == Op::list_renew) {
    return false;  // but for that name, or items
  }
  // A new object may be what the garbage collector was waiting for, with its finalisers and callbacks; strings are none
  // of its business.
  return node.info().effect == Effect::kWrites || node.info().effect == Effect::kOpaque ||
         (node.info().effect == Effect::kFresh && node.op != Op::build_string);
}

}  // namespace tagalong::replay
