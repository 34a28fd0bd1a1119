// A graph: one recorded path as a list of nodes in program order, in SSA form, with the snapshots its nodes may leave
// through. Values are Python objects (or null); value `v` is defined by exactly one node before its first use. The
// graph owns every object it names. It refuses nothing by itself: verify() (replay/ir/verifier.h) says what is wrong
// with one.
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

using Value = std::int32_t;       // number of a value; kNoValue: an unbound slot
using SnapshotId = std::int32_t;  // index into Graph::snapshots; kNoSnapshot: none
inline constexpr Value kNoValue = -1;
inline constexpr SnapshotId kNoSnapshot = -1;
inline constexpr int kMaxFrames = 24;  // nesting of inlined frames, the root included

// Mostly a handful, so they are kept in place: recording makes many of these.
using Values = boost::container::small_vector<Value, 6>;

// Removes the values for which the condition holds; how many those were.
template <class Condition>
std::size_t remove_values(Values& values, Condition condition) {
  const auto end = std::remove_if(values.begin(), values.end(), condition);
  const auto count = static_cast<std::size_t>(values.end() - end);
  values.erase(end, values.end());
  return count;
}

// What happens to the value that an inlined frame returns, in the place of the C code that called it.
enum class ReturnKind : std::uint8_t {
  kPlain,      // it is the result of the instruction
  kNone,       // it must be None and is dropped, the result is the object under construction (__init__)
  kDiscard,    // it is dropped, the instruction has no result (__setitem__, a property's setter)
  kOperator,   // NotImplemented: the other operand is asked; otherwise it is the result
  kAttribute,  // it is the result; an AttributeError is told object and name (a property's getter)
  kIteration,  // it is the next item; StopIteration ends the loop (__next__)
  kChecked,    // a slot makes the instruction's result of it (__len__, __contains__)
  kBranch,     // its truth decides where a conditional jump goes (__bool__, __len__)
  // Frames of generators and coroutines:
  kGenerator,   // what it yields is the next item, its return ends the loop
  kDelegation,  // what it yields goes on to the caller's yield, what it returns is the result (SEND)
  kConsumer,    // what it yields is the next item of the consumer that the caller's snapshot names (consumers.h)
  kSend,        // what it yields is the result, its return is a StopIteration (a call of send())
};
constexpr bool is_resumption(ReturnKind kind) { return kind >= ReturnKind::kGenerator; }

// How graph text names them.
inline constexpr std::array<std::string_view, 12> kReturnKindNames = {"result",    "none",       "nothing",  "operator",
                                                                      "attribute", "iteration",  "checked",  "branch",
                                                                      "generator", "delegation", "consumer", "send"};

// A frame that takes part in the trace: number 0 is the root, the others were inlined.
struct FrameInfo {
  Ref code;  // original code object
  Value function = kNoValue;
  std::int32_t parent = -1;  // frame number of the caller
  ReturnKind return_kind = ReturnKind::kPlain;
  Value instance = kNoValue;  // kNone: the object under construction
  std::int32_t pops = 0;      // operands that the caller's instruction still holds on its stack during the call
  // kOperator, kBranch: Operator, Branch (overloads.h); kChecked: SlotCheck; kAttribute: its index in the caller's
  // co_names; kIteration, kGenerator, kDelegation: where the loop ends
  std::int32_t operation = 0;
};

// The state of one frame before instruction `instruction` (index in the decoded original code). Where it is somebody's
// parent, the state during that call: operands gone, result not there yet.
struct Snapshot {
  std::int32_t frame = 0;
  std::int32_t instruction = 0;
  SnapshotId parent = kNoSnapshot;
  Values locals;  // one per slot of localsplus
  Values stack;
  Consuming consuming;  // `instruction` has begun: a consumer's state lies on top of the stack
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
  std::int32_t line = 0;   // source line, for people
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

// Whether the graph goes on with an exception that the node has raised; then its results are no values.
[[nodiscard]] bool is_expected_to_raise(const std::vector<Node>& nodes, std::size_t place);

}  // namespace tagalong::replay
