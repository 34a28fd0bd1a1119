#include "replay/executor/trace_trees.h"

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rewriter/base/errors.h"
#include "rewriter/cpython/watch.h"

namespace tagalong::replay {
namespace {

using Places = std::vector<std::int32_t>;

// What an executor's numbers become in the grown one.
struct Renumbering {
  Places registers;
  std::int32_t used = 0;
  std::int32_t step = 0;
  std::int32_t snapshot = 0;
  std::int32_t key = 0;
  std::int32_t node = 0;
  std::int32_t value = 0;
  std::int32_t operation = 0;
  std::int32_t frame = 0;  // of all but the root
  std::int32_t member = 0;

  [[nodiscard]] std::int32_t place(std::int32_t number) const {
    return number < 0 ? number : registers[static_cast<std::size_t>(number)];
  }
  [[nodiscard]] SnapshotId state(SnapshotId id) const { return id == kNoSnapshot ? id : id + snapshot; }
  [[nodiscard]] std::int32_t frame_number(std::int32_t number) const { return number <= 0 ? number : number + frame; }
  [[nodiscard]] Value value_number(Value number) const { return number == kNoValue ? number : number + value; }
};

std::int32_t renumbered(LoopField field, std::int32_t number, const Renumbering& by) {
  switch (field) {
    case LoopField::kOperation:
      return number + by.operation;
    case LoopField::kStep:
      return number + by.step;
    case LoopField::kSnapshot:
    case LoopField::kShown:
      return by.state(number);
    case LoopField::kOwnTrace:
      return by.member == 0 ? number : by.member;
    default:
      return is_register(field) ? by.place(number) : number;
  }
}

LoopOp renumbered(LoopOp op, const Renumbering& by) {
  const LoopOpInfo& row = info(op.code);
  op.step += static_cast<std::uint32_t>(by.step);
  op.branch = op.branch < 0 ? -1 : op.branch + by.operation;
  op.left = renumbered(row.left, op.left, by);
  op.right = renumbered(row.right, op.right, by);
  op.result = renumbered(row.result, op.result, by);
  return op;
}

DirectEntry renumbered(DirectEntry entry, const Renumbering& by) {
  for (DirectEntry::Parameter& parameter : entry.parameters) {
    parameter.to = by.place(parameter.to);
  }
  entry.header += static_cast<std::size_t>(by.step);
  return entry;
}

}  // namespace

class Growth {
 public:
  Growth(const std::shared_ptr<Executor>& root, const Limits& limits, Reached& reached)
      : root_(root), made_(std::make_shared<Executor>()), limits_(limits), reached_(reached) {}

  std::shared_ptr<Executor> run(std::size_t step, const std::shared_ptr<Executor>& next, const Attached* place) {
    const std::shared_ptr<const Executor> part = next->base_ ? next->base_ : next;
    if (root_->is_dead_ || part->is_dead_ || !root_->direct_.is_possible || !part->direct_.is_possible ||
        (part->direct_.has_plain_names && !root_->direct_.has_plain_names)) {
      return nullptr;
    }
    std::optional<std::size_t> known = number_of(part->serial);
    if (!known && (!may_be_part(*part) || !has_room_for(*part))) {
      return nullptr;
    }
    make_room_for(known ? nullptr : part.get());
    made_->constants_ = root_->constants_;
    const Places constants = known ? Places() : add_constants(*part);
    take_root();
    if (!known) {
      known = made_->members_.size();
      take_part(*part, constants, step, place);
    }
    if (!connect(step, *known)) {
      return nullptr;
    }
    return watch_all(*part) ? std::move(made_) : nullptr;
  }

 private:
  using Member = Executor::Member;

  [[nodiscard]] std::optional<std::size_t> number_of(std::uint64_t serial) const {
    if (root_->members_.empty()) {
      return serial == root_->serial ? std::optional<std::size_t>(0) : std::nullopt;
    }
    const auto found = std::ranges::find(root_->members_, serial, &Member::serial);
    return found == root_->members_.end() ? std::nullopt
                                          : std::optional(static_cast<std::size_t>(found - root_->members_.begin()));
  }

