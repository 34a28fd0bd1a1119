#include "recorder/rules/generator_rules.h"

#include <utility>

namespace tagalong::recorder {

void GeneratorRules::yield_value(const Instruction& /*instruction*/) {
  if (frames_.size() > 1) {
    return yield_to_consumer();
  }
  emit(Op::yield_value, {top().stack.back()}, snapshot_at(current_, top().stack));
  finish_trace();
}

void GeneratorRules::get_yield_from_iter(const Instruction& /*instruction*/) {
  if (!is_before_) {
    const int flags = top().code->decoded->shape->code->co_flags;
    produce(Op::get_yield_from_iter, 1, (flags & (CO_COROUTINE | CO_ITERABLE_COROUTINE)) != 0 ? 1 : 0);
  }
}

void GeneratorRules::get_awaitable(const Instruction& instruction) {
  if (!is_before_) {
    produce(Op::get_awaitable, 1, instruction.arg);
  }
}

void GeneratorRules::get_aiter(const Instruction& /*instruction*/) {
  if (!is_before_) {
    produce(Op::get_aiter, 1);
  }
}

void GeneratorRules::get_anext(const Instruction& /*instruction*/) {
  if (!is_before_) {
    produce_keeping(Op::get_anext, 1);
  }
}

// The handler of an `async for`: StopAsyncIteration ends the loop; any other exception is raised again.
void GeneratorRules::end_async_for(const Instruction& /*instruction*/) {
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

void GeneratorRules::guard_stop_async_iteration(bool matches) {
  const SnapshotId here = snapshot();
  const Value found = emit(Op::check_exc_match, {top().stack.back(), constant(PyExc_StopAsyncIteration)}, here);
  hold(found);
  emit(matches ? Op::guard_true : Op::guard_false, {found}, here);
  release(found);
  flush_drops();
}

void GeneratorRules::before_async_with(const Instruction& /*instruction*/) {
  if (!is_before_) {
    enter_manager(Op::before_async_with);
  }
}

void GeneratorRules::async_gen_wrap(const Instruction& /*instruction*/) {
  if (!is_before_) {
    produce(Op::async_gen_wrap, 1);
  }
}

}  // namespace tagalong::recorder
