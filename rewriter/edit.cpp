#include "rewriter/edit.h"

#include <algorithm>

#include "rewriter/base/errors.h"

namespace tagalong::rewriter {

Layout::Layout(const Assembly& source, std::size_t expected)
    : source_(source),
      entry_(source.instructions.size(), -1),
      itself_(source.instructions.size(), -1),
      first_(source.instructions.size(), -1),
      last_(source.instructions.size(), -1) {
  result_.instructions.reserve(expected);
  result_.constants.reserve(source.constants.size() + 1);
  result_.constants = source.constants;
  result_.names = source.names;
  result_.origin = source.origin;
  result_.stack_size = source.stack_size;
}

void Layout::add(const Instruction& instruction, int owner) {
  const int index = here();
  if (owner == kNoOwner) {
    if (!bare_.empty() && bare_.back().second == index) {
      bare_.back().second = index + 1;
    } else {
      bare_.emplace_back(index, index + 1);
    }
  } else {
    own(owner, index);
  }
  if (instruction.target <= original_label(0)) {
    outward_.push_back(index);
  }
  result_.instructions.push_back(instruction);
}

void Layout::append(int index) {
  const auto slot = static_cast<std::size_t>(index);
  label(index);
  own(index, here());
  itself_[slot] = here();
  result_.instructions.push_back(source_.instructions[slot]);
}

Edited Layout::finish() {
  for (std::size_t i = 0; i < itself_.size(); ++i) {
    TAGALONG_CHECK(itself_[i] >= 0, "instruction {} was left out", i);
    Instruction& moved = result_.instructions[static_cast<std::size_t>(itself_[i])];
    if (info(moved.opcode).jumps()) {
      if (moved.target < 0 || moved.target >= source_.size()) {
        refuse("{} at {} goes to instruction {}, outside of the code", info(moved.opcode).name, i, moved.target);
      }
      moved.target = entry_[static_cast<std::size_t>(moved.target)];
    }
  }
  for (const int index : bypassing_) {
    const int target = source_.instructions[static_cast<std::size_t>(index)].target;
    const int moved = itself_[static_cast<std::size_t>(index)];
    result_.instructions[static_cast<std::size_t>(moved)].target = itself_[static_cast<std::size_t>(target)];
  }
  for (const int index : outward_) {
    std::int32_t& target = result_.instructions[static_cast<std::size_t>(index)].target;
    const int label = original_label(target);  // original_label() is its own inverse
    if (label >= source_.size()) {
      refuse("inserted code goes to instruction {}, outside of the code", label);
    }
    target = entry_[static_cast<std::size_t>(label)];
  }
  move_ranges();
  return {std::move(result_), std::move(itself_)};
}

void Layout::move_ranges() {
  result_.ranges.reserve(source_.ranges.size());
  auto bare = bare_.begin();
  for (const ExceptionRange& range : source_.ranges) {
    if (range.start < 0 || range.start >= range.end || range.end > source_.size() || range.target < 0 ||
        range.target >= source_.size()) {
      refuse("exception range {} to {} with handler {} does not fit the code", range.start, range.end, range.target);
    }
    ExceptionRange moved = range;
    moved.start = first_[static_cast<std::size_t>(range.start)];
    moved.target = entry_[static_cast<std::size_t>(range.target)];
    const int end = last_[static_cast<std::size_t>(range.end) - 1] + 1;
    // Removes from the range the instructions that it must not cover.
    bare = std::find_if(bare, bare_.end(), [&](const auto& run) { return run.second > moved.start; });
    for (; bare != bare_.end() && bare->first < end; ++bare) {
      if (bare->first > moved.start) {
        moved.end = bare->first;
        result_.ranges.push_back(moved);
      }
      moved.start = bare->second;
    }
    if (moved.start < end) {
      moved.end = end;
      result_.ranges.push_back(moved);
    }
  }
}

namespace {

// Appends one insertion; its local targets become indices of the result. `itself` is the future index of the
// instruction in front of which the code is inserted.
void add_insertion(Layout& layout, const Insertion& insertion, int itself, int size) {
  const int base = layout.here();
  const auto length = static_cast<int>(insertion.code.size());
  int owner = Layout::kNoOwner;
  if (insertion.follows == Follows::kNext) {
    owner = insertion.before;
  } else if (insertion.follows == Follows::kPrevious) {
    owner = insertion.before - 1;
  }
  if (owner >= size || (owner < 0 && insertion.follows != Follows::kNone)) {
    refuse("the code inserted at {} has no instruction to belong to", insertion.before);
  }
  for (Instruction instruction : insertion.code) {
    if (instruction.target > length) {
      refuse("code inserted at {} goes to its instruction {} of {}", insertion.before, instruction.target, length);
    }
    if (instruction.target == length) {
      instruction.target = itself;
    } else if (instruction.target >= 0) {
      instruction.target += base;
    }
    layout.add(instruction, owner);
  }
}

}  // namespace

Edited insert(const Assembly& assembly, const std::vector<Insertion>& insertions) {
  std::size_t total = assembly.instructions.size();
  for (const Insertion& insertion : insertions) {
    total += insertion.code.size();
  }
  Layout layout(assembly, total);
  auto next = insertions.begin();
  for (int index = 0; index < assembly.size(); ++index) {
    auto last = next;
    int itself = layout.here();
    for (; last != insertions.end() && last->before == index; ++last) {
      itself += static_cast<int>(last->code.size());
      if (last != next) {
        if (last->follows < std::prev(last)->follows && last->follows == Follows::kNext) {
          // Fine: code that belongs to the previous instruction, or to none, comes first.
        } else if (last->follows == Follows::kPrevious && std::prev(last)->follows != Follows::kPrevious) {
          refuse("code that belongs to instruction {} is inserted behind code that does not", index - 1);
        }
        if (std::prev(last)->jumps_see_it && !last->jumps_see_it) {
          refuse("code that jumps to {} do not see is inserted behind code that they see", index);
        }
      }
    }
    for (; next != last; ++next) {
      if (next->jumps_see_it) {
        layout.label(index);
      }
      add_insertion(layout, *next, itself, assembly.size());
    }
    layout.append(index);
  }
  if (next != insertions.end()) {
    refuse("code is inserted at {}, out of order or outside of the code", next->before);
  }
  return layout.finish();
}

}  // namespace tagalong::rewriter
