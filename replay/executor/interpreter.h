// One run of an executor. Internal to replay/.
#pragma once

#include <array>
#include <type_traits>

#include "replay/executor/executor.h"
#include "rewriter/base/errors.h"
#include "rewriter/cpython/dicts.h"
#include "rewriter/cpython/requests.h"

namespace tagalong::replay {

// Nobody notices the death of such an object, as that of the intermediate results of arithmetic.
bool dies_alone(PyObject* object);

// What getattr() adds to an AttributeError under way.
void complete_attribute_error(PyObject* object, PyObject* name);

class Interpreter {
 public:
  Interpreter(const Executor& executor, Run& run, PyObject** registers)
      : executor_(executor), run_(run), registers_(registers), requested_(run.thread) {}

  Outcome execute();
  // The whole trace as one fusion group. False: nothing has happened.
  bool run_straight();
  // The same behind the header, whose parameters are in their registers.
  Outcome resume(UnboxedNumber* unboxed);

 private:
  // The answer of one step.
  enum class StepResult : std::uint8_t { kNext, kRaised, kGuardFailed, kAgain, kReturned, kLeave, kLoop, kFusionGroup };
  // kAgain: the unusual happened before any effect; the original instruction is executed instead.
  // kLoop: the rest of the trace goes round.
  // kFusionGroup: fusion_steps_ steps (of a loop: operations), this one included, have been done, with all that belongs
  // to them.

