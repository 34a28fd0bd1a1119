// Random graphs for tests: valid by construction (verify() finds nothing), with many repetitions, drops, guards,
// effects and inlined frames. The same seed gives the same graph.
//
//   Graph graph = generate_graph(seed, 40);
#pragma once

#include <cstdint>

#include "replay/ir/graph.h"

namespace tagalong::replay {

[[nodiscard]] Graph generate_graph(std::uint32_t seed, int nodes);

}  // namespace tagalong::replay
