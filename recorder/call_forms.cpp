#include "recorder/call_forms.h"

#include <opcode.h>

#include <algorithm>
#include <string_view>

#include "rewriter/interp/dicts.h"
#include "rewriter/interp/errors.h"

namespace tagalong::recorder {

namespace op = rewriter::op;
using replay::OperatorKind;
using replay::ReturnKind;

namespace {

// The attribute of a type along its MRO, borrowed; looking it up gives the type a version tag if it can have one.
PyObject* look_up(PyTypeObject* type, const char* name) {
  const Ref text = Ref::steal(PyUnicode_InternFromString(name));
  return text ? _PyType_Lookup(type, text.get()) : nullptr;
}

bool has_version(PyTypeObject* type) { return interp::type_version(type) != 0; }

bool is_partial_type(const PyTypeObject* type) { return std::string_view(type->tp_name) == "functools.partial"; }

// What the callee, which has not started yet, got as its first argument.
PyObject* first_argument(interp::Frame* callee) {
  const PyCodeObject* code = interp::code_of(callee);
  PyObject** slots = interp::locals_of(callee);
  if (code->co_argcount != 0) {
    return slots[0];
  }
  PyObject* rest = (code->co_flags & CO_VARARGS) != 0 ? slots[code->co_kwonlyargcount] : nullptr;
  return rest != nullptr && PyTuple_CheckExact(rest) && PyTuple_GET_SIZE(rest) > 0 ? PyTuple_GET_ITEM(rest, 0)
                                                                                   : nullptr;
}

// The function of partial(function, *args) without keywords, which could change; borrowed from the partial.
PyObject* function_of_partial(PyObject* object) {
  const Ref inner = Ref::steal(PyObject_GetAttrString(object, "func"));
  const Ref keywords = Ref::steal(PyObject_GetAttrString(object, "keywords"));
  if (!inner || !keywords) {
    PyErr_Clear();
    return nullptr;
  }
  return PyDict_CheckExact(keywords.get()) && PyDict_GET_SIZE(keywords.get()) == 0 ? inner.get() : nullptr;
}

bool is_plain_class(PyObject* object, PyObject* init) {
  if (!PyType_Check(object) || Py_TYPE(object) != &PyType_Type) {
    return false;
  }
  auto* type = reinterpret_cast<PyTypeObject*>(object);
  return type->tp_new == PyBaseObject_Type.tp_new && look_up(type, "__init__") == init && has_version(type);
}

PyObject* property_part(PyTypeObject* type, PyObject* name, const char* part) {
  PyObject* descriptor = _PyType_Lookup(type, name);
  if (descriptor == nullptr || Py_TYPE(descriptor) != &PyProperty_Type ||
      type->tp_getattro != PyObject_GenericGetAttr || !has_version(type)) {
    return nullptr;
  }
  const Ref function = Ref::steal(PyObject_GetAttrString(descriptor, part));
  if (!function) {
    PyErr_Clear();
  }
  return function.get();  // the property keeps it alive
}

}  // namespace

// Where a call is over, by an exception or a result, its operands may be dead while a finaliser of one of them, or of
// what lies below them, starts. So find_target() compares addresses, and looks into an operand only where the callee
// shows that it is alive. A method and a partial do not show in the callee: what they call is noted before the call.
void Session::note_callee(PyObject* callable) {
  top().callable = callable;
  top().called = PyMethod_Check(callable)             ? PyMethod_GET_FUNCTION(callable)
                 : is_partial_type(Py_TYPE(callable)) ? function_of_partial(callable)
                                                      : nullptr;
}

Session::CallTarget Session::find_target(int number, interp::Frame* callee) {
  CallTarget target;
  target.function = reinterpret_cast<PyObject*>(interp::function_of(callee));
  const Instruction& instruction = instruction_at(number);
  PyObject* const* end = interp::stack_base(top().live) + top().stack.size();
  switch (instruction.opcode) {
    case op::kCALL: {
      target.operands = static_cast<int>(instruction.arg) + 2;
      find_call(target, end - target.operands, callee);
      return target;
    }
    case op::kCALL_FUNCTION_EX: {
      const bool has_keywords = (instruction.arg & 1U) != 0;
      target.operands = has_keywords ? 4 : 3;
      if (end[-target.operands] != nullptr) {
        return target;  // the call is over, as in find_call
      }
      PyObject* callable = end[1 - target.operands];
      if (callable != target.function && target.function != top().called) {
        return target;
      }
      PyObject* arguments = end[2 - target.operands];
      if (!PyTuple_CheckExact(arguments) ||
          (has_keywords && (!PyDict_CheckExact(end[-1]) || PyDict_GET_SIZE(end[-1]) != 0))) {
        return target;
      }
      if (callable == target.function) {
        target.form = CallForm::kSpread;
      } else if (PyMethod_Check(callable) && PyMethod_GET_FUNCTION(callable) == target.function) {
        target.form = CallForm::kSpreadBound;
      }
      return target;
    }
    case op::kLOAD_ATTR:
    case op::kLOAD_METHOD:
      target.operands = 1;
      if (end[-1] == first_argument(callee) &&
          property_part(Py_TYPE(end[-1]), name(static_cast<int>(instruction.arg)), "fget") == target.function) {
        target.form = CallForm::kProperty;
        target.object = _PyType_Lookup(Py_TYPE(end[-1]), name(static_cast<int>(instruction.arg)));
        // LOAD_METHOD looks up by itself what getattr() would.
        if (instruction.opcode == op::kLOAD_ATTR) {
          target.returns = ReturnKind::kAttribute;
          target.operation = static_cast<int>(instruction.arg);
        }
      }
      return target;
    case op::kSTORE_ATTR:
      target.operands = 2;
      if (end[-1] == first_argument(callee) && Py_TYPE(end[-1])->tp_setattro == PyObject_GenericSetAttr &&
          property_part(Py_TYPE(end[-1]), name(static_cast<int>(instruction.arg)), "fset") == target.function) {
        target.form = CallForm::kSetter;
        target.object = _PyType_Lookup(Py_TYPE(end[-1]), name(static_cast<int>(instruction.arg)));
        target.returns = ReturnKind::kDiscard;
      }
      return target;
    case op::kWITH_EXCEPT_START:
      target.operands = 4;
      target.form = top().called == target.function ? CallForm::kExit : CallForm::kNone;
      return target;
    default:
      find_special(target, end, callee);
      return target;
  }
}

// Whether a call in this trace gave the value: then the next run gets another object.
bool Session::is_made_here(Value value) const {
  return std::any_of(graph_.nodes.begin(), graph_.nodes.end(), [value](const replay::Node& node) {
    return node.first_result == value && node.result_count == 1 && (node.op == Op::call || node.op == Op::call_ex);
  });
}

void Session::find_call(CallTarget& target, PyObject* const* operands, interp::Frame* callee) const {
  PyObject* function = target.function;
  PyObject* self = first_argument(callee);
  const ShadowFrame& caller = frames_.back();
  const Value first = caller.stack[caller.stack.size() - static_cast<std::size_t>(target.operands)];
  const Value second = caller.stack[caller.stack.size() - static_cast<std::size_t>(target.operands) + 1];
  const Facts& first_facts = facts_[static_cast<std::size_t>(first)];
  const Facts& second_facts = facts_[static_cast<std::size_t>(second)];
  if (!first_facts.is_null) {
    if (operands[0] == function && first_facts.seen == &PyFunction_Type) {
      target.form = CallForm::kMethodPair;
    } else if (first_facts.seen == &PyMethod_Type && caller.called == function) {
      target.form = CallForm::kBoundFirst;
    }
    return;
  }
  // A signal handler that runs right after the call, when the result lies where the NULL was and the operands are gone.
  if (operands[0] != nullptr && operands[0] != function) {
    return;
  }
  if (second_facts.seen == &PyMethod_Type) {
    // PRECALL has put function and self into the two slots.
    target.form = operands[0] == function ? CallForm::kBoundMethod : CallForm::kNone;
    return;
  }
  // When the callee is something else, a finaliser or what the garbage collector calls back, the operands may be gone:
  // none is looked at before the callee's `self` shows that the call still has it.
  // (A partial puts its own first argument into the slot while it calls.)
  PyObject* callable = caller.callable;
  if (callable == function) {
    target.form = CallForm::kFunction;
  } else if (self != nullptr && reinterpret_cast<PyObject*>(Py_TYPE(self)) == callable) {
    if (is_plain_class(callable, function)) {
      target.form = CallForm::kClass;
      target.returns = ReturnKind::kNone;
    }
  } else if (self != nullptr && self == callable) {
    if (!PyType_Check(callable) && look_up(Py_TYPE(callable), "__call__") == function &&
        has_version(Py_TYPE(callable))) {
      target.form = CallForm::kCallable;
    }
  } else if (caller.called == function && !is_made_here(second)) {
    target.form = CallForm::kPartial;
  }
  target.object = callable;
}

// Special methods: the function found on the type of an operand, called with the operands.
void Session::find_special(CallTarget& target, PyObject* const* end, interp::Frame* callee) const {
  const Instruction& instruction = instruction_at(current_);
  PyObject* function = target.function;
  // The operands may be gone when the callee is something else, a finaliser of one of them or a trace function: none is
  // looked at before the callee's `self` shows that the instruction still has it.
  PyObject* self = interp::slot_count(interp::code_of(callee)) > 0 ? interp::locals_of(callee)[0] : nullptr;
  const auto is_method = [&](PyObject* object, const char* method) {
    return method != nullptr && object == self && look_up(Py_TYPE(object), method) == function &&
           has_version(Py_TYPE(object));
  };
  if (self == nullptr) {
    return;
  }
  switch (instruction.opcode) {
    case op::kBINARY_SUBSCR:
      target.operands = 2;
      target.order = {0, 1};
      target.form = is_method(end[-2], "__getitem__") ? CallForm::kSpecial : CallForm::kNone;
      return;
    case op::kSTORE_SUBSCR:  // value, container, key
      target.operands = 3;
      target.order = {1, 2, 0};
      target.returns = ReturnKind::kDiscard;
      target.form = is_method(end[-2], "__setitem__") ? CallForm::kSpecial : CallForm::kNone;
      return;
    case op::kUNARY_NEGATIVE:
    case op::kUNARY_POSITIVE:
    case op::kUNARY_INVERT: {
      const char* method = instruction.opcode == op::kUNARY_NEGATIVE   ? "__neg__"
                           : instruction.opcode == op::kUNARY_POSITIVE ? "__pos__"
                                                                       : "__invert__";
      target.operands = 1;
      target.order = {0};
      target.form = is_method(end[-1], method) ? CallForm::kSpecial : CallForm::kNone;
      return;
    }
    case op::kBEFORE_WITH:
      target.operands = 1;
      if (is_method(end[-1], "__enter__")) {
        target.exit_function = look_up(Py_TYPE(end[-1]), "__exit__");
        const bool is_plain = target.exit_function != nullptr && PyFunction_Check(target.exit_function);
        target.form = is_plain ? CallForm::kEnter : CallForm::kNone;
      }
      return;
    case op::kFOR_ITER:
      target.operands = 1;
      target.returns = ReturnKind::kIteration;
      target.operation = instruction.target;
      target.form = is_method(end[-1], "__next__") ? CallForm::kNext : CallForm::kNone;
      return;
    case op::kBINARY_OP:
    case op::kCOMPARE_OP:
      break;
    default:
      return;
  }
  const auto argument = static_cast<int>(instruction.arg);
  const bool is_compare = instruction.opcode == op::kCOMPARE_OP;
  const bool is_reflected =
      !is_compare && is_method(end[-1], replay::operator_method(OperatorKind::kReflected, argument));
  if (self != end[-2] && !is_reflected) {
    return;
  }
  // The second operand's method goes first where its type is a subclass of the first's: not followed here.
  PyTypeObject* left = Py_TYPE(end[-2]);
  PyTypeObject* right = Py_TYPE(end[-1]);
  const OperatorKind kind = is_compare ? OperatorKind::kCompare : OperatorKind::kBinary;
  target.operands = 2;
  target.returns = ReturnKind::kOperator;
  target.order = {0, 1};
  if (left != right && PyType_IsSubtype(right, left) != 0) {
    return;
  }
  if (!has_version(right)) {
    look_up(right, "__class__");
  }
  // x += y without __iadd__ is x + y.
  const bool is_in_place = !is_compare && argument >= NB_INPLACE_ADD;
  const bool falls_back = is_in_place && look_up(left, replay::operator_method(kind, argument)) == nullptr;
  const int asked = falls_back ? argument - NB_INPLACE_ADD : argument;
  if (is_in_place && !falls_back) {
    return;  // __iadd__, then __add__: two methods in a row are left to the interpreter
  }
  if (is_method(end[-2], replay::operator_method(kind, asked)) && has_version(right)) {
    target.form = CallForm::kSpecial;
    target.operation = replay::operator_number(kind, argument);
  } else if (is_reflected && (left == &PyLong_Type || left == &PyFloat_Type)) {
    target.form = CallForm::kReflected;
    target.operation = replay::operator_number(OperatorKind::kReflected, argument);
  }
}

}  // namespace tagalong::recorder
