// One frame of the recording: which value of the graph is in which slot, and how far its instruction under way has
// come. The live frame beside it belongs to the interpreter.
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

// An instruction that has raised, from when that is known to its handler or the end of its frame.
struct Raising {
  int instruction = -1;            // -1: none
  int shown = -1;                  // where the frame is seen to be: what RERAISE raises was raised elsewhere
  Value lasti = replay::kNoValue;  // the place of `shown` as a value, if it is one already
  bool adds_entry = true;          // to the traceback
  bool is_emitted = false;         // its operation is in the graph
  bool may_end_loop = false;       // __next__ has raised it
  bool is_side_exit = false;       // it is not, the interpreter executes the instruction: a re-raise out of the root
  SnapshotId here = replay::kNoSnapshot;  // the state before it, where it is_side_exit
  bool has_no_memory = false;             // that is why: the program may have nothing to do with it
};

// C code that works for the instruction under way with the items of a generator (inlining/consumers.h).
struct Consumption {
  replay::Consumer consumer = replay::Consumer::kNone;
  const void* generator = nullptr;  // to compare with
  int instruction = 0;
  std::size_t base = 0;  // the state of the consumer lies on the shadow stack from here on
  int items = 0;
  bool has_item = false;  // on top; what has become of it is not known yet
  bool is_pair = false;   // a tuple of two
  bool has_start = false;
  int pops = 0;
  int results = 0;
  bool is_over = false;  // the instruction has its result
  Values unpacked;       // the results of an UNPACK_SEQUENCE, from the first to the last
};

inline constexpr std::int32_t kNotDeclined = -1;

struct ShadowFrame {
  cpython::Frame* live = nullptr;
  RecordingCode* code = nullptr;
  std::int32_t number = 0;  // in Graph::frames
  Value function = replay::kNoValue;
  SnapshotId parent = replay::kNoSnapshot;  // the callers' state during this call
  Values locals, stack;
  int next = 0;                                               // instruction that the shadow state stands before
  int pending = -1;                                           // a branch or FOR_ITER whose outcome is not known yet
  Value call_result = replay::kNoValue;                       // of an inlined call that has returned
  replay::ReturnKind call_kind = replay::ReturnKind::kPlain;  // of that call
  int call_pops = 0;
  int call_instruction = 0;
  int answered = -1;  // a resumption that is over, up to the next hook: what dies with it may run code
  replay::ReturnKind return_kind = replay::ReturnKind::kPlain;  // of this frame to its caller
  int pops = 0;
  bool is_generator = false;  // inlined: resumed by its consumer, suspended at a yield
  Value instance = replay::kNoValue;
  cpython::KeptRef number_object;  // `number`, made when first needed
  bool calls_ufunc = false;        // the CALL under way
  replay::Known known = replay::Known::kNone;
  bool renews = false;           // the STORE_SUBSCR under way replaces a number
  bool is_null_first = false;    // its first callable slot is NULL
  PyObject* callable = nullptr;  // that is called: alive while the call lasts
  PyObject* called = nullptr;    // what it calls if it is a method or a partial; to compare with, not to look into
  int array_items = -1;          // type number of the items of the array that the instruction under way asks for one
  int iterated_items = -1;       // the same of the array that the FOR_ITER under way takes one of
  bool plain_attribute = false;  // the LOAD_ATTR or LOAD_METHOD under way finds its name in a module's own dict
  Raising raising;
  std::int32_t declined = kNotDeclined;  // the operation whose inlined method has answered NotImplemented
  std::int32_t operation = 0;            // of this frame: FrameInfo::operation
  PyObject* next_method = nullptr;       // that the operator asks then, as guards have established; to compare with
  int next_attempt = 0;                  // its place in the order of attempts
  Value checked = replay::kNoValue;      // what an inlined special method has returned, before its slot looks at it
  int check = 0;                         // replay::SlotCheck
  std::unordered_map<int, int> back_edges;
  Consumption consuming;
};

}  // namespace tagalong::recorder
