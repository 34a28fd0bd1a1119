// The operations of a link between two traces of a tree: they check what the entry of the second trace would check, and
// move the values of the frame to the registers of its parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/executor/step_program.h"

namespace tagalong::replay {

class TreeLink {
 public:
  // From this step, where the operations leave if a check fails.
  TreeLink(StepProgram& program, std::size_t step) : program_(program), step_(step) {}

  LoopOp& push(LoopCode code, std::int32_t left = -1, std::int32_t right = -1, std::int32_t result = -1);
  // False: values of the snapshot can never be parameters of the entry.
  bool check(const DirectEntry& entry, const LoweredSnapshot& snapshot);
  // `filled`: by register, whether it may hold an object.
  void move(const DirectEntry& entry, SnapshotId id, std::vector<bool> filled);
  [[nodiscard]] const std::vector<LoopOp>& operations() const { return operations_; }

 private:
  void unbind(const DirectEntry& entry, const LoweredSnapshot& here);

  StepProgram& program_;
  std::size_t step_;
  std::vector<LoopOp> operations_;
};

}  // namespace tagalong::replay
