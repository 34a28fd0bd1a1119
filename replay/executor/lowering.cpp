// Graph to steps: registers by a linear scan (a register is free again where the graph drops its value), snapshots in
// terms of registers, drops merged into the step before them.
#include <opcode.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "replay/executor/emergency.h"
#include "replay/executor/executor.h"
#include "replay/executor/guard_relocation.h"
#include "replay/loops/loop_lowering.h"
#include "replay/steps/printer.h"
#include "rewriter/base/errors.h"

namespace tagalong::replay {

class Lowering {
 public:
  explicit Lowering(Executor& executor)
      : executor_(executor),
        graph_(executor.graph_),
        registers_(static_cast<std::size_t>(graph_.value_count), -1),
        loops_(graph_, executor.loop_, executor.steps_, registers_, next_register_) {}

  void run() {
    owned_.assign(static_cast<std::size_t>(graph_.value_count), true);
    assign_constants();
    executor_.snapshots_.resize(graph_.snapshots.size());
    lowered_.assign(graph_.snapshots.size(), false);
    last_states_.resize(graph_.frames.size());
    executor_.steps_.reserve(graph_.nodes.size());
    executor_.registers_used_.reserve(3 * graph_.nodes.size());
    for (std::size_t index = 0; index < graph_.nodes.size(); ++index) {
      lower(index);
      loops_.learn(graph_.nodes[index]);
    }
    for (const FrameInfo& frame : graph_.frames) {
      executor_.frame_functions_.push_back(frame.function == kNoValue ? function_register_
                                                                      : fixed_register(frame.function));
      executor_.frame_instances_.push_back(frame.instance == kNoValue ? -1 : fixed_register(frame.instance));
    }
    executor_.register_count_ = next_register_;
    if (loops_.is_closed()) {
      executor_.loop_.kinds.resize(static_cast<std::size_t>(next_register_), Unboxed::kNone);
      executor_.loop_.unboxed.resize(graph_.snapshots.size());
      executor_.direct_ = loops_.direct_entry(executor_.constant_count_);
      executor_.direct_.header =
          static_cast<std::size_t>(std::ranges::find_if(executor_.steps_, &Step::is_header) - executor_.steps_.begin());
    }
    mark_groups(&executor_.steps_, executor_.loop_, executor_.registers_used_.data());
    if (loops_.is_closed()) {
      add_relocations();
    }
    executor_.learn_entry_check();
    executor_.learn_straight();
    let_go();
  }

 private:
  // Behind the end of the trace, one for each guard that has one.
  void add_relocations() {
    const auto step_of = [this](std::size_t node) {
      return std::ranges::find(executor_.steps_, static_cast<std::int32_t>(node), &Step::node);
    };
    const auto count = static_cast<std::ptrdiff_t>(executor_.steps_.size());
    std::vector<Step> made;
    for (const GuardRelocation& relocation : find_relocations(graph_)) {
      const auto guard = step_of(relocation.guard);
      if (guard->in_entry_check || !guard->in_loop) {
        continue;
      }
      guard->relocation = static_cast<std::int32_t>(count) + static_cast<std::int32_t>(made.size());
      Step& step = made.emplace_back(static_cast<const StepCode&>(*guard));
      step.snapshot = relocation.state;
      step.relocation = -1;
      step.guard = static_cast<std::int32_t>(guard - executor_.steps_.begin());
      step.since = relocation.reads_attributes
                       ? static_cast<std::int32_t>(step_of(relocation.from) - executor_.steps_.begin())
                       : -1;
    }
    std::ranges::move(made, std::back_inserter(executor_.steps_));
  }

