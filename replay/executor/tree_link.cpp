#include "replay/executor/tree_link.h"

#include <algorithm>
#include <utility>

namespace tagalong::replay {

LoopOp& TreeLink::push(LoopCode code, std::int32_t left, std::int32_t right, std::int32_t result) {
  LoopOp& op = operations_.emplace_back();
  op.code = code;
  op.is_guard = true;
  op.step = static_cast<std::uint32_t>(step_);
  op.left = left;
  op.right = right;
  op.result = result;
  return op;
}

bool TreeLink::check(const DirectEntry& entry, const LoweredSnapshot& snapshot) {
  for (std::size_t slot = 0; slot < entry.bound.size(); ++slot) {
    const std::int32_t place = snapshot.place_of(static_cast<std::int32_t>(slot));
    const bool is_number = place >= 0 && program_.kind_of(place) != Unboxed::kNone;
    if (entry.bound[slot] ? place < 0 : is_number) {
      return false;
    }
    if (place >= 0 && !is_number) {
      push(entry.bound[slot] ? LoopCode::kCheckBound : LoopCode::kCheckUnbound, place);
    }
  }
  for (const auto& [slot, type] : entry.types) {
    const std::int32_t place = snapshot.place_of(slot);
    if (program_.kind_of(place) != Unboxed::kNone) {
      return false;
    }
    push(LoopCode::kCheckType, place, static_cast<std::int32_t>(program_.loop.types.size()));
    program_.loop.types.push_back(type);
  }
  for (const DirectEntry::Parameter& parameter : entry.parameters) {
    const std::int32_t place = snapshot.place_of(parameter.slot);
    const Unboxed there = program_.kind_of(place);
    if (there != parameter.unboxed && there != Unboxed::kNone && parameter.unboxed != Unboxed::kNone) {
      return false;
    }
    if (there == Unboxed::kNone && parameter.unboxed != Unboxed::kNone) {
      push(unboxing(parameter.unboxed), place);
    }
  }
  return true;
}

void TreeLink::move(const DirectEntry& entry, SnapshotId id, std::vector<bool> filled) {
  const LoweredSnapshot& snapshot = program_.snapshot(id);
  const auto keep = [&](std::int32_t place, bool is_filled) {
    filled.resize(static_cast<std::size_t>(program_.register_count));
    filled[static_cast<std::size_t>(place)] = is_filled;
  };
  // The same object is in two slots, so its number is boxed once.
  for (const std::int32_t place : program_.loop.unboxed[static_cast<std::size_t>(id)]) {
    if (snapshot.has_shared) {
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
  const auto stays = [&](std::int32_t place) { return snapshot.has_shared || place < program_.constant_count; };
  for (const DirectEntry::Parameter& parameter : entry.parameters) {
    std::int32_t place = snapshot.place_of(parameter.slot);
    if (program_.kind_of(place) != Unboxed::kNone && parameter.unboxed == Unboxed::kNone) {
      push(LoopCode::kBox, place);
      keep(place, true);
    }
    if (place == parameter.to && !snapshot.has_shared) {
      continue;
    }
    if (is_target(place)) {
      // It is read before another value overwrites it.
      const std::int32_t scratch = program_.register_count++;
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
  for (std::int32_t place = program_.constant_count; std::cmp_less(place, filled.size()); ++place) {
    if (filled[static_cast<std::size_t>(place)] && !is_target(place)) {
      push(LoopCode::kClear, place);
    }
  }
  unbind(entry, snapshot);
}

// A slot that is unbound may still hold an earlier value: the frame was not synchronised since.
void TreeLink::unbind(const DirectEntry& entry, const LoweredSnapshot& here) {
  for (std::size_t slot = 0; slot < here.locals.size(); ++slot) {
    const bool is_ever_bound = std::ranges::any_of(program_.snapshots, [slot](const LoweredSnapshot& snapshot) {
      return snapshot.frame == 0 && slot < snapshot.locals.size() && snapshot.locals[slot] >= 0;
    });
    if (!entry.bound[slot] && is_ever_bound) {
      push(LoopCode::kUnbind, static_cast<std::int32_t>(slot));
    }
  }
}

}  // namespace tagalong::replay
