// The loops of a trace. A jump back closes the trace: the first round has been peeled, and the next one is the loop's
// body.
//
// At the first jump back to a header, the values of the frame's slots become parameters of a `loop` node; what is known
// of their types is an assumption, on which the body may rely (AbstractValue::assumed). At the next jump back to the
// header, the types on which the body relied are guarded: once in front of the loop, and in front of the jump where the
// body does not establish them. If that is impossible, a new loop is opened there; a loop node without a jump back only
// passes its values on.
//
//   if (record_jump_back(target)) return;   // at a jump back; true: the trace has ended
#pragma once

#include <cstdint>
#include <vector>

#include "recorder/trace/shadow_state.h"

namespace tagalong::recorder {

class Loops : public ShadowState {
 protected:
  using ShadowState::ShadowState;

  // In a loop, guards on numbers pay even behind the first visible effect. Elsewhere they only go into the entry check.
  [[nodiscard]] bool is_in_loop() const { return !loops_.empty(); }
  // Whether the trace is part of a trace tree: it begins with a loop node, and at the jump back of another loop it ends
  // with a link to that loop's traces.
  [[nodiscard]] bool is_in_trace_tree() const;

  // The trace starts at this header. Only called for a trace that starts at a loop of the root frame.
  void set_header(int header) { header_ = header; }
  void open_loop(int target);
  // Records a jump back to `target`. True: this has ended the trace.
  bool record_jump_back(int target);
  // The iterator of the loop at this header is exhausted, so there is no further jump back to it.
  void forget_loop(int target);

  // Called at the end of a trace: determines the types on which its loops rely, and puts in the guards for them.
  void resolve_entry_types();
  void guard_loops();

 private:
  // A loop whose header had one jump back; the next jump back to the header may close it.
  struct OpenLoop {
    std::int32_t frame = 0;  // number of the frame
    int target = 0;
    std::size_t node = 0;            // index of the loop node in the graph
    std::size_t guards = 0;          // index of the node in front of which the loop's guards go
    std::int64_t number = 0;         // number among the loop nodes, from 1
    Value first = replay::kNoValue;  // the first parameter
    Values initial;
    std::vector<PyTypeObject*> known;  // established types of `initial` when the loop was opened
    SnapshotId header = replay::kNoSnapshot;
    std::vector<bool> shape;  // which slots of the frame have a value
  };

  bool link(int target);
  bool close_loop(const OpenLoop& loop, SnapshotId here);
  void propagate_assumptions(std::size_t from);
  bool resolve_types(const OpenLoop& loop, const Values& next);
  Values carried_values(std::vector<Value*>* places);
  std::vector<bool> slot_shape();

  std::vector<OpenLoop> open_loops_;
  std::vector<OpenLoop> loops_;  // all loops ever opened, in the order of their nodes
  int header_ = -1;              // of the loop at which the trace starts
};

}  // namespace tagalong::recorder
