// The body of a loop as small operations over registers that may hold numbers without objects. A register has two
// parts: the object (as in the rest of an executor) and the raw number. A number that was made raw gets its object
// ("box") where somebody can see it, once: the object part is null until then. Belongs to an executor; LoopInterpreter
// runs it.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "replay/ir/graph.h"
#include "replay/objects/unboxed.h"
#include "replay/steps/loop_ops.h"

namespace tagalong::replay {

// What is known about the container of an item.
enum class Container : std::uint8_t { kEither, kList, kTuple };

// Flags of kStoreItem: it may be the number of `result` alone, a float that nothing else needs; leaves where no number
// lies that is replaced.
inline constexpr std::uint8_t kStoresNumber = 1;
inline constexpr std::uint8_t kStoresRenewed = 2;

// What the fields hold is in loop_ops.def.
struct LoopOp {
  LoopCode code = LoopCode::kStep;
  std::uint8_t flag = 0;
  bool is_guard = false;  // fails as a guard; otherwise the original instruction is executed
  std::int32_t result = -1, left = -1, right = -1;
  std::uint32_t step = 0;    // index into StepProgram::steps: what leaves, and where to
  std::int32_t branch = -1;  // a guard that fails goes on with this operation; -1: it leaves
};

struct LoopProgram {
  struct Entry {
    std::int32_t from = 0, to = 0;  // registers
    Unboxed unboxed = Unboxed::kNone;
  };
  std::vector<LoopOp> ops;
  std::vector<Entry> parameters;  // filled at entry from what the operands of the loop node are
  std::vector<Entry> invariants;  // numbers of objects from before the loop (from == to)
  std::vector<Unboxed> kinds;     // by register: of those that may be without an object
  std::vector<PyObject*> types;   // borrowed, see Executor::object_died
  // By snapshot: registers that may hold a number without an object. Empty, like all of this, where nothing goes round.
  std::vector<std::vector<std::int32_t>> unboxed;
};

class Executor;

// What it takes to go from a step that leaves to an executor that goes on there, by registers of the two.
struct Transfer {
  struct Move {
    std::int32_t from = 0, to = 0;
    Unboxed unboxed = Unboxed::kNone;  // how the next one wants it
    bool is_converted = false;         // it is an object here and a number there, or the other way round
    bool stays = false;                // the object is not ours to give
  };
  const Executor* next = nullptr;
  std::uint64_t serial = 0;  // of that
  bool is_possible = false;
  std::vector<Move> moves;
  std::vector<std::pair<std::int32_t, PyObject*>> types;  // by register; of objects
  std::vector<std::int32_t> objects;                      // registers that must not be empty
  std::vector<std::int32_t> empty;                        // that must be
  std::vector<std::int32_t> unbound;                      // locals
  std::uint32_t crossings = 0;
  std::size_t visit = 0;  // where the run has it, most of the time
};

// How an executor is entered with the registers of another one, numbers without objects among them: instead of
// everything in front of its loop node.
struct DirectEntry {
  struct Parameter {
    std::int32_t slot = 0;  // locals, then stack
    std::int32_t to = 0;    // register
    Unboxed unboxed = Unboxed::kNone;
  };
  bool is_possible = false;
  bool has_plain_names = false;  // of the frame; they stay what they are
  std::vector<bool> bound;       // by slot
  std::vector<Parameter> parameters;
  std::vector<std::pair<std::int32_t, PyObject*>> types;  // by slot; of those that stay objects
  std::size_t header = 0;                                 // step
};

}  // namespace tagalong::replay