  // A step with what belongs to it: who watches, what dies with it, who waits.
  [[gnu::always_inline]] StepResult perform(const Step& step);
  StepResult perform_in_loop(const Step& step);
  Outcome run_loop(const Step& header);
  Outcome go_on(const Step& header);
  // Whether array operations in a row are run as one.
  [[nodiscard]] bool runs_groups() const;
  [[nodiscard]] Unboxed kind_of(std::int32_t place) const {
    return executor_.loop_.kinds[static_cast<std::size_t>(place)];
  }
  bool link_trace(const Step& step);
  bool goes_on(const Step& step);
  Transfer& transfer_to(const Step& step, const Executor& next) const;
  void plan(Transfer& transfer, const LoweredSnapshot& state) const;
  [[nodiscard]] bool fits(const Transfer& transfer) const;
  [[nodiscard]] Visit* visit_of(Transfer& transfer);
  bool hand_over(Transfer& transfer, const Step& step);
  bool enter_loop();
  template <bool once>
  std::conditional_t<once, native::Did, Outcome> interpret(const LoopOp* op);
  template <bool once>
  std::conditional_t<once, native::Did, Outcome> ended(Outcome outcome);
  static native::Did perform_for_native(native::Frame* frame, const LoopOp* op) noexcept;
  const LoopOp* go_native(const LoopOp* op);
  bool make_native() const;
  [[nodiscard]] std::size_t level_of_round(const Step& header) const;
  void begin_round(const Step& header);
  bool stops_at(std::int32_t member);
  void check_entry(std::size_t member) const;
  PyObject* box(std::int32_t place);
  void box_for_frame(std::int32_t place);
  bool take_from_reserve(std::int32_t place, bool leaves);
  bool box_for_step(const Step& step, std::int32_t place);
  [[nodiscard]] PyObject* pair(std::int32_t place) const;
  bool box_all(const LoweredSnapshot& state, bool leaves = false);
  [[nodiscard]] int real_level(std::int32_t frame) const;
  void sync_unboxed(const Step& step, std::int32_t place);
  StepResult go_round(const Step& step, const std::int32_t* operands);
  StepResult execute_item(const Step& step, PyObject* container, PyObject* key, PyObject* value);
  StepResult execute_array_item(const Step& step, PyObject* array, PyObject* key, PyObject* value);
  StepResult execute_array_next(const Step& step, PyObject* iterator);
  StepResult end_array(const Step& step, PyObject* iterator);
  StepResult execute_scalars(const Step& step, PyObject* left, PyObject* right);
  // The one dispatch: part of the loop.
  [[gnu::always_inline]] StepResult execute_step(const Step& step);
  [[gnu::always_inline]] StepResult execute_guard(const Step& step, PyObject* value);
  StepResult long_binary(const Step& step, PyObject* left, PyObject* right);
  StepResult execute_number(const Step& step, PyObject* const* operands);
  StepResult execute_container(const Step& step, const std::int32_t* operands);
  StepResult execute_name(const Step& step, const std::int32_t* operands);
  // What the step has found under its name, if that is still so; borrowed.
  static PyObject* known_global(const Step& step, PyObject* function) {
    PyObject* globals = PyFunction_GET_GLOBALS(function);
    const bool holds =
        step.key == globals && step.version1 == cpython::dict_version(globals) &&
        (step.version2 == 0 ||
         step.version2 == cpython::dict_version(reinterpret_cast<PyFunctionObject*>(function)->func_builtins));
    return holds ? step.cached : nullptr;
  }
  // False: nothing has happened.
  static bool rebind_global(const Step& step, PyObject* function, PyObject* value);
  // The same where globals are bound all the time; null: it may be a builtin.
  static PyObject* global_now(const Step& step, PyObject* function) {
    PyObject* globals = PyFunction_GET_GLOBALS(function);
    if (step.key != globals || step.version2 != 0) {
      return nullptr;
    }
    PyObject* found = cpython::find_name(globals, step.object, &step.hint);
    if (found != nullptr) {
      step.version1 = cpython::dict_version(globals);
      step.cached = found;
    }
    return found;
  }
  static const cpython::Attribute* known_attribute(const Step& step, PyTypeObject* type);
  static PyObject* load_known(PyObject* object, const cpython::Attribute& known);
  static bool store_known(PyObject* object, const cpython::Attribute& known, PyObject* value);
  bool try_attribute(const Step& step, const std::int32_t* operands);
  StepResult execute_cell_or_function(const Step& step, const std::int32_t* operands);
  StepResult execute_names(const Step& step, const std::int32_t* operands);
  // Whether the names of the root frame are the globals of its function.
  [[nodiscard]] bool has_plain_names(PyObject* function) const {
    return run_.names != nullptr && run_.names == PyFunction_GET_GLOBALS(function) && PyDict_CheckExact(run_.names);
  }
  StepResult load_classderef(const Step& step, const std::int32_t* operands);
  StepResult execute_rare(const Step& step, const std::int32_t* operands);
  StepResult execute_inlined_generator(const Step& step, const std::int32_t* operands);
  [[nodiscard]] static bool generator_matches(PyObject* value, const Step& step);
  bool leave_generator(const Step& step);
  StepResult execute_consumer(const Step& step, const std::int32_t* operands);
  static void give_up_consumed(const LoweredSnapshot& state, PyObject** top);
  void keep_consumed(const LoweredSnapshot& state, std::vector<Ref>* kept) const;
  StepResult execute_generator(const Step& step, const std::int32_t* operands);
  PyObject* next_eliding(PyObject* iterator) const;
  StepResult execute_array(const Step& step, const std::int32_t* operands);
  StepResult execute_array_eagerly(const Step& step, const std::int32_t* operands);
  bool run_group(const Step& step);
  // True: done.
  template <class Attempt>
  bool run_site(FusionSite& site, const FusionSource& source, array::FusionReason* reason, const Attempt& attempt);
  // The numbers and arrays of a fusion group; nothing else has happened then.
  struct FusionResults;
  array::FusionReason compute_group(const array::Numpy& np, const PlannedGroup& group, FusionResults* results);
  array::FusionReason attempt_group(const array::Numpy& np, const PlannedGroup& group);
  array::FusionReason attempt_straight(const array::Numpy& np, const PlannedGroup& group);
  [[nodiscard]] array::FusionReason fusion_holds(const PlannedGroup& group) const;
  bool compute_numbers(const PlannedGroup& group, Ref* numbers) const;
  [[nodiscard]] NumberRegisters number_registers() const;
  void fill_tuple(const PlannedGroup& group, FusionResults* results) const;
  void commit_group(const PlannedGroup& group, FusionResults* results);
  array::Outcome call_ufunc(const Step& step, const std::int32_t* operands, Ref* result,
                            const array::BeforeReport& before_report);
  StepResult call_known(const Step& step, const std::int32_t* operands);
  StepResult call_step(const Step& step, const std::int32_t* operands);
  PyObject* call_eliding(const Step& step, const std::int32_t* operands, PyObject* keywords);
  PyObject* call_exact(const Step& step, const std::int32_t* operands, PyFunctionObject* function);
  void give_up_refused(const Step& step, const std::int32_t* operands, PyObject* keywords);
  [[nodiscard]] bool dies_here(const Step& step, std::int32_t place) const;
  StepResult unpack(const Step& step, const std::int32_t* operands);
  StepResult thunk(const Step& step, const std::int32_t* operands);
  StepResult execute_exception(const Step& step, const std::int32_t* operands);
  static StepResult empty_cell(const Step& step);
  StepResult push_exc_info(const Step& step, const std::int32_t* operands);

  Outcome finish(const Step& step, StepResult answer);

