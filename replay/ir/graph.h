// A graph: one recorded path as a list of nodes in program order, in SSA form, with the snapshots for side exits.
// Values are Python objects (or null); value `v` is defined by exactly one node before its first use. The graph owns
// all objects that it refers to. A Graph checks nothing itself: verify() (replay/ir/verifier.h) lists what is wrong
// with it.
//
//   Graph graph; Value x = graph.add(Op::param, {}, 0); graph.add(Op::return_value, {x});
#pragma once

#include <algorithm>
#include <array>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "replay/ir/consumers.h"
#include "replay/ir/ops.h"
#include "rewriter/base/kept_ref.h"
#include "rewriter/base/ref.h"

namespace tagalong::replay {

using Value = std::int32_t;       // number of a value; kNoValue means an unbound slot
using SnapshotId = std::int32_t;  // index into Graph::snapshots; kNoSnapshot: none
inline constexpr Value kNoValue = -1;
inline constexpr SnapshotId kNoSnapshot = -1;
inline constexpr int kMaxFrames = 24;  // nesting of inlined frames, the root included

// Usually a handful, so they are stored in place: a recording makes many of these.
using Values = boost::container::small_vector<Value, 6>;

// Removes the values for which the condition holds; returns how many were removed.
template <class Condition>
std::size_t remove_values(Values& values, Condition condition) {
  const auto end = std::remove_if(values.begin(), values.end(), condition);
  const auto count = static_cast<std::size_t>(values.end() - end);
  values.erase(end, values.end());
  return count;
}

// What the C code that called an inlined frame does with the frame's return value.
enum class ReturnKind : std::uint8_t {
  kPlain,      // it is the result of the instruction
  kNone,       // it must be None and is dropped; the result is the object under construction (__init__)
  kDiscard,    // it is dropped; the instruction has no result (__setitem__, a property's setter)
  kOperator,   // if it is NotImplemented the other operand's method is called; otherwise it is the result
  kAttribute,  // it is the result; an AttributeError gets the object and name (a property's getter)
  kIteration,  // it is the next item; StopIteration ends the loop (__next__)
  kChecked,    // C code of a type slot converts it to the result of the instruction (__len__, __contains__)
  kBranch,     // its truth decides whether a conditional jump is taken (__bool__, __len__)
  // Frames of generators and coroutines:
  kGenerator,   // a yielded value is the next item, a return ends the loop
  kDelegation,  // a yielded value goes to the caller's yield, a returned value is the result (SEND)
  kConsumer,    // a yielded value is the next item of the consumer in the caller's snapshot (consumers.h)
  kSend,        // a yielded value is the result, a return becomes a StopIteration (a call of send())
};
constexpr bool is_resumption(ReturnKind kind) { return kind >= ReturnKind::kGenerator; }

// Names in graph text.
inline constexpr std::array<std::string_view, 12> kReturnKindNames = {"result",    "none",       "nothing",  "operator",
                                                                      "attribute", "iteration",  "checked",  "branch",
                                                                      "generator", "delegation", "consumer", "send"};

// A frame of the trace: number 0 is the root, the others are inlined.
struct FrameInfo {
  Ref code;  // original code object
  Value function = kNoValue;
  std::int32_t parent = -1;  // frame number of the caller
  ReturnKind return_kind = ReturnKind::kPlain;
  Value instance = kNoValue;  // for kNone: the object under construction
  std::int32_t pops = 0;      // number of operands that stay on the caller's stack during the call
  // For kOperator and kBranch: an Operator or Branch (overloads.h); for kChecked: a SlotCheck; for kAttribute: index in
  // the caller's co_names; for kIteration, kGenerator, kDelegation: the target at the end of the loop. For kPlain and
  // kAttribute with kNullAboveResult where the instruction loads a method and puts a null above what it has loaded.
  std::int32_t operation = 0;
};
inline constexpr std::int32_t kNullAboveResult = 1 << 30;

// The state of one frame before instruction `instruction` (index in the decoded original code). For a parent of another
// snapshot, the state during the call: the operands are gone, and there is no result yet.
struct Snapshot {
  std::int32_t frame = 0;
  std::int32_t instruction = 0;
  SnapshotId parent = kNoSnapshot;
  Values locals;  // one for each slot of localsplus
  Values stack;
  // If there is a consumer, `instruction` has begun, and the consumer's state is on top of the stack.
  Consuming consuming;
  bool operator==(const Snapshot&) const = default;
};

struct Node {
  Op op = Op::null;
  std::int64_t immediate = 0;
  cpython::KeptRef object;
  Values operands;
  Value first_result = kNoValue;
  std::int32_t result_count = 0;
  SnapshotId snapshot = kNoSnapshot;
  std::int32_t line = 0;   // source line, for display
  std::int32_t group = 0;  // candidate fusion group; 0: none (passes/groups.h)

  [[nodiscard]] const OpInfo& info() const { return replay::info(op); }
};

struct Graph {
  std::vector<Node> nodes;
  std::vector<Snapshot> snapshots;
  std::vector<FrameInfo> frames;
  Value value_count = 0;
  std::string name;  // qualified name of the root function

  // Appends a node; returns its first result (kNoValue if it has none).
  Value add(Op op, Values operands, std::int64_t immediate = 0, Ref object = {}, SnapshotId snapshot = kNoSnapshot,
            std::int32_t line = 0);
};

// Whether the graph continues with an exception that the node raised; then the node's results are undefined.
[[nodiscard]] bool is_expected_to_raise(const std::vector<Node>& nodes, std::size_t place);

}  // namespace tagalong::replay
