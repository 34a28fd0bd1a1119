// Generates the machine code of one fused kernel (vector_code.h): a loop over whole vectors, and the remainder
// behind it. This class emits the loops and orders the operations; its parts emit the operations.
//
//   rdi  pointers by slot      rsi  last element at which an iteration begins      rax  current element
//   rcx, rdx  scratch; on entry the row steps (rcx) and the number of rows (rdx)
//
// The loop is unrolled to two vectors where the registers suffice, which hides latencies. Each operation is emitted for
// all vectors of the iteration before the next operation, so that the processor's window of instructions covers several
// vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "replay/codegen/vector/argmin_code.h"
#include "replay/codegen/vector/arithmetic_code.h"
#include "replay/codegen/vector/glibc_code.h"
#include "replay/codegen/vector/integer_code.h"
#include "replay/codegen/vector/sum_code.h"
#include "replay/codegen/vector/svml_code.h"

namespace tagalong::array {

class VectorEmitter {
 public:
  // For so many vectors in an iteration, with at most `hoisted` scalars and constants loaded in front of the loop.
  VectorEmitter(const KernelSpec& spec, const VectorUnit& unit, std::size_t vectors, std::size_t hoisted)
      : emission_(spec, unit, vectors, hoisted), spec_(spec), unit_(unit), vectors_(vectors) {}

  // False: more live values than registers.
  bool emit();
  // How many scalars and constants are hoisted.
  [[nodiscard]] std::size_t hoisted() const { return emission_.values.hoisted(); }
  [[nodiscard]] std::span<const std::uint8_t> code() const { return {asm_.getCode(), asm_.getSize()}; }

 private:
  static constexpr std::array kSaved = {3, 5, 12, 13, 14, 15};  // rbx, rbp, r12 ... r15
  using Operands = boost::container::static_vector<int, kMaxInputs + 2>;

  // --- loops

  void prologue();
  void hoist();
  void main_loop();
  // The loop over leaves. The stack holds a pointer to the current leaf and the number of elements.
  void leaf_loops(const Label& rest);
  // The loop over a leaf's groups of eight elements, at least one; rsi is where the last group begins.
  void group_loop();
  // The loop over groups of short rows, with the items of a row unrolled.
  void row_loop();
  void next_row(const Label& row);
  void remainder(const Label& end);
  void masked_remainder(const Label& end);
  void single_elements(const Label& end);

  // --- operations

  // Emits all operations for so many vectors.
  void body(std::size_t vectors);
  void forget_registers(bool keeps_row = false);
  void compute_all();
  void compute(std::size_t number);
  // Emits a function of SVML for all vectors at once.
  void compute_batch(std::size_t number);
  // Registers of the operands, for the current vector.
  Operands begin(const VectorOperation& operation);
  KernelValue& begin_result(const VectorOperation& operation);
  void finish(const VectorOperation& operation, KernelValue* out);
  void release_operands(std::size_t number);
  // Whether the value keeps its register for all items of a short row.
  [[nodiscard]] bool is_kept_in_row(const KernelValue& value) const {
    return spec_.has_argmin() && value.in_memory && !value.is_item;
  }

  KernelEmission emission_;
  const KernelSpec& spec_;
  const VectorUnit& unit_;
  const std::size_t vectors_;  // in an iteration of the loop
  VectorAssembler& asm_ = emission_.assembler;
  VectorRegisters& registers_ = emission_.registers;
  KernelEmission::Position& position_ = emission_.position;
  MemoryCode memory_{emission_};
  ArithmeticCode arithmetic_{emission_, memory_};
  IntegerCode integers_{emission_};
  SvmlCode svml_{emission_, memory_};
  GlibcCode glibc_{emission_, memory_};
  SumCode sums_{emission_, memory_};
  ArgminCode argmin_{emission_, memory_};
};

}  // namespace tagalong::array
