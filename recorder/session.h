// A session: one recording on one stack, from the entry of the root frame to its return (or to the point where the
// recorder stops). It owns the graph under construction and the shadow frames; the program runs by itself, the session
// only looks. When it cannot go on it gives a reason, and the trace ends with a `leave` at the last consistent state.
//
//   Session* session = Session::start(thread, frame, decoded, sink);   // then the hooks drive it; sink gets the graph
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "recorder/base/recordings.h"
#include "recorder/code/recording_code.h"
#include "recorder/deferred/preparation.h"
#include "recorder/trace/recorded.h"
#include "replay/objects/known_functions.h"
#include "rewriter/cpython/frames.h"
#include "rewriter/cpython/watch.h"

namespace tagalong::recorder {

using replay::Op;
using replay::SnapshotId;
using replay::Value;
using replay::Values;

// Values in a row that somebody else keeps, to be copied at once.
class ValueView {
 public:
  ValueView() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): values in either form are given as they are.
  ValueView(const Values& values) : begin_(values.data()), end_(begin_ + values.size()) {}
  ValueView(std::initializer_list<Value> values) : ValueView(values.begin(), values.end()) {}
  ValueView(const Value* begin, const Value* end) : begin_(begin), end_(end) {}
  [[nodiscard]] const Value* begin() const { return begin_; }
  [[nodiscard]] const Value* end() const { return end_; }

 private:
  const Value* begin_ = nullptr;
  const Value* end_ = nullptr;
};

class Session final : public Recording, public std::enable_shared_from_this<Session>, private cpython::Watcher {
 public:
  // Where a recording starts: the frame stands behind the RESUME of this entry, or at the place that is none of the
  // code's entries. A generator's frame has a home.
  struct Start {
    std::shared_ptr<const DecodedCode> decoded;
    int entry = 0;
    HomeRef home;
    Ref sink_owner;  // the object that the sink belongs to: the program may let go of the code that it records
    bool has_every_hook = false;  // also where a later hook would do: somebody wants to see the recording code
    std::optional<DecodedCode::Entry> elsewhere = std::nullopt;
    RecordingCodeRef known = nullptr;  // of an earlier recording of this code
  };
  // Returns the recording code that the frame has to go on with; the session lives until it is finished. Throws
  // RewriteError or PythonError before anything has changed.
  static const RecordingCode& start(PyThreadState* thread, cpython::Frame* frame, const Start& start, Sink& sink,
                                    const Limits& limits);
  // Whether the current stack is recording right now (and not waiting for an opaque call).
  static bool is_recording(PyThreadState* thread) { return Recordings::has_active(thread); }

  // Frees the session that has just finished on this stack; called when none of its methods runs any more.
  static void reap(PyThreadState* thread);

  // In the child of a fork: recordings of other threads will never go on.
  static void forget_other_threads(PyThreadState* thread) { Recordings::all().forget_other_threads(thread); }

  // From the hooks of recording code.
  void before(cpython::Frame* frame, int instruction);
  void after(cpython::Frame* frame, int instruction);
  void unwound(cpython::Frame* frame);
  // Come before and behind the first of these (preparation.h).
  // False: an operation of arrays that has waited has raised an exception.
  bool prepare_array_operation(cpython::Frame* frame, int instruction);
  bool put_array_operation(cpython::Frame* frame, int instruction);
  // Whether the instruction is the last one of the frame.
  [[nodiscard]] bool returns(cpython::Frame* frame, int instruction) const;
  // Comes before each of these.
  void come_back(cpython::Frame* frame);
  // A frame has started on a stack that does not record. Where no recording needs to see the next frame, the evaluation
  // hook stays away until a recording goes on.
  static void lend_hook(PyThreadState* thread);

  // Whether eager execution looks for signals and other threads where this hook stands.
  [[nodiscard]] bool is_poll_place(const cpython::Frame* frame, int instruction, bool is_after) const;

  [[nodiscard]] PyThreadState* thread() const { return thread_; }

  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() override;

  void stop(Stop reason);  // throws nothing, and keeps the exception that is set

 private:
  friend PyObject* handle_frame(PyThreadState* thread, cpython::Frame* frame, int throw_flag);
  using Instruction = rewriter::Instruction;

