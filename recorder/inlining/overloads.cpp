// Operations that classes overload: operators, truth, iteration, attributes, and the builtins that call a special
// method. C code between the instruction and the method decides which method is called.
#include "replay/objects/overloads.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "recorder/base/call_slots.h"
#include "recorder/base/instruction_kinds.h"
#include "recorder/inlining/call_forms.h"
#include "recorder/inlining/lookups.h"
#include "rewriter/cpython/objects/dicts.h"
#include "rewriter/cpython/objects/instances.h"
#include "version/calls.h"

namespace tagalong::recorder {

namespace op = rewriter::op;
using replay::Attempt;
using replay::Attempts;
using replay::kNoValue;
using replay::Operator;
using replay::OperatorKind;
using replay::ReturnKind;
using replay::SlotCheck;

namespace {

bool is_method(PyObject* object, const char* method, PyObject* function) {
  return look_up(Py_TYPE(object), method) == function && has_version(Py_TYPE(object));
}

// Whether the class inherits this method from object.
bool is_default(PyTypeObject* type, const char* method) {
  return look_up(type, method) == look_up(&PyBaseObject_Type, method);
}

struct Builtin {
  const char* name;
  const char* method;
  SlotCheck check;
};

constexpr std::array<Builtin, 6> kBuiltins = {{
    {"len", "__len__", SlotCheck::kLength},
    {"iter", "__iter__", SlotCheck::kIterator},
    {"repr", "__repr__", SlotCheck::kRepresentation},
    {"hash", "__hash__", SlotCheck::kHash},
    {"abs", "__abs__", SlotCheck::kAnything},
    {"next", "__next__", SlotCheck::kAnything},
}};

// A function of the module builtins, whatever the program's name for it.
const Builtin* builtin_of(PyObject* callable) {
  if (!PyCFunction_CheckExact(callable)) {
    return nullptr;
  }
  const auto* function = reinterpret_cast<PyCFunctionObject*>(callable);
  PyObject* module = function->m_self;
  if (module == nullptr || !PyModule_CheckExact(module) || std::string_view(PyModule_GetName(module)) != "builtins") {
    return nullptr;
  }
  const auto* row = std::ranges::find_if(
      kBuiltins, [=](const Builtin& known) { return std::string_view(known.name) == function->m_ml->ml_name; });
  return row == kBuiltins.end() ? nullptr : row;
}

}  // namespace

bool CallForms::may_call(int instruction) const {
  const ShadowFrame& frame = frames_.back();
  if (frame.pending == instruction && !truth_jump(instruction_at(instruction).opcode)) {
    return false;
  }
  // A branch at another instruction was taken; its outcome is recorded soon.
  const bool is_elsewhere = frame.pending >= 0 && frame.pending != instruction;
  if (frame.checked != kNoValue && !is_elsewhere) {
    return false;
  }
  if (frame.declined != kNotDeclined && frame.next_method == nullptr) {
    return false;
  }
  return frame.call_result == kNoValue && frame.raising.instruction < 0;
}

void CallForms::find_operator(CallTarget& target, PyObject* const* end, PyObject* self) const {
  PyObject* left = end[-2];
  PyObject* right = end[-1];
  if (self != left && self != right) {
    return;
  }
  const Instruction& instruction = instruction_at(current_);
  if (instruction.opcode == op::kCOMPARE_OP && version::compares_to_bool(instruction.arg)) {
    return;  // frames cannot be in front of the test of the result
  }
  const auto argument = static_cast<int>(rewriter::index_of(instruction.opcode, instruction.arg));
  const auto kind = instruction.opcode == op::kCOMPARE_OP ? OperatorKind::kCompare : OperatorKind::kBinary;
  if (!replay::is_operator_method(kind, argument, Py_TYPE(self), target.function)) {
    return;  // a finaliser of one operand runs; the other one may be gone
  }
  const ShadowFrame& caller = frames_.back();
  const bool is_next_attempt = caller.declined != kNotDeclined;
  const Attempts attempts = replay::attempts_of(kind, argument, left, right);
  for (int next = is_next_attempt ? caller.next_attempt : 0; next < static_cast<int>(attempts.size()); ++next) {
    const Attempt& attempt = attempts[static_cast<std::size_t>(next)];
    PyObject* method = attempt.method == nullptr ? nullptr : look_up(Py_TYPE(attempt.receiver), attempt.method);
    if (method == nullptr && (attempt.method != nullptr || attempt.has_no_user_code)) {
      continue;
    }
    look_up(Py_TYPE(attempt.other), "__class__");
    if (method != target.function || attempt.receiver != self || !has_version(Py_TYPE(left)) ||
        !has_version(Py_TYPE(right)) || (is_next_attempt && method != caller.next_method)) {
      return;
    }
    target.form = CallForm::kSpecial;
    target.operands = 2;
    target.returns = ReturnKind::kOperator;
    target.operation = Operator{kind, argument, next, attempt.negates}.number();
    target.order = attempt.is_right ? std::vector<int>{1, 0} : std::vector<int>{0, 1};
    target.is_guarded = is_next_attempt;
    return;
  }
}

void CallForms::find_truth(CallTarget& target, PyObject* operand, PyObject* self) const {
  if (operand != self) {
    return;
  }
  const Instruction& instruction = instruction_at(current_);
  const bool by_length = look_up(Py_TYPE(self), "__bool__") == nullptr;
  const PyNumberMethods* numbers = Py_TYPE(self)->tp_as_number;
  if (!is_method(self, by_length ? "__len__" : "__bool__", target.function) ||
      (by_length && numbers != nullptr && numbers->nb_bool != nullptr)) {
    return;
  }
  target.form = CallForm::kSpecial;
  target.operands = 1;
  target.order = {0};
  if (instruction.opcode == op::kUNARY_NOT || instruction.opcode == op::kTO_BOOL) {
    const bool negates = instruction.opcode == op::kUNARY_NOT;
    target.returns = ReturnKind::kChecked;
    target.operation = static_cast<int>(by_length ? negates ? SlotCheck::kLengthNot : SlotCheck::kLengthTruth
                                        : negates ? SlotCheck::kNot
                                                  : SlotCheck::kTruth);
    return;
  }
  const TruthJump jump = truth_jump(instruction.opcode).value_or(TruthJump());
  replay::Branch branch;
  branch.target = instruction.target;
  branch.jumps_if_true = jump.if_true;
  branch.keeps_when_taken = jump.keeps_when_taken;
  branch.by_length = by_length;
  target.returns = ReturnKind::kBranch;
  target.operation = branch.number();
}

// f"{value}" calls __format__. object's own __format__ calls __str__, and object's own __str__ calls __repr__.
void CallForms::find_format(CallTarget& target, PyObject* const* end, PyObject* self) const {
  constexpr unsigned kConversion = 3;
  constexpr unsigned kAsRepresentation = 2;
  constexpr unsigned kHasFormat = 4;
  const rewriter::Opcode opcode = instruction_at(current_).opcode;
  const bool only_converts = opcode == op::kCONVERT_VALUE;
  const unsigned flags = opcode == op::kFORMAT_SIMPLE      ? 0
                         : opcode == op::kFORMAT_WITH_SPEC ? kHasFormat
                                                           : instruction_at(current_).arg;
  const bool has_format = (flags & kHasFormat) != 0;
  target.operands = has_format ? 2 : 1;
  if (end[-target.operands] != self) {
    return;
  }
  const unsigned conversion = flags & kConversion;
  PyTypeObject* type = Py_TYPE(self);
  const auto accept = [&](SlotCheck check, std::vector<int> order) {
    target.form = CallForm::kSpecial;
    target.order = std::move(order);
    target.returns = ReturnKind::kChecked;
    target.operation = static_cast<int>(check);
  };
  if (conversion == 0 && !is_default(type, "__format__")) {
    if (is_method(self, "__format__", target.function)) {
      static PyObject* const empty = PyUnicode_FromString("");
      accept(SlotCheck::kFormat, has_format ? std::vector<int>{0, 1} : std::vector<int>{0});
      target.object = has_format ? nullptr : empty;
    }
    return;
  }
  if (has_format) {
    return;  // the result is formatted again
  }
  const bool by_representation = conversion == kAsRepresentation || is_default(type, "__str__");
  if (conversion <= kAsRepresentation && is_method(self, by_representation ? "__repr__" : "__str__", target.function)) {
    const auto converted = conversion == kAsRepresentation
                               ? only_converts ? SlotCheck::kRepresentation : SlotCheck::kFormattedRepresentation
                           : only_converts ? SlotCheck::kString
                                           : SlotCheck::kFormatted;
    accept(conversion == 0 ? SlotCheck::kString : converted, {0});
  }
}

void CallForms::find_builtin(CallTarget& target, PyObject* callable, PyObject* self) const {
  const char* method = nullptr;
  auto check = SlotCheck::kAnything;
  if (callable == reinterpret_cast<PyObject*>(&PyBool_Type)) {
    const bool by_length = look_up(Py_TYPE(self), "__bool__") == nullptr;
    const PyNumberMethods* numbers = Py_TYPE(self)->tp_as_number;
    if (by_length && numbers != nullptr && numbers->nb_bool != nullptr) {
      return;
    }
    method = by_length ? "__len__" : "__bool__";
    check = by_length ? SlotCheck::kLengthTruth : SlotCheck::kTruth;
  } else if (callable == reinterpret_cast<PyObject*>(&PyUnicode_Type)) {
    method = is_default(Py_TYPE(self), "__str__") ? "__repr__" : "__str__";
    check = SlotCheck::kString;
  } else if (const Builtin* row = builtin_of(callable)) {
    method = row->method;
    check = row->check;
  }
  if (method == nullptr || !is_method(self, method, target.function)) {
    return;
  }
  target.form = CallForm::kBuiltin;
  target.object = callable;
  target.returns = ReturnKind::kChecked;
  target.operation = static_cast<int>(check);
}

// Attribute methods of the owner's class, and descriptors in the owner's class.
void CallForms::find_attribute(CallTarget& target, PyObject* const* end, cpython::Frame* callee) const {
  const Instruction& instruction = instruction_at(current_);
  PyObject* owner = end[-1];
  PyObject* text = name_of(instruction);
  const PyCodeObject* code = cpython::code_of(callee);
  const bool reads = loads_attribute(instruction.opcode);
  const bool stores = instruction.opcode == op::kSTORE_ATTR;
  PyObject** slots = cpython::locals_of(callee);
  // A finaliser starts when the instruction has released its owner; then the slot must not be looked into.
  if (code->co_argcount < 2 || (code->co_argcount < 3 && stores) || (slots[0] != owner && slots[1] != owner)) {
    return;
  }
  if (PyObject* own = cpython::dict_of_instance(owner); own != nullptr && cpython::asks_keys(own, text)) {
    return;
  }
  if (slots[0] == owner && slots[1] == text) {
    PyTypeObject* type = Py_TYPE(owner);
    if (!reads) {
      if (type->tp_setattro == replay::overloading_type()->tp_setattro &&
          is_method(owner, stores ? "__setattr__" : "__delattr__", target.function)) {
        target.form = CallForm::kHook;
        target.returns = ReturnKind::kDiscard;
      }
      return;
    }
    const bool is_fallback = look_up(type, "__getattr__") != nullptr;
    // With both methods, or after a property that has raised, the second method is called.
    const bool is_plain =
        is_fallback ? is_default(type, "__getattribute__") && _PyType_Lookup(type, text) == nullptr : true;
    if (is_plain && type->tp_getattro != PyObject_GenericGetAttr &&
        is_method(owner, is_fallback ? "__getattr__" : "__getattribute__", target.function)) {
      target.form = CallForm::kHook;
      target.returns = version::kGetterErrorsGetName || is_fallback ? ReturnKind::kAttribute : ReturnKind::kPlain;
      target.operation = static_cast<int>(rewriter::index_of(instruction.opcode, instruction.arg));
      target.is_fallback = is_fallback;
    }
    return;
  }
  if (slots[1] != owner) {
    return;
  }
  PyTypeObject* type = Py_TYPE(owner);
  PyObject* descriptor = slots[0];
  const char* method = reads ? "__get__" : stores ? "__set__" : "__delete__";
  if ((reads ? type->tp_getattro != PyObject_GenericGetAttr : type->tp_setattro != PyObject_GenericSetAttr) ||
      _PyType_Lookup(type, text) != descriptor || !has_version(type) ||
      !is_method(descriptor, method, target.function)) {
    return;
  }
  target.form = CallForm::kDescriptor;
  target.object = descriptor;
  target.returns = reads ? ReturnKind::kPlain : ReturnKind::kDiscard;
  if (reads && !loads_method(instruction)) {
    target.returns = ReturnKind::kAttribute;
    target.operation = static_cast<int>(rewriter::index_of(instruction.opcode, instruction.arg));
  }
}

void CallForms::find_spread(CallTarget& target, PyObject* const* operands, cpython::Frame* callee) const {
  PyObject* callable = operands[1 - kNullSlot];
  const ShadowFrame& caller = frames_.back();
  PyObject* self = cpython::slot_count(cpython::code_of(callee)) > 0 ? cpython::locals_of(callee)[0] : nullptr;
  CallForm form = CallForm::kNone;
  if (callable != caller.callable) {
    return;  // the call is over
  }
  if (callable == target.function) {
    form = CallForm::kSpread;
  } else if (target.function == caller.called) {
    form = PyMethod_Check(callable) ? CallForm::kSpreadBound : CallForm::kNone;
  } else if (self != nullptr && self == callable) {
    form = is_method(self, "__call__", target.function) ? CallForm::kSpreadCallable : CallForm::kNone;
  } else if (self != nullptr && reinterpret_cast<PyObject*>(Py_TYPE(self)) == callable) {
    form = is_plain_class(callable, target.function) ? CallForm::kSpreadClass : CallForm::kNone;
  }
  // The instruction has converted arguments that are not a tuple, and the object in this slot may be dead.
  const std::size_t first = caller.stack.size() - static_cast<std::size_t>(target.operands);
  const auto has_seen = [&](std::size_t place, const PyTypeObject* type) {
    return abstract(caller.stack[first + place]).seen == type;
  };
  if (form == CallForm::kNone || !has_seen(2, &PyTuple_Type)) {
    return;
  }
  if (target.operands > 3) {
    target.keywords = has_seen(3, &PyDict_Type) ? names_in(operands[3]) : Ref();
    if (!target.keywords) {
      return;
    }
  }
  target.form = form;
  target.object = callable;
  target.returns = form == CallForm::kSpreadClass ? ReturnKind::kNone : ReturnKind::kPlain;
}

}  // namespace tagalong::recorder
