// Rules: generators, coroutines, asynchronous iteration. The trace of a frame that suspends ends at its yield. The
// interpreter performs the yield, so the generator object and its consumer behave as in eager execution.
#pragma once

#include "recorder/rules/object_rules.h"

namespace tagalong::recorder {

class GeneratorRules : public ObjectRules {
 protected:
  using ObjectRules::ObjectRules;

  void yield_value(const Instruction&);
  void get_awaitable(const Instruction&);
  void get_yield_from_iter(const Instruction&);
  void get_aiter(const Instruction&);
  void get_anext(const Instruction&);
  void before_async_with(const Instruction&);
  void end_async_for(const Instruction&);
  void async_gen_wrap(const Instruction&);

  void guard_stop_async_iteration(bool matches);
};

}  // namespace tagalong::recorder
