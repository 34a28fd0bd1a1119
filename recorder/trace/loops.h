// The loops of a trace. A jump back closes the trace: one round has been peeled, the next one is the body of the loop.
//
// At the first jump back to a header the values of the frame's slots become parameters of a `loop` node; what is known
// of their types is an assumption, which the body may rely on (AbstractValue::assumed). At the next jump back to the
// same header the types that the body relied on are guarded, once in front of the loop and, where the body does not
// vouch for them, in front of the jump. If that cannot be, a loop is opened anew there; a loop node that no jump goes
// back to only hands its values on.
//
//   if (go_round(target)) return;   // at a jump back: the trace has ended
#pragma once

#include <cstdint>
#include <vector>

#include "recorder/trace/shadow_state.h"

namespace tagalong::recorder {

class Loops : public ShadowState {
 protected:
  using ShadowState::ShadowState;

  // Numbers are worth a guard also where something has been seen already.
  [[nodiscard]] bool is_in_loop() const { return !loops_.empty(); }
  // Part of a tree: it begins with a loop node, and where another loop comes round it ends, to go on in that one's
  // traces.
  [[nodiscard]] bool is_of_tree() const;

  // The trace starts at this header. Only a trace that starts at a loop of the root frame calls this.
  void set_header(int header) { header_ = header; }
  void open_loop(int target);
  // A jump back to `target`: true if it has ended the trace.
  bool go_round(int target);
  // The iterator of the loop at this header is exhausted: no jump will come back to it.
  void forget_loop(int target);

  // At the end of a trace: which types its loops rely on, and the guards for them.
  void settle_entry();
  void guard_loops();

 private:
  // A jump back has been seen, the next one to the same header may close the loop.
  struct OpenLoop {
    std::int32_t frame = 0;  // its number
    int target = 0;
    std::size_t node = 0;            // in the graph
    std::size_t guards = 0;          // where the guards go that belong in front of it
    std::int64_t number = 0;         // among loop nodes, from 1
    Value first = replay::kNoValue;  // parameter
    Values initial;
    std::vector<PyTypeObject*> known;  // established types of `initial`, there
    SnapshotId header = replay::kNoSnapshot;
    std::vector<bool> shape;  // of the frame's slots
  };

  bool link(int target);
  bool close_loop(const OpenLoop& loop, SnapshotId here);
  void pass_on_assumptions(std::size_t from);
  bool settle_types(const OpenLoop& loop, const Values& next);
  Values carried_values(std::vector<Value*>* places);
  std::vector<bool> slot_shape();

  std::vector<OpenLoop> open_loops_;
  std::vector<OpenLoop> loops_;  // all that have ever been opened, in the order of their nodes
  int header_ = -1;              // of the loop where the trace starts
};

}  // namespace tagalong::recorder
