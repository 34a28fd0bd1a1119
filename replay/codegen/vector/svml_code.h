// exp and log of doubles in a kernel, AVX-512 only, for all vectors of an iteration at once: a table for sixteenths and
// a polynomial for the rest of the argument (P. T. P. Tang, "Table-driven implementation of the exponential function in
// IEEE floating-point arithmetic", ACM TOMS 15, 1989, and "... of the logarithm function ...", ACM TOMS 16, 1990). A
// result has NumPy's bits only where each step is rounded as in the function that NumPy calls. So the constants and the
// order of the steps are those of that function, Intel's SVML (github.com/numpy/SVML, svml_z0_exp_d_ha and
// svml_z0_log_d_ha).
//
// No step raises a flag, not even for lanes without an element. Where SVML takes its special path for some lanes (large
// numbers, zeros, negative numbers, infinities), the code ends and reports an ambiguous result.
#pragma once

#include "replay/codegen/vector/memory_code.h"

namespace tagalong::array {

class SvmlCode : private KernelPart {
 public:
  SvmlCode(KernelEmission& emission, MemoryCode& memory)
      : KernelPart(emission), memory_(memory), ambiguous_(emission.ambiguous) {}

  // Temporary registers that are live at once, for each vector.
  [[nodiscard]] static std::size_t registers_of(VectorOp what);
  void compute(VectorOp what, const KernelRegisters& out, const KernelRegisters& in);

 private:
  using ZmmGroup = boost::container::static_vector<Zmm, kMaxVectors>;  // one for each vector

  void exponential(const KernelRegisters& out, const KernelRegisters& in);
  void logarithm(const KernelRegisters& out, const KernelRegisters& in);
  // The mask register that the comparison of this vector writes.
  [[nodiscard]] Xbyak::Opmask compared(std::size_t vector) const { return vector == 0 ? asm_.compared() : k4; }
  // Ends the code if a comparison holds in any lane.
  void end_if_compared(std::size_t vectors);
  static ZmmGroup vectors_of(const KernelRegisters& registers);
  // Registers for intermediate results.
  Zmm temporary() { return Zmm(allocate()); }
  ZmmGroup temporaries(std::size_t vectors);
  ZmmGroup temporaries(std::size_t vectors, Constant constant);
  void load_each(const ZmmGroup& each, Constant constant);
  using KernelPart::release;
  void release(const ZmmGroup& vectors);
  // Opcodes of FMA instructions; the digits are the operand order in Intel's names.
  enum class Fused : std::uint8_t { kAdd213 = 0xA8, kSubtract213 = 0xAA, kAdd231 = 0xB8, kNegatedAdd231 = 0xBC };
  void fused(Fused what, const Vector& out, const Zmm& one, const Zmm& two);
  // The register that holds the constant, or `scratch` after loading the constant into it.
  Zmm constant(Constant constant, const Zmm& scratch);
  // One instruction for each vector, rounding to nearest. The last operand may be shared.
  void fused(Fused what, const ZmmGroup& out, const ZmmGroup& one, const ZmmGroup& two);
  void fused(Fused what, const ZmmGroup& out, const ZmmGroup& one, const Zmm& two);
  // first + second * x, in temporary registers.
  ZmmGroup linear(Constant first, Constant second, const ZmmGroup& x, const Zmm& scratch);
  // Reads a table of 16 for each lane; the last four bits of the index choose the item.
  ZmmGroup looked_up(Constant first_half, Constant second_half, const ZmmGroup& indices, const Zmm& scratch);
  void look_up(const ZmmGroup& found, Constant first_half, Constant second_half, const ZmmGroup& indices,
               const Zmm& scratch);

  MemoryCode& memory_;
  Label& ambiguous_;
};

}  // namespace tagalong::array
