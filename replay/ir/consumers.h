// Consumers: C code that stands between the frame whose instruction reached it and the generator whose items it asks
// for, as sum(), list() or UNPACK_SEQUENCE. It has no frame, but a state: the generator, what it has made so far, and
// perhaps an item that it has not used yet. While a generator is resumed for a consumer the state lies on top of the
// calling frame's stack, in snapshots only; what it does with the items are nodes like any others. Where a run leaves
// in the middle, the rest happens here.
//
//   PyObject* result = consume_rest(snapshot.consuming, state, Given::kItem, std::move(item));
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "rewriter/base/ref.h"

namespace tagalong::replay {

// With its state, from the bottom.
enum class Consumer : std::uint8_t {
  kNone,
  kResult,    // generator, ...: nothing is left to do, the result lies on top
  kSum,       // generator, total
  kList,      // generator, list: the result
  kTuple,     // generator, list
  kExtend,    // generator, list: the result is None
  kSort,      // generator, list, key or null, reverse or null: the list is the result
  kJoin,      // generator, list, method, separator
  kSet,       // generator, set: the result
  kUpdate,    // generator, set: the result is None
  kDict,      // generator, dict: the result
  kMerge,     // generator, dict: the result is None
  kAny,       // generator
  kAll,       // generator
  kSmallest,  // generator, key or null, default or null, then: the best item, with a key what it says of it
  kLargest,   // the same
  kNext,      // generator
  kNextOr,    // generator, default
  kUnpack,    // generator, items
};

// How graph text names them.
inline constexpr std::array<std::string_view, 19> kConsumerNames = {
    "none", "result", "sum", "list", "tuple",    "extend",  "sort", "join",    "set",   "update",
    "dict", "merge",  "any", "all",  "smallest", "largest", "next", "next_or", "unpack"};

// What a snapshot says of the consumer at work in its frame.
struct Consuming {
  Consumer consumer = Consumer::kNone;
  std::int32_t values = 0;   // of the snapshot's stack: the state, the topmost ones
  std::int32_t items = 0;    // that it has used
  bool has_item = false;     // the topmost value is the next one
  std::int32_t pops = 0;     // operands of its instruction, below the state
  std::int32_t results = 0;  // of its instruction
  bool operator==(const Consuming&) const = default;
  [[nodiscard]] explicit operator bool() const { return consumer != Consumer::kNone; }
};

// What the generator has given when the rest begins.
enum class Given : std::uint8_t { kNothing, kItem, kEnd, kError };

// Does what is left to do. The result (for kUnpack a tuple), or null with an exception. `value` is the item, or what
// the generator has returned.
PyObject* consume_rest(const Consuming& consuming, std::vector<Ref>& state, Given given, Ref value);

// list.extend() makes room for the items of an iterator of unknown length, and in the end gives back what it has not
// needed. False: an exception is set.
bool begin_extend(PyObject* list);
bool end_extend(PyObject* list);

// min() and max(): whether a later item takes the best one's place; -1 with an exception.
int is_better(int comparison, PyObject* key, PyObject* best_key);

}  // namespace tagalong::replay
