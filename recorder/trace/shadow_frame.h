// One frame of the recording: which value of the graph is in which slot, and how far the current instruction has come.
// The live frame belongs to the interpreter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "recorder/code/recording_code.h"
#include "replay/ir/graph.h"
#include "replay/objects/known_functions.h"
#include "rewriter/base/kept_ref.h"
#include "rewriter/cpython/frames.h"

namespace tagalong::recorder {

using replay::Op;
using replay::SnapshotId;
using replay::Value;
using replay::Values;

// An instruction that has raised. This is kept until its handler begins or its frame ends.
struct Raising {
  int instruction = -1;  // -1: none
  int shown = -1;  // the instruction that the traceback shows: RERAISE raises an exception that was raised elsewhere
  Value lasti = replay::kNoValue;  // the location of `shown` as a value, if there is one already
  bool adds_entry = true;          // whether the traceback gets an entry
  bool is_emitted = false;         // whether the operation is in the graph
  bool may_end_loop = false;       // whether __next__ raised it
  // Not recorded as raising; the interpreter executes the instruction: a re-raise out of the root.
  bool is_side_exit = false;
  SnapshotId here = replay::kNoSnapshot;  // for is_side_exit: the state in front of the instruction
  bool has_no_memory = false;  // the reason is a MemoryError, which need not come from the instruction itself
};

// C code that uses the items of a generator for the current instruction (inlining/consumers.h).
struct Consumption {
  replay::Consumer consumer = replay::Consumer::kNone;
  const void* generator = nullptr;  // for comparing addresses only
  int instruction = 0;
  std::size_t base = 0;  // shadow stack index at which the consumer's state begins
  int items = 0;
  bool has_item = false;  // the item is on top; how it is used is not known yet
  bool is_pair = false;   // the item is a tuple of two
  bool has_start = false;
  int pops = 0;
  int results = 0;
  bool is_over = false;  // the instruction has its result
  Values unpacked;       // the results of an UNPACK_SEQUENCE, first one first
};

inline constexpr std::int32_t kNotDeclined = -1;

struct ShadowFrame {
  cpython::Frame* live = nullptr;
  RecordingCode* code = nullptr;
  std::int32_t number = 0;  // index in Graph::frames
  Value function = replay::kNoValue;
  SnapshotId parent = replay::kNoSnapshot;  // the callers' state during this call
  Values locals, stack;
  int next = 0;                          // the shadow state is the one in front of this instruction
  int pending = -1;                      // a branch or FOR_ITER whose outcome is not known yet
  Value call_result = replay::kNoValue;  // result of an inlined call that has returned
  replay::ReturnKind call_kind = replay::ReturnKind::kPlain;  // how that call returned
  int call_pops = 0;
  int call_instruction = 0;
  int finished_resumption =
      -1;  // an instruction whose resumption has ended; until the next hook, objects die, which may run code
  replay::ReturnKind return_kind = replay::ReturnKind::kPlain;  // how this frame returns to its caller
  int pops = 0;
  bool is_generator = false;  // inlined: its consumer resumes it, and a yield suspends it
  Value instance = replay::kNoValue;
  cpython::KeptRef number_object;  // `number` as an object, made at the first use
  bool calls_ufunc = false;        // whether the current CALL calls a ufunc
  replay::Known known = replay::Known::kNone;
  bool renews = false;           // whether the current STORE_SUBSCR replaces a number
  bool has_null_slot = false;    // whether one of the two slots of the current call is null
  PyObject* callable = nullptr;  // the called object: alive during the call
  PyObject* called = nullptr;    // the function behind a called method or partial; for comparing addresses only
  int array_items = -1;          // type number of the item that the current instruction reads from an array
  int iterated_items = -1;       // type number of the item that the current FOR_ITER takes from an array
  bool plain_attribute = false;  // the current LOAD_ATTR or LOAD_METHOD finds its name in a module's own dict
  Raising raising;
  std::int32_t declined = kNotDeclined;  // the operation whose inlined method has returned NotImplemented
  std::int32_t operation = 0;            // FrameInfo::operation of this frame
  // The method that the operator calls next, as guards have established; for comparing addresses only.
  PyObject* next_method = nullptr;
  int next_attempt = 0;  // its position in the order of attempts
  // The value that an inlined special method has returned, before the type slot processes it.
  Value checked = replay::kNoValue;
  int check = 0;  // a replay::SlotCheck
  std::unordered_map<int, int> back_edges;
  Consumption consuming;
};

}  // namespace tagalong::recorder
