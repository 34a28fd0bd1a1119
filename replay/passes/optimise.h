// Runs all passes in order, repeatedly while they change something. The graph must be valid (verify()); it stays valid
// and keeps its effects, results and side exits. In builds with TAGALONG_CHECKS the verifier runs after every pass. No
// pass relies on anything that the graph does not guard. Numbers of values and snapshots change (compact.h). A pending
// Python exception is preserved.
//
//   optimise(graph);
#pragma once

#include <span>
#include <string_view>

#include "replay/ir/graph.h"
#include "replay/ir/stages.h"

namespace tagalong::replay {

struct Pass {
  std::string_view name;
  bool (*run)(Graph&);  // true: something changed
  Stage stage;          // the switch that turns the pass off
};

// In the order in which optimise() runs them.
[[nodiscard]] std::span<const Pass> passes();
void optimise(Graph& graph);

// Turns each addition into a subtraction, or each one in frames from `first_frame` on: the fault that a faulty stage
// has on purpose (StageSwitch::kFaulty).
void make_faulty(Graph& graph, std::int32_t first_frame = 0);

}  // namespace tagalong::replay
