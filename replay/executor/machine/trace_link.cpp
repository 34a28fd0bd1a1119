#include "replay/executor/machine/trace_link.h"

#include <algorithm>
#include <utility>

#include "replay/executor/machine/boxing.h"
#include "replay/ir/stages.h"
#include "rewriter/base/errors.h"
#include "rewriter/cpython/foreign_eval.h"

namespace tagalong::replay {

Visit::Visit(const Executor& visited, const Run& run)
    : executor(&visited),
      registers(static_cast<std::size_t>(visited.program().register_count)),
      unboxed(static_cast<std::size_t>(visited.program().register_count)),
      hold_(visited) {
  std::ranges::copy(visited.program().constants, registers.begin());
  registers[1] = run.function;
  for (const LoopProgram::Entry& entry : visited.loop().invariants) {
    const auto place = static_cast<std::size_t>(entry.from);
    unbox(registers[place], entry.unboxed, &unboxed[place]);
  }
}

namespace {

// The oldest executor there whose trace is younger than this one; null: there is none.
const std::shared_ptr<Executor>* next_by_age(const Attached& place, std::uint64_t older) {
  const std::shared_ptr<Executor>* found = nullptr;
  for (const auto& candidate : place.executors) {
    const bool is_younger = !candidate->is_dead() && candidate->trace() > older;
    if (is_younger && (found == nullptr || candidate->trace() < (*found)->trace())) {
      found = &candidate;
    }
  }
  return found;
}

void plan_transfer(const RunState& state, Transfer& transfer, const LoweredSnapshot& snapshot) {
  const DirectEntry& entry = transfer.next->program().direct;
  transfer.is_possible = entry.is_possible && entry.bound.size() == snapshot.locals.size() + snapshot.stack.size();
  for (std::size_t slot = 0; transfer.is_possible && slot < entry.bound.size(); ++slot) {
    const std::int32_t place = snapshot.place_of(static_cast<std::int32_t>(slot));
    if (!entry.bound[slot] && place >= 0) {
      transfer.empty.push_back(place);
    } else if (entry.bound[slot] && (place < 0 || state.kind_of(place) == Unboxed::kNone)) {
      transfer.objects.push_back(place);
      transfer.is_possible = place >= 0;
    }
    if (!entry.bound[slot] && slot < snapshot.locals.size()) {
      transfer.unbound.push_back(static_cast<std::int32_t>(slot));
    }
  }
  if (!transfer.is_possible) {
    return;
  }
  for (const auto& [slot, type] : entry.types) {
    const std::int32_t place = snapshot.place_of(slot);
    transfer.types.emplace_back(place, type);
    transfer.is_possible = transfer.is_possible && state.kind_of(place) == Unboxed::kNone;
  }
  for (const DirectEntry::Parameter& parameter : entry.parameters) {
    const std::int32_t place = snapshot.place_of(parameter.slot);
    const Unboxed kind = state.kind_of(place);
    transfer.is_possible = transfer.is_possible &&
                           (kind == Unboxed::kNone || parameter.unboxed == Unboxed::kNone || kind == parameter.unboxed);
    transfer.moves.push_back({place, parameter.to, parameter.unboxed, kind != parameter.unboxed,
                              snapshot.has_shared || place < state.program.constant_count});
  }
}

Transfer& find_transfer(const RunState& state, const Step& step, const Executor& next) {
  for (Transfer& known : step.transfers) {
    if (known.serial == next.serial) {
      return known;
    }
  }
  // Executors are detached when an object dies that they need.
  std::erase_if(step.transfers, [&step](const Transfer& known) {
    return std::ranges::none_of(step.target->executors,
                                [&known](const auto& executor) { return executor->serial == known.serial; });
  });
  Transfer& transfer = step.transfers.emplace_back();
  transfer.next = &next;
  transfer.serial = next.serial;
  plan_transfer(state, transfer, state.snapshot(step.snapshot));
  return transfer;
}

bool can_enter(const RunState& state, const Transfer& transfer) {
  if (!transfer.is_possible ||
      (transfer.next->program().direct.has_plain_names && !state.has_plain_names(state.run.function))) {
    return false;
  }
  for (const std::int32_t place : transfer.objects) {
    if (state.registers[place] == nullptr) {
      return false;
    }
  }
  for (const std::int32_t place : transfer.empty) {
    if (state.registers[place] != nullptr || state.kind_of(place) != Unboxed::kNone) {
      return false;
    }
  }
  for (const auto& [place, type] : transfer.types) {
    if (reinterpret_cast<PyObject*>(Py_TYPE(state.registers[place])) != type) {
      return false;
    }
  }
  for (const Transfer::Move& move : transfer.moves) {
    UnboxedNumber number;
    if (move.is_converted && move.unboxed != Unboxed::kNone &&
        !unbox(state.registers[move.from], move.unboxed, &number)) {
      return false;
    }
  }
  return true;
}

// The registers of the next executor. If that is the current one again it needs second ones.
Visit* find_visit(RunState& state, Transfer& transfer) {
  const auto is_free = [&](const Visit& visit) {
    return visit.executor == transfer.next && visit.registers.data() != state.registers;
  };
  if (transfer.visit < state.run.visits.size() && is_free(*state.run.visits[transfer.visit])) {
    return state.run.visits[transfer.visit].get();
  }
  const auto known = std::ranges::find_if(state.run.visits, [&](const auto& visit) { return is_free(*visit); });
  transfer.visit = static_cast<std::size_t>(known - state.run.visits.begin());
  if (known == state.run.visits.end()) {
    state.run.visits.push_back(std::make_shared<Visit>(*transfer.next, state.run));
  }
  return state.run.visits[transfer.visit].get();
}

// False: nothing has been moved.
bool move_values(RunState& state, Transfer& transfer, const Step& step) {
  const LoweredSnapshot& snapshot = state.snapshot(step.snapshot);
  Visit* visit = find_visit(state, transfer);
  if (!visit->is_complete()) {
    return false;
  }
  const auto has_object = [&state](const Transfer::Move& move) {
    return !move.is_converted || move.unboxed != Unboxed::kNone || box(state, move.from) != nullptr;
  };
  if ((snapshot.has_shared && !box_all(state, snapshot)) || !std::ranges::all_of(transfer.moves, has_object)) {
    PyErr_Clear();  // no memory: the side exit tries again
    return false;
  }
  PyObject** const registers = visit->registers.data();
  UnboxedNumber* const unboxed = visit->unboxed.data();
  for (const Transfer::Move& move : transfer.moves) {
    if (move.is_converted && move.unboxed != Unboxed::kNone) {
      unbox(state.registers[move.from], move.unboxed, &unboxed[move.to]);
    } else {
      unboxed[move.to] = state.unboxed[move.from];
    }
    if (is_faulty(Stage::trace_links) && move.unboxed == Unboxed::kInt) [[unlikely]] {
      ++unboxed[move.to].i;
    }
    registers[move.to] = state.registers[move.from];
    if (move.stays) {
      Py_XINCREF(state.registers[move.from]);
    } else {
      state.registers[move.from] = nullptr;
    }
  }
  // A slot that is unbound may still hold an earlier number: the frame was not synchronised since.
  for (const std::int32_t slot : transfer.unbound) {
    Py_CLEAR(cpython::locals_of(state.run.root)[slot]);
  }
  clear_registers(state);  // also of objects that were boxed and are not moved
  --transfer.next->arrivals->left;
  state.run.visit = visit;
  return true;
}

}  // namespace

bool link_trace(RunState& state, const Step& step) {
  if (!is_on(Stage::trace_links) || state.run.linker == nullptr || state.run.is_stopped || state.unboxed == nullptr ||
      step.snapshot == kNoSnapshot || state.run.depth != 1 || state.requested ||
      cpython::must_run_eagerly(state.run.thread)) {
    return false;
  }
  const LoweredSnapshot& snapshot = state.snapshot(step.snapshot);
  if (step.target == nullptr) {
    if (snapshot.chain.size() == 1 && !snapshot.consuming) {
      step.target = state.run.linker->attached(snapshot.instruction, snapshot.stack.size());
    }
    if (step.target == nullptr) {
      return false;
    }
  }
  // The oldest first, and after a trace that has left where it began only younger ones: so each is tried once.
  std::uint64_t older = snapshot.is_entry_state ? state.executor.trace(step) : 0;
  while (const std::shared_ptr<Executor>* next = next_by_age(*step.target, older)) {
    const auto& candidate = *next;
    older = candidate->trace();
    if (candidate->arrivals->left <= 1 && state.run.linker->stops_at(*candidate->arrivals)) {
      state.run.is_stopped = true;
      return false;
    }
    Transfer& transfer = find_transfer(state, step, *candidate);
    if (can_enter(state, transfer) && move_values(state, transfer, step)) {
      const bool is_complete = step.op == Op::link;
      step.failures += is_complete ? 0 : 1;
      ++(is_complete ? state.executor.hits : state.executor.exits);
      state.run.place = step.target;
      state.run.linker->linked_trace(state.run, state.executor, is_complete);
      state.run.gain = 0;
      if (++transfer.crossings == state.run.grow_after &&
          !state.run.linker->is_hot_link(state.executor, step, *candidate)) {
        transfer.crossings = 0;
      }
      return true;
    }
  }
  return false;
}

}  // namespace tagalong::replay
