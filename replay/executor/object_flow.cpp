#include "replay/executor/object_flow.h"

#include <algorithm>
#include <utility>

namespace tagalong::replay {

std::vector<bool> ObjectFlow::at(const std::vector<std::size_t>& operations) const {
  std::vector<bool> all(static_cast<std::size_t>(program_.register_count));
  for (const std::size_t number : operations) {
    const auto part = std::ranges::find_if(traces_, [number](const TraceOfTree& trace) {
      return trace.first_operation <= number && number < trace.first_operation + trace.operations;
    });
    std::vector<bool> filled(all.size());
    for (const DirectEntry::Parameter& parameter : part->entry.parameters) {
      filled[static_cast<std::size_t>(parameter.to)] = true;
    }
    for (std::size_t before = part->first_operation; before < number; ++before) {
      follow(program_.loop.ops[before], filled);
    }
    if (program_.loop.ops[number].code == LoopCode::kForIter) {
      follow(program_.loop.ops[number], filled);
    }
    for (std::size_t place = 0; place < all.size(); ++place) {
      all[place] = all[place] || filled[place];
    }
  }
  return all;
}

void ObjectFlow::box_shown(SnapshotId id, std::vector<bool>& filled) const {
  if (id == kNoSnapshot) {
    return;
  }
  for (const SnapshotId each : program_.snapshot(id).chain) {
    for (const std::int32_t place : program_.loop.unboxed[static_cast<std::size_t>(each)]) {
      filled[static_cast<std::size_t>(place)] = true;
    }
  }
}

void ObjectFlow::follow(const LoopOp& op, std::vector<bool>& filled) const {
  const auto at = [&](std::int32_t place) { return filled[static_cast<std::size_t>(place)]; };
  const LoopOpInfo& row = info(op.code);
  const Step& step = program_.steps[op.step];
  if (row.has(loop_trait::kShowsState)) {
    box_shown(step.snapshot, filled);
  }
  for (const auto& [field, number] :
       {std::pair(row.left, op.left), std::pair(row.right, op.right), std::pair(row.result, op.result)}) {
    if (field == LoopField::kShown) {
      box_shown(number, filled);
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
      box_shown(step.snapshot, filled);
      box_shown(step.shown, filled);
      const std::int32_t* results = program_.results_of(step);
      for (std::int32_t index = 0; index < step.result_count; ++index) {
        at(results[index]) = true;
      }
      for (const std::int32_t place : program_.drops_of(step)) {
        at(place) = false;
      }
      break;
    }
    case LoopCode::kMove:
      at(op.result) = at(op.left);
      at(op.left) = false;
      break;
    case LoopCode::kShare:
      at(op.result) = op.left < program_.constant_count || at(op.left);
      break;
    case LoopCode::kForIter:
      box_shown(program_.steps[static_cast<std::size_t>(op.right)].snapshot, filled);
      break;
    case LoopCode::kRemainderInt:
      if (op.flag != 0) {
        at(op.left) = op.left >= program_.constant_count;
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

}  // namespace tagalong::replay
