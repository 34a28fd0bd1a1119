#include "runtime/worth.h"

#include <algorithm>
#include <cstdint>

namespace tagalong::runtime {
namespace {

using replay::LoopCode;
using replay::Op;

constexpr int kEntry = -60;
constexpr int kStitch = -30;
constexpr int kExit = -120;    // the rest of the call is no faster, and somebody has to find the way there
constexpr int kLanding = -60;  // a trace that ends at a yield, or goes on as written
constexpr int kGuard = -4;
constexpr int kOperation = -12;
constexpr int kArrayOperation = 200;  // of small arrays; large ones gain more
constexpr int kRawOperation = 5;      // on numbers without objects
constexpr int kBoxing = -15;

int worth_of(const replay::Node& node) {
  switch (node.op) {
    case Op::constant:
    case Op::null:
    case Op::function:
    case Op::param:
    case Op::drop:
    case Op::sync_local:
    case Op::leave_frame:
    case Op::loop:
      return 0;
    case Op::array_binary:
    case Op::array_unary:
    case Op::array_compare:
    case Op::array_call:
      return kArrayOperation;
    default:
      return node.info().is_guard() ? kGuard : kOperation;
  }
}

int worth_of(const replay::LoopOp& operation, const replay::Executor& executor) {
  switch (operation.code) {
    case LoopCode::kStep: {
      const int worth =
          worth_of(executor.graph().nodes[static_cast<std::size_t>(executor.steps()[operation.step].node)]);
      return worth > 0 ? worth : worth + kRawOperation;  // no worse than outside of loops, and without its dispatch
    }
    case LoopCode::kBox:
      return kBoxing;
    case LoopCode::kClear:
    case LoopCode::kClearShown:
    case LoopCode::kMove:
    case LoopCode::kShare:
    case LoopCode::kSyncRaw:
    case LoopCode::kLeaveIfWatched:
      return 0;
    default:
      return kRawOperation;
  }
}

}  // namespace

replay::Worth worth_of(const replay::Executor& executor) {
  const replay::Graph& graph = executor.graph();
  replay::Worth worth{.straight = kEntry};
  std::size_t end = graph.nodes.size();
  const auto header = std::ranges::find_if(executor.steps(), &replay::Step::is_header);
  if (header != executor.steps().end()) {
    // What is behind it has been lowered to operations.
    end = static_cast<std::size_t>(header->node);
    for (const replay::LoopOp& operation : executor.loop().ops) {
      worth.round += worth_of(operation, executor);
    }
  }
  for (std::size_t place = 0; place < end; ++place) {
    worth.straight += worth_of(graph.nodes[place]);
  }
  worth.round = std::clamp(worth.round, -1000, 1000);
  return worth;
}

int worth_of(const replay::Run& run, replay::Outcome outcome, const replay::Worth& worth, bool is_stitched) {
  constexpr std::int64_t kMost = 1'000'000;
  int total = (is_stitched ? kStitch : worth.straight) + static_cast<int>(std::clamp(run.gain, -kMost, kMost));
  if (outcome == replay::Outcome::kLeft) {
    total += run.is_complete ? kLanding : kExit;
  }
  return total;
}

}  // namespace tagalong::runtime
