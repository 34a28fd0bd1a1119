#include "runtime/worth.h"

namespace tagalong::runtime {
namespace {

using replay::Op;

constexpr int kEntry = -60;
constexpr int kGuard = -4;
constexpr int kOperation = -12;
constexpr int kArrayOperation = 200;  // of small arrays; large ones gain more
constexpr int kClosedLoop = 10'000;   // rounds without objects for numbers

int worth_of(const replay::Node& node) {
  switch (node.op) {
    case Op::constant:
    case Op::null:
    case Op::function:
    case Op::param:
    case Op::drop:
    case Op::sync_local:
    case Op::leave_frame:
      return 0;
    case Op::array_binary:
    case Op::array_unary:
    case Op::array_compare:
    case Op::array_call:
      return kArrayOperation;
    case Op::jump_back:
      return kClosedLoop;
    default:
      return node.info().is_guard() ? kGuard : kOperation;
  }
}

}  // namespace

int worth_of(const replay::Graph& graph) {
  int worth = kEntry;
  for (const replay::Node& node : graph.nodes) {
    worth += worth_of(node);
  }
  return worth;
}

}  // namespace tagalong::runtime
