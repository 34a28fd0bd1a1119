// An executor: a graph lowered to steps over a small register file. It owns the constants of the code it was made from;
// what else the graph names (classes, functions, code, modules, ...) is the program's, and its death is the executor's.
// It is entered
// in two ways: from the entry stub of a frame that runs replay code (the frame is the root frame), or as a call with
// the contents of the root's local slots (the root frame exists only where somebody could look).
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
#include "replay/ir/code_shape.h"
#include "replay/ir/graph.h"
#include "replay/ir/limits.h"
#include "replay/objects/quiet_calls.h"
#include "replay/steps/loop_program.h"
#include "replay/steps/step.h"
#include "rewriter/cpython/dicts.h"
#include "rewriter/cpython/frames.h"
#include "rewriter/cpython/instances.h"
#include "rewriter/cpython/watch.h"

namespace tagalong::replay {

struct Lowered;

enum class Outcome : std::uint8_t {
  kReturned,     // Run::result
  kMiss,         // the entry check does not hold; nothing has happened
  kLeft,         // Run::landing says where the root frame goes on
  kRaised,       // called as a function: the exception is set
  kGuard,        // called as a function: guard Run::failed does not hold
  kTraceLinked,  // inside of a run: Run::visit goes on
};

// Where and how the root frame goes on after a side exit.
struct SideExit {
  int instruction = 0;
  bool raise = false;            // as if `instruction` had raised
  std::vector<PyObject*> stack;  // owned; null is the interpreter's NULL
  Ref type, value, traceback;    // of the exception to raise
};

class Executor;
struct Run;
struct Visit;

// How often runs come to a place, counted down: at zero the stitcher is asked (Stitcher::stops_at).
struct Arrivals {
  static constexpr std::int64_t kNever = std::int64_t{1} << 62;
  std::int64_t left = kNever;
};

// Executors at one place of a code object, most recent hit first.
struct Attached {
  std::vector<std::shared_ptr<Executor>> executors;
  std::shared_ptr<Arrivals> arrivals = std::make_shared<Arrivals>();
};

// Whoever knows what is attached where, so that a run may go on in another executor without landing.
class TraceLinker {
 public:
  // The place where a frame goes on that would land at this instruction; null: nothing will ever be there. It lasts as
  // long as any executor of this code.
  virtual Attached* attached(int instruction, std::size_t depth) = 0;
  // A run has left `from`, by its end or by a side exit, and goes on in another one.
  virtual void linked_trace(const Run& run, const Executor& from, bool is_complete) = 0;
  // It often does so from this step; `next` might become a part of `from` (trace_trees.h), for the runs to come. False:
  // ask again when it has done so as often once more.
  virtual bool went_often(const Executor& from, const Step& step, const Executor& next) = 0;
  // In ns, by the runs of this code and by what this one has done before it came to its present executor. Nothing
  // dear is made of what might not stay.
  [[nodiscard]] virtual std::int64_t earned() const = 0;
  // Runs have come to a place as often as its count allowed; sets a new count. True: the run ends there, and the
  // original instructions go on.
  virtual bool stops_at(Arrivals& arrivals) = 0;

