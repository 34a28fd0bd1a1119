// The instructions of fused kernels, written once for AVX-512 and AVX2, and for lanes of all sizes. This class hides
// what differs: the sizes of registers and lanes, what comparisons and marks write, and how the elements behind the
// last whole vector are read and written. Only the loop over those elements (VectorEmitter::remainder, SumCode::add)
// differs elsewhere. Registers are numbers; Xbyak's instructions take vector(reg) or result(reg).
//
//   asm_.lanes().add(asm_, asm_.result(out), asm_.vector(one), asm_.vector(two));
//
// A bool is a lane of all ones or all zeros in a vector register. A lane is *ambiguous* where the instructions do not
// fix the bits of its result (vector_code.h). Ambiguous lanes are marked: with AVX-512 in k2, which has the lanes
// without a mark; with AVX2 in the sign bits of a vector register.
#pragma once

#include <xbyak/xbyak.h>

#include "replay/codegen/vector/lane_instructions.h"
#include "replay/codegen/vector/lane_type.h"
#include "replay/codegen/vector/vector_registers.h"

namespace tagalong::array {

using namespace Xbyak::util;  // the names of registers and of address sizes
using Xbyak::Label;
using Xbyak::Reg64;
using Xbyak::Xmm;
using Xbyak::Zmm;
using Vector = Xbyak::Ymm;  // a vector register of either size

// Predicates of vcmppd and vcmpps. None of them raises a flag for quiet NaNs.
inline constexpr int kCompareEqual = 0x00, kCompareUnordered = 0x03, kCompareNotEqual = 0x04, kCompareOrdered = 0x07,
                     kCompareLess = 0x11, kCompareLessEqual = 0x12, kCompareGreaterEqual = 0x1D, kCompareGreater = 0x1E;

class VectorAssembler final : public Xbyak::CodeGenerator {
 public:
  VectorAssembler(const VectorUnit& unit, VectorRegisters& registers);

  [[nodiscard]] const VectorUnit& unit() const { return unit_; }
  [[nodiscard]] int vector_bytes() const { return unit_.lanes * unit_.item_bytes; }
  // The instructions for the kernel's lanes.
  [[nodiscard]] const LaneInstructions& lanes() const { return lanes_; }

  // --- the remainder: the elements behind the last whole vector

  // From here on: with AVX-512 the elements in the mask k1, with AVX2 a single element that is broadcast to all lanes.
  // So lanes without an element raise no flag.
  void begin_remainder() { is_remainder_ = true; }
  // AVX-512: sets the mask k1 to the first rcx elements; with `has_parts` k5 and k6 to the parts of as many complex
  // numbers in two vectors.
  void mask_elements(bool has_parts);
  [[nodiscard]] bool is_remainder() const { return is_remainder_; }

  // --- operands

  [[nodiscard]] Vector vector(int reg) const { return unit_.has_masks ? Vector(Zmm(reg)) : Vector(reg); }
  // The register as a result; in a masked remainder lanes without an element become zero.
  [[nodiscard]] Vector result(int reg) const { return is_masked() ? vector(reg) | k1 | T_z : vector(reg); }
  // The register as a result; in a masked remainder lanes without an element keep their bits.
  [[nodiscard]] Vector merged(int reg) const { return is_masked() ? vector(reg) | k1 : vector(reg); }
  // AVX-512: the mask register of a comparison; in the remainder only lanes with an element are compared.
  [[nodiscard]] Xbyak::Opmask compared() const { return is_remainder_ ? k3 | k1 : k3; }

  // --- memory

