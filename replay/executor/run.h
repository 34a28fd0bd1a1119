// One run of an executor as its caller sees it: what it is given, how it has ended, and what it asks on the way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "replay/executor/written_locals.h"
#include "replay/ir/limits.h"
#include "replay/steps/step.h"
#include "rewriter/base/ref.h"
#include "rewriter/cpython/frames.h"

namespace tagalong::replay {

enum class Outcome : std::uint8_t {
  kReturned,     // Run::result
  kMiss,         // the entry check does not hold; nothing has happened
  kLeft,         // Run::side_exit says where the root frame continues
  kRaised,       // called as a function: the exception is set
  kGuard,        // called as a function: guard Run::failed does not hold
  kTraceLinked,  // inside of a run: Run::visit continues
};

// Where and how the root frame continues after a side exit.
struct SideExit {
  int instruction = 0;
  bool raise = false;            // as if `instruction` had raised
  std::vector<PyObject*> stack;  // owned; null is the interpreter's NULL
  Ref type, value, traceback;    // of the exception to raise
};

class Executor;
struct Run;
struct Visit;

// How often runs may still come to a place of a code object: at zero TraceLinker::stops_at is asked.
struct Arrivals {
  static constexpr std::int64_t kNever = std::int64_t{1} << 62;
  std::int64_t left = kNever;
};

// Executors at one place of a code object, most recent hit first.
struct Attached {
  std::vector<std::shared_ptr<Executor>> executors;
  std::shared_ptr<Arrivals> arrivals = std::make_shared<Arrivals>();
};

// Knows what is attached where, so that a run may continue in another executor without a side exit.
class TraceLinker {
 public:
  // The place for a frame that would continue at this instruction; null: nothing will ever be attached there. It lasts
  // as long as any executor of this code.
  virtual Attached* attached(int instruction, std::size_t depth) = 0;
  // A run has left `from`, by its end or by a side exit, and continues in another executor.
  virtual void linked_trace(const Run& run, const Executor& from, bool is_complete) = 0;
  // Runs often take the link from this step to `next`, which might become a part of `from` (trace_trees.h) for later
  // runs. False: ask again after as many more links.
  virtual bool is_hot_link(const Executor& from, const Step& step, const Executor& next) = 0;
  // In ns, by the runs of this code and by what this one has gained before it came to its present executor. Costly
  // things are made only where this is positive.
  [[nodiscard]] virtual std::int64_t total_gain() const = 0;
  // Runs have come to a place as often as its count allowed; sets a new count. True: the run ends there, and the
  // original instructions continue.
  virtual bool stops_at(Arrivals& arrivals) = 0;

 protected:
  ~TraceLinker() = default;
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
  std::int64_t gain = 0;         // Gain::round of the iterations that were begun, without what exits have lost
  const Step* failed = nullptr;  // the guard that did not hold
  Ref failed_value;
  TraceLinker* linker = nullptr;   // entered from a frame: if it may continue in other executors
  std::uint32_t grow_after = 0;    // links from one step to one executor before they may become a tree; 0: never
  std::uint32_t native_after = 0;  // iterations of an executor before it gets native code; 0: never
  bool has_made_native = false;
  bool is_stopped = false;             // kLeft, because TraceLinker::stops_at wanted it
  const Executor* last = nullptr;      // the executor in which the run has ended
  const Step* returned = nullptr;      // kReturned: by this step
  std::uint64_t without_progress = 0;  // kLeft: the trace that left where it began, without any effect; 0: none
  const Attached* place = nullptr;     // where that was attached; null: the first one
  // --- the executor's own
  std::vector<std::shared_ptr<Visit>> visits;  // executors linked to the first one
  Visit* visit = nullptr;
  PyObject** registers = nullptr;
  // Valid up to `depth`; not initialised, entering is on the hot path.
  cpython::Frame* frames[kMaxFrames];
  std::int32_t frame_numbers[kMaxFrames];
  std::int32_t synced_keys[kMaxFrames];  // LoweredSnapshot::key of the locals that the real frame has, -1: unknown
  int depth = 0;
  const ActiveRun* active = nullptr;
  // Called as a function: what was being handled at entry, once a handler of the graph has changed it.
  bool handles = false;
  Ref handled_at_entry;
};

}  // namespace tagalong::replay