 protected:
  ~TraceLinker() = default;
};

// Estimated, in ns against the original instructions (runtime/policy/cost_model.h).
struct Gain {
  int straight = 0;  // entering, and what is outside of the loop
  int round = 0;     // of one round, or once through what begins with a loop node
};

struct Run {
  PyThreadState* thread = nullptr;
  cpython::Frame* root = nullptr;                // entered from a frame: that frame
  PyObject* function = nullptr;                  // the root's function
  PyObject* const* slots = nullptr;              // contents of its local slots
  PyObject* names = nullptr;                     // the mapping of its variables, if they live in one
  const std::vector<int>* root_units = nullptr;  // CodeShape::shown of the code that the root frame runs
  std::unique_ptr<SideExit> side_exit;           // kLeft, entered from a frame
  Ref result;
  bool is_complete = false;      // kLeft, and that is how the trace ends
  std::int64_t gain = 0;         // Worth::round of the rounds that were begun, without what was forgone
  const Step* failed = nullptr;  // the guard that did not hold
  Ref failed_value;
  TraceLinker* linker = nullptr;   // entered from a frame: if it may go on in other executors
  std::uint32_t grow_after = 0;    // times that it does so from one step before they may become one; 0: never
  std::uint32_t native_after = 0;  // rounds of an executor before it gets native code; 0: never
  bool has_made_native = false;
  bool is_stopped = false;          // kLeft, because the stitcher wanted it (Stitcher::stops_at)
  const Executor* last = nullptr;   // in which the run has ended
  const Step* returned = nullptr;   // kReturned: by this step
  std::uint64_t idle = 0;           // kLeft, where this trace began, and nothing has happened since; 0: none
  const Attached* place = nullptr;  // where that was attached; null: the first one
  // --- the executor's own
  std::vector<std::shared_ptr<Visit>> visits;  // executors stitched to the first one
  Visit* visit = nullptr;
  PyObject** registers = nullptr;
  // Valid up to `depth`; not initialised, entering is on the hot path.
  cpython::Frame* frames[kMaxFrames];
  std::int32_t frame_numbers[kMaxFrames];
  std::int32_t synced_keys[kMaxFrames];  // LoweredSnapshot::key of the locals that the real frame has, -1: unknown
  int depth = 0;
  // Called as a function: what was being handled at entry, once a handler of the graph has changed it.
  bool handles = false;
  Ref handled_at_entry;
};

// A trace of a function from its first instruction to its return. If all that it does is one fusion group, the contents
// of the frame's slots are the operands, and neither registers nor frames are needed (interpreter_fusion.cpp).
struct Straight {
  std::vector<LoopProgram::Entry> parameters;  // from slots to registers
  struct Guard {
    std::int32_t slot;
    const Step* step;
  };
  std::vector<Guard> guards;  // all of the entry check
  std::int32_t line = 0;      // of the first operation
  std::size_t first = 0;      // the step that the trace begins with
  mutable FusionSite site;
  mutable bool is_given_up = false;  // it does more
};

// Whoever keeps executors for later calls.
class Keeper {
 public:
  // A guard of the executor can never hold again. Must run no code of the program's, so it does not free the executor.
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

  // Lowers a verified graph. `shapes[i]` belongs to `graph.frames[i]`. A frame that enters it stands at
  // `entry_instruction`; -1: only calls do.
  static std::shared_ptr<Executor> lower(Graph graph, std::vector<CodeShapeRef> shapes, int entry_instruction = -1);

  // Lets the reserve hold as many numbers as its runs may have to show at once.
  void provide_for_numbers() const;

  Outcome run(Run& run) const;
  // Whether a run would be a miss because of what is in these slots of the root's; then it counts as one. False: only
  // the run can tell.
  [[nodiscard]] bool misses(PyObject* const* slots) const;

  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
  // For printers (replay/steps/printer.h).
  [[nodiscard]] Lowered lowered() const;
  [[nodiscard]] const native::Code* native() const { return native_.get(); }
  [[nodiscard]] const Straight* straight() const { return straight_.get(); }
  // Empty where nothing goes round.
  [[nodiscard]] const LoopProgram& loop() const { return loop_; }
  [[nodiscard]] const CodeShape& root_shape() const { return *shapes_.front(); }
  // Index of the RETURN_VALUE that this step stands for.
  [[nodiscard]] int return_instruction(const Step& step) const;
  // The serial number of the trace that a step belongs to, and of the one it begins with: of the executors that they
  // were before it grew.
  [[nodiscard]] std::uint64_t trace(const Step& step) const;
  [[nodiscard]] std::uint64_t trace() const { return members_.empty() ? serial : members_.front().serial; }
  // How many traces it is of; more than one once it has grown.
  [[nodiscard]] std::size_t part_count() const { return members_.empty() ? 1 : members_.size(); }
  // Steps that are guards of the entry check.
  [[nodiscard]] std::vector<std::size_t> entry_guards() const;

  // Whether an object is gone without which the graph cannot be run to its end.
  [[nodiscard]] bool is_dead() const { return is_dead_; }
  [[nodiscard]] bool is_running() const { return running_ != 0; }
  void object_died(PyObject* object) override;