  // Constants, the null value and the root's function are not owned by a run; they come first.
  void assign_constants() {
    std::unordered_map<PyObject*, std::int32_t> known;
    executor_.constants_.push_back(nullptr);  // register 0: null
    executor_.constants_.push_back(nullptr);  // register 1: the root's function, filled in at entry
    for (const Node& node : graph_.nodes) {
      std::int32_t place = -1;
      if (node.op == Op::null) {
        place = 0;
      } else if (node.op == Op::function) {
        place = function_register_;
      } else if (node.op == Op::constant) {
        const auto [entry, is_new] =
            known.emplace(node.object.get(), static_cast<std::int32_t>(executor_.constants_.size()));
        if (is_new) {
          executor_.constants_.push_back(node.object.get());
        }
        place = entry->second;
      } else {
        continue;
      }
      registers_[index(node.first_result)] = place;
      owned_[index(node.first_result)] = false;
    }
    executor_.constant_count_ = static_cast<std::int32_t>(executor_.constants_.size());
    next_register_ = executor_.constant_count_;
  }

  void lower(std::size_t number) {
    const Node& node = graph_.nodes[number];
    switch (node.op) {
      case Op::constant:
      case Op::null:
      case Op::function:
        return;
      case Op::drop:
        lower_drop(node);
        return;
      default:
        break;
    }
    Step step;
    step.op = node.op;
    step.node = static_cast<std::int32_t>(number);
    step.line = node.line;
    step.candidate = node.group;
    step.immediate = static_cast<std::int32_t>(node.immediate);
    step.object = node.object.get();
    if (node.info().has(trait::kNamed)) {
      step.name = Ref::create(PyTuple_GET_ITEM(node.object.get(), 0));
      step.object = PyTuple_GET_ITEM(node.object.get(), 1);
    }
    step.operands = static_cast<std::uint32_t>(executor_.registers_used_.size());
    step.operand_count = static_cast<std::uint16_t>(node.operands.size());
    for (const Value operand : node.operands) {
      executor_.registers_used_.push_back(register_of(operand));
    }
    step.polls = node.info().has(trait::kPolls);
    step.in_entry_check = in_entry_check_;
    if (!node.info().is_invisible() && node.op != Op::leave_frame && !node.info().is_terminator()) {
      in_entry_check_ = false;
    }
    if (node.op == Op::param) {
      params_[static_cast<std::int32_t>(node.immediate)] = graph_.nodes[number].first_result;
    }
    if (node.op == Op::return_value && node.snapshot != kNoSnapshot) {
      lower_return(graph_.snapshots[index(node.snapshot)]);
    }
    if (node.snapshot != kNoSnapshot) {
      lower_snapshot(node.snapshot);
      step.snapshot = node.snapshot;
      step.can_leave = !is_raising_ && node.info().states_before_itself() && !node.info().is_terminator() &&
                       !node.info().is_invisible();
    }
    step.result_count = static_cast<std::uint16_t>(node.result_count);
    if (node.op == Op::loop) {
      for (std::int32_t result = 0; result < node.result_count; ++result) {
        const Value operand = node.operands[index(result)];
        const auto renamed = renamed_.find(operand);
        renamed_[node.first_result + result] = renamed == renamed_.end() ? operand : renamed->second;
      }
    }
    for (std::int32_t result = 0; result < node.result_count; ++result) {
      std::int32_t place = loops_.place_of_result(number, node.first_result + result);
      if (place < 0) {
        place = allocate();
      }
      registers_[index(node.first_result + result)] = place;
      if (result == 0) {
        step.result = place;
      }
      executor_.registers_used_.push_back(place);
    }
    follow_exception(step);
    step.is_header = loops_.is_header(number);
    step.in_loop = loops_.is_inside() || step.is_header;
    executor_.steps_.push_back(std::move(step));
    loops_.emit(number, executor_.steps_.size() - 1);
  }

  // While an exception is under way nothing can leave to the original instructions.
  void follow_exception(Step& step) {
    if (step.op == Op::guard_raised) {
      auto raising = executor_.steps_.rbegin();
      while (raising != executor_.steps_.rend() && info(raising->op).is_guard()) {
        ++raising;
      }
      TAGALONG_CHECK(raising != executor_.steps_.rend(), "nothing can have raised at node {}", step.node);
      raising->expects_raise = true;
      is_raising_ = true;
    } else if (info(step.op).raises == Raises::kAlways) {
      step.expects_raise = true;
      is_raising_ = true;
    } else if (has(step.op, trait::kEndsRaise)) {
      is_raising_ = false;
    }
  }

