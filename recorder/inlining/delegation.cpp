// Generators and coroutines that are not resumed by a `for`: `yield from` and `await` (SEND), and calls of the method
// send().
#include <algorithm>
#include <utility>

#include "recorder/inlining/generators.h"
#include "rewriter/base/errors.h"
#include "rewriter/base/once.h"
#include "rewriter/cpython/generators.h"

namespace tagalong::recorder {

namespace op = rewriter::op;
using replay::ReturnKind;

namespace {

constexpr int kOperandsOfSend = 3;  // method, generator, value

// The method descriptors of generator.send and coroutine.send.
bool is_send_method(const PyObject* object) {
  static PyObject* text = nullptr;
  PyObject* name = cpython::once(text, [] { return PyUnicode_InternFromString("send"); });
  if (name == nullptr) {
    throw PythonError();
  }
  return object != nullptr &&
         (object == _PyType_Lookup(&PyGen_Type, name) || object == _PyType_Lookup(&PyCoro_Type, name));
}

}  // namespace

// As in find_target(), operands are compared and not looked into: they may be dead if the callee is another function.
Generators::Resumption Generators::find_resumption(cpython::Frame* callee, int instruction) {
  Resumption found;
  switch (instruction_at(instruction).opcode) {
    case op::kFOR_ITER:
      found = {ReturnKind::kGenerator, 1, 0};
      break;
    case op::kSEND:
      found = {ReturnKind::kDelegation, 2, 1};
      break;
    case op::kCALL:
      found = {ReturnKind::kSend, 2, kOperandsOfSend};
      break;
    default:
      return {};
  }
  const Values& stack = top().stack;
  const auto depth =
      static_cast<std::size_t>(top().code->decoded->shape->depths[static_cast<std::size_t>(instruction)]);
  PyObject* const* end = cpython::stack_base(top().live) + depth;
  PyObject* generator = cpython::generator_of(callee);
  if (generator == nullptr || depth < static_cast<std::size_t>(std::max(found.place, found.pops)) ||
      depth != stack.size() || end[-found.place] != generator) {
    return {};
  }
  const AbstractValue& known = abstract(stack[depth - static_cast<std::size_t>(found.place)]);
  if (known.is_null || (known.seen != &PyGen_Type && known.seen != &PyCoro_Type) ||
      (found.kind == ReturnKind::kSend && !is_send_method(end[-kOperandsOfSend]))) {
    return {};
  }
  return found;
}

Value Generators::guard_resumption(const Resumption& resumption, int entry, SnapshotId here) {
  if (resumption.kind == ReturnKind::kGenerator) {
    return constant(Py_None);
  }
  const Values stack = top().stack;
  if (resumption.kind == ReturnKind::kSend) {
    PyObject* method = cpython::stack_base(top().live)[stack.size() - kOperandsOfSend];
    emit(Op::guard_is, {stack[stack.size() - kOperandsOfSend]}, here, 0, Ref::create(method));
  }
  if (entry == 0 && stack.back() != constant(Py_None)) {
    emit(Op::guard_is, {stack.back()}, here, 0, Ref::create(Py_None));
  }
  return stack.back();
}

void Generators::finish_delegation() {
  if (top().call_result != replay::kNoValue && top().call_kind == ReturnKind::kDelegation) {
    const int instruction = std::exchange(current_, top().call_instruction);
    finish_inlined();
    note(top().stack.back(), live_stack(0));
    current_ = instruction;
  }
}

}  // namespace tagalong::recorder
