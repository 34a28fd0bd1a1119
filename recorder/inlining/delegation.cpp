// Generators and coroutines that are resumed otherwise than by a `for`: `yield from` and `await` (SEND), and send()
// called as a method. How they are reached, and what becomes of what they return.
#include <algorithm>
#include <utility>

#include "recorder/session.h"
#include "rewriter/base/errors.h"
#include "rewriter/base/once.h"
#include "rewriter/cpython/generators.h"

namespace tagalong::recorder {

namespace op = rewriter::op;
using replay::kNoSnapshot;
using replay::ReturnKind;

namespace {

constexpr int kOperandsOfSend = 3;  // method, generator, value

// The method descriptors that `generator.send` is.
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

// As in find_target(), operands are compared, not looked into: they may be dead when the callee is something else.
Session::Resumption Session::find_resumption(cpython::Frame* callee, int instruction) {
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

// What the generator is sent, after what else must hold so that it is resumed.
Value Session::guard_resumption(const Resumption& resumption, int entry, SnapshotId here) {
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

// In front of the yield that a SEND goes on to: the generator in the graph has yielded.
void Session::finish_delegation() {
  if (top().call_result != replay::kNoValue && top().call_kind == ReturnKind::kDelegation) {
    const int instruction = std::exchange(current_, top().call_instruction);
    finish_inlined();
    note(top().stack.back(), live_stack(0));
    current_ = instruction;
  }
}

void Session::return_to_consumer() {
  const SnapshotId at_return = snapshot_at(current_, top().stack);
  const Value value = pop();
  emit(Op::finish_generator, {value}, at_return, top().number);
  const ShadowFrame generator = std::move(frames_.back());
  let_go_of_generator(generator);
  current_ = top().call_instruction;
  switch (generator.return_kind) {
    case ReturnKind::kDelegation:
      release(pop());  // what was sent
      release(pop());
      push(value);
      break;
    case ReturnKind::kSend:
      emit(Op::raise_stop_iteration, {value}, kNoSnapshot);
      release(value);
      raise_in_caller();
      return;
    case ReturnKind::kConsumer:
      if (top().consuming.consumer == replay::Consumer::kNext) {
        abandon_consumer();
        emit(Op::raise_stop_iteration, {value}, kNoSnapshot);
        release(value);
        raise_in_caller();
        return;
      }
      release(value);
      return end_consumer();
    default:
      release(value);
      release(pop());  // the iterator
      break;
  }
  flush_drops();
  top().answered = current_;
  top().next = current_ = generator.operation;
}

}  // namespace tagalong::recorder