  struct AbstractValue {
    PyTypeObject* exact = nullptr;    // established by a guard or by what made the value
    PyTypeObject* seen = nullptr;     // when recorded; only a hint
    PyTypeObject* assumed = nullptr;  // of a loop's parameter: exact, as soon as something relies on it
    std::int32_t holders = 0;         // places of shadow frames that hold the value
    bool is_null = false;             // when recorded
    bool is_big = false;              // an int beyond 64 bits when recorded
    bool counted = true;              // false: constants and the like, which nobody drops
    bool on_root_stack = false;       // at entry
  };

  // An instruction that has raised, from when that is known to its handler or the end of its frame.
  struct Raising {
    int instruction = -1;            // -1: none
    int shown = -1;                  // where the frame is seen to be: what RERAISE raises was raised elsewhere
    Value lasti = replay::kNoValue;  // the place of `shown` as a value, if it is one already
    bool adds_entry = true;          // to the traceback
    bool is_emitted = false;         // its operation is in the graph
    bool may_end_loop = false;       // __next__ has raised it
    bool is_side_exit = false;       // it is not, the interpreter executes the instruction: a re-raise out of the root
    SnapshotId here = replay::kNoSnapshot;  // the state before it, where it is_side_exit
    bool has_no_memory = false;             // that is why: the program may have nothing to do with it
  };

  // C code that works for the instruction under way with the items of a generator (consumers.cpp).
  struct Consumption {
    replay::Consumer consumer = replay::Consumer::kNone;
    const void* generator = nullptr;  // to compare with
    int instruction = 0;
    std::size_t base = 0;  // the state of the consumer lies on the shadow stack from here on
    int items = 0;
    bool has_item = false;  // on top; what has become of it is not known yet
    bool is_pair = false;   // a tuple of two
    bool has_start = false;
    int pops = 0;
    int results = 0;
    bool is_over = false;  // the instruction has its result
    Values unpacked;       // or these, the first first
  };

  static constexpr std::int32_t kNotDeclined = -1;
  struct ShadowFrame {
    cpython::Frame* live = nullptr;
    RecordingCode* code = nullptr;
    std::int32_t number = 0;  // in Graph::frames
    Value function = replay::kNoValue;
    SnapshotId parent = replay::kNoSnapshot;  // the callers' state during this call
    Values locals, stack;
    int next = 0;                                               // instruction that the shadow state stands before
    int pending = -1;                                           // a branch or FOR_ITER whose outcome is not known yet
    Value call_result = replay::kNoValue;                       // of an inlined call that has returned
    replay::ReturnKind call_kind = replay::ReturnKind::kPlain;  // of that call
    int call_pops = 0;
    int call_instruction = 0;
    int answered = -1;  // a resumption that is over, up to the next hook: who dies with it may run code
    replay::ReturnKind return_kind = replay::ReturnKind::kPlain;  // of this frame to its caller
    int pops = 0;
    bool is_generator = false;  // inlined: resumed by its consumer, suspended at a yield
    Value instance = replay::kNoValue;
    cpython::KeptRef number_object;  // `number`, made when first needed
    bool calls_ufunc = false;        // the CALL under way
    replay::Known known = replay::Known::kNone;
    bool renews = false;           // the STORE_SUBSCR under way replaces a number
    bool is_null_first = false;    // its first callable slot is NULL
    PyObject* callable = nullptr;  // that is called: alive while the call lasts
    PyObject* called = nullptr;    // what it calls if it is a method or a partial; to compare with, not to look into
    int array_items = -1;          // type number of the items of the array that the instruction under way asks for one
    int iterated_items = -1;       // the same of the array that the FOR_ITER under way takes one of
    bool plain_attribute = false;  // the LOAD_ATTR or LOAD_METHOD under way finds its name in a module's own dict
    Raising raising;
    std::int32_t declined = kNotDeclined;  // the operation whose inlined method has answered NotImplemented
    std::int32_t operation = 0;            // of this frame: FrameInfo::operation
    PyObject* next_method = nullptr;       // that the operator asks then, as guards have established; to compare with
    int next_attempt = 0;                  // its place in the order of attempts
    Value checked = replay::kNoValue;      // what an inlined special method has returned, before its slot looks at it
    int check = 0;                         // replay::SlotCheck
    std::unordered_map<int, int> back_edges;
    Consumption consuming;
  };

  // A jump back has been seen, the next one to the same header may close the loop (loops.cpp).
  struct OpenLoop {
    std::int32_t frame = 0;  // its number
    int target = 0;
    std::size_t node = 0;            // in the graph
    std::size_t guards = 0;          // where those go that stand in front of it
    std::int64_t number = 0;         // among loop nodes, from 1
    Value first = replay::kNoValue;  // parameter
    Values initial;
    std::vector<PyTypeObject*> known;  // of what types they are for sure, there
    SnapshotId header = replay::kNoSnapshot;
    std::vector<bool> shape;  // of the frame's slots
  };

