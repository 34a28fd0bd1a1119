// An executor: a graph lowered to steps over a small register file. It owns the constants of the code it was made from;
// what else the graph names (classes, functions, code, modules, ...) belongs to the user's program: when such an object
// dies, the executor is dead. It is entered in two ways: from the entry stub of a frame that runs replay code (the
// frame is the root frame), or as a call with the contents of the root's local slots (the root frame is made only where
// code could look at it).
//
//   Run run{...}; switch (executor->run(run)) { case Outcome::kReturned: return run.result.release(); ... }
#pragma once

#include <algorithm>
#include <array>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "replay/arrays/forming/fusion_groups.h"
#include "replay/arrays/kernels/ufunc_site.h"
#include "replay/codegen/scalar/code.h"
#include "replay/executor/run.h"
#include "replay/executor/step_program.h"
#include "replay/ir/code_shape.h"
#include "replay/ir/graph.h"
#include "replay/ir/limits.h"
#include "replay/objects/calls_without_user_code.h"
#include "replay/steps/loop_program.h"
#include "replay/steps/step.h"
#include "rewriter/cpython/frames.h"
#include "rewriter/cpython/objects/dicts.h"
#include "rewriter/cpython/objects/instances.h"
#include "rewriter/cpython/watch.h"

namespace tagalong::replay {

struct Lowered;

// Estimated, in ns against the original instructions (runtime/policy/cost_model.h).
struct Gain {
  int straight = 0;  // entering, and what is outside of the loop
  int round = 0;     // of one iteration, or once through what begins with a loop node
};

// A trace of a function from its first instruction to its return. If all that it does is one fusion group, the contents
// of the frame's slots are the operands, and neither registers nor frames are needed (machine/fusion_runs.cpp).
struct Straight {
  static constexpr std::int32_t kMostRegisters = 128;
  std::vector<LoopProgram::Entry> parameters;  // from slots to registers
  struct Guard {
    std::int32_t slot;
    const Step* step;
  };
  std::vector<Guard> guards;  // all of the entry check
  std::int32_t line = 0;      // of the first operation
  std::size_t first = 0;      // the step that the trace begins with
  mutable FusionSite site;
  mutable bool does_more = false;  // than one fusion group
};

// Keeps executors for later calls.
class Keeper {
 public:
  // A guard of the executor can never hold again. Must not run user code, and so must not free the executor.
  virtual void executor_died(const Executor& executor) = 0;

 protected:
  ~Keeper() = default;
};

class Executor final : public cpython::Watcher {
 public:
  Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  ~Executor();

  // Lowers a verified graph. `shapes[i]` belongs to `graph.frames[i]`. A frame enters it in front of
  // `entry_instruction`; -1: only calls enter it.
  static std::shared_ptr<Executor> lower(Graph graph, std::vector<CodeShapeRef> shapes, int entry_instruction = -1);

  // Lets the reserve hold as many numbers as its runs may have to show at once.
  void provide_for_numbers() const;

  Outcome run(Run& run) const;
  // Whether a run would be a miss because of what the root's slots hold; then it counts as one. False: only the run can
  // tell.
  [[nodiscard]] bool misses(PyObject* const* slots) const;

  [[nodiscard]] const StepProgram& program() const { return program_; }
  [[nodiscard]] const Graph& graph() const { return program_.graph; }
  [[nodiscard]] const std::vector<Step>& steps() const { return program_.steps; }
  // For printers (replay/steps/printer.h).
  [[nodiscard]] Lowered lowered() const;
  [[nodiscard]] const native::Code* native() const { return native_.code.get(); }
  [[nodiscard]] const Straight* straight() const { return straight_.get(); }
  // Empty where nothing iterates.
  [[nodiscard]] const LoopProgram& loop() const { return program_.loop; }
  [[nodiscard]] const CodeShape& root_shape() const { return *program_.shapes.front(); }
  // Index of the RETURN_VALUE that this step stands for.
  [[nodiscard]] int return_instruction(const Step& step) const;
  // Serial numbers of the trace that a step belongs to, and of the trace that the executor begins with: those of the
  // executors from which a trace tree was made.
  [[nodiscard]] std::uint64_t trace(const Step& step) const;
  [[nodiscard]] std::uint64_t trace() const { return traces_.empty() ? serial : traces_.front().serial; }
  // Of a trace tree, its own trace first; otherwise empty.
  [[nodiscard]] const std::vector<TraceOfTree>& traces() const { return traces_; }
  [[nodiscard]] std::size_t part_count() const { return traces_.empty() ? 1 : traces_.size(); }
  // Where the trace of this step is attached; null: where this executor is.
  [[nodiscard]] const Attached* place_of(const Step& step) const;
  // Steps that are guards of the entry check.
  [[nodiscard]] std::vector<std::size_t> entry_guards() const;

  // Whether an object is gone without which the graph cannot be run to its end.
  [[nodiscard]] bool is_dead() const { return is_dead_; }
  [[nodiscard]] bool is_running() const { return running_ != 0; }
  void object_died(PyObject* object) override;

  // For tests of what follows a side exit: from now on the step's guard never holds, or the run leaves in front of the
  // step as it does for a tracing tool. False: a run cannot leave there at any time.
  bool fail_at(std::size_t step);
  // The fault of a stage that is to be found: subtracts where it was to add.
  void make_faulty();

  [[nodiscard]] const Gain& gain() const { return gain_; }
  // `exit_losses`: by step.
  void set_gain(const Gain& gain, const std::vector<std::int32_t>& exit_losses);
  const std::uint64_t serial = ++last_serial_;  // never used again
  mutable std::uint64_t hits = 0;
  mutable std::uint64_t exits = 0;
  Keeper* keeper = nullptr;     // is told when the executor dies
  int groups = kProcessFusion;  // whether its array operations are fused: recorder::Limits
  std::shared_ptr<Arrivals> arrivals = std::make_shared<Arrivals>();  // at the place where it is attached

 private:
  friend class ExecutorHold;
  friend class Growth;
  friend class Lowering;
  friend class LoopInterpreter;
  static inline std::uint64_t last_serial_ = 0;  // used under the GIL

  void learn_entry_check();
  void learn_straight();
  // To which the step belongs; null: it is not a tree.
  [[nodiscard]] const TraceOfTree* trace_with(const Step& step) const;
  // By the number in an operation that counts (LoopCode::kPoll).
  [[nodiscard]] Arrivals& arrivals_of(std::int32_t trace) const {
    return trace < 0 || traces_.empty() ? *arrivals : *traces_[static_cast<std::size_t>(trace)].arrivals;
  }

  StepProgram program_;
  // A guard of the entry check on what lies in a slot.
  struct SlotGuard {
    std::int32_t slot;
    std::uint32_t step;
  };
  std::vector<SlotGuard> slot_guards_;
  std::unique_ptr<Straight> straight_;  // null: it is not one
  struct NativeLoop {
    std::unique_ptr<const native::Code> code;  // of the loop program
    std::uint32_t iterations = 0;              // without it
    bool is_impossible = false;                // it could not be made
  };
  mutable NativeLoop native_;
  std::vector<Ref> watches_;     // of the objects that it does not own
  std::vector<PyObject*> held_;  // those of them that a run keeps alive: constants, code of inlined frames
  bool is_dead_ = false;
  const Step* dead_step_ = nullptr;  // the guard that can never hold again; null: a constant is gone
  mutable int running_ = 0;          // runs under way
  int entry_instruction_ = -1;
  Gain gain_;
  std::vector<TraceOfTree> traces_;
  std::shared_ptr<const Executor> base_;  // what it was before it became a tree
};

}  // namespace tagalong::replay