  [[nodiscard]] bool has_room_for(const Executor& part) {
    if (std::cmp_greater_equal(root_->part_count(), limits_.parts)) {
      ++times(reached_, Limit::k_parts);
      return false;
    }
    if (std::cmp_greater(root_->loop_.ops.size() + part.loop_.ops.size(), limits_.operations)) {
      ++times(reached_, Limit::k_operations);
      return false;
    }
    return true;
  }

  // One that comes back to some loop, or returns; what else refers to frames by their numbers stays on its own.
  static bool may_be_part(const Executor& part) {
    const auto is_of_trace = [](const Step& step) { return step.guard < 0; };
    const Op end = std::ranges::find_if(part.steps_.rbegin(), part.steps_.rend(), is_of_trace)->op;
    const auto is_suspended = [](const FrameInfo& frame) { return is_resumption(frame.return_kind); };
    return (end == Op::link || end == Op::jump_back || end == Op::return_value) &&
           std::ranges::none_of(part.graph_.frames, is_suspended);
  }

  // What is long is copied once.
  void make_room_for(const Executor* part) {
    const auto reserve = [this, part](auto& made, auto of) {
      made.reserve(of(*root_).size() + (part == nullptr ? 0 : of(*part).size()));
    };
    reserve(
        made_->steps_, [](const Executor& source) -> auto& { return source.steps_; });
    reserve(
        made_->snapshots_, [](const Executor& source) -> auto& { return source.snapshots_; });
    reserve(
        made_->registers_used_, [](const Executor& source) -> auto& { return source.registers_used_; });
    reserve(
        made_->graph_.nodes, [](const Executor& source) -> auto& { return source.graph_.nodes; });
    reserve(
        made_->graph_.snapshots, [](const Executor& source) -> auto& { return source.graph_.snapshots; });
    reserve(
        made_->loop_.unboxed, [](const Executor& source) -> auto& { return source.loop_.unboxed; });
  }

  // --- registers: constants, then those of the root, then those of each part

  // Where those of the part are then.
  Places add_constants(const Executor& part) {
    Places places{0, 1};
    for (std::size_t number = 2; number < part.constants_.size(); ++number) {
      PyObject* object = part.constants_[number];
      const auto found = std::find(made_->constants_.begin() + 2, made_->constants_.end(), object);
      places.push_back(static_cast<std::int32_t>(found - made_->constants_.begin()));
      if (found == made_->constants_.end()) {
        made_->constants_.push_back(object);
      }
    }
    return places;
  }

  void take_root() {
    made_->constant_count_ = static_cast<std::int32_t>(made_->constants_.size());
    const std::int32_t shift = made_->constant_count_ - root_->constant_count_;
    Renumbering by;
    for (std::int32_t place = 0; place < root_->register_count_; ++place) {
      by.registers.push_back(place < root_->constant_count_ ? place : place + shift);
    }
    made_->register_count_ = root_->register_count_ + shift;
    made_->graph_.name = root_->graph_.name;
    made_->graph_.frames.push_back(root_->graph_.frames.front());
    made_->shapes_.push_back(root_->shapes_.front());
    made_->frame_functions_.push_back(by.place(root_->frame_functions_.front()));
    made_->frame_instances_.push_back(by.place(root_->frame_instances_.front()));
    take(*root_, by);
    for (const LoopProgram::Entry& entry : root_->loop_.parameters) {
      made_->loop_.parameters.push_back({by.place(entry.from), by.place(entry.to), entry.unboxed});
    }
    made_->loop_.types = root_->loop_.types;
    made_->direct_ = renumbered(root_->direct_, by);
    made_->slot_guards_ = root_->slot_guards_;
    made_->entry_instruction_ = root_->entry_instruction_;
    made_->groups = root_->groups;
    made_->base_ = root_->base_ ? root_->base_ : root_;
    made_->members_ = root_->members_;
    if (made_->members_.empty()) {
      Member& member = made_->members_.emplace_back();
      member.serial = root_->serial;
      member.instruction = root_->entry_instruction_;
      member.round = root_->gain_.round;
      member.operations = root_->loop_.ops.size();
      member.entry = root_->direct_;
      member.arrivals = root_->arrivals;
    }
    made_->arrivals = root_->arrivals;
    for (Member& member : made_->members_) {
      member.entry = renumbered(std::move(member.entry), by);
    }
    made_->hits = root_->hits;
    made_->exits = root_->exits;
    made_->gain_ = root_->gain_;
  }

