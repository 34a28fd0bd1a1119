#include "replay/passes/optimise.h"

#include <fmt/format.h>
#include <opcode.h>

#include <array>
#include <vector>

#include "replay/ir/printer.h"
#include "replay/ir/stages.h"
#include "replay/ir/verifier.h"
#include "replay/passes/compact.h"
#include "replay/passes/cse.h"
#include "replay/passes/dce.h"
#include "replay/passes/drops.h"
#include "replay/passes/fold.h"
#include "replay/passes/groups.h"
#include "replay/passes/guards.h"
#include "rewriter/base/errors.h"
#include "rewriter/base/pending_error.h"

namespace tagalong::replay {
namespace {

// Merging reveals constants to folding, folding reveals dead nodes, and dead nodes take away drops between two reads.
// So the passes repeat; three rounds suffice for nearly all graphs, and the limit is a safeguard.
constexpr std::size_t kMaxRounds = 8;

constexpr std::array kPasses = {
    Pass{"cse", merge_common, Stage::cse},
    Pass{"fold", fold, Stage::fold},
    Pass{"guards", drop_known_guards, Stage::guards},
    Pass{"dce", remove_dead, Stage::dce},
    Pass{"drops", keep_last_drops, Stage::drops},
    Pass{"compact", compact, Stage::compact},
    Pass{"groups", form_groups, Stage::fusion_groups},
};
// The last two passes need the graph as lowering will see it, so they run once.
constexpr std::size_t kRepeated = kPasses.size() - 2;

bool run(const Pass& pass, Graph& graph) {
  if (!is_on(pass.stage)) {
    return false;
  }
  const bool changed = pass.run(graph);
  if (is_faulty(pass.stage)) [[unlikely]] {
    make_faulty(graph);
  }
#ifdef TAGALONG_CHECKS
  const std::vector<std::string> problems = verify(graph);
  TAGALONG_CHECK(problems.empty(), "the graph is broken after {}:\n{}\n{}", pass.name, fmt::join(problems, "\n"),
                 print(graph));
#endif
  return changed;
}

}  // namespace

void make_faulty(Graph& graph, std::int32_t first_frame) {
  std::int32_t frame = 0;
  for (Node& node : graph.nodes) {
    frame = node.snapshot == kNoSnapshot ? frame : graph.snapshots[static_cast<std::size_t>(node.snapshot)].frame;
    const bool is_binary = node.op == Op::binary_op || node.op == Op::int_binary || node.op == Op::float_binary;
    if (is_binary && frame >= first_frame && (node.immediate == NB_ADD || node.immediate == NB_INPLACE_ADD)) {
      node.immediate += NB_SUBTRACT - NB_ADD;
    }
  }
}

std::span<const Pass> passes() { return kPasses; }

void optimise(Graph& graph) {
  const PendingError pending;  // evaluating constants clears errors of its own
  // Repeats until every pass in turn has changed nothing.
  std::size_t idle = 0;
  for (std::size_t turn = 0; idle < kRepeated && turn < kMaxRounds * kRepeated; ++turn) {
    idle = run(kPasses.at(turn % kRepeated), graph) ? 0 : idle + 1;
  }
  for (std::size_t last = kRepeated; last < kPasses.size(); ++last) {
    run(kPasses.at(last), graph);
  }
}

}  // namespace tagalong::replay