  Session(PyThreadState* thread, Sink& sink, const Limits& limits, Ref sink_owner);
  RecordingCode& recording_code(std::shared_ptr<const DecodedCode> decoded, const HomeRef& home = {},
                                const DecodedCode::Entry* elsewhere = nullptr);
  RecordingCode& root_code(const Start& start);
  void start_root(cpython::Frame* frame, const Start& start);
  void guard_bound_locals();
  void start_root_stack(const DecodedCode::Entry& entry);
  void take_root_stack();
  // Part of a tree: it begins with a loop node, and where another loop comes round it ends, to go on in that one's
  // traces.
  [[nodiscard]] bool is_of_tree() const {
    return place_ == DecodedCode::Place::kHeader || place_ == DecodedCode::Place::kExit ||
           (place_ == DecodedCode::Place::kCall && frames_.front().code->decoded->is_joined &&
            !frames_.front().code->decoded->is_generator);
  }
  void end_at(Stop reason);
  void abandon(Stop reason);
  void end(Recorded recorded);
  void leave_recording_code(Recorded recorded);
  void finish(Recorded recorded);
  void hand_over(Recorded recorded);
  // While it records, the graph keeps the program's objects no more alive than an executor does.
  bool call_known(int operands, SnapshotId here);
  Ref let_go(Op op, Ref object);
  Ref watched(PyObject* object);
  void take_back();
  void object_died(PyObject* object) override;
  void return_from_root(Value value);
  [[nodiscard]] bool is_mine(cpython::Frame* frame) const;
  [[nodiscard]] ArrayPlace array_place(cpython::Frame* frame, int instruction) const;
  bool may_go_on();

  // Inlining: which call is this (call_forms.cpp), and what does it become (inline.cpp)?
  struct CallTarget;
  CallTarget find_target(int instruction, cpython::Frame* callee);
  void note_callee(PyObject* callable);
  void note_refused(PyObject* callable, int operands);
  void give_up_refused();
  void find_call(CallTarget& target, PyObject* const* operands, cpython::Frame* callee) const;
  [[nodiscard]] bool is_result_of(Value value, Op op) const;
  [[nodiscard]] bool is_made_here(Value value) const;
  void find_special(CallTarget& target, PyObject* const* top, cpython::Frame* callee) const;
  // What classes overload (overloads.cpp)
  void find_operator(CallTarget& target, PyObject* const* end, PyObject* self) const;
  void find_truth(CallTarget& target, PyObject* operand, PyObject* self) const;
  void find_format(CallTarget& target, PyObject* const* end, PyObject* self) const;
  void find_builtin(CallTarget& target, PyObject* callable, PyObject* self) const;
  void find_attribute(CallTarget& target, PyObject* const* end, cpython::Frame* callee) const;
  void find_spread(CallTarget& target, PyObject* const* operands, cpython::Frame* callee) const;
  [[nodiscard]] bool may_ask(int instruction) const;
  [[nodiscard]] bool is_about_made_class(const CallTarget& target, cpython::Frame* callee) const;
  Values take_hook_operands(ShadowFrame& callee, const CallTarget& target, SnapshotId here);
  Values spread_keywords(Value keywords, PyObject* names, SnapshotId here);
  void guard_next_attempt();
  void return_checked(int check);
  Value take_checked();
  bool try_inline(cpython::Frame* callee);
  [[nodiscard]] std::optional<std::span<PyObject*>> direct_arguments(cpython::Frame* callee);
  void hand_over_arguments(cpython::Frame* callee);
  void inline_call(cpython::Frame* callee, const CallTarget& target);
  Values take_operands(ShadowFrame& callee, const CallTarget& target, SnapshotId here);
  Value guarded_function(const CallTarget& target, SnapshotId here);
  void bind_arguments(ShadowFrame& callee, PyCodeObject* code, const Values& positional, PyObject* keyword_names,
                      SnapshotId here);
  void run_prologue(ShadowFrame& callee);
  void return_from_inlined(Value value);
  void leave_inlined(ShadowFrame& callee, SnapshotId at);

