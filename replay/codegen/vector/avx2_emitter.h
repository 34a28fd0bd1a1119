// The AVX2 backend of VectorEmitter: vectors of four doubles. Only sources of this folder include it.
#pragma once

#include <list>
#include <variant>

#include "replay/codegen/vector/vector_emitter.h"

namespace tagalong::array {

using LibmFunction = double (*)(double);

// AVX2 has no masked arithmetic. The remaining elements are computed one at a time, each broadcast to all lanes, so no
// lane raises a flag that the element does not. The sign bits of one register mark ambiguous lanes (vector_emitter.h).
class Avx2Emitter final : public VectorEmitter {
 public:
  explicit Avx2Emitter(const Spec& spec) : VectorEmitter(spec, kAvx2Unit) {}

 private:
  [[nodiscard]] std::size_t fixed_registers() const override;
  [[nodiscard]] std::size_t registers_of(VectorOp what) const override;
  void check_rounding_mode() override;
  void begin_code() override;
  void end_code() override;
  void emit_cold_paths() override;
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
  [[nodiscard]] Xbyak::Operand vector(int reg) const override { return Xbyak::Ymm(reg); }

  void extreme(bool is_maximum, int out, int one, int two);
  void sign(int out, int one, int literal_one, int minus_one);
  void mark_ambiguous(int lanes);

  // libm_code.cpp
  using Vector = Xbyak::Ymm;
  static std::size_t glibc_registers(VectorOp what);
  void exponential(const Vector& out, const Vector& x);
  void logarithm(const Vector& out, const Vector& x);
  void logarithm_near_one(const Vector& out, const Vector& x, const Vector& is_not_near_one);
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
  Number number(Constant constant);
  Vector temporary() { return Vector(allocate()); }
  Vector temporary(Constant constant);
  using VectorEmitter::release;
  void release(const Vector& vector) { release(vector.getIdx()); }
  // Cold code that computes a whole vector with libm's function, for vectors with a lane that the steps do not cover.
  struct ColdPath {
    Xbyak::Label begin, end;
    LibmFunction function;
    int x, out;
  };
  // Jumps to the cold path if any lane of `lanes` is set (a lane is set or clear as a whole).
  ColdPath& jump_if_any(const Vector& lanes, LibmFunction function, const Vector& out, const Vector& x);
  void call_libm(LibmFunction function);
  // first + x * second, in a temporary register.
  Vector linear(Constant first, Constant second, const Vector& x);
  // Reads one pair from the table for each lane. `offsets` holds byte offsets; it receives the first numbers of the
  // pairs, and `second` receives the second ones.
  void look_up(const void* table, const Vector& offsets, const Vector& second);

  int ambiguous_lanes_ = kUnassigned;
  std::array<int, 2> sums_{kUnassigned, kUnassigned};  // partial sums 0-3 and 4-7 of a leaf
  std::size_t half_ = 0;                               // which of the two is next, where the loop is not unrolled
  std::list<ColdPath> cold_paths_;
};

}  // namespace tagalong::array