  // Everything that looks at frames now sees what eager execution shows.
  bool sync(const Step& step) {
    return step.snapshot == kNoSnapshot ||
           materialise(executor_.snapshots_[static_cast<std::size_t>(step.snapshot)], true);
  }
  // Only the location: for C code that may warn or raise but does not run Python code.
  bool locate(const Step& step) {
    return step.snapshot == kNoSnapshot ||
           materialise(executor_.snapshots_[static_cast<std::size_t>(step.snapshot)], false);
  }
  // Signals, pending calls, other threads: whatever they do, they see the frames.
  bool poll(const Step& step) { return sync(step) && cpython::poll_requests(); }
  StepResult store(const Step& step, PyObject* result) {
    if (result == nullptr) {
      return StepResult::kRaised;
    }
    registers_[step.result] = result;
    return StepResult::kNext;
  }
  StepResult store_int(const Step& step, std::int64_t number);
  StepResult store_cell(const Step& step, PyObject* content);
  static StepResult check(int status) { return status < 0 ? StepResult::kRaised : StepResult::kNext; }

  [[nodiscard]] cpython::Frame* push(PyFunctionObject* function, const CodeShape& shape) const;
  // False: there is no memory for a frame, or for a number that one shows (which there is where the run leaves).
  bool materialise(const LoweredSnapshot& snapshot, bool with_locals, bool leaves = false);
  void show_place(SnapshotId id);
  [[nodiscard]] const LoweredSnapshot& outermost(SnapshotId id) const;
  [[nodiscard]] int unit_of(const LoweredSnapshot& state) const;
  void write_locals(cpython::Frame* frame, const LoweredSnapshot& state);
  void show(SnapshotId id, PyObject* dying);
  void sync_local(const Step& step);
  void leave_frame(const Step& step);
  void give_up_locals(const Step& step, const LoweredSnapshot& state);
  void return_locals(const Step& step);
  [[nodiscard]] bool is_quiet_operator(const Step& step, PyObject* left, PyObject* right) const;
  [[nodiscard]] bool is_quiet_container(const Step& step, const std::int32_t* operands) const;
  [[nodiscard]] bool is_quiet_iterator(PyObject* iterator) const;
  void clear_returned(const Step& step);
  void take_stack(std::int32_t depth);
  void clear_registers();
  void give_up_rest(const Step& step);
  // The step that leaves in place of a guard inside of a call, where nothing has happened since (guard_relocation.h);
  // or null.
  [[nodiscard]] const Step* relocation_of(const Step& guard) const {
    if (guard.relocation < 0 || run_.depth != 1) {
      return nullptr;
    }
    const Step& relocation = executor_.steps_[static_cast<std::size_t>(guard.relocation)];
    return relocation.since >= 0 && user_code_step_ >= relocation.since && user_code_step_ <= relocation.guard
               ? nullptr
               : &relocation;
  }
  [[nodiscard]] std::vector<std::int32_t> rest_of(const LoweredSnapshot& inner) const;
  [[nodiscard]] const LoweredSnapshot& ended_before(const Step& step, const LoweredSnapshot& here) const;
  void drop_operands(const Step& step, const LoweredSnapshot& inner);
  [[nodiscard]] int recursion_levels(int level) const;
  void pop_frames(int keep);
  void pop_frame();
  void pop_ended(const LoweredSnapshot& state);
  [[nodiscard]] const Step& with_state(const Step& step) const;
  Outcome leave(const Step& step, bool raise);
  // What a frame of a run that leaves needs besides its slots.
  struct Kept {
    Ref instance;               // the object under construction
    std::vector<Ref> consumed;  // the state of a consumer
  };
  Outcome run_frames(const LoweredSnapshot& inner, Kept* kept, int first_real, bool raise);
  // What a frame that went on in the interpreter has given to its caller.
  struct Given {
    const FrameInfo* frame = nullptr;
    PyObject* result = nullptr;  // owned; null: an exception is set
    bool has_ended = false;      // a generator's return
  };
  static int take_result(const Given& given, int instruction, PyObject** stack, int& depth);
  static int take_consumed(const Consuming& consuming, Kept& kept, const Given& given, int instruction,
                           PyObject** stack, int& depth);
  void continue_generator(Given& given, cpython::Frame* frame, int unit, int depth, bool raise) const;

  const Executor& executor_;
  Run& run_;
  PyObject** registers_;
  std::uint32_t fusion_steps_ = 0;
  const LoopOp* loop_op_ = nullptr;   // that is a step, while that is run
  const LoopOp* left_at_ = nullptr;   // native code is left, and this is what comes next; null: the run has ended
  UnboxedNumber* unboxed_ = nullptr;  // numbers beside the registers, while a loop runs
  const Step* header_ = nullptr;      // of that loop
  Outcome outcome_ = Outcome::kMiss;  // of a run that has ended inside of native code
  bool lacks_numbers_ = false;        // a frame shows None for a number: there was no memory
  std::int32_t user_code_step_ = -1;  // the last step that has read an attribute so that code may have run
  const cpython::RequestFlag requested_;
};

}  // namespace tagalong::replay