  // Exceptions (exceptions.cpp)
  bool catch_exception(cpython::Frame* frame, int handler);
  static constexpr int kUnknownUnit = -2;
  bool find_raising(int unit, PyObject* exception);
  bool settle_before_raising();
  void emit_raising(bool leaves_root);
  void raise_statement(const Instruction& instruction, bool leaves_root);
  void reraise_statement(const Instruction& instruction, bool leaves_root);
  void raise_in_branch(const Instruction& instruction);
  void raise_by_rule(const Instruction& instruction);
  void expect_raise(SnapshotId otherwise);
  void end_iteration();
  void drop_stack(std::size_t depth);
  void unwind_inlined();
  void unwind_root();
  void raise_in_caller();
  void refuse_init_result();
  void decline_operator();
  void finish_declined();

  // The shadow state
  ShadowFrame& top() { return frames_.back(); }
  [[nodiscard]] const Instruction& instruction_at(int index) const {
    return frames_.back().code->decoded->assembly.instructions[static_cast<std::size_t>(index)];
  }
  // Runs the rules of the instructions without hooks that come next, up to `instruction` (-1: all of them), and gives
  // the place where that ends: one that raises, or has hooks, is not passed.
  int catch_up(int instruction);
  // The same, where an open branch in front of it must have been taken. False: the recording has ended with that.
  bool come_to(int instruction);
  Value pop();
  void push(Value value);  // takes over one holder
  void hold(Value value) { ++abstract(value).holders; }
  void release(Value value);  // may be the last holder: dropped at the end of the rule
  void release_operands();
  void flush_drops(SnapshotId at = replay::kNoSnapshot);
  SnapshotId position();
  AbstractValue& abstract(Value value) { return abstract_values_[static_cast<std::size_t>(value)]; }
  void bind_local(int slot, Value value);
  SnapshotId snapshot();  // the state before the current instruction
  SnapshotId snapshot_at(int instruction, const Values& stack);

  Value emit(Op op, ValueView operands, SnapshotId here, std::int64_t immediate = 0, Ref object = {});
  Value constant(PyObject* object);
  Value null_value();
  void find_names();
  Value names_value();  // the mapping that holds the variables of the root frame
  void produce(Op op, int pops, std::int64_t immediate = 0, Ref object = {});  // operands popped, one result pushed
  void produce_keeping(Op op, int peeks, std::int64_t immediate = 0, Ref object = {});
  void consume(Op op, int pops, const std::vector<int>& order, Ref object = {},
               std::int64_t immediate = 0);  // operands popped, no result
  void guard_exact(Value value, PyTypeObject* type, SnapshotId here);
  void note(Value value, PyObject* object);
  void note_array(replay::Op op);
  [[nodiscard]] PyObject* live_stack(int from_top) const;  // objects on the real stack at this hook
  [[nodiscard]] PyObject* name(int index) const;
  [[nodiscard]] PyTypeObject* known_number(Value value) const;
  bool establish_numbers(Value left, Value right, SnapshotId here);
  Value truth_of(Value value, SnapshotId here);
  void check_shadow();

