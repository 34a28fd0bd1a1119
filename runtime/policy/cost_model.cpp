#include "runtime/policy/cost_model.h"

#include <opcode.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace tagalong::runtime {
namespace {

using replay::LoopCode;
using replay::Op;

constexpr int kEntry = -60;
constexpr int kExit = -120;           // the rest of the call is no faster, and the frame has to be redirected
constexpr int kSideExit = -60;        // at the end of a trace: at a yield, or where the original instructions continue
constexpr int kLoopEntry = -100;      // in addition: unboxing, and the nodes in front of the header
constexpr int kLoopExit = -130;       // in addition: boxing, and filling the frame
constexpr int kFrame = -80;           // in addition, for each inlined call that gets a frame
constexpr int kArrayOperation = 200;  // of small arrays
constexpr int kLargeArrays = 512;     // elements
constexpr int kLargeOperation = 2'000;  // of arrays with at least kLargeArrays elements
constexpr int kScalarCall = -100;
constexpr int kSequenceItem = 3;  // from an iterator over a list or a tuple
constexpr int kIteration = -28;   // of other iterators: they may run user code

constexpr int kMostOfRound = 10'000;

// The gain of array operations in this executor.
struct Arrays {
  int operation = 0;
  bool take_parts = false;  // a fusion group uses subscripted parts of arrays without making objects
};

int gain_of(const replay::Node& node, const Arrays& arrays) {
  const int gain = node.info().gain;
  return gain == replay::kByArrays ? arrays.operation : gain;
}

// Of an operation in a loop that is executed as a step.
int gain_in_loop(const replay::Node& node, const Arrays& arrays) {
  constexpr int kPart = -5;
  if (arrays.take_parts && node.info().has(replay::trait::kPart)) {
    return kPart;
  }
  const int gain = node.info().loop_gain;
  return gain == replay::kByArrays ? arrays.operation : gain;
}

// Whether the step calls a ufunc with boxed numbers only: that is no array operation.
bool is_of_numbers(const replay::Node& node, const replay::LoopOp& operation, const replay::Executor& executor) {
  constexpr std::size_t kCallable = 2;
  if (node.op != Op::array_call || node.operands.size() <= kCallable) {
    return false;
  }
  const auto boxes = [&operation](const replay::LoopOp& other) {
    return other.code == LoopCode::kBox && other.step == operation.step;
  };
  return std::cmp_equal(std::ranges::count_if(executor.loop().ops, boxes), node.operands.size() - kCallable);
}

int gain_of(const replay::LoopOp& operation, const replay::Executor& executor, const Arrays& arrays) {
  const auto node_of = [&executor](std::size_t step) -> const replay::Node& {
    return executor.graph().nodes[static_cast<std::size_t>(executor.steps()[step].node)];
  };
  switch (const int gain = info(operation.code).gain) {
    case replay::kByStep: {
      const replay::Node& node = node_of(operation.step);
      return is_of_numbers(node, operation, executor) ? kScalarCall : gain_in_loop(node, arrays);
    }
    case replay::kByIterator: {
      const bool is_sequence = node_of(static_cast<std::size_t>(operation.right)).immediate != 0;
      return is_sequence ? kSequenceItem : kIteration;
    }
    default:
      return gain;
  }
}

Arrays arrays_of(const replay::Executor& executor, std::int64_t largest_array) {
  constexpr int kFusionGroup = 2;  // operations at least
  const auto may_be_fused = [&executor](const replay::LoopOp& operation) {
    const replay::Node& node = executor.graph().nodes[static_cast<std::size_t>(executor.steps()[operation.step].node)];
    const bool is_product = node.op == Op::array_binary &&
                            (node.immediate == NB_MATRIX_MULTIPLY || node.immediate == NB_INPLACE_MATRIX_MULTIPLY);
    return operation.code == LoopCode::kStep && node.info().has(replay::trait::kArrays) && !is_product &&
           !is_of_numbers(node, operation, executor);
  };
  return {.operation = largest_array < kLargeArrays ? kArrayOperation : kLargeOperation,
          .take_parts = std::ranges::count_if(executor.loop().ops, may_be_fused) >= kFusionGroup};
}

}  // namespace

