// exp and log of doubles in a kernel by the steps of glibc's functions (libm_steps.inc; libm_constants.h explains the
// constants), AVX2 only. No step raises a flag that glibc's function does not. Where the steps do not cover one of the
// four numbers (a large one for exp; zero or a negative one for log), the code calls libm's function for the vector.
// Such numbers are often few, and without the call one of them would send the whole block of the fusion group to
// NumPy's loops.
#pragma once

#include <list>
#include <variant>

#include "replay/codegen/vector/memory_code.h"

namespace tagalong::array {

using LibmFunction = double (*)(double);

class GlibcCode : private KernelPart {
 public:
  GlibcCode(KernelEmission& emission, MemoryCode& memory) : KernelPart(emission), memory_(memory) {}

  // Temporary registers that are live at once.
  [[nodiscard]] static std::size_t registers_of(VectorOp what);
  // First instructions: the code returns at once where the rounding mode is not the one that the steps need.
  void check_rounding_mode();
  void compute(VectorOp what, int out, int x);
  // Emits calls of libm's functions, behind the rest of the code.
  void emit_cold_paths();

 private:
  // A constant as an operand: its register, if it has one, otherwise its address in memory.
  class Number {
   public:
    explicit Number(const Vector& reg) : operand_(reg) {}
    explicit Number(const Xbyak::Address& memory) : operand_(memory) {}
    // NOLINTNEXTLINE(google-explicit-constructor): instructions take it as an operand
    operator const Xbyak::Operand&() const {
      return std::visit([](const auto& operand) -> const Xbyak::Operand& { return operand; }, operand_);
    }

   private:
    std::variant<Vector, Xbyak::Address> operand_;
  };
  // Cold code that computes a whole vector with libm's function, for vectors with a lane that the steps do not cover.
  struct ColdPath {
    Label begin, end;
    LibmFunction function;
    int x, out;
  };

  void exponential(const Vector& out, const Vector& x);
  void logarithm(const Vector& out, const Vector& x);
  void logarithm_near_one(const Vector& out, const Vector& x, const Vector& is_not_near_one);
  Number number(Constant constant);
  Vector temporary() { return Vector(allocate()); }
  Vector temporary(Constant constant);
  using KernelPart::release;
  void release(const Vector& vector) { release(vector.getIdx()); }
  // Jumps to the cold path if any lane of `lanes` is set (a lane is set or clear as a whole).
  ColdPath& jump_if_any(const Vector& lanes, LibmFunction function, const Vector& out, const Vector& x);
  void call_libm(LibmFunction function);
  // first + x * second, in a temporary register.
  Vector linear(Constant first, Constant second, const Vector& x);
  // Reads one pair from the table for each lane. `offsets` holds byte offsets; it receives the first numbers of the
  // pairs, and `second` receives the second ones.
  void look_up(const void* table, const Vector& offsets, const Vector& second);

  MemoryCode& memory_;
  std::list<ColdPath> cold_paths_;
};

}  // namespace tagalong::array
