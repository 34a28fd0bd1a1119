// A slow, simple machine that runs graphs of generate_graph() in a small world of its own: globals, defaults and calls
// that change them, objects that write to a log (and change the globals) when they die. The returned text contains
// everything that a program could see: the log of effects, then the result or the exit with its frames.
//
//   std::string what_happened = run_graph(graph, seed_of_the_world);
#pragma once

#include <string>

#include "replay/ir/graph.h"

namespace tagalong::replay {

[[nodiscard]] std::string run_graph(const Graph& graph, int seed);

}  // namespace tagalong::replay
