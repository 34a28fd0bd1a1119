// Consumers: C code between a frame whose instruction has called it and the generator whose items it asks for, such as
// sum(), list() or UNPACK_SEQUENCE. A consumer has no frame, but a state: the generator, the result so far, and perhaps
// an item that it has not used yet. While a generator is resumed for a consumer, the state is on top of the calling
// frame's stack (in snapshots only). Its use of the items is recorded as ordinary nodes. If a side exit happens in the
// middle, consume_rest() does the rest.
//
//   PyObject* result = consume_rest(snapshot.consuming, state, Given::kItem, std::move(item));
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "rewriter/base/ref.h"

namespace tagalong::replay {

// Each with its state, from the bottom of the stack.
enum class Consumer : std::uint8_t {
  kNone,
  kResult,  // generator, ...: nothing is left to do, the result is on top
  kSum,     // generator, total
  kList,    // generator, list: the result
  kTuple,   // generator, list
  kExtend,  // generator, list: the result is None
  kSort,    // generator, list, key or null, reverse or null: the list is the result
  kJoin,    // generator, list, method, separator
  kSet,     // generator, set: the result
  kUpdate,  // generator, set: the result is None
  kDict,    // generator, dict: the result
  kMerge,   // generator, dict: the result is None
  kAny,     // generator
  kAll,     // generator
  // Generator, key or null, default or null, then the best item so far, and with a key the key's value for it.
  kSmallest,
  kLargest,  // the same
  kNext,     // generator
  kNextOr,   // generator, default
  kUnpack,   // generator, items
};

// Names in graph text.
inline constexpr std::array<std::string_view, 19> kConsumerNames = {
    "none", "result", "sum", "list", "tuple",    "extend",  "sort", "join",    "set",   "update",
    "dict", "merge",  "any", "all",  "smallest", "largest", "next", "next_or", "unpack"};

// The consumer that is active in a snapshot's frame.
struct Consuming {
  Consumer consumer = Consumer::kNone;
  std::int32_t values = 0;   // number of values of the state, on top of the snapshot's stack
  std::int32_t items = 0;    // number of items that it has used
  bool has_item = false;     // the topmost value is the next one
  std::int32_t pops = 0;     // number of operands of its instruction, below the state
  std::int32_t results = 0;  // number of results of its instruction
  bool operator==(const Consuming&) const = default;
  [[nodiscard]] explicit operator bool() const { return consumer != Consumer::kNone; }
};

// What the generator has given before the rest begins.
enum class Given : std::uint8_t { kNothing, kItem, kEnd, kError };

// Does the rest of the work. Returns the result (for kUnpack a tuple), or null with an exception. `value` is the item,
// or the generator's return value.
PyObject* consume_rest(const Consuming& consuming, std::vector<Ref>& state, Given given, Ref value);

// list.extend() reserves room for the items of an iterator of unknown length, and releases the surplus at the end.
// False: an exception is set.
bool begin_extend(PyObject* list);
bool end_extend(PyObject* list);

// min() and max(): whether a later item replaces the best one; -1 with an exception.
int is_better(int comparison, PyObject* key, PyObject* best_key);

}  // namespace tagalong::replay
