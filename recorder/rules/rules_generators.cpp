// Rules: generators, coroutines, asynchronous iteration. The trace of a frame that suspends ends at its yield, which
// the interpreter performs itself: what the generator object and its consumer see is its doing.
#include <utility>

#include "recorder/session.h"

namespace tagalong::recorder {

void Session::yield_value(const Instruction& /*instruction*/) {
  if (frames_.size() > 1) {
    return yield_to_consumer();
  }
  emit(Op::yield_value, {top().stack.back()}, snapshot_at(current_, top().stack));
  finish({});
}

// SEND: what was sent dies first, then, if it has returned, the receiver.
void Session::settle_send(const Instruction& instruction, bool returned) {
  const SnapshotId here = snapshot();
  const Value sent = pop();
  Values other = top().stack;
  const Value receiver = other.back();
  const Value yielded = emit(Op::send, {receiver, sent}, here);
  const Value result = yielded + 1;
  if (returned) {
    other.push_back(yielded);
    emit(Op::guard_null, {yielded}, snapshot_at(current_ + 1, other));
    pop();
    hold(result);
    push(result);
    release(sent);
    release(receiver);
  } else {
    other.back() = result;
    emit(Op::guard_not_null, {yielded}, snapshot_at(instruction.target, other));
    hold(yielded);
    push(yielded);
    note(yielded, live_stack(0));
    release(sent);
  }
  flush_drops();
}

void Session::get_yield_from_iter(const Instruction& /*instruction*/) {
  if (!is_before_) {
    const int flags = top().code->decoded->shape->code->co_flags;
    produce(Op::get_yield_from_iter, 1, (flags & (CO_COROUTINE | CO_ITERABLE_COROUTINE)) != 0 ? 1 : 0);
  }
}

void Session::get_awaitable(const Instruction& instruction) {
  if (!is_before_) {
    produce(Op::get_awaitable, 1, instruction.arg);
  }
}

void Session::get_aiter(const Instruction& /*instruction*/) {
  if (!is_before_) {
    produce(Op::get_aiter, 1);
  }
}

void Session::get_anext(const Instruction& /*instruction*/) {
  if (!is_before_) {
    produce_keeping(Op::get_anext, 1);
  }
}

// The handler of an `async for`: StopAsyncIteration ends the loop, anything else is raised again.
void Session::end_async_for(const Instruction& /*instruction*/) {
  if (is_before_) {
    if (PyErr_GivenExceptionMatches(live_stack(0), PyExc_StopAsyncIteration) == 0) {
      top().raising.instruction = current_;
    }
    return;
  }
  guard_stop_async_iteration(true);
  release(pop());
  release(pop());
  flush_drops();
}

void Session::guard_stop_async_iteration(bool matches) {
  const SnapshotId here = snapshot();
  const Value found = emit(Op::check_exc_match, {top().stack.back(), constant(PyExc_StopAsyncIteration)}, here);
  hold(found);
  emit(matches ? Op::guard_true : Op::guard_false, {found}, here);
  release(found);
  flush_drops();
}

void Session::before_async_with(const Instruction& /*instruction*/) {
  if (!is_before_) {
    enter_manager(Op::before_async_with);
  }
}

void Session::async_gen_wrap(const Instruction& /*instruction*/) {
  if (!is_before_) {
    produce(Op::async_gen_wrap, 1);
  }
}

}  // namespace tagalong::recorder
