// Boxing: objects for the unboxed numbers of a loop, made where code can see them, once each.
#pragma once

#include "replay/executor/machine/run_state.h"

namespace tagalong::replay {

// The object of the register, made from its number if there is none yet. Borrowed; null: no memory, the exception is
// set.
PyObject* box(RunState& state, std::int32_t place);
// The same for a frame that shows the number, which must not fail: without memory it comes from the reserve
// (emergency.h), or the frame shows None and the run raises MemoryError when it leaves. Leaves a pending exception as
// it is.
void box_for_frame(RunState& state, std::int32_t place);
// For a step that takes the object. False: no memory, the exception is set. A step without a snapshot cannot raise, so
// it takes a number of the reserve.
bool box_for_step(RunState& state, const Step& step, std::int32_t place);
// All numbers that the snapshot shows. `leaves`: as box_for_frame. False: no memory.
bool box_all(RunState& state, const LoweredSnapshot& snapshot, bool leaves = false);

// Results of steps without a snapshot in which they could raise: small objects, from the reserve if there is no memory.
StepResult store_int(RunState& state, const Step& step, std::int64_t number);
StepResult store_cell(RunState& state, const Step& step, PyObject* content);

}  // namespace tagalong::replay
