// The body of a loop as small operations over registers that may hold numbers without objects. A register has two
// parts: the object (as in the rest of an executor) and the raw number. A number that was made raw gets its object
// ("box") where somebody can see it, once: the object part is null until then. Belongs to an executor; Interpreter runs
// it.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "replay/ir/graph.h"
#include "replay/objects/unboxed.h"

namespace tagalong::replay {

enum class LoopCode : std::uint8_t {
  kStep,  // the step itself, as outside of loops
  kLeaveIfWatched,
  kBox,          // the object of `left`
  kClear,        // gives up the object of `left`, if there is one
  kClearShown,   // the same where that may run code, which finds the frames as in snapshot `right`
  kMove,         // `result` takes over object and number of `left`
  kShare,        // `result` gets the same object and number as `left`
  kSync,         // sync_local of `left` in slot `right` of the root frame
  kSyncUnboxed,  // sync_local of a number
  kUnboxInt,
  kUnboxFloat,
  kUnboxBool,
  kUnboxNumpyInt,
  kUnboxNumpyFloat,
  kUnboxNumpyBool,  // the number of the object in `left`; fails as `fails` says
  kAddInt,
  kSubtractInt,
  kMultiplyInt,
  kFloorDivideInt,
  kRemainderInt,
  kTrueDivideInt,
  kAndInt,
  kOrInt,
  kXorInt,
  kShiftLeftInt,
  kShiftRightInt,
  kNegateInt,
  kAddFloat,
  kSubtractFloat,
  kMultiplyFloat,
  kDivideFloat,
  kNegateFloat,
  kFloatOfInt,
  // The same of NumPy's scalars, where it has nothing to report; as Float64Operator.
  kAddFloat64,
  kSubtractFloat64,
  kMultiplyFloat64,
  kDivideFloat64,
  kLessInt,
  kLessEqualInt,
  kEqualInt,
  kNotEqualInt,
  kGreaterInt,
  kGreaterEqualInt,  // as Py_LT ... Py_GE
  kLessFloat,
  kLessEqualFloat,
  kEqualFloat,
  kNotEqualFloat,
  kGreaterFloat,
  kGreaterEqualFloat,
  kCallFloat,  // known function `flag`
  kCallInt,
  kLength,     // of the container `left`; `flag`: which counts its items itself, as lists do
  kMakeRange,  // an iterator from raw `left` (-1: 0) up to raw `right`
  kTruthInt,
  kTruthFloat,
  kNotBool,
  kGuardBool,  // the number of `left` is `flag`
  kGuardLessInt,
  kGuardLessEqualInt,
  kGuardEqualInt,
  kGuardNotEqualInt,
  kGuardGreaterInt,
  kGuardGreaterEqualInt,
  kGuardLessFloat,
  kGuardLessEqualFloat,
  kGuardEqualFloat,
  kGuardNotEqualFloat,
  kGuardGreaterFloat,
  kGuardGreaterEqualFloat,
  kRangeNext,  // next int of the iterator `left`; a guard that there is one
  kForIter,    // next item of any iterator (step `right`); a guard that there is one
  kItem,       // container `left` [raw `right`]; `flag`: Container
  kItemInt,
  kItemFloat,   // the number of that item, a guard that it is one
  kStoreItem,   // list `left` [raw `right`] = object `result`; `flag`: kStores...
  kPair,        // the numbers of `left` and `right`, as those of `result` and the register behind it
  kArrayItem,   // the number of array `left` [raw `right`]; `flag`: type number of the items
  kArrayItem2,  // the same by a pair
  kArrayNext,   // the number of the next item of iterator `left` (step `right`); a guard that there is one
  kArrayStore,  // array `left` [raw `right`] = number of `result`
  kArrayStore2,
  // Signals, pending calls, other threads, as at each jump back; `result`: what a round is worth, `left`: the trace (a
  // member of the executor) that is come to once more; -1: the first one.
  kPoll,
  kJump,  // to operation `right`
  kPollAndJump,
  kGuardType,  // the type of `left` is the step's
  kGuardIs,    // `left` is the step's object
  kGlobal,     // what the function `left` finds under the step's name
  kGlobalInt,
  kGlobalFloat,  // the number of that, a guard that it is one
  kAttribute,    // of `left`, by the step's name
  kMethod,       // the same for a call: a function and `left`, or null and what it has; `right` gets the second
  kAppend,       // object `right` to list `left`
  kGuardNull,    // `left` is null, or not if `flag`
  kRebind,       // that is object `right` from now on
  // Between the traces of an executor that has grown:
  // No thread waits, no tool watches; `result`: what going through the next trace is worth; `left`: that trace;
  // `right`: the snapshot of the loop that is entered, to be shown as the place where the run is, or -1.
  kCross,
  kCheckQuiet,    // whether the guard's retreat may be taken
  kGiveUpRest,    // what no frame has any more where the step leaves
  kCheckBound,    // `left` is not null
  kCheckUnbound,  // it is null
  kCheckType,     // the type of `left` is types[right]
  kUnbind,        // slot `left` of the real frame
};
// The one so many places further: codes of the same operation on other kinds, or of comparisons, are in one order.
constexpr LoopCode shifted(LoopCode code, std::int64_t by) {
  return static_cast<LoopCode>(static_cast<std::int64_t>(code) + by);
}

// How a register gets the number of the object in it.
constexpr LoopCode unboxing(Unboxed unboxed) {
  switch (unboxed) {
    case Unboxed::kInt:
      return LoopCode::kUnboxInt;
    case Unboxed::kFloat:
      return LoopCode::kUnboxFloat;
    case Unboxed::kNumpyInt:
      return LoopCode::kUnboxNumpyInt;
    case Unboxed::kNumpyFloat:
      return LoopCode::kUnboxNumpyFloat;
    case Unboxed::kNumpyBool:
      return LoopCode::kUnboxNumpyBool;
    default:
      return LoopCode::kUnboxBool;
  }
}

// The other way round.
constexpr Unboxed unboxed_kind(LoopCode code) {
  switch (code) {
    case LoopCode::kUnboxInt:
      return Unboxed::kInt;
    case LoopCode::kUnboxFloat:
      return Unboxed::kFloat;
    case LoopCode::kUnboxNumpyInt:
      return Unboxed::kNumpyInt;
    case LoopCode::kUnboxNumpyFloat:
      return Unboxed::kNumpyFloat;
    case LoopCode::kUnboxNumpyBool:
      return Unboxed::kNumpyBool;
    default:
      return Unboxed::kBool;
  }
}

// What is known about the container of an item.
enum class Container : std::uint8_t { kEither, kList, kTuple };

// Flags of kStoreItem: it may be the number of `result` alone, a float that nothing else needs; leaves where no number
// lies that is replaced.
inline constexpr std::uint8_t kStoresNumber = 1;
inline constexpr std::uint8_t kStoresRenewed = 2;

struct LoopOp {
  LoopCode code = LoopCode::kStep;
  std::uint8_t flag = 0;
  bool is_guard = false;  // fails as a guard; otherwise the original instruction is executed
  std::int32_t result = -1, left = -1, right = -1;
  std::uint32_t step = 0;    // index into Executor::steps_: what leaves, and where to
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
