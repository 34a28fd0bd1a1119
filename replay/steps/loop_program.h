// The body of a loop as small operations on registers, which may hold unboxed numbers. A register has two parts: the
// object (as in the rest of an executor) and the unboxed number. An unboxed number is boxed once, when its object
// becomes visible; until then the object part is null. Belongs to an executor; LoopInterpreter runs it.
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

// Flag of kStoreItem: the number of `result` may be stored without making an object, if it is a float without another
// use. Takes a side exit if the item that is replaced is not a number.
inline constexpr std::uint8_t kStoresNumber = 1;
inline constexpr std::uint8_t kStoresRenewed = 2;

// loop_ops.def describes the fields.
struct LoopOp {
  LoopCode code = LoopCode::kStep;
  std::uint8_t flag = 0;
  bool is_guard = false;  // a failure is a failed guard; otherwise the original instruction is executed
  std::int32_t result = -1, left = -1, right = -1;
  std::uint32_t step = 0;    // index into StepProgram::steps: the step whose side exit is taken
  std::int32_t branch = -1;  // operation with which a failed guard continues; -1: a side exit
};

struct LoopProgram {
  struct Entry {
    std::int32_t from = 0, to = 0;  // registers
    Unboxed unboxed = Unboxed::kNone;
  };
  std::vector<LoopOp> ops;
  std::vector<Entry> parameters;  // filled at entry from the operands of the loop node
  std::vector<Entry> invariants;  // unboxed numbers of objects from before the loop (from == to)
  std::vector<Unboxed> kinds;     // for each register: the kind that may be unboxed in it
  std::vector<PyObject*> types;   // borrowed, see Executor::object_died
  // For each snapshot: the registers that may hold an unboxed number. Empty, like the other members, if the trace has
  // no loop.
  std::vector<std::vector<std::int32_t>> unboxed;
};

class Executor;

// The conversions needed to go from a side exit to an executor that continues there, by registers of the two executors.
struct Transfer {
  struct Move {
    std::int32_t from = 0, to = 0;
    Unboxed unboxed = Unboxed::kNone;  // the kind that the next executor expects
    bool is_converted = false;         // boxed on one side and unboxed on the other
    bool stays = false;                // the object is borrowed
  };
  const Executor* next = nullptr;
  std::uint64_t serial = 0;  // of the next executor
  bool is_possible = false;
  std::vector<Move> moves;
  std::vector<std::pair<std::int32_t, PyObject*>> types;  // expected types of objects, by register
  std::vector<std::int32_t> objects;                      // registers that must have an object
  std::vector<std::int32_t> empty;                        // registers that must be empty
  std::vector<std::int32_t> unbound;                      // local slots that must be unbound
  std::uint32_t crossings = 0;
  std::size_t visit = 0;  // index of the executor in the run, usually
};

// How an executor is entered from the registers of another one, which may hold unboxed numbers: this replaces all steps
// in front of its loop node.
struct DirectEntry {
  struct Parameter {
    std::int32_t slot = 0;  // locals, then stack
    std::int32_t to = 0;    // the register
    Unboxed unboxed = Unboxed::kNone;
  };
  bool is_possible = false;
  bool has_plain_names = false;  // the frame's names are plain, which cannot change
  std::vector<bool> bound;       // for each slot, whether it must be bound
  std::vector<Parameter> parameters;
  std::vector<std::pair<std::int32_t, PyObject*>> types;  // expected types by slot, for objects that are not unboxed
  std::size_t header = 0;                                 // step of the loop header
};

}  // namespace tagalong::replay
