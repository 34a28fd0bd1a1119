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
        program_(executor.program_),
        graph_(program_.graph),
        registers_(static_cast<std::size_t>(graph_.value_count), -1),
        loops_(graph_, program_.loop, program_.steps, registers_, next_register_) {}

  void run() {
    owned_.assign(static_cast<std::size_t>(graph_.value_count), true);
    assign_constants();
    program_.snapshots.resize(graph_.snapshots.size());
    lowered_.assign(graph_.snapshots.size(), false);
    last_states_.resize(graph_.frames.size());
    program_.steps.reserve(graph_.nodes.size());
    program_.registers_used.reserve(3 * graph_.nodes.size());
    for (std::size_t index = 0; index < graph_.nodes.size(); ++index) {
      lower(index);
      loops_.learn(graph_.nodes[index]);
    }
    for (const FrameInfo& frame : graph_.frames) {
      program_.frame_functions.push_back(frame.function == kNoValue ? function_register_
                                                                    : fixed_register(frame.function));
      program_.frame_instances.push_back(frame.instance == kNoValue ? -1 : fixed_register(frame.instance));
    }
    program_.register_count = next_register_;
    if (loops_.is_closed()) {
      program_.loop.kinds.resize(static_cast<std::size_t>(next_register_), Unboxed::kNone);
      program_.loop.unboxed.resize(graph_.snapshots.size());
      program_.direct = loops_.direct_entry(program_.constant_count);
      program_.direct.header =
          static_cast<std::size_t>(std::ranges::find_if(program_.steps, &Step::is_header) - program_.steps.begin());
    }
    mark_groups(&program_.steps, program_.loop, program_.registers_used.data());
    if (loops_.is_closed()) {
      add_relocations();
    }
    executor_.learn_entry_check();
    executor_.learn_straight();
    release_objects();
  }

 private:
  // Behind the end of the trace, a step for each guard that can be relocated.
  void add_relocations() {
    const auto step_of = [this](std::size_t node) {
      return std::ranges::find(program_.steps, static_cast<std::int32_t>(node), &Step::node);
    };
    const auto count = static_cast<std::ptrdiff_t>(program_.steps.size());
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
      step.guard = static_cast<std::int32_t>(guard - program_.steps.begin());
      step.since = relocation.reads_attributes
                       ? static_cast<std::int32_t>(step_of(relocation.from) - program_.steps.begin())
                       : -1;
    }
    std::ranges::move(made, std::back_inserter(program_.steps));
  }

  // Constants, the null value and the root's function are not owned by a run; they come first.
  void assign_constants() {
    std::unordered_map<PyObject*, std::int32_t> known;
    program_.constants.push_back(nullptr);  // register 0: null
    program_.constants.push_back(nullptr);  // register 1: the root's function, filled in at entry
    for (const Node& node : graph_.nodes) {
      std::int32_t place = -1;
      if (node.op == Op::null) {
        place = 0;
      } else if (node.op == Op::function) {
        place = function_register_;
      } else if (node.op == Op::constant) {
        const auto [entry, is_new] =
            known.emplace(node.object.get(), static_cast<std::int32_t>(program_.constants.size()));
        if (is_new) {
          program_.constants.push_back(node.object.get());
        }
        place = entry->second;
      } else {
        continue;
      }
      registers_[index(node.first_result)] = place;
      owned_[index(node.first_result)] = false;
    }
    program_.constant_count = static_cast<std::int32_t>(program_.constants.size());
    next_register_ = program_.constant_count;
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
    step.operands = static_cast<std::uint32_t>(program_.registers_used.size());
    step.operand_count = static_cast<std::uint16_t>(node.operands.size());
    for (const Value operand : node.operands) {
      program_.registers_used.push_back(register_of(operand));
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
      program_.registers_used.push_back(place);
    }
    follow_exception(step);
    step.is_header = loops_.is_header(number);
    step.in_loop = loops_.is_inside() || step.is_header;
    program_.steps.push_back(std::move(step));
    loops_.emit(number, program_.steps.size() - 1);
  }

  // While an exception is set no step can leave to the original instructions.
  void follow_exception(Step& step) {
    if (step.op == Op::guard_raised) {
      auto raising = program_.steps.rbegin();
      while (raising != program_.steps.rend() && info(raising->op).is_guard()) {
        ++raising;
      }
      TAGALONG_CHECK(raising != program_.steps.rend(), "no step can have raised at node {}", step.node);
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
    StepProgram::Return& made = program_.returns.emplace_back();
    made.step = program_.steps.size();
    for (std::size_t slot = 0; slot < state.locals.size(); ++slot) {
      const Value value = state.locals[slot];
      const auto param = params_.find(static_cast<std::int32_t>(slot));
      if (param == params_.end() ? value == kNoValue && !was_bound(slot) : param->second == value) {
        continue;
      }
      made.locals.emplace_back(static_cast<std::int32_t>(slot), value == kNoValue ? -1 : register_of(value));
    }
  }

  // Whether any snapshot has the slot bound: a real frame may then hold a value there.
  [[nodiscard]] bool was_bound(std::size_t slot) const {
    return std::ranges::any_of(graph_.snapshots, [slot](const Snapshot& state) {
      return state.frame == 0 && slot < state.locals.size() && state.locals[slot] != kNoValue;
    });
  }

  // Merged into the step before it, unless finalisers have to see another snapshot than with the drops of that step.
  void lower_drop(const Node& node) {
    const SnapshotId shown = in_entry_check_ ? kNoSnapshot : node.snapshot;
    lower_snapshot(shown);
    const bool is_other = shown != kNoSnapshot && !program_.steps.empty() &&
                          program_.steps.back().shown != kNoSnapshot && program_.steps.back().shown != shown;
    if (program_.steps.empty() || (is_other && !loops_.is_inside())) {
      Step step;
      step.op = Op::drop;
      step.in_entry_check = in_entry_check_;
      step.operands = static_cast<std::uint32_t>(program_.registers_used.size());
      program_.steps.push_back(std::move(step));
    }
    Step& step = program_.steps.back();
    // Drops are the last of a step's registers; nothing was appended since. Numbers are dropped last: a finaliser of
    // something else may see the frames, which need objects for them.
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
      const LoopLowering::Drop kind = loops_.drop(value, shown);
      if (kind == LoopLowering::Drop::kFree) {
        free_.push_back(place);
      }
      if (kind != LoopLowering::Drop::kStep) {
        return;
      }
    }
    step.shown = shown != kNoSnapshot ? shown : step.shown;
    program_.registers_used.push_back(place);
    ++step.drop_count;
    mark_temporary(step, value);
    free_.push_back(place);
  }

  // An operand that dies with its operator or call was a nameless intermediate result if it was in at most one slot of
  // the stack and in no local: then eager NumPy would compute into it.
  void mark_temporary(Step& step, Value value) const {
    constexpr std::uint32_t kCallableSlots = 2;
    constexpr std::uint32_t kMost = 8;  // the bits behind them say which have names
    const bool is_call = step.op == Op::array_call || step.op == Op::call;
    const bool is_operator = step.op == Op::binary_op || step.op == Op::unary_op;  // of operands of any type
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
    LoweredSnapshot& target = program_.snapshots[index(id)];
    target.is_entry_state = source.instruction == executor_.entry_instruction_ && is_start(source);
    target.frame = source.frame;
    target.instruction = source.instruction;
    target.consuming = source.consuming;
    int parent_key = -1;
    if (source.parent != kNoSnapshot) {
      const LoweredSnapshot& parent = program_.snapshots[index(source.parent)];
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
    // Two snapshots have the same key only if all their values (not registers) are the same. Only the previous snapshot
    // of the same frame is compared: others rarely are the same.
    LastState& last = last_states_[index(source.frame)];
    if (last.snapshot == kNoSnapshot || last.parent_key != parent_key ||
        graph_.snapshots[index(last.snapshot)].locals != source.locals) {
      last.key = next_key_++;
    }
    last.parent_key = parent_key;
    last.snapshot = id;
    target.key = last.key;
  }

  // Whether all slots may hold what they held at entry. A constant counts: a guard may have found it there.
  [[nodiscard]] bool is_start(const Snapshot& state) const {
    if (state.parent != kNoSnapshot) {
      return false;
    }
    const auto holds = [this](Value value, std::size_t slot) {
      const auto param = params_.find(static_cast<std::int32_t>(slot));
      if (value == kNoValue || register_of(value) < program_.constant_count) {
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

  // Whether two slots hold the object of one register.
  [[nodiscard]] bool has_shared(const LoweredSnapshot& state) {
    ++snapshots_;
    const auto is_second = [this](std::int32_t place) {
      if (place < program_.constant_count) {
        return false;
      }
      const auto number = static_cast<std::size_t>(place);
      if (number >= last_snapshots_.size()) {
        last_snapshots_.resize(number + 1);
      }
      return std::exchange(last_snapshots_[number], snapshots_) == snapshots_;
    };
    return std::ranges::any_of(state.locals, is_second) || std::ranges::any_of(state.stack, is_second);
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

  // From here on the graph does not keep the objects of the user's program alive, except the root's code and what that
  // holds: the owner of the executor owns it as well.
  void release_objects() {
    PyObject* root = graph_.frames.empty() ? nullptr : graph_.frames.front().code.get();
    for (Node& node : program_.graph.nodes) {
      const bool is_guard = node.info().is_guard();
      if (!node.object || !(is_guard || node.op == Op::constant) || node.object.get() == root ||
          node.op == Op::guard_generator) {  // its references are weak already
        continue;
      }
      if (is_guard && PyTuple_CheckExact(node.object.get())) {
        Ref expected = release_object(Ref::create(PyTuple_GET_ITEM(node.object.get(), 1)), false);
        node.object = Ref::steal(PyTuple_Pack(2, PyTuple_GET_ITEM(node.object.get(), 0), expected.get()));
        if (!node.object) {
          throw PythonError();
        }
      } else if (is_guard || !PyCode_Check(node.object.get())) {
        node.object = release_object(node.object, !is_guard);
      }
    }
    for (FrameInfo& frame : program_.graph.frames) {
      if (frame.code && frame.code.get() != root) {
        frame.code = release_object(frame.code, true);
      }
    }
  }

  // The watch that replaces the object in the graph; the object itself if it cannot be watched.
  Ref release_object(const Ref& object, bool is_needed) {
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
  StepProgram& program_;
  const Graph& graph_;
  std::int32_t next_register_ = 0;
  std::vector<std::int32_t> registers_;
  LoopLowering loops_;
  std::map<std::int32_t, Value> params_;
  std::unordered_map<Value, Value> renamed_;  // results of loop nodes: the values before the loop
  std::vector<bool> owned_, lowered_;
  std::vector<std::int32_t> free_;
  struct LastState {
    SnapshotId snapshot = kNoSnapshot;
    std::int32_t parent_key = -1;
    std::int32_t key = -1;
  };
  std::vector<LastState> last_states_;  // by frame
  std::int32_t next_key_ = 0;
  std::vector<std::uint32_t> last_snapshots_;  // by register: the last snapshot with it, as has_shared() counts them
  std::uint32_t snapshots_ = 0;
  bool in_entry_check_ = true;
  std::unordered_set<PyObject*> watches_;
  bool is_raising_ = false;
};

std::shared_ptr<Executor> Executor::lower(Graph graph, std::vector<CodeShapeRef> shapes, int entry_instruction) {
  auto executor = std::make_shared<Executor>();
  executor->entry_instruction_ = entry_instruction;
  executor->program_.graph = std::move(graph);
  executor->program_.shapes = std::move(shapes);
  Lowering(*executor).run();
  executor->provide_for_numbers();
  return executor;
}

}  // namespace tagalong::replay