  void lower_return(const Snapshot& state) {
    Executor::Return& made = executor_.returns_.emplace_back();
    made.step = executor_.steps_.size();
    for (std::size_t slot = 0; slot < state.locals.size(); ++slot) {
      const Value value = state.locals[slot];
      const auto param = params_.find(static_cast<std::int32_t>(slot));
      if (param == params_.end() ? value == kNoValue && !was_bound(slot) : param->second == value) {
        continue;
      }
      made.locals.emplace_back(static_cast<std::int32_t>(slot), value == kNoValue ? -1 : register_of(value));
    }
  }

  // Whether any earlier state has the slot bound: a real frame may then hold a value there.
  [[nodiscard]] bool was_bound(std::size_t slot) const {
    return std::ranges::any_of(graph_.snapshots, [slot](const Snapshot& state) {
      return state.frame == 0 && slot < state.locals.size() && state.locals[slot] != kNoValue;
    });
  }

  // Merged into the step before it, unless a finaliser is to see another state of the frames than for what that drops.
  void lower_drop(const Node& node) {
    const SnapshotId shown = in_entry_check_ ? kNoSnapshot : node.snapshot;
    lower_snapshot(shown);
    const bool is_other = shown != kNoSnapshot && !executor_.steps_.empty() &&
                          executor_.steps_.back().shown != kNoSnapshot && executor_.steps_.back().shown != shown;
    if (executor_.steps_.empty() || (is_other && !loops_.is_inside())) {
      Step step;
      step.op = Op::drop;
      step.in_entry_check = in_entry_check_;
      step.operands = static_cast<std::uint32_t>(executor_.registers_used_.size());
      executor_.steps_.push_back(std::move(step));
    }
    Step& step = executor_.steps_.back();
    // Drops are the last of a step's registers; nothing was appended since. Who looks when something dies gets objects
    // of the numbers that go with it; so these go last.
    for (const bool numbers : {false, true}) {
      for (const Value value : node.operands) {
        if (owned_[index(value)] && loops_.is_number(value) == numbers) {
          drop(step, value, shown);
        }
      }
    }
  }

  void drop(Step& step, Value value, SnapshotId shown) {
    const std::int32_t place = register_of(value);
    if (loops_.is_inside()) {
      const LoopLowering::Drop way = loops_.drop(value, shown);
      if (way == LoopLowering::Drop::kFree) {
        free_.push_back(place);
      }
      if (way != LoopLowering::Drop::kStep) {
        return;
      }
    }
    step.shown = shown != kNoSnapshot ? shown : step.shown;
    executor_.registers_used_.push_back(place);
    ++step.drop_count;
    mark_temporary(step, value);
    free_.push_back(place);
  }

  // An operand of an operator, or of a call, that dies with it was, in the program, a nameless intermediate result if
  // it sat in one place of the stack at most and nowhere else: then eager NumPy would compute into it.
  void mark_temporary(Step& step, Value value) const {
    constexpr std::uint32_t kCallableSlots = 2;
    constexpr std::uint32_t kMost = 8;  // which have names is noted behind them
    const bool is_call = step.op == Op::array_call || step.op == Op::call;
    const bool is_operator = step.op == Op::binary_op || step.op == Op::unary_op;  // of whatever comes
    if (!is_call && !is_operator && !has(step.op, trait::kArrays)) {
      return;
    }
    const Node& node = graph_.nodes[index(step.node)];
    int places = 0;
    for (SnapshotId id = node.snapshot; id != kNoSnapshot; id = graph_.snapshots[index(id)].parent) {
      const Snapshot& state = graph_.snapshots[index(id)];
      places += static_cast<int>(std::count(state.stack.begin(), state.stack.end(), value));
      if (std::ranges::find(state.locals, value) != state.locals.end()) {
        return;
      }
    }
    const std::uint32_t first = is_call ? kCallableSlots : 0;
    for (std::uint32_t operand = first; operand < node.operands.size() && operand < first + kMost && places <= 1;
         ++operand) {
      if (node.operands[operand] == value) {
        step.temporaries |= array::kAnonymous << (operand - first);
      }
    }
  }

