// The shadow state: which value of the graph is in which slot of which frame, and when eager execution drops it. A
// value is found by its slot, never by identity; the shadow stack has the depth of the real one.
//
//   const SnapshotId here = snapshot();      // before operands leave the stack
//   const Value value = pop();
//   ...
//   release(value);                          // this slot no longer holds the value
//   flush_drops();                           // values without holders are dropped here, as in eager execution
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

  // `sink_owner` owns the sink: the program may drop the code that is being recorded.
  ShadowState(PyThreadState* thread, Sink& sink, Ref sink_owner, const Limits& limits)
      : Emitter(limits), thread_(thread), sink_(sink), sink_owner_(std::move(sink_owner)) {}

  // Upward: the session ends the trace. These functions do not throw if the trace ends early.
  virtual void stop(Stop reason) = 0;       // in front of the next instruction; keeps the pending exception
  virtual void abandon(Stop reason) = 0;    // discards the trace: there is no state for a side exit
  virtual void end_trace() = 0;             // in front of the next instruction, without a reason to show
  virtual void leave_recording_code() = 0;  // behind the last node; the frames continue
  virtual void finish_trace() = 0;          // behind the last node; the root frame ends or suspends

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
  void push(Value value);  // takes over a holder that the caller has counted
  void hold(Value value) { ++abstract(value).holders; }
  void release(Value value);  // if this was the last holder, the value is dropped at the end of the rule
  void release_operands();    // of the last node: its operands leave the stack
  void flush_drops(SnapshotId at = replay::kNoSnapshot);
  void bind_local(int slot, Value value);

  SnapshotId snapshot();  // the state in front of the current instruction
  SnapshotId snapshot_at(int instruction, const Values& stack);
  // The frames as a finaliser sees them: their locations and locals. A finaliser cannot see the stacks.
  SnapshotId position();

  // Pops the operands and pushes one result.
  void produce(Op op, int pops, std::int64_t immediate = 0, Ref object = {});
  // Leaves the operands on the stack and pushes one result.
  void produce_keeping(Op op, int peeks, std::int64_t immediate = 0, Ref object = {});
  // Pops the operands and pushes nothing.
  void consume(Op op, int pops, const std::vector<int>& order, Ref object = {}, std::int64_t immediate = 0);

  [[nodiscard]] PyObject* live_stack(int from_top) const;  // objects on the real stack at this hook
  [[nodiscard]] PyObject* name(int index) const;
  [[nodiscard]] PyObject* name_of(const Instruction& instruction) const {
    return name(static_cast<int>(rewriter::index_of(instruction.opcode, instruction.arg)));
  }
  [[nodiscard]] int call_start() const { return call_start(current_); }
  [[nodiscard]] int call_start(int instruction) const;
  [[nodiscard]] PyObject* keyword_names() const;
  // A hint for the cost model; nothing relies on it.
  void note_array_result(Op op);
  // Unrecorded code has run in `unrecorded_code_in_` and may have installed a trace function.
  void note_unrecorded_code_in(int instruction);
  void check_shadow() const;

  PyThreadState* thread_;
  Sink& sink_;
  Ref sink_owner_;
  RecordingCodes codes_;
  std::vector<ShadowFrame> frames_;
  Values drops_;
  std::unordered_map<Value, int> lasti_of_;  // for a value of `lasti`: its instruction
  PyObject** live_top_ = nullptr;            // end of the real stack at the current hook
  int current_ = 0;                          // the instruction whose rule runs
  bool is_before_ = false;
  int unrecorded_code_in_ = -1;  // the instruction in which unrecorded code ran, before its rule
  bool state_changed_ = true;    // since the last snapshot
  bool finished_ = false;
  std::int64_t largest_array_ = 0;

 private:
  [[nodiscard]] int line() const { return instruction_at(std::max(current_, 0)).position.line; }

  SnapshotId cached_snapshot_ = replay::kNoSnapshot;
  int cached_instruction_ = -1;
  std::size_t cached_frame_ = 0;
  bool is_position_known_ = false;  // whether the cached snapshot has the current locals and no value that was dropped
};

}  // namespace tagalong::recorder