  // Behind what is there. Where the first way to it has the frame's values anyway, there it takes them.
  void take_part(const Executor& part, const Places& constants, std::size_t step, const Attached* place) {
    Renumbering by;
    by.registers = constants;
    by.registers.resize(static_cast<std::size_t>(part.register_count_), -1);
    const LoweredSnapshot& state = made_->snapshots_[static_cast<std::size_t>(made_->steps_[step].snapshot)];
    for (const DirectEntry::Parameter& parameter : part.direct_.parameters) {
      const std::int32_t there = state.place_of(parameter.slot);
      if (!state.has_shared && there >= made_->constant_count_ && kind(there) == parameter.unboxed) {
        by.registers[static_cast<std::size_t>(parameter.to)] = there;
      }
    }
    for (std::int32_t& number : by.registers) {
      if (number < 0) {
        number = made_->register_count_++;
      }
    }
    by.used = static_cast<std::int32_t>(made_->registers_used_.size());
    by.step = static_cast<std::int32_t>(made_->steps_.size());
    by.snapshot = static_cast<std::int32_t>(made_->snapshots_.size());
    by.node = static_cast<std::int32_t>(made_->graph_.nodes.size());
    by.value = made_->graph_.value_count;
    by.operation = static_cast<std::int32_t>(made_->loop_.ops.size());
    by.frame = static_cast<std::int32_t>(made_->graph_.frames.size()) - 1;
    by.member = static_cast<std::int32_t>(made_->members_.size());
    for (const LoweredSnapshot& known : made_->snapshots_) {
      by.key = std::max(by.key, known.key + 1);
    }
    take(part, by);
    for (auto number = static_cast<std::size_t>(by.step); number < made_->steps_.size(); ++number) {
      Step& taken = made_->steps_[number];
      taken.in_entry_check = false;
      taken.is_header = false;
      taken.in_loop = true;
    }
    Member& member = made_->members_.emplace_back();
    member.serial = part.serial;
    member.place = place;
    member.instruction = part.entry_instruction_;
    member.round = part.gain_.round;
    member.arrivals = part.arrivals;
    member.first_step = static_cast<std::size_t>(by.step);
    member.first_operation = static_cast<std::size_t>(by.operation);
    member.operations = part.loop_.ops.size();
    member.entry = renumbered(part.direct_, by);
    find_held(member.first_step);
  }

  void take(const Executor& source, const Renumbering& by) {
    take_graph(source, by);
    for (const std::int32_t place : source.registers_used_) {
      made_->registers_used_.push_back(by.place(place));
    }
    for (const Step& step : source.steps_) {
      made_->steps_.push_back(renumbered_step(step, by));
    }
    for (const LoweredSnapshot& state : source.snapshots_) {
      LoweredSnapshot& taken = made_->snapshots_.emplace_back(state);
      taken.frame = by.frame_number(state.frame);
      taken.key += by.key;
      for (SnapshotId& id : taken.chain) {
        id = by.state(id);
      }
      for (std::int32_t& place : taken.locals) {
        place = by.place(place);
      }
      for (std::int32_t& place : taken.stack) {
        place = by.place(place);
      }
    }
    for (std::size_t number = 1; number < source.graph_.frames.size(); ++number) {
      made_->shapes_.push_back(source.shapes_[number]);
      made_->frame_functions_.push_back(by.place(source.frame_functions_[number]));
      made_->frame_instances_.push_back(by.place(source.frame_instances_[number]));
    }
    for (const Executor::Return& known : source.returns_) {
      Executor::Return& taken = made_->returns_.emplace_back();
      taken.step = known.step + static_cast<std::size_t>(by.step);
      for (const auto& [slot, place] : known.locals) {
        taken.locals.emplace_back(slot, by.place(place));
      }
      if (known.held) {
        taken.held.emplace();
        for (const std::int32_t place : *known.held) {
          taken.held->push_back(by.place(place));
        }
      }
    }
    take_rests(source, by);
    take_program(source.loop_, by);
  }

