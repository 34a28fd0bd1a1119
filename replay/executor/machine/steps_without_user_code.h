// Steps that may run user code, but do not with the operands at hand: they call none, make nothing for which the
// collector may run now, and drop nothing whose end is noticed. The frames need not be shown before them. What such a
// step raises is shown where it is raised.
#pragma once

#include "replay/executor/machine/run_state.h"

namespace tagalong::replay {

[[nodiscard]] bool operator_runs_no_user_code(const RunState& state, const Step& step, PyObject* left, PyObject* right);
[[nodiscard]] bool container_runs_no_user_code(const RunState& state, const Step& step, const std::int32_t* operands);
// Takes the next item without running user code, and does not end the container that it iterates over.
[[nodiscard]] bool next_runs_no_user_code(const RunState& state, PyObject* iterator);

}  // namespace tagalong::replay