  // Rules (rules_*.cpp): what one instruction means for the graph.
  void nothing(const Instruction&);
  void pop_top(const Instruction&);
  void push_null(const Instruction&);
  void copy(const Instruction&);
  void swap(const Instruction&);
  void load_const(const Instruction&);
  void load_assertion_error(const Instruction&);
  void load_fast(const Instruction&);
  void store_fast(const Instruction&);
  void delete_fast(const Instruction&);
  void load_deref(const Instruction&);
  void store_deref(const Instruction&);
  void delete_deref(const Instruction&);
  [[nodiscard]] bool asks_keys(const Instruction& instruction) const;
  bool stop_if_keys_are_asked(const Instruction& instruction);
  void load_global(const Instruction&);
  void store_global(const Instruction&);
  void bind_global(const Instruction&);
  void delete_global(const Instruction&);
  void unary(const Instruction&);
  void unary_not(const Instruction&);
  void binary(const Instruction&);
  void compare(const Instruction&);
  void is_op(const Instruction&);
  void contains(const Instruction&);
  void binary_subscr(const Instruction&);
  void store_subscr(const Instruction&);
  void delete_subscr(const Instruction&);
  void load_attr(const Instruction&);
  void store_attr(const Instruction&);
  void delete_attr(const Instruction&);
  void load_method(const Instruction&);
  void load_build_class(const Instruction&);
  void import_name(const Instruction&);
  void import_from(const Instruction&);
  void make_function(const Instruction&);
  void call(const Instruction&);
  void call_ex(const Instruction&);
  void build(const Instruction&);
  void format_value(const Instruction&);
  void add_to_container(const Instruction&);
  void list_to_tuple(const Instruction&);
  void unpack(const Instruction&);
  void get_iter(const Instruction&);
  void get_len(const Instruction&);
  void match_kind(const Instruction&);
  void match_keys(const Instruction&);
  void match_class(const Instruction&);
  void before_with(const Instruction&);
  void enter_manager(Op op);
  void jump_backward(const Instruction&);
  void branch(const Instruction&);
  void return_value(const Instruction&);
  void raise(const Instruction&);
  void push_exc_info(const Instruction&);
  void pop_except(const Instruction&);
  void check_exc_match(const Instruction&);
  void check_eg_match(const Instruction&);
  void with_except_start(const Instruction&);
  void prep_reraise_star(const Instruction&);
  void get_awaitable(const Instruction&);
  void get_yield_from_iter(const Instruction&);
  void get_aiter(const Instruction&);
  void get_anext(const Instruction&);
  void before_async_with(const Instruction&);
  // How the instruction under way resumes a generator (delegation.cpp).
  struct Resumption {
    replay::ReturnKind kind = replay::ReturnKind::kPlain;
    int place = 0;                          // of the generator on the caller's stack, from the top; 0: it resumes none
    int pops = 0;                           // operands that die when the generator has answered
    Value generator = replay::kNoValue;     // kConsumer: it is guarded already,
    SnapshotId here = replay::kNoSnapshot;  // in this state of the caller
  };
  Resumption find_resumption(cpython::Frame* callee, int instruction);
  Ref guard_object(const Home& home, cpython::Frame* frame);
  Value guard_resumption(const Resumption& resumption, int entry, SnapshotId here);
  void finish_delegation();
  bool try_inline_generator(cpython::Frame* callee, int instruction);
  int find_entry(cpython::Frame* callee, const HomeRef& home);
  void guard_generator(cpython::Frame* callee, const Home& home, Value generator, SnapshotId here);
  void enter_generator(cpython::Frame* callee, const Home& home, int entry, const Resumption& resumption);
  void let_go_of_generator(const ShadowFrame& generator);
  void yield_to_consumer();
  void return_to_consumer();

  // Consumers (consumers.cpp)
  struct ConsumerForm;
  [[nodiscard]] bool is_consumed(cpython::Frame* callee) const;
  [[nodiscard]] ConsumerForm find_consumer(int number, cpython::Frame* callee) const;
  bool try_consume(cpython::Frame* callee, int instruction);
  bool consume_more(cpython::Frame* callee);
  void guard_consumer(const ConsumerForm& form, SnapshotId here);
  void begin_consumer(const ConsumerForm& form, SnapshotId here);
  SnapshotId consumer_snapshot();
  void have_item(Value value, PyObject* object);
  void settle_item(bool asks_for_more);
  void add_item(Value& total, Value item, SnapshotId here);
  void decide(Value item, SnapshotId here, bool asks_for_more);
  Value compare_item(Value item, SnapshotId here);
  void end_consumer();
  void sort_items(SnapshotId here);
  void deliver(Value result);
  void abandon_consumer();
  void end_consumption();
  // Whether the instruction under way has a consumer, or had one.
  [[nodiscard]] bool has_consumed() const {
    const Consumption& consuming = frames_.back().consuming;
    return consuming.consumer != replay::Consumer::kNone || consuming.is_over;
  }

  void end_before_raise();
  void end_async_for(const Instruction&);
  void guard_stop_async_iteration(bool matches);
  void async_gen_wrap(const Instruction&);
  void yield_value(const Instruction&);
  void load_name(const Instruction&);
  void store_name(const Instruction&);
  void delete_name(const Instruction&);
  void load_classderef(const Instruction&);
  void use_value_and_names(const Instruction&);
  void setup_annotations(const Instruction&);

