// The instructions of VectorEmitter for vectors of eight doubles, and the operations that are written out in steps of
// them. For the sources beside it only.
#pragma once

#include "replay/codegen/vector/vector_emitter.h"

namespace tagalong::array {

// Beside the general registers:
//   k1   the lanes that remain      k2  those where nothing has been left open
class Avx512Emitter final : public VectorEmitter {
 public:
  explicit Avx512Emitter(const Wanted& wanted) : VectorEmitter(wanted, kAvx512Vectors) {}

 private:
  [[nodiscard]] std::size_t fixed_registers() const override;
  [[nodiscard]] std::size_t registers_of(VectorOp what) const override;
  void begin_run() override {}
  void begin_code() override;
  void end_code() override;
  void aside() override {}
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
  [[nodiscard]] Xbyak::Operand vector(int place) const override { return Xbyak::Zmm(place); }

  // A register with the lanes that are computed.
  [[nodiscard]] Xbyak::Zmm masked(int place) const {
    return is_rest_ ? Xbyak::Zmm(place) | k1 | T_z : Xbyak::Zmm(place);
  }
  [[nodiscard]] Xbyak::Opmask compared() const { return is_rest_ ? k3 | k1 : k3; }

  void compare(int out, int one, int two, int how);
  // NaNs, and zeros of unlike sign.
  void extreme(bool is_maximum, int out, int one, int two);
  void sign(int out, int one, int literal_one, int minus_one);
  // Reciprocals of the divisors as two doubles, as in division.cpp.
  void prepare_divisors();
  void divide(int out, int one, int two);

  // function_code.cpp
  using Wide = boost::container::static_vector<Xbyak::Zmm, kMostVectors>;
  void exponential(const Places& out, const Places& in);
  void logarithm(const Places& out, const Places& in);
  // Where the comparison of each vector goes; the code ends if any holds.
  [[nodiscard]] Xbyak::Opmask compared(std::size_t vector) const { return vector == 0 ? compared() : k4; }
  void leave_if_compared(std::size_t vectors);
  static Wide vectors_of(const Places& places) {
    Wide vectors;
    for (const int place : places) {
      vectors.emplace_back(place);
    }
    return vectors;
  }
  // Registers for what is computed on the way.
  Xbyak::Zmm taken() { return Xbyak::Zmm(take()); }
  Wide taken_each(std::size_t vectors);
  Wide taken_each(std::size_t vectors, Constant constant);
  void load_each(const Wide& each, Constant constant);
  using VectorEmitter::release;
  void release(const Xbyak::Zmm& vector) { release(vector.getIdx()); }
  void release(const Wide& vectors) {
    for (const Xbyak::Zmm& vector : vectors) {
      release(vector);
    }
  }
  // Opcodes of fused multiplications and additions, as Intel names them.
  enum class Fused : std::uint8_t { kAdd213 = 0xA8, kSubtract213 = 0xAA, kAdd231 = 0xB8, kNegatedAdd231 = 0xBC };
  void fused(Fused what, const Xbyak::Zmm& out, const Xbyak::Zmm& one, const Xbyak::Zmm& two);
  // The register where it is kept, or `scratch`, which it is read into.
  Xbyak::Zmm constant(Constant constant, const Xbyak::Zmm& scratch);
  // The same for each vector, to the nearest. The last operand may be one for all.
  void fused(Fused what, const Wide& out, const Wide& one, const Wide& two);
  void fused(Fused what, const Wide& out, const Wide& one, const Xbyak::Zmm& two);
  // first + second * x, as registers that were taken.
  Wide linear(Constant first, Constant second, const Wide& x, const Xbyak::Zmm& scratch);
  // Item by item, by the last four bits of each place.
  Wide looked_up(Constant first_half, Constant second_half, const Wide& places, const Xbyak::Zmm& scratch);
  void look_up(const Wide& found, Constant first_half, Constant second_half, const Wide& places,
               const Xbyak::Zmm& scratch);

  struct Reciprocal {
    int of, high, low;  // registers
  };
  std::vector<Reciprocal> reciprocals_;
  int sign_place_ = kNowhere;
  int sum_place_ = kNowhere;
};

}  // namespace tagalong::array
