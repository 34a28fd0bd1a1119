// From a recording to an executor: passes, lowering, estimate. What is done with the executor is policy
// (policy/recording_policy.h).
#pragma once

#include <memory>

#include "recorder/trace/recorded.h"
#include "runtime/entries/entry_table.h"
#include "runtime/policy/recording_policy.h"

namespace tagalong::runtime {

struct Synthesis {
  std::shared_ptr<replay::Executor> executor;  // null: there is a failure
  Failure failure = Failure::kNone;
};

// Takes graph and shapes out of the recording. The executor is not attached to the entry.
[[nodiscard]] Synthesis synthesise(recorder::Recorded& recorded, const Entry& entry);

}  // namespace tagalong::runtime
