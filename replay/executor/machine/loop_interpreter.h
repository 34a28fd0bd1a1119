// A loop that closes a trace: the operations of its loop program iterate, on unboxed numbers, until one of them leaves.
// Once native code is made, that iterates on its own and hands single operations back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "replay/executor/machine/run_state.h"

namespace tagalong::replay {

class LoopInterpreter {
 public:
  // `header`: the loop node. RunState::unboxed is set while it runs.
  LoopInterpreter(RunState& state, const Step& header) : state_(state), header_(header) {}

  // From the parameters in front of the loop node.
  static Outcome enter(RunState& state, const Step& header);
  // After a trace link, which has filled the registers and numbers.
  Outcome run();

 private:
  // From this operation until the run ends, or is linked to another executor.
  Outcome interpret(const LoopOp* op);
  // Only this operation.
  native::Did perform(const LoopOp* op);
  template <bool once>
  std::conditional_t<once, native::Did, Outcome> execute(const LoopOp* op);
  template <bool once>
  std::conditional_t<once, native::Did, Outcome> ended(Outcome outcome);
  static native::Did perform_for_native(native::Frame* frame, const LoopOp* op) noexcept;
  const LoopOp* go_native(const LoopOp* op);
  bool make_native() const;
  // The end of an iteration: polls the eval breaker and counts. kNext: the next one may begin.
  StepResult poll(const LoopOp* op);
  bool stops_at(std::int32_t trace);
  void check_entry(std::size_t trace) const;

  [[nodiscard]] std::size_t level() const { return state_.snapshot(header_.snapshot).chain.size() - 1; }
  // The locals of the frame with the loop have new values now, under the same snapshots; those of its callers stay.
  void begin_iteration() {
    const std::size_t own = level();
    if (std::cmp_less(own, state_.run.depth)) {
      state_.run.synced_keys[own] = -1;
    }
  }

  RunState& state_;
  const Step& header_;
  const LoopOp* left_at_ = nullptr;   // native code is left and this operation comes next; null: the run has ended
  Outcome outcome_ = Outcome::kMiss;  // of a run that has ended inside native code
};

}  // namespace tagalong::replay
