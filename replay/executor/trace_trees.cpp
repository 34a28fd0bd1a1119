#include "replay/executor/trace_trees.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "replay/executor/object_flow.h"
#include "replay/executor/program_merge.h"
#include "replay/executor/tree_link.h"
#include "rewriter/base/errors.h"
#include "rewriter/cpython/watch.h"

namespace tagalong::replay {

// Makes one executor of two.
class Growth {
 public:
  Growth(const std::shared_ptr<Executor>& root, const Limits& limits, Reached& reached)
      : root_(root),
        made_(std::make_shared<Executor>()),
        program_(made_->program_),
        limits_(limits),
        reached_(reached) {}

  std::shared_ptr<Executor> run(std::size_t step, const std::shared_ptr<Executor>& next, const Attached* place) {
    const std::shared_ptr<const Executor> part = next->base_ ? next->base_ : next;
    if (root_->is_dead_ || part->is_dead_ || !root_->program_.direct.is_possible ||
        !part->program_.direct.is_possible ||
        (part->program_.direct.has_plain_names && !root_->program_.direct.has_plain_names)) {
      return nullptr;
    }
    std::optional<std::size_t> known = number_of(part->serial);
    if (!known && (!may_be_part(*part) || !has_room_for(*part))) {
      return nullptr;
    }
    reserve_for(program_, root_->program_, known ? nullptr : &part->program_);
    program_.constants = root_->program_.constants;
    const std::vector<std::int32_t> constants =
        known ? std::vector<std::int32_t>() : add_constants(program_, part->program_);
    take_root();
    if (!known) {
      known = made_->traces_.size();
      take_part(*part, constants, step, place);
    }
    if (!connect(step, *known)) {
      return nullptr;
    }
    return watch_all(*part) ? std::move(made_) : nullptr;
  }

 private:
  [[nodiscard]] std::optional<std::size_t> number_of(std::uint64_t serial) const {
    if (root_->traces_.empty()) {
      return serial == root_->serial ? std::optional<std::size_t>(0) : std::nullopt;
    }
    const auto found = std::ranges::find(root_->traces_, serial, &TraceOfTree::serial);
    return found == root_->traces_.end() ? std::nullopt
                                         : std::optional(static_cast<std::size_t>(found - root_->traces_.begin()));
  }

  [[nodiscard]] bool has_room_for(const Executor& part) {
    if (std::cmp_greater_equal(root_->part_count(), limits_.parts)) {
      ++times(reached_, Limit::k_parts);
      return false;
    }
    if (std::cmp_greater(root_->program_.loop.ops.size() + part.program_.loop.ops.size(), limits_.operations)) {
      ++times(reached_, Limit::k_operations);
      return false;
    }
    return true;
  }

  // A trace that ends at a loop or by a return. Resumed generators refer to frames by numbers that are not renumbered.
  static bool may_be_part(const Executor& part) {
    const auto is_of_trace = [](const Step& step) { return step.guard < 0; };
    const Op end = std::ranges::find_if(part.program_.steps.rbegin(), part.program_.steps.rend(), is_of_trace)->op;
    const auto is_suspended = [](const FrameInfo& frame) { return is_resumption(frame.return_kind); };
    return (end == Op::link || end == Op::jump_back || end == Op::return_value) &&
           std::ranges::none_of(part.program_.graph.frames, is_suspended);
  }

  // --- the parts

  void take_root() {
    program_.constant_count = static_cast<std::int32_t>(program_.constants.size());
    const std::int32_t shift = program_.constant_count - root_->program_.constant_count;
    Renumbering by;
    for (std::int32_t place = 0; place < root_->program_.register_count; ++place) {
      by.registers.push_back(place < root_->program_.constant_count ? place : place + shift);
    }
    program_.register_count = root_->program_.register_count + shift;
    program_.graph.name = root_->program_.graph.name;
    program_.graph.frames.push_back(root_->program_.graph.frames.front());
    program_.shapes.push_back(root_->program_.shapes.front());
    program_.frame_functions.push_back(by.place(root_->program_.frame_functions.front()));
    program_.frame_instances.push_back(by.place(root_->program_.frame_instances.front()));
    append_program(program_, root_->program_, by);
    for (const LoopProgram::Entry& entry : root_->program_.loop.parameters) {
      program_.loop.parameters.push_back({by.place(entry.from), by.place(entry.to), entry.unboxed});
    }
    program_.loop.types = root_->program_.loop.types;
    program_.direct = renumbered(root_->program_.direct, by);
    made_->slot_guards_ = root_->slot_guards_;
    made_->entry_instruction_ = root_->entry_instruction_;
    made_->groups = root_->groups;
    made_->base_ = root_->base_ ? root_->base_ : root_;
    made_->traces_ = root_->traces_;
    if (made_->traces_.empty()) {
      TraceOfTree& trace = made_->traces_.emplace_back();
      trace.serial = root_->serial;
      trace.instruction = root_->entry_instruction_;
      trace.gain = root_->gain_.round;
      trace.operations = root_->program_.loop.ops.size();
      trace.entry = root_->program_.direct;
      trace.arrivals = root_->arrivals;
    }
    made_->arrivals = root_->arrivals;
    for (TraceOfTree& trace : made_->traces_) {
      trace.entry = renumbered(std::move(trace.entry), by);
    }
    made_->hits = root_->hits;
    made_->exits = root_->exits;
    made_->gain_ = root_->gain_;
  }