  void lower_snapshot(SnapshotId id) {
    if (id == kNoSnapshot || lowered_[index(id)]) {
      return;
    }
    lowered_[index(id)] = true;
    const Snapshot& source = graph_.snapshots[index(id)];
    lower_snapshot(source.parent);
    LoweredSnapshot& target = executor_.snapshots_[index(id)];
    target.is_idle = source.instruction == executor_.entry_instruction_ && is_start(source);
    target.frame = source.frame;
    target.instruction = source.instruction;
    target.consuming = source.consuming;
    int parent_key = -1;
    if (source.parent != kNoSnapshot) {
      const LoweredSnapshot& parent = executor_.snapshots_[index(source.parent)];
      target.chain = parent.chain;
      parent_key = parent.key;
    }
    target.chain.push_back(id);
    TAGALONG_CHECK(target.chain.size() <= kMaxFrames, "{} nested frames", target.chain.size());
    target.locals.reserve(source.locals.size());
    target.stack.reserve(source.stack.size());
    for (const Value value : source.locals) {
      target.locals.push_back(value == kNoValue ? -1 : register_of(value));
    }
    for (const Value value : source.stack) {
      target.stack.push_back(register_of(value));
    }
    if (loops_.is_inside()) {
      loops_.note_snapshot(id);
      target.has_shared = has_shared(target);
    }
    // Two snapshots have the same key only if all their values are the same, so comparing values, not registers. That
    // of the same frame before this one is the only one that mostly is.
    LastState& last = last_states_[index(source.frame)];
    if (last.snapshot == kNoSnapshot || last.parent_key != parent_key ||
        graph_.snapshots[index(last.snapshot)].locals != source.locals) {
      last.key = next_key_++;
    }
    last.parent_key = parent_key;
    last.snapshot = id;
    target.key = last.key;
  }