  // The outcome of a branch is known at the next hook (control.cpp).
  void settle(int instruction, bool is_after);
  void settle_iteration(const Instruction& instruction, bool exhausted);
  void settle_send(const Instruction& instruction, bool returned);
  void settle_none(const Instruction& instruction, bool taken);
  void settle_truth(const Instruction& instruction, bool taken);
  void finish_inlined();
  // The rule of the instruction under way.
  void run(const Instruction& instruction);
  // Others have run meanwhile, and may have begun to watch: whoever does finds the frame at its next instruction.
  void note_others();
  void others_ran_in(int instruction);
  void look_for_watchers();
  // What the frame on top executes, seen from a frame that has just been made; -1: nothing of its own.
  [[nodiscard]] int instruction_under_way(bool* is_specialised);
  [[nodiscard]] int call_start() const { return call_start(current_); }
  [[nodiscard]] int call_start(int instruction) const;
  [[nodiscard]] PyObject* keyword_names() const;
  void count_back_edge(int target);
  bool go_round(int target);
  bool link(int target);
  void open_loop(int target);
  bool close_loop(const OpenLoop& loop, SnapshotId here);
  void pass_on_assumptions(std::size_t from);
  void guard_loops();
  void settle_entry();
  bool settle_types(const OpenLoop& loop, const Values& next);
  Values carried_values(std::vector<Value*>* places);
  std::vector<bool> slot_shape();
  // Numbers are worth a guard also where something has been seen already.
  [[nodiscard]] bool is_in_loop() const { return !loops_.empty(); }
  // Whether the value may be taken for an exact one of this type, at the price of a guard.
  [[nodiscard]] bool is_big_result() const;
  bool establish_item(Value container, Value key, bool stores);
  void note_array(PyObject* container, PyObject* key);
  bool establish_array_item(Value container, Value key);
  bool establish_stored(Value value);
  void establish_pair();
  bool establish_scalars(Value left, Value right);
  [[nodiscard]] Op scalar_operation(std::uint32_t argument, Value left, Value right);
  [[nodiscard]] PyTypeObject* known_scalar(Value value) const;
  [[nodiscard]] bool may_be_exact(Value value, PyTypeObject* type) const;

  // Whether C code that the instruction under way has called may call a frame that the recording must see.
  [[nodiscard]] bool is_amid_instruction() const;

  PyThreadState* thread_;
  cpython::StackId stack_;
  Sink& sink_;
  Ref sink_owner_;
  Limits limits_;
  replay::Reached reached_{};
  bool has_every_hook_ = false;
  replay::Graph graph_;
  std::vector<replay::CodeShapeRef> shapes_;
  std::vector<RecordingCodeRef> codes_;
  std::vector<ShadowFrame> frames_;
  std::vector<AbstractValue> abstract_values_;
  Values drops_;
  std::unordered_map<PyObject*, Value> constants_;
  std::unordered_map<PyObject*, Ref> watches_;
  std::vector<PyObject*> made_classes_;  // by class statements of this trace; to compare with
  bool has_lost_ = false;
  std::vector<Ref> generator_guards_;
  std::unordered_map<Value, int> lasti_of_;  // the instruction that a value of `lasti` stands for
  Value names_ = replay::kNoValue;
  bool has_plain_names_ = false;  // the root frame's variables are its function's globals
  Ref hook_;
  PyObject** live_top_ = nullptr;  // end of the real stack at the current hook
  std::vector<PyObject**>
      refused_;      // places there of arguments that the call does not take, in the order of their death
  int current_ = 0;  // instruction whose rule runs
  bool is_before_ = false;
  int ran_ = -1;             // instruction whose rule has run last
  int disturbed_ = -1;       // instruction that others have run in, before its rule
  bool others_ran_ = false;  // since the last guard_unwatched
  bool has_raised_ = false;  // the rule that runs is of an instruction that gave no result
  SnapshotId cached_snapshot_ = replay::kNoSnapshot;
  int cached_instruction_ = -1;
  std::size_t cached_frame_ = 0;
  bool state_changed_ = true;
  bool is_position_known_ = false;  // the cached snapshot has the locals of now, and nothing that was dropped
  std::vector<OpenLoop> open_loops_;
  std::vector<OpenLoop> loops_;  // all that have ever been opened, in the order of their nodes
  int entry_ = 0;
  DecodedCode::Place place_ = DecodedCode::Place::kCall;
  int header_ = -1;         // of the loop where the trace starts
  int root_stack_ = 0;      // values on the root frame's stack that no node has taken yet
  bool entry_open_ = true;  // nothing visible has been recorded yet
  bool is_away_ = false;    // and the hook stays away until a frame of the recording goes on
  int opaque_frames_ = 0;   // since then
  std::int64_t largest_array_ = 0;
  bool finished_ = false;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::shared_ptr<Recording> outer_;  // the session that waits while this one records

  friend struct RuleTable;
};

}  // namespace tagalong::recorder
