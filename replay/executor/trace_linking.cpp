// From one executor straight to the next: the values of a frame go from registers to registers, numbers without objects
// as they are. The real frame stays behind, as it does in a loop.
#include "replay/executor/trace_linking.h"

#include <algorithm>
#include <utility>

#include "replay/executor/interpreter.h"
#include "replay/ir/stages.h"
#include "rewriter/base/errors.h"
#include "rewriter/cpython/foreign_eval.h"

namespace tagalong::replay {

Visit::Visit(const Executor& visited, const Run& run)
    : executor(&visited),
      registers(static_cast<std::size_t>(visited.register_count_)),
      unboxed(static_cast<std::size_t>(visited.register_count_)),
      hold_(visited) {
  std::ranges::copy(visited.constants_, registers.begin());
  registers[1] = run.function;
  for (const LoopProgram::Entry& entry : visited.loop_.invariants) {
    const auto place = static_cast<std::size_t>(entry.from);
    unbox(registers[place], entry.unboxed, &unboxed[place]);
  }
}

namespace {

// The eldest of those that are younger; null: there is none.
const std::shared_ptr<Executor>* next_by_age(const Attached& place, std::uint64_t elder) {
  const std::shared_ptr<Executor>* found = nullptr;
  for (const auto& candidate : place.executors) {
    const bool is_younger = !candidate->is_dead() && candidate->trace() > elder;
    if (is_younger && (found == nullptr || candidate->trace() < (*found)->trace())) {
      found = &candidate;
    }
  }
  return found;
}

}  // namespace

// True: the next executor has taken over what this one leaves.
bool Interpreter::link_trace(const Step& step) {
  if (!is_on(Stage::trace_links) || run_.linker == nullptr || run_.is_stopped || unboxed_ == nullptr ||
      step.snapshot == kNoSnapshot || run_.depth != 1 || requested_ || cpython::is_left_to_others(run_.thread)) {
    return false;
  }
  const LoweredSnapshot& state = executor_.snapshots_[static_cast<std::size_t>(step.snapshot)];
  if (step.target == nullptr) {
    if (state.chain.size() == 1 && !state.consuming) {
      step.target = run_.linker->attached(state.instruction, state.stack.size());
    }
    if (step.target == nullptr) {
      return false;
    }
  }
  // The eldest first, and behind a trace that has left where it began only younger ones: so each is tried, and there is
  // an end to it.
  std::uint64_t elder = state.is_idle ? executor_.trace(step) : 0;
  while (const std::shared_ptr<Executor>* next = next_by_age(*step.target, elder)) {
    const auto& candidate = *next;
    elder = candidate->trace();
    if (candidate->arrivals->left <= 1 && run_.linker->stops_at(*candidate->arrivals)) {
      run_.is_stopped = true;
      return false;
    }
    Transfer& transfer = transfer_to(step, *candidate);
    if (fits(transfer) && hand_over(transfer, step)) {
      const bool is_complete = step.op == Op::link;
      step.failures += is_complete ? 0 : 1;
      ++(is_complete ? executor_.hits : executor_.exits);
      run_.place = step.target;
      run_.linker->linked_trace(run_, executor_, is_complete);
      run_.gain = 0;
      if (++transfer.crossings == run_.grow_after && !run_.linker->went_often(executor_, step, *candidate)) {
        transfer.crossings = 0;
      }
      return true;
    }
  }
  return false;
}

Transfer& Interpreter::transfer_to(const Step& step, const Executor& next) const {
  for (Transfer& known : step.transfers) {
    if (known.serial == next.serial) {
      return known;
    }
  }
  // Executors come and go, as what they need dies.
  std::erase_if(step.transfers, [&step](const Transfer& known) {
    return std::ranges::none_of(step.target->executors,
                                [&known](const auto& executor) { return executor->serial == known.serial; });
  });
  Transfer& transfer = step.transfers.emplace_back();
  transfer.next = &next;
  transfer.serial = next.serial;
  plan(transfer, executor_.snapshots_[static_cast<std::size_t>(step.snapshot)]);
  return transfer;
}

void Interpreter::plan(Transfer& transfer, const LoweredSnapshot& state) const {
  const DirectEntry& entry = transfer.next->direct_;
  transfer.is_possible = entry.is_possible && entry.bound.size() == state.locals.size() + state.stack.size();
  for (std::size_t slot = 0; transfer.is_possible && slot < entry.bound.size(); ++slot) {
    const std::int32_t place = state.place_of(static_cast<std::int32_t>(slot));
    if (!entry.bound[slot] && place >= 0) {
      transfer.empty.push_back(place);
    } else if (entry.bound[slot] && (place < 0 || kind_of(place) == Unboxed::kNone)) {
      transfer.objects.push_back(place);
      transfer.is_possible = place >= 0;
    }
    if (!entry.bound[slot] && slot < state.locals.size()) {
      transfer.unbound.push_back(static_cast<std::int32_t>(slot));
    }
  }
  if (!transfer.is_possible) {
    return;
  }
  for (const auto& [slot, type] : entry.types) {
    const std::int32_t place = state.place_of(slot);
    transfer.types.emplace_back(place, type);
    transfer.is_possible = transfer.is_possible && kind_of(place) == Unboxed::kNone;
  }
  for (const DirectEntry::Parameter& parameter : entry.parameters) {
    const std::int32_t place = state.place_of(parameter.slot);
    const Unboxed kind = kind_of(place);
    transfer.is_possible = transfer.is_possible &&
                           (kind == Unboxed::kNone || parameter.unboxed == Unboxed::kNone || kind == parameter.unboxed);
    transfer.moves.push_back({place, parameter.to, parameter.unboxed, kind != parameter.unboxed,
                              state.has_shared || place < executor_.constant_count_});
  }
}

bool Interpreter::fits(const Transfer& transfer) const {
  if (!transfer.is_possible || (transfer.next->direct_.has_plain_names && !has_plain_names(run_.function))) {
    return false;
  }
  for (const std::int32_t place : transfer.objects) {
    if (registers_[place] == nullptr) {
      return false;
    }
  }
  for (const std::int32_t place : transfer.empty) {
    if (registers_[place] != nullptr || kind_of(place) != Unboxed::kNone) {
      return false;
    }
  }
  for (const auto& [place, type] : transfer.types) {
    if (reinterpret_cast<PyObject*>(Py_TYPE(registers_[place])) != type) {
      return false;
    }
  }
  for (const Transfer::Move& move : transfer.moves) {
    UnboxedNumber number;
    if (move.is_converted && move.unboxed != Unboxed::kNone && !unbox(registers_[move.from], move.unboxed, &number)) {
      return false;
    }
  }
  return true;
}

// A second one of the executor itself, whose registers are in use.
Visit* Interpreter::visit_of(Transfer& transfer) {
  const auto polls = [&](const Visit& visit) {
    return visit.executor == transfer.next && visit.registers.data() != registers_;
  };
  if (transfer.visit < run_.visits.size() && polls(*run_.visits[transfer.visit])) {
    return run_.visits[transfer.visit].get();
  }
  const auto known = std::ranges::find_if(run_.visits, [&](const auto& visit) { return polls(*visit); });
  transfer.visit = static_cast<std::size_t>(known - run_.visits.begin());
  if (known == run_.visits.end()) {
    run_.visits.push_back(std::make_shared<Visit>(*transfer.next, run_));
  }
  return run_.visits[transfer.visit].get();
}

// False: nothing has been moved.
bool Interpreter::hand_over(Transfer& transfer, const Step& step) {
  const LoweredSnapshot& state = executor_.snapshots_[static_cast<std::size_t>(step.snapshot)];
  Visit* visit = visit_of(transfer);
  if (!visit->is_complete()) {
    return false;
  }
  const auto has_object = [this](const Transfer::Move& move) {
    return !move.is_converted || move.unboxed != Unboxed::kNone || box(move.from) != nullptr;
  };
  if ((state.has_shared && !box_all(state)) || !std::ranges::all_of(transfer.moves, has_object)) {
    PyErr_Clear();  // no memory: leaving tries again
    return false;
  }
  PyObject** const registers = visit->registers.data();
  UnboxedNumber* const unboxed = visit->unboxed.data();
  for (const Transfer::Move& move : transfer.moves) {
    if (move.is_converted && move.unboxed != Unboxed::kNone) {
      unbox(registers_[move.from], move.unboxed, &unboxed[move.to]);
    } else {
      unboxed[move.to] = unboxed_[move.from];
    }
    if (is_faulty(Stage::trace_links) && move.unboxed == Unboxed::kInt) [[unlikely]] {
      ++unboxed[move.to].i;
    }
    registers[move.to] = registers_[move.from];
    if (move.stays) {
      Py_XINCREF(registers_[move.from]);
    } else {
      registers_[move.from] = nullptr;
    }
  }
  // A slot that is unbound may still hold a number that was bound, as long as nobody has looked.
  for (const std::int32_t slot : transfer.unbound) {
    Py_CLEAR(cpython::locals_of(run_.root)[slot]);
  }
  clear_registers();  // also of objects that were made of numbers, and belong to nobody any more
  --transfer.next->arrivals->left;
  run_.visit = visit;
  return true;
}

}  // namespace tagalong::replay
