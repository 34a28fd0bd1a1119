#include "recorder/inlining/call_forms.h"

#include <algorithm>
#include <string_view>

#include "recorder/base/call_slots.h"
#include "recorder/base/instruction_kinds.h"
#include "recorder/inlining/lookups.h"
#include "replay/objects/overloads.h"
#include "rewriter/base/errors.h"
#include "version/calls.h"

namespace tagalong::recorder {

namespace op = rewriter::op;
using replay::ReturnKind;
using replay::SlotCheck;

namespace {

bool is_partial_type(const PyTypeObject* type) { return std::string_view(type->tp_name) == "functools.partial"; }

// The first argument of a callee that has not started yet.
PyObject* first_argument(cpython::Frame* callee) {
  const PyCodeObject* code = cpython::code_of(callee);
  PyObject** slots = cpython::locals_of(callee);
  if (code->co_argcount != 0) {
    return slots[0];
  }
  PyObject* rest = (code->co_flags & CO_VARARGS) != 0 ? slots[code->co_kwonlyargcount] : nullptr;
  return rest != nullptr && PyTuple_CheckExact(rest) && PyTuple_GET_SIZE(rest) > 0 ? PyTuple_GET_ITEM(rest, 0)
                                                                                   : nullptr;
}

// The function of a partial that has an ordinary dict of keywords; borrowed from the partial.
PyObject* function_of_partial(PyObject* object) {
  const Ref inner = Ref::steal(PyObject_GetAttrString(object, "func"));
  const Ref keywords = Ref::steal(PyObject_GetAttrString(object, "keywords"));
  if (!inner || !keywords) {
    PyErr_Clear();
    return nullptr;
  }
  return names_in(keywords.get()) ? inner.get() : nullptr;
}

PyObject* property_part(PyTypeObject* type, PyObject* name, const char* part) {
  PyObject* descriptor = _PyType_Lookup(type, name);
  const bool reads = std::string_view(part) == "fget";
  if (descriptor == nullptr || Py_TYPE(descriptor) != &PyProperty_Type ||
      (reads && type->tp_getattro != PyObject_GenericGetAttr) || !has_version(type)) {
    return nullptr;
  }
  const Ref function = Ref::steal(PyObject_GetAttrString(descriptor, part));
  if (!function) {
    PyErr_Clear();
  }
  return function.get();  // the property keeps it alive
}

}  // namespace

void CallForms::note_callee(PyObject* callable) {
  top().callable = callable;
  top().called = PyMethod_Check(callable)             ? PyMethod_GET_FUNCTION(callable)
                 : is_partial_type(Py_TYPE(callable)) ? function_of_partial(callable)
                                                      : nullptr;
}

CallTarget CallForms::find_target(int number, cpython::Frame* callee) {
  CallTarget target;
  target.function = reinterpret_cast<PyObject*>(cpython::function_of(callee));
  const Instruction& instruction = instruction_at(number);
  PyObject* const* end = cpython::stack_base(top().live) + top().stack.size();
  switch (instruction.opcode) {
    case op::kCALL:
    case op::kCALL_KW: {
      target.operands = operands_of_call(instruction);
      find_call(target, end - target.operands, callee);
      return target;
    }
    case op::kCALL_FUNCTION_EX: {
      const bool has_keywords = (instruction.arg & 1U) != 0;
      target.operands = has_keywords ? 4 : 3;
      if (end[kNullSlot - target.operands] != nullptr) {
        return target;  // the call is over, see find_call
      }
      find_spread(target, end - target.operands, callee);
      return target;
    }
    case op::kLOAD_ATTR:
    case op::kLOAD_METHOD:
      target.operands = 1;
      if (end[-1] == first_argument(callee) &&
          property_part(Py_TYPE(end[-1]), name_of(instruction), "fget") == target.function) {
        target.form = CallForm::kProperty;
        target.object = _PyType_Lookup(Py_TYPE(end[-1]), name_of(instruction));
        // An instruction that loads a method does the look-up of getattr() itself.
        if (!loads_method(instruction)) {
          target.returns = version::kGetterErrorsGetName ? ReturnKind::kAttribute : ReturnKind::kPlain;
          target.operation = static_cast<int>(rewriter::index_of(instruction.opcode, instruction.arg));
        } else if (kNullSlot != 0) {
          target.operation = replay::kNullAboveResult;
        }
        return target;
      }
      find_attribute(target, end, callee);
      if (kNullSlot != 0 && loads_method(instruction)) {
        target.operation |= replay::kNullAboveResult;
      }
      return target;
    case op::kSTORE_ATTR:
      target.operands = 2;
      if (end[-1] == first_argument(callee) && Py_TYPE(end[-1])->tp_setattro == PyObject_GenericSetAttr &&
          property_part(Py_TYPE(end[-1]), name_of(instruction), "fset") == target.function) {
        target.form = CallForm::kSetter;
        target.object = _PyType_Lookup(Py_TYPE(end[-1]), name_of(instruction));
        target.returns = ReturnKind::kDiscard;
        return target;
      }
      find_attribute(target, end, callee);
      return target;
    case op::kDELETE_ATTR:
      target.operands = 1;
      if (end[-1] == first_argument(callee) && Py_TYPE(end[-1])->tp_setattro == PyObject_GenericSetAttr &&
          property_part(Py_TYPE(end[-1]), name_of(instruction), "fdel") == target.function) {
        target.form = CallForm::kSetter;
        target.returns = ReturnKind::kDiscard;
        return target;
      }
      find_attribute(target, end, callee);
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

bool CallForms::is_made_here(Value value) const {
  return is_result_of(value, Op::call) || is_result_of(value, Op::call_ex);
}

bool CallForms::depends_on_made_class(const CallTarget& target, cpython::Frame* callee) const {
  const bool is_by_code = (target.form >= CallForm::kFunction && target.form <= CallForm::kBoundFirst) ||
                          (target.form >= CallForm::kPartial && target.form <= CallForm::kSpreadBound) ||
                          target.form == CallForm::kExit;
  const auto is_made = [this](PyTypeObject* type) {
    return std::ranges::find(made_classes_, reinterpret_cast<PyObject*>(type)) != made_classes_.end();
  };
  if (made_classes_.empty() || is_by_code) {
    return false;
  }
  PyObject* const* slots = cpython::locals_of(callee);
  const int operands = std::min(cpython::code_of(callee)->co_argcount, 2);
  return std::any_of(slots, slots + operands,
                     [&](PyObject* operand) { return operand != nullptr && is_made(Py_TYPE(operand)); });
}

void CallForms::find_call(CallTarget& target, PyObject* const* operands, cpython::Frame* callee) const {
  PyObject* function = target.function;
  PyObject* self = first_argument(callee);
  const ShadowFrame& caller = frames_.back();
  const Value* slots = caller.stack.data() + caller.stack.size() - target.operands;
  const bool has_null = abstract(slots[kNullSlot]).is_null;
  const auto [first, second] = in_graph_order(slots, has_null);
  const AbstractValue& first_abstract = abstract(first);
  const AbstractValue& second_abstract = abstract(second);
  if (!has_null) {
    if (operands[0] == function && first_abstract.seen == &PyFunction_Type) {
      target.form = CallForm::kMethodPair;
    } else if (first_abstract.seen == &PyMethod_Type && caller.called == function) {
      target.form = CallForm::kBoundFirst;
    }
    return;
  }
  // A signal handler that runs right after the call: the result has replaced the lower slot, and the operands are gone.
  if (operands[0] != (kNullSlot == 0 ? nullptr : caller.callable) && operands[0] != function) {
    return;
  }
  if (second_abstract.seen == &PyMethod_Type) {
    // The interpreter has put the function and self into the two slots.
    target.form = operands[0] == function ? CallForm::kBoundMethod : CallForm::kNone;
    return;
  }
  // If the callee is another function (a finaliser, or a callback of the garbage collector), the operands may be gone.
  // None of them is looked at before the callee's `self` shows that the call still has it. (A partial puts its own
  // first argument into the slot during the call.)
  PyObject* callable = caller.callable;
  if (callable == function) {
    target.form = CallForm::kFunction;
  } else if (self != nullptr && reinterpret_cast<PyObject*>(Py_TYPE(self)) == callable) {
    if (is_plain_class(callable, function)) {
      target.form = CallForm::kClass;
      target.returns = ReturnKind::kNone;
    }
  } else if (self != nullptr && self == callable) {
    if (look_up(Py_TYPE(callable), "__call__") == function && has_version(Py_TYPE(callable))) {
      target.form = CallForm::kCallable;
    }
  } else if (caller.called == function && !is_made_here(second)) {
    const Ref given = Ref::steal(PyObject_GetAttrString(callable, "keywords"));
    Ref names = given ? names_in(given.get()) : Ref();
    const bool has_names = names && PyTuple_GET_SIZE(names.get()) != 0;
    // Names from both the partial and the call are not supported.
    target.form = names && !(has_names && keyword_names() != nullptr) ? CallForm::kPartial : CallForm::kNone;
    if (has_names) {
      // The first call with names changes an attribute that the partial shows.
      const Ref shown = Ref::steal(PyObject_GetAttrString(callable, "__vectorcalloffset__"));
      static PyObject* const zero = PyLong_FromLong(0);
      target.form = shown.get() == zero ? target.form : CallForm::kNone;
      target.keywords = std::move(names);
    }
  } else if (target.operands == kCallSlots + 1 && keyword_names() == nullptr && self != nullptr &&
             self == operands[2]) {
    find_builtin(target, callable, self);
  }
  target.object = callable;
}

// Special methods: the function found on the type of an operand is called with the operands.
void CallForms::find_special(CallTarget& target, PyObject* const* end, cpython::Frame* callee) const {
  const Instruction& instruction = instruction_at(current_);
  PyObject* function = target.function;
  // If the callee is another function (a finaliser of an operand, or a trace function), the operands may be gone. No
  // operand is read before the callee's `self` shows that the instruction still has its operands.
  PyObject* self = cpython::slot_count(cpython::code_of(callee)) > 0 ? cpython::locals_of(callee)[0] : nullptr;
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
      const replay::UnaryOperator symbol = *unary_operator(instruction.opcode);
      const char* method = symbol == replay::UnaryOperator::kNegative   ? "__neg__"
                           : symbol == replay::UnaryOperator::kPositive ? "__pos__"
                                                                        : "__invert__";
      target.operands = 1;
      target.order = {0};
      target.form = is_method(end[-1], method) ? CallForm::kSpecial : CallForm::kNone;
      return;
    }
    case op::kDELETE_SUBSCR:
      target.operands = 2;
      target.order = {0, 1};
      target.returns = ReturnKind::kDiscard;
      target.form = is_method(end[-2], "__delitem__") ? CallForm::kSpecial : CallForm::kNone;
      return;
    case op::kCONTAINS_OP:
      target.operands = 2;
      target.order = {1, 0};
      target.returns = ReturnKind::kChecked;
      target.operation = static_cast<int>(instruction.arg == 0 ? SlotCheck::kAnyTruth : SlotCheck::kAnyNot);
      target.form = is_method(end[-1], "__contains__") ? CallForm::kSpecial : CallForm::kNone;
      return;
    case op::kGET_ITER:
      target.operands = 1;
      target.order = {0};
      target.returns = ReturnKind::kChecked;
      target.operation = static_cast<int>(SlotCheck::kIterator);
      target.form = is_method(end[-1], "__iter__") ? CallForm::kSpecial : CallForm::kNone;
      return;
    case op::kFORMAT_VALUE:
    case op::kFORMAT_SIMPLE:
    case op::kFORMAT_WITH_SPEC:
    case op::kCONVERT_VALUE:
      find_format(target, end, self);
      return;
    case op::kUNARY_NOT:
    case op::kTO_BOOL:
    case op::kPOP_JUMP_FORWARD_IF_FALSE:
    case op::kPOP_JUMP_FORWARD_IF_TRUE:
    case op::kPOP_JUMP_BACKWARD_IF_FALSE:
    case op::kPOP_JUMP_BACKWARD_IF_TRUE:
    case op::kJUMP_IF_FALSE_OR_POP:
    case op::kJUMP_IF_TRUE_OR_POP:
      find_truth(target, end[-1], self);
      return;
    case op::kBEFORE_WITH:
      // The manager's slot holds the bound __exit__ by now.
      target.operands = 1;
      if (is_method(frames_.back().callable, "__enter__")) {
        target.exit_function = look_up(Py_TYPE(self), "__exit__");
        const bool is_plain = target.exit_function != nullptr && PyFunction_Check(target.exit_function);
        target.form = is_plain ? CallForm::kEnter : CallForm::kNone;
      }
      return;
    case op::kFOR_ITER:
      target.operands = 1;
      target.returns = ReturnKind::kIteration;
      target.operation = end_of_loop(instruction);
      target.form = is_method(end[-1], "__next__") ? CallForm::kNext : CallForm::kNone;
      return;
    case op::kBINARY_OP:
    case op::kCOMPARE_OP:
      find_operator(target, end, self);
      return;
    default:
      return;
  }
}

}  // namespace tagalong::recorder