  // What has been found out about steps that are connected already.
  void take_rests(const Executor& source, const Renumbering& by) {
    for (const LoopOp& op : source.loop_.ops) {
      if (op.code == LoopCode::kGiveUpRest) {
        auto rest = std::make_unique<Places>(*source.steps_[op.step].rest);
        std::ranges::transform(*rest, rest->begin(), [&by](std::int32_t place) { return by.place(place); });
        made_->steps_[op.step + static_cast<std::size_t>(by.step)].rest = std::move(rest);
      }
    }
  }

  void take_program(const LoopProgram& source, const Renumbering& by) {
    LoopProgram& program = made_->loop_;
    for (const LoopOp& op : source.ops) {
      program.ops.push_back(renumbered(op, by));
    }
    for (const LoopProgram::Entry& entry : source.invariants) {
      program.invariants.push_back({by.place(entry.from), by.place(entry.to), entry.unboxed});
    }
    program.kinds.resize(static_cast<std::size_t>(made_->register_count_), Unboxed::kNone);
    for (std::size_t place = 0; place < source.kinds.size(); ++place) {
      if (source.kinds[place] != Unboxed::kNone) {
        program.kinds[static_cast<std::size_t>(by.registers[place])] = source.kinds[place];
      }
    }
    program.unboxed.resize(static_cast<std::size_t>(by.snapshot));
    for (const std::vector<std::int32_t>& places : source.unboxed) {
      Places& taken = program.unboxed.emplace_back();
      for (const std::int32_t place : places) {
        taken.push_back(by.place(place));
      }
    }
  }

  // For people, and for the objects that it owns.
  void take_graph(const Executor& source, const Renumbering& by) {
    Graph& graph = made_->graph_;
    for (Node node : source.graph_.nodes) {
      for (Value& operand : node.operands) {
        operand = by.value_number(operand);
      }
      node.first_result = by.value_number(node.first_result);
      node.snapshot = by.state(node.snapshot);
      graph.nodes.push_back(std::move(node));
    }
    for (Snapshot state : source.graph_.snapshots) {
      state.frame = by.frame_number(state.frame);
      state.parent = by.state(state.parent);
      for (Values* values : {&state.locals, &state.stack}) {
        for (Value& value : *values) {
          value = by.value_number(value);
        }
      }
      graph.snapshots.push_back(std::move(state));
    }
    for (std::size_t number = 1; number < source.graph_.frames.size(); ++number) {
      FrameInfo frame = source.graph_.frames[number];
      frame.function = by.value_number(frame.function);
      frame.instance = by.value_number(frame.instance);
      frame.parent = by.frame_number(frame.parent);
      graph.frames.push_back(std::move(frame));
    }
    graph.value_count += source.graph_.value_count;
  }

  // What a step has learned it learns anew.
  Step renumbered_step(const Step& source, const Renumbering& by) {
    Step step(static_cast<const StepCode&>(source));
    step.failures = source.failures;
    step.operands += static_cast<std::uint32_t>(by.used);
    step.result = by.place(step.result);
    step.snapshot = by.state(step.snapshot);
    step.shown = by.state(step.shown);
    step.node += by.node;
    for (std::int32_t* other : {&step.relocation, &step.guard, &step.since}) {
      *other += *other < 0 ? 0 : by.step;
    }
    if (step.op == Op::leave_frame) {
      step.immediate = by.frame_number(step.immediate);
    } else if (step.op == Op::sync_local && by.frame != 0) {
      const Ref number =
          Ref::steal(PyLong_FromLong(by.frame_number(static_cast<std::int32_t>(PyLong_AsLong(source.object)))));
      if (!number) {
        throw PythonError();
      }
      step.object = number.get();
      made_->graph_.nodes[static_cast<std::size_t>(step.node)].object = number;
    }
    return step;
  }

