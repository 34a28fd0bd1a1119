// Steps and loop programs as text, for logs and tests. The text contains no addresses, so it is the same in each run.
// Never runs user code.
//
//   fmt::print("{}", print_steps(executor.lowered()));
#pragma once

#include <span>
#include <string>

#include "replay/ir/graph.h"
#include "replay/steps/loop_program.h"
#include "replay/steps/step.h"

namespace tagalong::replay {

// The result of lowering a graph; the executor owns everything.
struct Lowered {
  const Graph& graph;
  std::span<const Step> steps;
  std::span<const std::int32_t> used;  // registers of all steps: operands, results and drops
  std::span<const LoweredSnapshot> snapshots;
  std::span<PyObject* const> constants;  // held in the first registers
  std::int32_t register_count;
  const LoopProgram& loop;
};

// Prints the constant registers, then one step a line with its side exits, then the snapshots.
[[nodiscard]] std::string print_steps(const Lowered& lowered);
// `r5 = float_binary[*] r3, r4, drops r4`, without the side exits.
[[nodiscard]] std::string print_step(const Lowered& lowered, const Step& step);
// Prints the operations of the loop and the kinds of its registers. Empty if the trace has no loop.
[[nodiscard]] std::string print_loop(const Lowered& lowered);
// `int`, `float`, ...: the kind of an unboxed number.
[[nodiscard]] std::string_view unboxed_name(Unboxed kind);
[[nodiscard]] std::string_view loop_code_name(LoopCode code);

}  // namespace tagalong::replay