  void broadcast(int reg, const Xbyak::Address& from) { lanes_.broadcast(*this, vector(reg), from); }
  void load_vector(int reg, const Xbyak::Address& from) { lanes_.load(*this, vector(reg), from); }
  void load_numbers(int reg, const Xbyak::RegExp& from);
  void load_bools(int reg, const Xbyak::RegExp& from);
  // Converts numbers of one type to longer ones of the other type (has_widening()).
  void load_widened(int reg, const Xbyak::RegExp& from, LaneType type, LaneType to);
  void store_numbers(int reg, const Xbyak::RegExp& to);
  // Converts numbers of one type to shorter ones of the other type (has_narrowing()).
  void store_narrowed(int reg, const Xbyak::RegExp& to, LaneType type, LaneType shorter);
  // Floats from and to float16 numbers. What is stored is such a number.
  void broadcast_half(int reg, const Xbyak::Address& from);
  void store_half(int reg, const Xbyak::RegExp& to);
  // Rounds to a float16 number, to nearest; overflow raises a flag, as in NumPy's conversion.
  void round_half(int out, int one);
  // Complex numbers: the real parts in one register, the imaginary parts in the other one.
  void load_parts(int real, int imaginary, const Xbyak::RegExp& from);
  void store_parts(int real, int imaginary, const Xbyak::RegExp& to, bool is_non_temporal);
  // Converts bools to bytes, for store_bytes(). Returns a scratch register, or kUnassigned: the bytes are in ecx.
  [[nodiscard]] int bytes_of(int reg);
  void store_bytes(int bytes, const Xbyak::RegExp& to);
  // A non-temporal store, in parts of kNonTemporalBytes, to which NumPy's memory is aligned. The processor combines
  // them into lines.
  void store_non_temporal(int reg, const Xbyak::RegExp& to);

  // --- moves, bits and bools

  void copy(int to, int from) { vmovapd(vector(to), vector(from)); }
  void zero(int reg) { bit_xor(reg, reg, reg); }
  void ones(int reg);
  void bit_and(int out, int one, int two);
  void bit_or(int out, int one, int two);
  void bit_xor(int out, int one, int two);
  void bit_and_not(int out, int inverted, int two);
  void bit_not(int out, int one);
  // out = condition ? yes : no
  void select(int out, int condition, int yes, int no);
  // These take floats.
  void compare(int out, int one, int two, int predicate);
  // A lane of ones becomes the number 1, others 0.
  void from_bool(int out, int one, LaneType to);
  // The sign of a number: minus_one, zero or plus_one. `zero` is a register of zeros.
  void sign(int out, int one, int zero, int plus_one, int minus_one);
  // Doubles only. Where the value is better than the best one so far, replaces that, and its index by the number at the
  // address.
  void replace_best(int best, int best_index, int value, const Xbyak::Address& index, int predicate);

  // --- marks

  // Marks no lane.
  void begin_marks();
  // Sets eax to zero if no lane is marked.
  void end_marks();
  void mark_all();
  // Marks lanes where one of the two is a NaN.
  void mark_nans(int one, const Xbyak::Operand& two);
  // The same for a register; uses `scratch`, where there are no mask registers.
  void mark_nans(int one, int two, int scratch);
  // Marks lanes where the magnitude is smaller than `limit`, and not zero. Clobbers both scratch registers.
  void mark_small(int magnitude, int limit, int scratch, int other_scratch);
  // Marks lanes where the two are equal and have different bits: two zeros. Clobbers both scratch registers.
  void mark_different_zeros(int one, int two, int scratch, int other_scratch);

 private:
  // Shuffles for complex numbers: sixteen bytes of a vector are a piece.
  void shuffle_pieces(int out, int one, int two, std::uint8_t order);
  void unpack_parts(int out, int one, int two, bool are_high);
  // The lower half of a register.
  [[nodiscard]] Xmm half(int reg) const { return unit_.has_masks ? Vector(reg) : Xmm(reg); }
  // The lower bytes of integers, one after another, in a scratch register (AVX2).
  [[nodiscard]] int truncated(int reg, int from_bytes, int to_bytes);
  // Converts integers to longer ones.
  void extend(const Xmm& out, const Xbyak::Operand& from, LaneType type, int to_bytes);
  [[nodiscard]] bool is_masked() const { return unit_.has_masks && is_remainder_; }
  void mark(int lanes) { vorpd(vector(marks_), vector(marks_), vector(lanes)); }

  void compare_to_mask(int one, const Xbyak::Operand& two, int predicate) {
    lanes_.compare_to_mask(*this, compared(), vector(one), two, static_cast<std::uint8_t>(predicate));
  }

  const VectorUnit& unit_;
  const LaneInstructions& lanes_;
  VectorRegisters& registers_;
  bool is_remainder_ = false;
  int marks_ = kUnassigned;  // AVX2: the register with the marks
};

}  // namespace tagalong::array
