// What an executor's entry check says of the values in the frame alone, asked before a run is set up. Where a place has
// many executors, most of them miss there.
#include <algorithm>

#include "replay/executor.h"
#include "replay/guards.h"

namespace tagalong::replay {

void Executor::learn_entry_check() {
  for (std::size_t number = 0; number < steps_.size() && steps_[number].in_entry_check; ++number) {
    const Step& guard = steps_[number];
    if (!looks_at_its_value_only(guard.op)) {
      continue;
    }
    const std::int32_t place = registers_used_[guard.operands];
    const auto end = steps_.begin() + static_cast<std::ptrdiff_t>(number);
    const auto parameter = std::find_if(
        steps_.begin(), end, [place](const Step& step) { return step.op == Op::param && step.result == place; });
    if (parameter != end) {
      slot_guards_.push_back({parameter->immediate, static_cast<std::uint32_t>(number)});
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
