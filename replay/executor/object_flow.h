// Which registers of a trace tree may hold objects at an operation, given that only its parameters do where a trace
// begins: unboxed numbers get objects where a frame shows them.
#pragma once

#include <cstddef>
#include <vector>

#include "replay/executor/step_program.h"

namespace tagalong::replay {

class ObjectFlow {
 public:
  ObjectFlow(const StepProgram& program, const std::vector<TraceOfTree>& traces) : program_(program), traces_(traces) {}

  // By register: in front of any of these operations.
  [[nodiscard]] std::vector<bool> at(const std::vector<std::size_t>& operations) const;
  // A frame is made real at the snapshot: all numbers that it shows are boxed.
  void box_shown(SnapshotId id, std::vector<bool>& filled) const;

 private:
  void follow(const LoopOp& op, std::vector<bool>& filled) const;

  const StepProgram& program_;
  const std::vector<TraceOfTree>& traces_;
};

}  // namespace tagalong::replay