  // Whether all slots may hold what they held at entry; a constant may be what a guard has found there.
  [[nodiscard]] bool is_start(const Snapshot& state) const {
    if (state.parent != kNoSnapshot) {
      return false;
    }
    const auto holds = [this](Value value, std::size_t slot) {
      const auto param = params_.find(static_cast<std::int32_t>(slot));
      if (value == kNoValue || register_of(value) < executor_.constant_count_) {
        return true;
      }
      const auto renamed = renamed_.find(value);
      return param != params_.end() && param->second == (renamed == renamed_.end() ? value : renamed->second);
    };
    for (std::size_t slot = 0; slot < state.locals.size() + state.stack.size(); ++slot) {
      const bool is_local = slot < state.locals.size();
      if (!holds(is_local ? state.locals[slot] : state.stack[slot - state.locals.size()], slot)) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] bool has_shared(const LoweredSnapshot& state) const {
    std::vector<std::int32_t> places(state.locals.begin(), state.locals.end());
    places.insert(places.end(), state.stack.begin(), state.stack.end());
    std::ranges::sort(places);
    return std::ranges::adjacent_find(places, [this](int left, int right) {
             return left == right && left >= executor_.constant_count_;
           }) != places.end();
  }

  std::int32_t allocate() {
    if (!free_.empty()) {
      const std::int32_t place = free_.back();
      free_.pop_back();
      return place;
    }
    return next_register_++;
  }

  [[nodiscard]] std::int32_t register_of(Value value) const {
    const std::int32_t place = registers_[index(value)];
    TAGALONG_CHECK(place >= 0, "value %{} is used before it is defined", value);
    return place;
  }

  // The register of a value that stays alive as long as anything refers to its frame.
  std::int32_t fixed_register(Value value) { return register_of(value); }

  // From here on the program's objects are not kept alive by the graph. The code of the root and what it holds is: who
  // keeps the executor keeps that, too.
  void let_go() {
    PyObject* root = graph_.frames.empty() ? nullptr : graph_.frames.front().code.get();
    for (Node& node : executor_.graph_.nodes) {
      const bool is_guard = node.info().is_guard();
      if (!node.object || !(is_guard || node.op == Op::constant) || node.object.get() == root ||
          node.op == Op::guard_generator) {  // that refers weakly by itself
        continue;
      }
      if (is_guard && PyTuple_CheckExact(node.object.get())) {
        Ref expected = let_go(Ref::create(PyTuple_GET_ITEM(node.object.get(), 1)), false);
        node.object = Ref::steal(PyTuple_Pack(2, PyTuple_GET_ITEM(node.object.get(), 0), expected.get()));
        if (!node.object) {
          throw PythonError();
        }
      } else if (is_guard || !PyCode_Check(node.object.get())) {
        node.object = let_go(node.object, !is_guard);
      }
    }
    for (FrameInfo& frame : executor_.graph_.frames) {
      if (frame.code && frame.code.get() != root) {
        frame.code = let_go(frame.code, true);
      }
    }
  }

  // The watch that takes the object's place in the graph; the object itself if it cannot be watched.
  Ref let_go(const Ref& object, bool is_needed) {
    if (!cpython::is_watchable(object.get())) {
      return object;
    }
    Ref watch = cpython::watch(object.get(), &executor_);
    if (!watch) {
      throw PythonError();
    }
    if (is_needed && std::ranges::find(executor_.held_, object.get()) == executor_.held_.end()) {
      executor_.held_.push_back(object.get());
    }
    if (watches_.insert(watch.get()).second) {
      executor_.watches_.push_back(watch);
    }
    return watch;
  }

  template <class Number>
  static std::size_t index(Number number) {
    return static_cast<std::size_t>(number);
  }

  static constexpr std::int32_t function_register_ = 1;
  Executor& executor_;
  const Graph& graph_;
  std::int32_t next_register_ = 0;
  std::vector<std::int32_t> registers_;
  LoopLowering loops_;
  std::map<std::int32_t, Value> params_;
  std::unordered_map<Value, Value> renamed_;  // by loops: what they were before
  std::vector<bool> owned_, lowered_;
  std::vector<std::int32_t> free_;
  struct LastState {
    SnapshotId snapshot = kNoSnapshot;
    std::int32_t parent_key = -1;
    std::int32_t key = -1;
  };
  std::vector<LastState> last_states_;  // by frame
  std::int32_t next_key_ = 0;
  bool in_entry_check_ = true;
  std::unordered_set<PyObject*> watches_;
  bool is_raising_ = false;
};

std::shared_ptr<Executor> Executor::lower(Graph graph, std::vector<CodeShapeRef> shapes, int entry_instruction) {
  auto executor = std::make_shared<Executor>();
  executor->entry_instruction_ = entry_instruction;
  executor->graph_ = std::move(graph);
  executor->shapes_ = std::move(shapes);
  Lowering(*executor).run();
  executor->provide_for_numbers();
  return executor;
}

void Executor::provide_for_numbers() const {
  const auto numbers = std::ranges::count_if(loop_.kinds, [](Unboxed kind) { return kind != Unboxed::kNone; });
  keep_for_emergencies(static_cast<std::size_t>(numbers));
}

Executor::~Executor() {
  for (const Ref& watch : watches_) {
    cpython::unwatch(watch.get(), this);
  }
}

namespace {

// What no value of the program is.
PyObject* nothing() {
  static PyObject* const object = _PyObject_New(&PyBaseObject_Type);
  return object;
}

}  // namespace

void Executor::set_gain(const Gain& gain, const std::vector<std::int32_t>& forgone) {
  gain_ = gain;
  for (std::size_t number = 0; number < steps_.size(); ++number) {
    steps_[number].forgone = forgone[number];
  }
  for (LoopOp& op : loop_.ops) {
    if (info(op.code).ends_round()) {
      op.result = gain.round;
    }
  }
}

void Executor::object_died(PyObject* object) {
  // A run that is under way comes to its guard and leaves; whatever gets the address next is not taken for the object.
  for (Step& step : steps_) {
    if (step.object == object) {
      step.object = nothing();
      dead_step_ = &step;
    }
  }
  std::ranges::replace(loop_.types, object, nothing());
  if (!std::exchange(is_dead_, true) && keeper != nullptr) {
    keeper->executor_died(*this);
  }
}

void Executor::make_faulty() {
  for (Step& step : steps_) {
    const bool is_binary = step.op == Op::binary_op || step.op == Op::int_binary || step.op == Op::float_binary;
    if (is_binary && (step.immediate == NB_ADD || step.immediate == NB_INPLACE_ADD)) {
      step.immediate += NB_SUBTRACT - NB_ADD;
    }
  }
  for (LoopOp& op : loop_.ops) {
    if (op.code == LoopCode::kAddInt || op.code == LoopCode::kAddFloat) {
      op.code = op.code == LoopCode::kAddInt ? LoopCode::kSubtractInt : LoopCode::kSubtractFloat;
    }
  }
}

bool Executor::fail_at(std::size_t number) {
  if (is_running() || steps_[number].guard >= 0) {
    return false;  // its native code goes; a retreat is no step of the trace
  }
  native_.reset();
  Step& step = steps_[number];
  if (step.op == Op::leave && step.can_leave) {
    return true;  // it does already
  }
  const auto belongs = [number](const LoopOp& op) {
    return op.step == number + (info(op.code).has(loop_trait::kWithGuard) ? 1 : 0);
  };
  // What dies at a loop node is behind it.
  const auto op = step.op == Op::loop ? loop_.ops.end() : std::ranges::find_if(loop_.ops, belongs);
  const bool is_before =
      step.op == Op::guard_type || (info(step.op).is_guard() && info(step.op).states_before_itself());
  if ((!is_before && !step.can_leave && step.op != Op::guard_unwatched) ||
      (step.in_loop && !step.is_header && op == loop_.ops.end())) {
    return false;
  }
  std::erase_if(slot_guards_, [number](const SlotGuard& guard) { return guard.step == number; });
  if (step.op == Op::guard_unwatched) {
    step.op = Op::leave;
    step.can_leave = true;
  } else if (is_before) {
    step.object = nothing();
  } else {
    step.op = Op::leave;
  }
  if (op != loop_.ops.end()) {
    op->code = LoopCode::kStep;
    op->step = static_cast<std::uint32_t>(number);
  }
  return true;
}

Lowered Executor::lowered() const {
  return {.graph = graph_,
          .steps = steps_,
          .used = registers_used_,
          .snapshots = snapshots_,
          .constants = constants_,
          .register_count = register_count_,
          .loop = loop_};
}

int Executor::return_instruction(const Step& step) const {
  return step.snapshot == kNoSnapshot ? -1 : snapshots_[static_cast<std::size_t>(step.snapshot)].instruction;
}

const Executor::Member* Executor::member_of(const Step& step) const {
  const auto number = static_cast<std::size_t>(&step - steps_.data());
  const auto behind = std::ranges::upper_bound(members_, number, {}, &Member::first_step);
  return behind == members_.begin() ? nullptr : &*std::prev(behind);
}

const Attached* Executor::place_of(const Step& step) const {
  const Member* member = member_of(step);
  return member == nullptr ? nullptr : member->place;
}

std::uint64_t Executor::trace(const Step& step) const {
  const Member* member = member_of(step);
  return member == nullptr ? serial : member->serial;
}

std::vector<std::size_t> Executor::entry_guards() const {
  std::vector<std::size_t> guards;
  for (std::size_t index = 0; index < steps_.size() && steps_[index].in_entry_check; ++index) {
    if (info(steps_[index].op).is_guard()) {
      guards.push_back(index);
    }
  }
  return guards;
}

}  // namespace tagalong::replay
