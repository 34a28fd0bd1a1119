// The instructions of VectorEmitter for vectors of four doubles. For the sources beside it only.
#pragma once

#include <list>
#include <variant>

#include "replay/codegen/vector/vector_emitter.h"

namespace tagalong::array {

using LibmFunction = double (*)(double);

// There are no masks: what remains is computed one by one, each element in all lanes, so that none raises what its
// operations do not. What has been left open is the signs of a register's lanes.
class Avx2Emitter final : public VectorEmitter {
 public:
  explicit Avx2Emitter(const Wanted& wanted) : VectorEmitter(wanted, kAvx2Vectors) {}

 private:
  [[nodiscard]] std::size_t fixed_registers() const override;
  [[nodiscard]] std::size_t registers_of(VectorOp what) const override;
  void begin_run() override;
  void begin_code() override;
  void end_code() override;
  void aside() override;
  void rest(const Xbyak::Label& end) override;
  void broadcast(int place, const Xbyak::Address& from) override;
  void load_vector(int place, const Xbyak::Address& from) override;
  void load_doubles(int place, const Xbyak::RegExp& from) override;
  void load_bools(int place, const Xbyak::RegExp& from) override;
  void store_doubles(int place, const Xbyak::RegExp& to) override;
  void store_bools(int place, const Value& value) override;
  void stream(int place, const Xbyak::RegExp& to) override;
  void note_nans(int one, const Xbyak::Operand& two) override;
  void compute(VectorOp what, int out, std::span<const int> in) override;
  void compute_together(VectorOp what, const Places& out, const Places& in) override;
  void begin_sums() override;
  void add_to_sums(int place) override;
  void store_sums(const Xbyak::Reg64& leaf) override;
  void eights() override;
  void begin_row() override;
  void copy(int to, int from) override;
  void take_better(int place) override;
  [[nodiscard]] Xbyak::Operand vector(int place) const override { return Xbyak::Ymm(place); }

  void extreme(bool is_maximum, int out, int one, int two);
  void sign(int out, int one, int literal_one, int minus_one);
  void note(int lanes);

  // libm_code.cpp
  using Vector = Xbyak::Ymm;
  static std::size_t glibc_registers(VectorOp what);
  void exponential(const Vector& out, const Vector& x);
  void logarithm(const Vector& out, const Vector& x);
  void logarithm_beside_one(const Vector& out, const Vector& x, const Vector& is_elsewhere);
  // The register where it is kept, or where it lies in memory.
  class Number {
   public:
    explicit Number(const Vector& place) : operand_(place) {}
    explicit Number(const Xbyak::Address& memory) : operand_(memory) {}
    // NOLINTNEXTLINE(google-explicit-constructor): it is one
    operator const Xbyak::Operand&() const {
      return std::visit([](const auto& operand) -> const Xbyak::Operand& { return operand; }, operand_);
    }

   private:
    std::variant<Vector, Xbyak::Address> operand_;
  };
  Number number(Constant constant);
  Vector taken() { return Vector(take()); }
  Vector taken(Constant constant);
  using VectorEmitter::release;
  void release(const Vector& vector) { release(vector.getIdx()); }
  // A vector with lanes that these steps are not for (all bits of them are set) is left to libm's function.
  struct Aside {
    Xbyak::Label begin, end;
    LibmFunction function;
    int x, out;  // registers
  };
  Aside& aside_if_any(const Vector& lanes, LibmFunction function, const Vector& out, const Vector& x);
  void call_libm(LibmFunction function);
  // first + x (second + ...), as a register that was taken.
  Vector linear(Constant first, Constant second, const Vector& x);
  // Of each lane a pair from a table. `places` are bytes, and become the first of each pair; the second is `second`.
  void look_up(const void* table, const Vector& places, const Vector& second);

  int open_ = kNowhere;                          // register
  std::array<int, 2> sums_{kNowhere, kNowhere};  // registers, of the first and the second four of eight
  std::size_t half_ = 0;                         // of these, where a round is one vector
  std::list<Aside> asides_;
};

}  // namespace tagalong::array
