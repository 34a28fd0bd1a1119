#include "replay/executor/program_merge.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "rewriter/base/errors.h"

namespace tagalong::replay {
namespace {

std::int32_t renumbered(LoopField field, std::int32_t number, const Renumbering& by) {
  switch (field) {
    case LoopField::kOperation:
      return number + by.operation;
    case LoopField::kStep:
      return number + by.step;
    case LoopField::kSnapshot:
    case LoopField::kShown:
      return by.snapshot_id(number);
    case LoopField::kOwnTrace:
      return by.trace == 0 ? number : by.trace;
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

// Without what the step has learned while it was run.
Step renumbered_step(StepProgram& made, const Step& source, const Renumbering& by) {
  Step step(static_cast<const StepCode&>(source));
  step.failures = source.failures;
  step.operands += static_cast<std::uint32_t>(by.used);
  step.result = by.place(step.result);
  step.snapshot = by.snapshot_id(step.snapshot);
  step.shown = by.snapshot_id(step.shown);
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
    made.graph.nodes[static_cast<std::size_t>(step.node)].object = number;
  }
  return step;
}

// What has been computed for steps that are linked already.
void append_rests(StepProgram& made, const StepProgram& source, const Renumbering& by) {
  for (const LoopOp& op : source.loop.ops) {
    if (op.code == LoopCode::kGiveUpRest) {
      auto rest = std::make_unique<std::vector<std::int32_t>>(*source.steps[op.step].rest);
      std::ranges::transform(*rest, rest->begin(), [&by](std::int32_t place) { return by.place(place); });
      made.steps[op.step + static_cast<std::size_t>(by.step)].rest = std::move(rest);
    }
  }
}

void append_loop(StepProgram& made, const LoopProgram& source, const Renumbering& by) {
  LoopProgram& program = made.loop;
  for (const LoopOp& op : source.ops) {
    program.ops.push_back(renumbered(op, by));
  }
  for (const LoopProgram::Entry& entry : source.invariants) {
    program.invariants.push_back({by.place(entry.from), by.place(entry.to), entry.unboxed});
  }
  program.kinds.resize(static_cast<std::size_t>(made.register_count), Unboxed::kNone);
  for (std::size_t place = 0; place < source.kinds.size(); ++place) {
    if (source.kinds[place] != Unboxed::kNone) {
      program.kinds[static_cast<std::size_t>(by.registers[place])] = source.kinds[place];
    }
  }
  program.unboxed.resize(static_cast<std::size_t>(by.snapshot));
  for (const std::vector<std::int32_t>& places : source.unboxed) {
    std::vector<std::int32_t>& taken = program.unboxed.emplace_back();
    for (const std::int32_t place : places) {
      taken.push_back(by.place(place));
    }
  }
}

// The graph: for printers, and because it owns objects.
void append_graph(StepProgram& made, const StepProgram& source, const Renumbering& by) {
  Graph& graph = made.graph;
  for (Node node : source.graph.nodes) {
    for (Value& operand : node.operands) {
      operand = by.value_number(operand);
    }
    node.first_result = by.value_number(node.first_result);
    node.snapshot = by.snapshot_id(node.snapshot);
    graph.nodes.push_back(std::move(node));
  }
  for (Snapshot snapshot : source.graph.snapshots) {
    snapshot.frame = by.frame_number(snapshot.frame);
    snapshot.parent = by.snapshot_id(snapshot.parent);
    for (Values* values : {&snapshot.locals, &snapshot.stack}) {
      for (Value& value : *values) {
        value = by.value_number(value);
      }
    }
    graph.snapshots.push_back(std::move(snapshot));
  }
  for (std::size_t number = 1; number < source.graph.frames.size(); ++number) {
    FrameInfo frame = source.graph.frames[number];
    frame.function = by.value_number(frame.function);
    frame.instance = by.value_number(frame.instance);
    frame.parent = by.frame_number(frame.parent);
    graph.frames.push_back(std::move(frame));
  }
  graph.value_count += source.graph.value_count;
}

}  // namespace

DirectEntry renumbered(DirectEntry entry, const Renumbering& by) {
  for (DirectEntry::Parameter& parameter : entry.parameters) {
    parameter.to = by.place(parameter.to);
  }
  entry.header += static_cast<std::size_t>(by.step);
  return entry;
}

void reserve_for(StepProgram& made, const StepProgram& root, const StepProgram* part) {
  const auto reserve = [&](auto member) {
    const std::size_t more = part == nullptr ? 0 : member(*part).size();
    member(made).reserve(member(root).size() + more);
  };
  reserve([](auto& program) -> auto& { return program.steps; });
  reserve([](auto& program) -> auto& { return program.snapshots; });
  reserve([](auto& program) -> auto& { return program.registers_used; });
  reserve([](auto& program) -> auto& { return program.graph.nodes; });
  reserve([](auto& program) -> auto& { return program.graph.snapshots; });
  reserve([](auto& program) -> auto& { return program.loop.unboxed; });
}

std::vector<std::int32_t> add_constants(StepProgram& made, const StepProgram& part) {
  std::vector<std::int32_t> places{0, 1};
  for (std::size_t number = 2; number < part.constants.size(); ++number) {
    PyObject* object = part.constants[number];
    const auto found = std::find(made.constants.begin() + 2, made.constants.end(), object);
    places.push_back(static_cast<std::int32_t>(found - made.constants.begin()));
    if (found == made.constants.end()) {
      made.constants.push_back(object);
    }
  }
  return places;
}

void append_program(StepProgram& made, const StepProgram& source, const Renumbering& by) {
  append_graph(made, source, by);
  for (const std::int32_t place : source.registers_used) {
    made.registers_used.push_back(by.place(place));
  }
  for (const Step& step : source.steps) {
    made.steps.push_back(renumbered_step(made, step, by));
  }
  for (const LoweredSnapshot& snapshot : source.snapshots) {
    LoweredSnapshot& taken = made.snapshots.emplace_back(snapshot);
    taken.frame = by.frame_number(snapshot.frame);
    taken.key += by.key;
    for (SnapshotId& id : taken.chain) {
      id = by.snapshot_id(id);
    }
    for (std::int32_t& place : taken.locals) {
      place = by.place(place);
    }
    for (std::int32_t& place : taken.stack) {
      place = by.place(place);
    }
  }
  for (std::size_t number = 1; number < source.graph.frames.size(); ++number) {
    made.shapes.push_back(source.shapes[number]);
    made.frame_functions.push_back(by.place(source.frame_functions[number]));
    made.frame_instances.push_back(by.place(source.frame_instances[number]));
  }
  for (const StepProgram::Return& known : source.returns) {
    StepProgram::Return& taken = made.returns.emplace_back();
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
  append_rests(made, source, by);
  append_loop(made, source.loop, by);
}

}  // namespace tagalong::replay
