// Steps and loop programs as text, for logs, tests and people. No addresses: the text of a program is the same each
// time. Never runs code of the user's.
//
//   fmt::print("{}", print_steps(executor.lowered()));
#pragma once

#include <span>
#include <string>

#include "replay/ir/graph.h"
#include "replay/steps/loop_program.h"
#include "replay/steps/step.h"

namespace tagalong::replay {

// What lowering has made of a graph; all of it belongs to the executor.
struct Lowered {
  const Graph& graph;
  std::span<const Step> steps;
  std::span<const std::int32_t> used;  // registers: operands, results and drops of the steps
  std::span<const LoweredSnapshot> snapshots;
  std::span<PyObject* const> constants;  // the first registers
  std::int32_t register_count;
  const LoopProgram& loop;
};

// The registers that are constants, then a step a line with what it may leave with, then the snapshots.
[[nodiscard]] std::string print_steps(const Lowered& lowered);
// `r5 = float_binary[*] r3, r4, drops r4`, without where it may leave.
[[nodiscard]] std::string print_step(const Lowered& lowered, const Step& step);
// The operations of the loop, with the registers that hold numbers. Empty where nothing goes round.
[[nodiscard]] std::string print_loop(const Lowered& lowered);
// `int`, `float`, ...: what a register holds in place of an object.
[[nodiscard]] std::string_view unboxed_name(Unboxed kind);
[[nodiscard]] std::string_view loop_code_name(LoopCode code);

}  // namespace tagalong::replay