  // --- the way from a step to a part

  [[nodiscard]] Unboxed kind(std::int32_t place) const {
    return static_cast<std::size_t>(place) < made_->loop_.kinds.size()
               ? made_->loop_.kinds[static_cast<std::size_t>(place)]
               : Unboxed::kNone;
  }
  LoopOp& push(LoopCode code, std::int32_t left = -1, std::int32_t right = -1, std::int32_t result = -1) {
    LoopOp& op = way_.emplace_back();
    op.code = code;
    op.is_guard = true;
    op.step = static_cast<std::uint32_t>(step_);
    op.left = left;
    op.right = right;
    op.result = result;
    return op;
  }

  // Which operations fail as the step, or leave as it.
  [[nodiscard]] std::vector<std::size_t> operations_of(std::size_t step) const {
    std::vector<std::size_t> found;
    for (const Member& member : made_->members_) {
      for (std::size_t number = member.first_operation; number < member.first_operation + member.operations; ++number) {
        const LoopOp& op = made_->loop_.ops[number];
        const bool leaves = op.code == LoopCode::kStep &&
                            (info(made_->steps_[step].op).is_guard() || made_->steps_[step].op == Op::link);
        if (op.step == step && (op.is_guard || leaves) && op.branch < 0) {
          found.push_back(number);
        }
      }
    }
    return found;
  }

  // Where the part goes round, and the step belongs to a trace that begins outside of that loop: the loop's place.
  [[nodiscard]] SnapshotId entered_loop(std::size_t step, std::size_t target) const {
    const auto begin = made_->members_[target].first_step;
    const auto end =
        target + 1 < made_->members_.size() ? made_->members_[target + 1].first_step : made_->steps_.size();
    const std::span<const Step> steps = std::span(made_->steps_).subspan(begin, end - begin);
    const SnapshotId place = made_->steps_[made_->members_[target].entry.header].snapshot;
    if (place == kNoSnapshot || std::ranges::find(steps, Op::jump_back, &Step::op) == steps.end()) {
      return kNoSnapshot;
    }
    const auto instruction_of = [this](SnapshotId id) {
      const LoweredSnapshot& inner = made_->snapshots_[static_cast<std::size_t>(id)];
      return made_->snapshots_[static_cast<std::size_t>(inner.chain[0])].instruction;
    };
    int last = instruction_of(place);
    for (const Step& other : steps) {
      last = other.snapshot == kNoSnapshot ? last : std::max(last, instruction_of(other.snapshot));
    }
    const Member* from = made_->member_of(made_->steps_[step]);
    const int instruction = from == nullptr ? root_->entry_instruction_ : from->instruction;
    return instruction_of(place) <= instruction && instruction <= last ? kNoSnapshot : place;
  }

  bool connect(std::size_t step, std::size_t target) {
    step_ = step;
    way_.clear();
    const SnapshotId id = made_->steps_[step].snapshot;
    const std::int32_t guard = made_->steps_[step].guard;
    const std::vector<std::size_t> from = operations_of(guard < 0 ? step : static_cast<std::size_t>(guard));
    if (id == kNoSnapshot || from.empty()) {
      return false;
    }
    const LoweredSnapshot& state = made_->snapshots_[static_cast<std::size_t>(id)];
    const Member& part = made_->members_[target];
    const bool has_begun = state.is_idle && part.serial <= made_->trace(made_->steps_[step]);
    if (state.chain.size() != 1 || state.consuming || has_begun) {
      return false;
    }
    const DirectEntry entry = part.entry;
    std::vector<bool> filled = may_have_objects(from);
    if (made_->steps_[step].since >= 0) {
      push(LoopCode::kCheckQuiet);
      way_.back().step = static_cast<std::uint32_t>(guard);
    }
    auto rest = std::make_unique<Places>(rest_of(state, filled));
    if (!rest->empty()) {
      push(LoopCode::kGiveUpRest);
    }
    made_->steps_[step].rest = std::move(rest);
    LoopOp& cross = push(LoopCode::kCross, static_cast<std::int32_t>(target));
    cross.result = part.round - made_->steps_[step].forgone;
    cross.right = entered_loop(step, target);
    if (entry.bound.size() != state.locals.size() + state.stack.size() || !check(entry, state)) {
      return false;
    }
    move(entry, id, std::move(filled));
    push(LoopCode::kJump, static_cast<std::int32_t>(target),
         static_cast<std::int32_t>(made_->members_[target].first_operation))
        .flag = 1;
    const auto start = static_cast<std::int32_t>(made_->loop_.ops.size());
    made_->loop_.ops.insert(made_->loop_.ops.end(), way_.begin(), way_.end());
    for (const std::size_t number : from) {
      LoopOp& op = made_->loop_.ops[number];
      op.branch = start;
      if (op.code == LoopCode::kStep && made_->steps_[step].op == Op::link) {
        op.code = LoopCode::kJump;
        op.right = start;
      }
    }
    made_->loop_.kinds.resize(static_cast<std::size_t>(made_->register_count_), Unboxed::kNone);
    return true;
  }

