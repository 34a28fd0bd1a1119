// What an executor's entry check says of the values in the frame alone, asked before a run is set up. Where a place has
// many executors, most of them miss there.
#include <unordered_map>

#include "replay/executor/executor.h"
#include "replay/objects/guards.h"

namespace tagalong::replay {

void Executor::learn_entry_check() {
  std::unordered_map<std::int32_t, std::int32_t> slots;  // of parameters, by register
  for (std::size_t number = 0; number < steps_.size() && steps_[number].in_entry_check; ++number) {
    const Step& guard = steps_[number];
    if (guard.op == Op::param) {
      slots.emplace(guard.result, guard.immediate);
    }
    if (!has(guard.op, trait::kOneOperand)) {
      continue;
    }
    const std::int32_t place = registers_used_[guard.operands];
    if (const auto parameter = slots.find(place); parameter != slots.end()) {
      slot_guards_.push_back({parameter->second, static_cast<std::uint32_t>(number)});
    }
  }
}

bool Executor::misses(PyObject* const* slots) const {
  for (const auto& [slot, number] : slot_guards_) {
    const Step& guard = steps_[number];
    if (!guard_holds(guard.op, slots[slot], guard.object, guard.immediate)) {
      ++guard.failures;
      return true;
    }
  }
  return false;
}

}  // namespace tagalong::replay