replay::Gain gain_of(const replay::Executor& executor, std::int64_t largest_array) {
  const Arrays arrays = arrays_of(executor, largest_array);
  const replay::Graph& graph = executor.graph();
  replay::Gain gain{.straight = kEntry};
  std::size_t end = graph.nodes.size();
  const auto header = std::ranges::find_if(executor.steps(), &replay::Step::is_header);
  if (header != executor.steps().end()) {
    // The nodes behind it were lowered to operations.
    end = static_cast<std::size_t>(header->node);
    gain.straight += kLoopEntry;
    for (const replay::LoopOp& operation : executor.loop().ops) {
      gain.round += gain_of(operation, executor, arrays);
    }
  }
  for (std::size_t place = 0; place < end; ++place) {
    gain.straight += gain_of(graph.nodes[place], arrays);
  }
  gain.round = std::clamp(gain.round, -kMostOfRound, kMostOfRound);
  return gain;
}

std::vector<std::int32_t> exit_losses(const replay::Executor& executor, std::int64_t largest_array) {
  const Arrays arrays = arrays_of(executor, largest_array);
  const replay::Graph& graph = executor.graph();
  const std::vector<replay::Step>& steps = executor.steps();
  std::vector<std::int32_t> losses(steps.size());
  const auto header = std::ranges::find_if(steps, &replay::Step::is_header);
  int behind = 0;
  if (header != steps.end()) {
    // The first operation of a step counts last: it is mostly the one that fails.
    const auto& operations = executor.loop().ops;
    for (std::size_t number = operations.size(); number-- > 0;) {
      const replay::LoopOp& operation = operations[number];
      losses[operation.step] = std::clamp(behind, -kMostOfRound, kMostOfRound);
      behind += gain_of(operation, executor, arrays);
    }
    behind = 0;
  }
  std::size_t node = header == steps.end() ? graph.nodes.size() : static_cast<std::size_t>(header->node);
  for (auto step = header; step != steps.begin();) {
    --step;
    while (std::cmp_greater(node, step->node + 1)) {
      behind += gain_of(graph.nodes[--node], arrays);
    }
    losses[static_cast<std::size_t>(step - steps.begin())] = behind;
  }
  for (std::size_t number = 0; number < steps.size(); ++number) {
    const replay::Step& step = steps[number];
    if (step.guard >= 0) {
      losses[number] = losses[static_cast<std::size_t>(step.since >= 0 ? step.since : step.guard)];
      continue;
    }
    const auto& snapshots = graph.snapshots;
    const auto parent_of = [&](replay::SnapshotId id) { return snapshots[static_cast<std::size_t>(id)].parent; };
    const replay::SnapshotId state = graph.nodes[static_cast<std::size_t>(step.node)].snapshot;
    for (auto id = state; id != replay::kNoSnapshot && parent_of(id) != replay::kNoSnapshot; id = parent_of(id)) {
      losses[number] -= kFrame;
    }
  }
  return losses;
}

int gain_of(const replay::Run& run, replay::Outcome outcome, const replay::Gain& gain, bool is_linked) {
  constexpr std::int64_t kMost = 1'000'000;
  int total = (is_linked ? kTraceLink : gain.straight) + static_cast<int>(std::clamp(run.gain, -kMost, kMost));
  if (outcome == replay::Outcome::kLeft) {
    const bool is_loop = run.last != nullptr && !run.last->loop().ops.empty();
    total += run.is_complete ? kSideExit : kExit + (is_loop ? kLoopExit : 0);
  }
  return total;
}

bool never_pays(const replay::Executor& executor, bool is_call) {
  const bool goes_round = executor.graph().nodes.back().op == Op::jump_back;
  const int least = (is_call ? 2 : 1) * (kExit + kEntry);
  return executor.gain().round < (goes_round ? 0 : least);
}

}  // namespace tagalong::runtime