  // For tests of what goes on after it: from now on the step's guard never holds, or the run leaves in front of the
  // step as if somebody watched. False: a run cannot leave there at any time.
  bool fail_at(std::size_t step);
  // The fault of a stage that is to be found: subtracts where it was to add.
  void make_faulty();

  [[nodiscard]] const Gain& gain() const { return gain_; }
  // `forgone`: by step.
  void set_gain(const Gain& gain, const std::vector<std::int32_t>& forgone);
  const std::uint64_t serial = ++last_serial_;  // of no other one, also when it is gone
  mutable std::uint64_t hits = 0;
  mutable std::uint64_t exits = 0;
  Keeper* keeper = nullptr;     // is told when it dies
  int groups = kProcessFusion;  // whether its array operations are run as one: recorder::Limits
  std::shared_ptr<Arrivals> arrivals = std::make_shared<Arrivals>();  // at the place where it is attached

 private:
  class Hold;
  friend class Growth;
  friend class Lowering;
  friend class Interpreter;
  friend struct Visit;
  static inline std::uint64_t last_serial_ = 0;  // used under the GIL

  Graph graph_;
  std::vector<CodeShapeRef> shapes_;
  std::vector<Step> steps_;
  std::vector<std::int32_t> registers_used_;
  std::vector<LoweredSnapshot> snapshots_;
  std::vector<PyObject*> constants_;  // borrowed from the graph's nodes; first registers
  // Slot and register of the root's locals where it returns, without those that still hold what they held at entry.
  struct Return {
    std::size_t step = 0;
    std::vector<std::pair<std::int32_t, std::int32_t>> locals;
    std::optional<std::vector<std::int32_t>> held;  // registers that may have objects there; none: any
  };
  std::vector<Return> returns_;
  std::vector<std::int32_t> frame_functions_;  // register of each frame's function
  std::vector<std::int32_t> frame_instances_;
  // A guard of the entry check on what lies in a slot.
  struct SlotGuard {
    std::int32_t slot;
    std::uint32_t step;
  };
  std::vector<SlotGuard> slot_guards_;
  void learn_entry_check();
  LoopProgram loop_;  // what follows the loop node that the trace goes back to, or begins with
  void learn_straight();
  std::unique_ptr<Straight> straight_;  // null: it is not one
  DirectEntry direct_;
  mutable std::unique_ptr<const native::Code> native_;  // of loop_
  mutable std::uint32_t rounds_ = 0;                    // without it
  mutable bool has_no_native_ = false;                  // it could not be made
  std::vector<Ref> watches_;                            // of the objects that it does not own
  std::vector<PyObject*> held_;  // those of them that a run keeps alive: constants, code of inlined frames
  bool is_dead_ = false;
  const Step* dead_step_ = nullptr;  // the guard that can never hold again; null: it is a constant that is gone
  mutable int running_ = 0;          // runs under way
  int entry_instruction_ = -1;
  Gain gain_;
  // Of an executor that has grown: the traces that it is of, itself first, with their places in steps_ and loop_.ops.
  struct Member {
    std::uint64_t serial = 0;         // of the executor that it was
    const Attached* place = nullptr;  // where that is attached; null: where this one is
    int instruction = -1;             // its entry_instruction_
    int round = 0;                    // what going through it is worth
    std::shared_ptr<Arrivals> arrivals;
    std::size_t first_step = 0;
    std::size_t first_operation = 0, operations = 0;
    DirectEntry entry;
  };
  std::vector<Member> members_;
  std::shared_ptr<const Executor> base_;  // what it was before it grew
  // By the number in an operation that counts (LoopCode::kPoll).
  [[nodiscard]] Arrivals& arrivals_of(std::int32_t member) const {
    return member < 0 || members_.empty() ? *arrivals : *members_[static_cast<std::size_t>(member)].arrivals;
  }
  // To which the step belongs; null: it has not grown.
  [[nodiscard]] const Member* member_of(const Step& step) const;
  // Where that trace is attached; null: where this executor is.
  [[nodiscard]] const Attached* place_of(const Step& step) const;
  std::int32_t constant_count_ = 0;  // registers below are not owned
  std::int32_t register_count_ = 0;
};

}  // namespace tagalong::replay
