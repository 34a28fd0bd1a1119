// The shadow state: which value of the graph is in which slot of which frame, and when eager execution drops it. A
// value is known by its slot, never by identity; the shadow stack has the depth of the real one.
//
//   const SnapshotId here = snapshot();      // before operands leave the stack
//   const Value value = pop();
//   ...
//   release(value);                          // this slot was its holder
//   flush_drops();                           // values without holders die here, as in eager execution
#pragma once

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "recorder/code/recording_codes.h"
#include "recorder/trace/emitter.h"
#include "recorder/trace/shadow_frame.h"

namespace tagalong::recorder {

class ShadowState : public Emitter {
 protected:
  using Instruction = rewriter::Instruction;

  // The sink belongs to `sink_owner`: the program may let go of the code that it records.
  ShadowState(PyThreadState* thread, Sink& sink, Ref sink_owner, const Limits& limits)
      : Emitter(limits), thread_(thread), sink_(sink), sink_owner_(std::move(sink_owner)) {}

  // Upward: the session ends the trace. None of these throws where the trace ends early.
  virtual void stop(Stop reason) = 0;       // in front of the next instruction; keeps the exception that is set
  virtual void abandon(Stop reason) = 0;    // the trace is of no use: there is no state to leave at
  virtual void end_trace() = 0;             // in front of the next instruction, without a reason to show
  virtual void leave_recording_code() = 0;  // behind the node made last; the frames go on
  virtual void finish_trace() = 0;          // behind the node made last; the root frame ends or suspends

  ShadowFrame& top() { return frames_.back(); }
  [[nodiscard]] const ShadowFrame& top() const { return frames_.back(); }
  [[nodiscard]] const Instruction& instruction_at(int index) const {
    return frames_.back().code->decoded->assembly.instructions[static_cast<std::size_t>(index)];
  }

  Value emit(Op op, ValueView operands, SnapshotId here, std::int64_t immediate = 0, Ref object = {}) {
    return add(op, operands, here, immediate, std::move(object), line());
  }
  Value constant(PyObject* object) {
    const Value known = objects_.constant(object);
    return known != replay::kNoValue ? known : add_constant(object, line());
  }
  Value null_value() {
    const Value known = objects_.constant(nullptr);
    return known != replay::kNoValue ? known : add_null(line());
  }

  Value pop();
  void push(Value value);  // takes over one holder
  void hold(Value value) { ++abstract(value).holders; }
  void release(Value value);  // may be the last holder: dropped at the end of the rule
  void release_operands();    // of the node made last: they leave the stack
  void flush_drops(SnapshotId at = replay::kNoSnapshot);
  void bind_local(int slot, Value value);

  SnapshotId snapshot();  // the state before the current instruction
  SnapshotId snapshot_at(int instruction, const Values& stack);
  // The frames as a finaliser sees them: where they are, and their locals. It cannot see what lies on a stack.
  SnapshotId position();

  // Operands popped, one result pushed.
  void produce(Op op, int pops, std::int64_t immediate = 0, Ref object = {});
  // The operands stay.
  void produce_keeping(Op op, int peeks, std::int64_t immediate = 0, Ref object = {});
  // Operands popped, no result.
  void consume(Op op, int pops, const std::vector<int>& order, Ref object = {}, std::int64_t immediate = 0);

  [[nodiscard]] PyObject* live_stack(int from_top) const;  // objects on the real stack at this hook
  [[nodiscard]] PyObject* name(int index) const;
  [[nodiscard]] int call_start() const { return call_start(current_); }
  [[nodiscard]] int call_start(int instruction) const;
  [[nodiscard]] PyObject* keyword_names() const;
  // A hint for the cost model, which does not rely on it.
  void note_array_result(Op op);
  // Code that is not recorded has run in `disturbed_`, and may have begun to watch.
  void others_ran_in(int instruction);
  void check_shadow() const;

  PyThreadState* thread_;
  Sink& sink_;
  Ref sink_owner_;
  RecordingCodes codes_;
  std::vector<ShadowFrame> frames_;
  Values drops_;
  std::unordered_map<Value, int> lasti_of_;  // the instruction that a value of `lasti` stands for
  PyObject** live_top_ = nullptr;            // end of the real stack at the current hook
  int current_ = 0;                          // instruction whose rule runs
  bool is_before_ = false;
  int disturbed_ = -1;         // instruction that others have run in, before its rule
  bool state_changed_ = true;  // since the last snapshot
  bool finished_ = false;
  std::int64_t largest_array_ = 0;

 private:
  [[nodiscard]] int line() const { return instruction_at(std::max(current_, 0)).position.line; }

  SnapshotId cached_snapshot_ = replay::kNoSnapshot;
  int cached_instruction_ = -1;
  std::size_t cached_frame_ = 0;
  bool is_position_known_ = false;  // the cached snapshot has the locals of now, and nothing that was dropped
};

}  // namespace tagalong::recorder
