// What lowering makes of a graph, and what a run executes: steps over a small register file, the snapshots with which a
// step may leave, and the loop program of what iterates. Belongs to an executor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "replay/ir/code_shape.h"
#include "replay/ir/graph.h"
#include "replay/steps/loop_program.h"
#include "replay/steps/step.h"

namespace tagalong::replay {

struct Arrivals;
struct Attached;

struct StepProgram {
  // Slot and register of the root's locals where it returns, without those that still hold what they held at entry.
  struct Return {
    std::size_t step = 0;
    std::vector<std::pair<std::int32_t, std::int32_t>> locals;
    std::optional<std::vector<std::int32_t>> held;  // registers that may have objects there; none: any
  };
  Graph graph;
  std::vector<CodeShapeRef> shapes;  // by frame
  std::vector<Step> steps;
  std::vector<std::int32_t> registers_used;  // of the steps: operands, results and drops
  std::vector<LoweredSnapshot> snapshots;
  std::vector<PyObject*> constants;  // borrowed from the graph's nodes; the first registers
  std::vector<Return> returns;
  std::vector<std::int32_t> frame_functions;  // by frame: register of its function
  std::vector<std::int32_t> frame_instances;  // by frame: register of the object under construction, or -1
  LoopProgram loop;                           // what follows the loop node that the trace goes back to, or begins with
  DirectEntry direct;
  std::int32_t constant_count = 0;  // registers below are not owned by a run
  std::int32_t register_count = 0;

  [[nodiscard]] const LoweredSnapshot& snapshot(SnapshotId id) const { return snapshots[static_cast<std::size_t>(id)]; }
  [[nodiscard]] std::size_t index_of(const Step& step) const { return static_cast<std::size_t>(&step - steps.data()); }
  // The registers that the step takes; its results and then its drops follow.
  [[nodiscard]] const std::int32_t* operands_of(const Step& step) const {
    return registers_used.data() + step.operands;
  }
  [[nodiscard]] const std::int32_t* results_of(const Step& step) const {
    return operands_of(step) + step.operand_count;
  }
  [[nodiscard]] std::span<const std::int32_t> drops_of(const Step& step) const {
    return {results_of(step) + step.result_count, step.drop_count};
  }
  // What a register holds in place of an object. Empty registers of a program without a loop hold objects only.
  [[nodiscard]] Unboxed kind_of(std::int32_t place) const {
    return static_cast<std::size_t>(place) < loop.kinds.size() ? loop.kinds[static_cast<std::size_t>(place)]
                                                               : Unboxed::kNone;
  }
};

// One of the traces of which a trace tree consists, with its part of the program.
struct TraceOfTree {
  std::uint64_t serial = 0;         // of the executor that it was
  const Attached* place = nullptr;  // where that is attached; null: where this one is
  int instruction = -1;             // at which that is entered
  int gain = 0;                     // of one iteration
  std::shared_ptr<Arrivals> arrivals;
  std::size_t first_step = 0;
  std::size_t first_operation = 0, operations = 0;
  DirectEntry entry;
};

}  // namespace tagalong::replay