  // Appends the part. Where possible its parameters have the registers of the snapshot from which it is linked first.
  void take_part(const Executor& part, const std::vector<std::int32_t>& constants, std::size_t step,
                 const Attached* place) {
    Renumbering by;
    by.registers = constants;
    by.registers.resize(static_cast<std::size_t>(part.program_.register_count), -1);
    const LoweredSnapshot& snapshot = program_.snapshot(program_.steps[step].snapshot);
    for (const DirectEntry::Parameter& parameter : part.program_.direct.parameters) {
      const std::int32_t there = snapshot.place_of(parameter.slot);
      if (!snapshot.has_shared && there >= program_.constant_count && program_.kind_of(there) == parameter.unboxed) {
        by.registers[static_cast<std::size_t>(parameter.to)] = there;
      }
    }
    for (std::int32_t& number : by.registers) {
      if (number < 0) {
        number = program_.register_count++;
      }
    }
    by.used = static_cast<std::int32_t>(program_.registers_used.size());
    by.step = static_cast<std::int32_t>(program_.steps.size());
    by.snapshot = static_cast<std::int32_t>(program_.snapshots.size());
    by.node = static_cast<std::int32_t>(program_.graph.nodes.size());
    by.value = program_.graph.value_count;
    by.operation = static_cast<std::int32_t>(program_.loop.ops.size());
    by.frame = static_cast<std::int32_t>(program_.graph.frames.size()) - 1;
    by.trace = static_cast<std::int32_t>(made_->traces_.size());
    for (const LoweredSnapshot& known : program_.snapshots) {
      by.key = std::max(by.key, known.key + 1);
    }
    append_program(program_, part.program_, by);
    for (auto number = static_cast<std::size_t>(by.step); number < program_.steps.size(); ++number) {
      Step& taken = program_.steps[number];
      taken.in_entry_check = false;
      taken.is_header = false;
      taken.in_loop = true;
    }
    TraceOfTree& trace = made_->traces_.emplace_back();
    trace.serial = part.serial;
    trace.place = place;
    trace.instruction = part.entry_instruction_;
    trace.gain = part.gain_.round;
    trace.arrivals = part.arrivals;
    trace.first_step = static_cast<std::size_t>(by.step);
    trace.first_operation = static_cast<std::size_t>(by.operation);
    trace.operations = part.program_.loop.ops.size();
    trace.entry = renumbered(part.program_.direct, by);
    find_held(trace.first_step);
  }

  // --- the link from a step to a part

  [[nodiscard]] ObjectFlow flow() const { return {program_, made_->traces_}; }

  // The operations that fail as guards of the step, or leave with it.
  [[nodiscard]] std::vector<std::size_t> operations_of(std::size_t step) const {
    std::vector<std::size_t> found;
    for (const TraceOfTree& trace : made_->traces_) {
      for (std::size_t number = trace.first_operation; number < trace.first_operation + trace.operations; ++number) {
        const LoopOp& op = program_.loop.ops[number];
        const bool leaves = op.code == LoopCode::kStep &&
                            (info(program_.steps[step].op).is_guard() || program_.steps[step].op == Op::link);
        if (op.step == step && (op.is_guard || leaves) && op.branch < 0) {
          found.push_back(number);
        }
      }
    }
    return found;
  }

