// Joining the programs of executors for a trace tree: one is appended to another, with its registers, steps, snapshots
// and operations renumbered.
#pragma once

#include <cstdint>
#include <vector>

#include "replay/executor/step_program.h"

namespace tagalong::replay {

// What the numbers of a program become in the joined one.
struct Renumbering {
  std::vector<std::int32_t> registers;
  std::int32_t used = 0;
  std::int32_t step = 0;
  std::int32_t snapshot = 0;
  std::int32_t key = 0;
  std::int32_t node = 0;
  std::int32_t value = 0;
  std::int32_t operation = 0;
  std::int32_t frame = 0;  // of all but the root
  std::int32_t trace = 0;

  [[nodiscard]] std::int32_t place(std::int32_t number) const {
    return number < 0 ? number : registers[static_cast<std::size_t>(number)];
  }
  [[nodiscard]] SnapshotId snapshot_id(SnapshotId id) const { return id == kNoSnapshot ? id : id + snapshot; }
  [[nodiscard]] std::int32_t frame_number(std::int32_t number) const { return number <= 0 ? number : number + frame; }
  [[nodiscard]] Value value_number(Value number) const { return number == kNoValue ? number : number + value; }
};

[[nodiscard]] DirectEntry renumbered(DirectEntry entry, const Renumbering& by);

// Room for both programs, so that nothing long is copied twice. `part` may be null.
void reserve_for(StepProgram& made, const StepProgram& root, const StepProgram* part);
// Adds the constants of the program that `made` does not have yet, and gives the registers of all.
std::vector<std::int32_t> add_constants(StepProgram& made, const StepProgram& part);
// Appends all but constants and the root frame, whose values both share.
void append_program(StepProgram& made, const StepProgram& source, const Renumbering& by);

}  // namespace tagalong::replay