  // Where an object may be left that is not a number's and in no frame: its end may run code.
  [[nodiscard]] Places rest_of(const LoweredSnapshot& state, const std::vector<bool>& filled) const {
    Places rest;
    for (std::int32_t place = made_->constant_count_; std::cmp_less(place, filled.size()); ++place) {
      if (filled[static_cast<std::size_t>(place)] && kind(place) == Unboxed::kNone && !state.has(place)) {
        rest.push_back(place);
      }
    }
    return rest;
  }

  // Where it returns only these need to be looked at.
  void find_held(std::size_t from_step) {
    for (Executor::Return& known : made_->returns_) {
      const auto returns = [&](const LoopOp& op) { return op.code == LoopCode::kStep && op.step == known.step; };
      const auto op = std::ranges::find_if(made_->loop_.ops, returns);
      if (known.step < from_step || op == made_->loop_.ops.end()) {
        continue;
      }
      std::vector<bool> filled = may_have_objects({static_cast<std::size_t>(op - made_->loop_.ops.begin())});
      look(made_->steps_[known.step].snapshot, filled);  // whoever has the frame sees its locals as they were
      known.held.emplace();
      for (std::int32_t place = made_->constant_count_; std::cmp_less(place, filled.size()); ++place) {
        if (filled[static_cast<std::size_t>(place)]) {
          known.held->push_back(place);
        }
      }
    }
  }

  // What the entry of the part would look for in the frame. Nothing has been moved when it does not hold.
  bool check(const DirectEntry& entry, const LoweredSnapshot& state) {
    for (std::size_t slot = 0; slot < entry.bound.size(); ++slot) {
      const std::int32_t place = state.place_of(static_cast<std::int32_t>(slot));
      const bool is_number = place >= 0 && kind(place) != Unboxed::kNone;
      if (entry.bound[slot] ? place < 0 : is_number) {
        return false;
      }
      if (place >= 0 && !is_number) {
        push(entry.bound[slot] ? LoopCode::kCheckBound : LoopCode::kCheckUnbound, place);
      }
    }
    for (const auto& [slot, type] : entry.types) {
      const std::int32_t place = state.place_of(slot);
      if (kind(place) != Unboxed::kNone) {
        return false;
      }
      push(LoopCode::kCheckType, place, static_cast<std::int32_t>(made_->loop_.types.size()));
      made_->loop_.types.push_back(type);
    }
    for (const DirectEntry::Parameter& parameter : entry.parameters) {
      const std::int32_t place = state.place_of(parameter.slot);
      const Unboxed there = kind(place);
      if (there != parameter.unboxed && there != Unboxed::kNone && parameter.unboxed != Unboxed::kNone) {
        return false;
      }
      if (there == Unboxed::kNone && parameter.unboxed != Unboxed::kNone) {
        push(unboxing(parameter.unboxed), place);
      }
    }
    return true;
  }

