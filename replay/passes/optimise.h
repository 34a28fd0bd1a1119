// All passes in a good order, again as long as they find something. The graph must be right (verify()); it stays so,
// and shows the same effects, results and exits. In builds with TAGALONG_CHECKS the verifier runs after every pass. It
// adds no assumption that a guard of the graph does not check. Numbers of values and snapshots change (compact.h). A
// Python exception that is set stays set.
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

// Makes a subtraction of each addition, or of those in frames from `first_frame` on: the fault of a stage that is to
// be found (StageSwitch::kFaulty).
void make_faulty(Graph& graph, std::int32_t first_frame = 0);

}  // namespace tagalong::replay
