// The AVX-512 backend of VectorEmitter: vectors of eight doubles, with SVML's steps of exp and log. Only sources of
// this folder include it.
#pragma once

#include "replay/codegen/vector/vector_emitter.h"

namespace tagalong::array {

// Mask registers:
//   k1  lanes of the remaining elements      k2  lanes without an ambiguous result
class Avx512Emitter final : public VectorEmitter {
 public:
  explicit Avx512Emitter(const Spec& spec) : VectorEmitter(spec, kAvx512Unit) {}

 private:
  [[nodiscard]] std::size_t fixed_registers() const override;
  [[nodiscard]] std::size_t registers_of(VectorOp what) const override;
  void check_rounding_mode() override {}
  void begin_code() override;
  void end_code() override;
  void emit_cold_paths() override {}
  void emit_remainder(const Xbyak::Label& end) override;
  void broadcast(int reg, const Xbyak::Address& from) override;
  void load_vector(int reg, const Xbyak::Address& from) override;
  void load_doubles(int reg, const Xbyak::RegExp& from) override;
  void load_bools(int reg, const Xbyak::RegExp& from) override;
  void store_doubles(int reg, const Xbyak::RegExp& to) override;
  void store_bools(int reg, const Value& value) override;
  void store_non_temporal(int reg, const Xbyak::RegExp& to) override;
  void mark_nans(int one, const Xbyak::Operand& two) override;
  void compute(VectorOp what, int out, std::span<const int> in) override;
  void compute_batch(VectorOp what, const Registers& out, const Registers& in) override;
  void begin_sums() override;
  void add_to_sums(int reg) override;
  void store_sums(const Xbyak::Reg64& leaf) override;
  void leaf_loop() override;
  void begin_row() override;
  void copy(int to, int from) override;
  void update_best(int reg) override;
  [[nodiscard]] Xbyak::Operand vector(int reg) const override { return Xbyak::Zmm(reg); }

  // The register; in the remainder, under the mask of its lanes.
  [[nodiscard]] Xbyak::Zmm masked(int reg) const {
    return is_remainder_ ? Xbyak::Zmm(reg) | k1 | T_z : Xbyak::Zmm(reg);
  }
  [[nodiscard]] Xbyak::Opmask compared() const { return is_remainder_ ? k3 | k1 : k3; }

  void compare(int out, int one, int two, int how);
  // Lanes with a NaN, or with two zeros of different signs, are ambiguous.
  void extreme(bool is_maximum, int out, int one, int two);
  void sign(int out, int one, int literal_one, int minus_one);
  // Computes the divisors' reciprocals as sums of two doubles (division.cpp).
  void prepare_divisors();
  void divide(int out, int one, int two);

  // function_code.cpp
  using ZmmGroup = boost::container::static_vector<Xbyak::Zmm, kMaxVectors>;
  void exponential(const Registers& out, const Registers& in);
  void logarithm(const Registers& out, const Registers& in);
  // The mask register that the comparison of this vector writes.
  [[nodiscard]] Xbyak::Opmask compared(std::size_t vector) const { return vector == 0 ? compared() : k4; }
  // Ends the code if a comparison holds in any lane.
  void end_if_compared(std::size_t vectors);
  static ZmmGroup vectors_of(const Registers& registers) {
    ZmmGroup vectors;
    for (const int reg : registers) {
      vectors.emplace_back(reg);
    }
    return vectors;
  }
  // Registers for intermediate results.
  Xbyak::Zmm temporary() { return Xbyak::Zmm(allocate()); }
  ZmmGroup temporaries(std::size_t vectors);
  ZmmGroup temporaries(std::size_t vectors, Constant constant);
  void load_each(const ZmmGroup& each, Constant constant);
  using VectorEmitter::release;
  void release(const Xbyak::Zmm& vector) { release(vector.getIdx()); }
  void release(const ZmmGroup& vectors) {
    for (const Xbyak::Zmm& vector : vectors) {
      release(vector);
    }
  }
  // Opcodes of FMA instructions; the digits are the operand order in Intel's names.
  enum class Fused : std::uint8_t { kAdd213 = 0xA8, kSubtract213 = 0xAA, kAdd231 = 0xB8, kNegatedAdd231 = 0xBC };
  void fused(Fused what, const Xbyak::Zmm& out, const Xbyak::Zmm& one, const Xbyak::Zmm& two);
  // The register that holds the constant, or `scratch` after loading the constant into it.
  Xbyak::Zmm constant(Constant constant, const Xbyak::Zmm& scratch);
  // One instruction for each vector, rounding to nearest. The last operand may be shared.
  void fused(Fused what, const ZmmGroup& out, const ZmmGroup& one, const ZmmGroup& two);
  void fused(Fused what, const ZmmGroup& out, const ZmmGroup& one, const Xbyak::Zmm& two);
  // first + second * x, in temporary registers.
  ZmmGroup linear(Constant first, Constant second, const ZmmGroup& x, const Xbyak::Zmm& scratch);
  // Reads a table of 16 for each lane; the last four bits of the index choose the item.
  ZmmGroup looked_up(Constant first_half, Constant second_half, const ZmmGroup& indices, const Xbyak::Zmm& scratch);
  void look_up(const ZmmGroup& found, Constant first_half, Constant second_half, const ZmmGroup& indices,
               const Xbyak::Zmm& scratch);

  struct Reciprocal {
    int of, high, low;
  };
  std::vector<Reciprocal> reciprocals_;
  int sign_register_ = kUnassigned;
  int sum_register_ = kUnassigned;
};

}  // namespace tagalong::array