  void move(const DirectEntry& entry, SnapshotId id, std::vector<bool> filled) {
    const LoweredSnapshot& state = made_->snapshots_[static_cast<std::size_t>(id)];
    const auto keep = [&](std::int32_t place, bool is_filled) {
      filled.resize(static_cast<std::size_t>(made_->register_count_));
      filled[static_cast<std::size_t>(place)] = is_filled;
    };
    // One object is in two places: it is made of its number once.
    for (const std::int32_t place : made_->loop_.unboxed[static_cast<std::size_t>(id)]) {
      if (state.has_shared) {
        push(LoopCode::kBox, place);
        keep(place, true);
      }
    }
    struct Move {
      std::int32_t from, to;
      bool is_shared;  // `from` keeps it
    };
    std::vector<Move> moves;
    const auto is_target = [&](std::int32_t place) {
      return std::ranges::find(entry.parameters, place, &DirectEntry::Parameter::to) != entry.parameters.end();
    };
    const auto stays = [&](std::int32_t place) { return state.has_shared || place < made_->constant_count_; };
    for (const DirectEntry::Parameter& parameter : entry.parameters) {
      std::int32_t place = state.place_of(parameter.slot);
      if (kind(place) != Unboxed::kNone && parameter.unboxed == Unboxed::kNone) {
        push(LoopCode::kBox, place);
        keep(place, true);
      }
      if (place == parameter.to && !state.has_shared) {
        continue;
      }
      if (is_target(place)) {
        // It is read before another value takes its place.
        const std::int32_t scratch = made_->register_count_++;
        push(stays(place) ? LoopCode::kShare : LoopCode::kMove, place, -1, scratch);
        keep(place, stays(place) && filled[static_cast<std::size_t>(place)]);
        keep(scratch, false);
        moves.push_back({scratch, parameter.to, false});
      } else {
        moves.push_back({place, parameter.to, stays(place)});
      }
    }
    for (const Move& each : moves) {
      push(each.is_shared ? LoopCode::kShare : LoopCode::kMove, each.from, -1, each.to);
      if (!each.is_shared) {
        keep(each.from, false);
      }
    }
    for (std::int32_t place = made_->constant_count_; std::cmp_less(place, filled.size()); ++place) {
      if (filled[static_cast<std::size_t>(place)] && !is_target(place)) {
        push(LoopCode::kClear, place);
      }
    }
    unbind(entry, state);
  }

  // A slot that is unbound may still hold what was bound there, as long as nobody has looked.
  void unbind(const DirectEntry& entry, const LoweredSnapshot& here) {
    for (std::size_t slot = 0; slot < here.locals.size(); ++slot) {
      const bool is_ever_bound = std::ranges::any_of(made_->snapshots_, [slot](const LoweredSnapshot& state) {
        return state.frame == 0 && slot < state.locals.size() && state.locals[slot] >= 0;
      });
      if (!entry.bound[slot] && is_ever_bound) {
        push(LoopCode::kUnbind, static_cast<std::int32_t>(slot));
      }
    }
  }

  // --- which registers may have objects where these operations fail, given that only the parameters have some where
  // the part begins

  [[nodiscard]] std::vector<bool> may_have_objects(const std::vector<std::size_t>& operations) const {
    std::vector<bool> all(static_cast<std::size_t>(made_->register_count_));
    for (const std::size_t number : operations) {
      const auto part = std::ranges::find_if(made_->members_, [number](const Member& member) {
        return member.first_operation <= number && number < member.first_operation + member.operations;
      });
      std::vector<bool> filled(all.size());
      for (const DirectEntry::Parameter& parameter : part->entry.parameters) {
        filled[static_cast<std::size_t>(parameter.to)] = true;
      }
      for (std::size_t before = part->first_operation; before < number; ++before) {
        follow(made_->loop_.ops[before], filled);
      }
      if (made_->loop_.ops[number].code == LoopCode::kForIter) {
        follow(made_->loop_.ops[number], filled);
      }
      for (std::size_t place = 0; place < all.size(); ++place) {
        all[place] = all[place] || filled[place];
      }
    }
    return all;
  }

