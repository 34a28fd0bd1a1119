// The guards of an executor's entry check on single values of the frame, which are checked before a run is set up:
// where a place has many executors, most of them miss here.
#include <unordered_map>

#include "replay/executor/executor.h"
#include "replay/objects/guards.h"

namespace tagalong::replay {

void Executor::learn_entry_check() {
  std::unordered_map<std::int32_t, std::int32_t> slots;  // of parameters, by register
  for (std::size_t number = 0; number < program_.steps.size() && program_.steps[number].in_entry_check; ++number) {
    const Step& guard = program_.steps[number];
    if (guard.op == Op::param) {
      slots.emplace(guard.result, guard.immediate);
    }
    if (!has(guard.op, trait::kOneOperand)) {
      continue;
    }
    const std::int32_t place = program_.registers_used[guard.operands];
    if (const auto parameter = slots.find(place); parameter != slots.end()) {
      slot_guards_.push_back({parameter->second, static_cast<std::uint32_t>(number)});
    }
  }
}

bool Executor::misses(PyObject* const* slots) const {
  for (const auto& [slot, number] : slot_guards_) {
    const Step& guard = program_.steps[number];
    if (!guard_holds(guard.op, slots[slot], guard.object, guard.immediate)) {
      ++guard.failures;
      return true;
    }
  }
  return false;
}

}  // namespace tagalong::replay