  // If the part iterates and the step belongs to a trace that begins outside of that loop: the snapshot of the loop.
  [[nodiscard]] SnapshotId entered_loop(std::size_t step, std::size_t target) const {
    const auto begin = made_->traces_[target].first_step;
    const auto end = target + 1 < made_->traces_.size() ? made_->traces_[target + 1].first_step : program_.steps.size();
    const std::span<const Step> steps = std::span(program_.steps).subspan(begin, end - begin);
    const SnapshotId place = program_.steps[made_->traces_[target].entry.header].snapshot;
    if (place == kNoSnapshot || std::ranges::find(steps, Op::jump_back, &Step::op) == steps.end()) {
      return kNoSnapshot;
    }
    const auto instruction_of = [this](SnapshotId id) {
      const LoweredSnapshot& inner = program_.snapshot(id);
      return program_.snapshot(inner.chain[0]).instruction;
    };
    int last = instruction_of(place);
    for (const Step& other : steps) {
      last = other.snapshot == kNoSnapshot ? last : std::max(last, instruction_of(other.snapshot));
    }
    const TraceOfTree* from = made_->trace_with(program_.steps[step]);
    const int instruction = from == nullptr ? root_->entry_instruction_ : from->instruction;
    return instruction_of(place) <= instruction && instruction <= last ? kNoSnapshot : place;
  }

  bool connect(std::size_t step, std::size_t target) {
    const SnapshotId id = program_.steps[step].snapshot;
    const std::int32_t guard = program_.steps[step].guard;
    const std::vector<std::size_t> from = operations_of(guard < 0 ? step : static_cast<std::size_t>(guard));
    if (id == kNoSnapshot || from.empty()) {
      return false;
    }
    const LoweredSnapshot& snapshot = program_.snapshot(id);
    const TraceOfTree& part = made_->traces_[target];
    const bool has_begun = snapshot.is_entry_state && part.serial <= made_->trace(program_.steps[step]);
    if (snapshot.chain.size() != 1 || snapshot.consuming || has_begun) {
      return false;
    }
    const DirectEntry entry = part.entry;
    std::vector<bool> filled = flow().at(from);
    TreeLink link(program_, step);
    if (program_.steps[step].since >= 0) {
      link.push(LoopCode::kCheckRelocatable).step = static_cast<std::uint32_t>(guard);
    }
    auto rest = std::make_unique<std::vector<std::int32_t>>(leftovers_at(snapshot, filled));
    if (!rest->empty()) {
      link.push(LoopCode::kGiveUpRest);
    }
    program_.steps[step].rest = std::move(rest);
    LoopOp& cross = link.push(LoopCode::kCross, static_cast<std::int32_t>(target));
    cross.result = part.gain - program_.steps[step].exit_loss;
    cross.right = entered_loop(step, target);
    if (entry.bound.size() != snapshot.locals.size() + snapshot.stack.size() || !link.check(entry, snapshot)) {
      return false;
    }
    link.move(entry, id, std::move(filled));
    link.push(LoopCode::kJump, static_cast<std::int32_t>(target),
              static_cast<std::int32_t>(made_->traces_[target].first_operation))
        .flag = 1;
    const auto start = static_cast<std::int32_t>(program_.loop.ops.size());
    program_.loop.ops.insert(program_.loop.ops.end(), link.operations().begin(), link.operations().end());
    for (const std::size_t number : from) {
      LoopOp& op = program_.loop.ops[number];
      op.branch = start;
      if (op.code == LoopCode::kStep && program_.steps[step].op == Op::link) {
        op.code = LoopCode::kJump;
        op.right = start;
      }
    }
    program_.loop.kinds.resize(static_cast<std::size_t>(program_.register_count), Unboxed::kNone);
    return true;
  }

  // Registers that may hold an object which is no number and in no frame: its end may run user code.
  [[nodiscard]] std::vector<std::int32_t> leftovers_at(const LoweredSnapshot& snapshot,
                                                       const std::vector<bool>& filled) const {
    std::vector<std::int32_t> rest;
    for (std::int32_t place = program_.constant_count; std::cmp_less(place, filled.size()); ++place) {
      if (filled[static_cast<std::size_t>(place)] && program_.kind_of(place) == Unboxed::kNone &&
          !snapshot.has(place)) {
        rest.push_back(place);
      }
    }
    return rest;
  }

  // Which registers may hold objects behind a return: only these need to be cleared.
  void find_held(std::size_t from_step) {
    for (StepProgram::Return& known : program_.returns) {
      const auto returns = [&](const LoopOp& op) { return op.code == LoopCode::kStep && op.step == known.step; };
      const auto op = std::ranges::find_if(program_.loop.ops, returns);
      if (known.step < from_step || op == program_.loop.ops.end()) {
        continue;
      }
      std::vector<bool> filled = flow().at({static_cast<std::size_t>(op - program_.loop.ops.begin())});
      flow().box_shown(program_.steps[known.step].snapshot, filled);  // the frame may be visible after the return
      known.held.emplace();
      for (std::int32_t place = program_.constant_count; std::cmp_less(place, filled.size()); ++place) {
        if (filled[static_cast<std::size_t>(place)]) {
          known.held->push_back(place);
        }
      }
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
  StepProgram& program_;  // of made_
  const Limits& limits_;
  Reached& reached_;
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