  // Whoever looks makes objects of all the numbers that there are to see.
  void look(SnapshotId id, std::vector<bool>& filled) const {
    if (id == kNoSnapshot) {
      return;
    }
    for (const SnapshotId each : made_->snapshots_[static_cast<std::size_t>(id)].chain) {
      for (const std::int32_t place : made_->loop_.unboxed[static_cast<std::size_t>(each)]) {
        filled[static_cast<std::size_t>(place)] = true;
      }
    }
  }

  void follow(const LoopOp& op, std::vector<bool>& filled) const {
    const auto at = [&](std::int32_t place) { return filled[static_cast<std::size_t>(place)]; };
    const LoopOpInfo& row = info(op.code);
    const Step& step = made_->steps_[op.step];
    if (row.has(loop_trait::kShowsState)) {
      look(step.snapshot, filled);
    }
    for (const auto& [field, number] :
         {std::pair(row.left, op.left), std::pair(row.right, op.right), std::pair(row.result, op.result)}) {
      if (field == LoopField::kShown) {
        look(number, filled);
      }
    }
    for (const auto& [field, number] :
         {std::pair(row.left, op.left), std::pair(row.right, op.right), std::pair(row.result, op.result)}) {
      if (field == LoopField::kMakesObject) {
        at(number) = true;
      } else if (field == LoopField::kEndsObject) {
        at(number) = false;
      }
    }
    switch (op.code) {
      case LoopCode::kStep: {
        look(step.snapshot, filled);
        look(step.shown, filled);
        const std::int32_t* results = made_->registers_used_.data() + step.operands + step.operand_count;
        for (std::int32_t index = 0; index < step.result_count; ++index) {
          at(results[index]) = true;
        }
        for (std::int32_t index = 0; index < step.drop_count; ++index) {
          at(results[step.result_count + index]) = false;
        }
        break;
      }
      case LoopCode::kMove:
        at(op.result) = at(op.left);
        at(op.left) = false;
        break;
      case LoopCode::kShare:
        at(op.result) = op.left < made_->constant_count_ || at(op.left);
        break;
      case LoopCode::kForIter:
        look(made_->steps_[static_cast<std::size_t>(op.right)].snapshot, filled);
        break;
      case LoopCode::kRemainderInt:
        if (op.flag != 0) {
          at(op.left) = op.left >= made_->constant_count_;
          at(op.result) = true;
        }
        break;
      case LoopCode::kStoreItem:
        at(op.result) = at(op.result) || (op.flag & kStoresNumber) != 0;
        break;
      default:
        break;
    }
  }

  bool watch_all(const Executor& part) {
    for (const Executor* source : {static_cast<const Executor*>(root_.get()), &part}) {
      for (const Ref& known : source->watches_) {
        PyObject* object = cpython::watched(known.get());
        Ref watch = object == nullptr ? Ref() : cpython::watch(object, made_.get());
        if (!watch) {
          PyErr_Clear();
          return false;
        }
        if (std::ranges::find(made_->watches_, watch.get(), &Ref::get) == made_->watches_.end()) {
          made_->watches_.push_back(std::move(watch));
        }
      }
      for (PyObject* object : source->held_) {
        if (std::ranges::find(made_->held_, object) == made_->held_.end()) {
          made_->held_.push_back(object);
        }
      }
    }
    return !root_->is_dead_ && !part.is_dead_ && !made_->is_dead_;
  }

  const std::shared_ptr<Executor> root_;
  std::shared_ptr<Executor> made_;
  const Limits& limits_;
  Reached& reached_;
  std::size_t step_ = 0;
  std::vector<LoopOp> way_;
};

std::shared_ptr<Executor> grow(const std::shared_ptr<Executor>& root, std::size_t step,
                               const std::shared_ptr<Executor>& next, const Attached* place, const Limits& limits,
                               Reached& reached) {
  try {
    std::shared_ptr<Executor> made = Growth(root, limits, reached).run(step, next, place);
    if (made != nullptr) {
      made->provide_for_numbers();
    }
    return made;
  } catch (const PythonError&) {
    PyErr_Clear();
    return nullptr;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace tagalong::replay
