#include "runtime/records/synthesis.h"

#include <algorithm>
#include <utility>

#include "replay/ir/printer.h"
#include "replay/ir/stages.h"
#include "replay/passes/optimise.h"
#include "runtime/policy/cost_model.h"

namespace tagalong::runtime {
namespace {

// A trace that starts at a loop's header and does not come back to it is only the last round, which comes once.
bool is_useful(const recorder::Recorded& recorded, const Entry& entry) {
  if (recorded.stop == recorder::Stop::k_internal || !recorded.useful) {
    return false;
  }
  if (!entry.is(Entry::Kind::kHeader)) {
    return true;
  }
  const replay::Node& last = recorded.graph.nodes.back();
  if (last.op == replay::Op::link) {
    const int end = recorded.graph.snapshots[static_cast<std::size_t>(last.snapshot)].instruction;
    return entry.place.first <= end && end <= entry.place.resume;
  }
  return last.op == replay::Op::jump_back || last.op == replay::Op::leave;
}

// Faults are for scripts/bisect_replay.py.
void optimise_graph(replay::Graph& graph) {
  if (replay::is_faulty(replay::Stage::recording)) [[unlikely]] {
    replay::make_faulty(graph);
  }
  if (replay::is_faulty(replay::Stage::inlining)) [[unlikely]] {
    replay::make_faulty(graph, 1);
  }
  replay::optimise(graph);
}

bool has_graph(const Entry& entry, const replay::Graph& graph) {
  return std::ranges::any_of(entry.executors,
                             [&graph](const auto& known) { return replay::same_graph(known->graph(), graph); });
}

}  // namespace

Synthesis synthesise(recorder::Recorded& recorded, const Entry& entry) {
  if (!is_useful(recorded, entry)) {
    return {nullptr, Failure::kUseless};
  }
  if (recorded.has_lost) {
    return {nullptr, Failure::kObjectDied};
  }
  optimise_graph(recorded.graph);
  if (has_graph(entry, recorded.graph)) {
    return {nullptr, Failure::kKnown};
  }
  auto executor = replay::Executor::lower(std::move(recorded.graph), std::move(recorded.shapes), entry.place.first);
  if (executor->is_dead()) {
    return {nullptr, Failure::kObjectDied};
  }
  if (!replay::is_on(replay::Stage::replaying)) {
    return {nullptr, Failure::kNoReplays};
  }
  if (replay::is_faulty(replay::Stage::replaying)) [[unlikely]] {
    executor->make_faulty();
  }
  executor->set_gain(gain_of(*executor, recorded.largest_array), exit_losses(*executor, recorded.largest_array));
  return {std::move(executor)};
}

}  // namespace tagalong::runtime
