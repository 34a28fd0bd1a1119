// A graph as a callable object, for the code of a single recording: it is called with the tuple of the root's inputs
// and replays the graph, or raises GuardFailed.
#pragma once

#include <memory>
#include <vector>

#include "replay/executor/executor.h"
#include "runtime/base/events.h"

namespace tagalong::runtime {

// `function`: the root's function; `slots`: the local slots of the tuple's items. Throws PythonError.
Ref make_graph_object(std::shared_ptr<const replay::Executor> executor, const Ref& function, std::vector<int> slots,
                      std::shared_ptr<Counters> counters);

// The exception GuardFailed (attributes guard, value); borrowed.
PyObject* guard_failed_type();

// Raises it; `value` may be null.
void raise_guard_failed(const char* text, PyObject* value);

}  // namespace tagalong::runtime
