// The instructions of ExactEmitter for vectors of four doubles. For the sources beside it only.
#pragma once

#include "replay/array/exact_emitter.h"

namespace tagalong::array {

// There are no masks: what remains is computed one by one, each element in all lanes, so that none raises what its
// operations do not. What has been left open is the signs of a register's lanes.
class NarrowEmitter final : public ExactEmitter {
 public:
  explicit NarrowEmitter(const Wanted& wanted) : ExactEmitter(wanted, kNarrowVectors) {}

 private:
  [[nodiscard]] std::size_t fixed_registers() const override;
  [[nodiscard]] std::size_t registers_of(Exact what) const override;
  void begin_code() override;
  void end_code() override;
  void rest(const Xbyak::Label& end) override;
  void broadcast(int place, const Xbyak::Address& from) override;
  void load_vector(int place, const Xbyak::Address& from) override;
  void load_doubles(int place, const Xbyak::RegExp& from) override;
  void load_bools(int place, const Xbyak::RegExp& from) override;
  void store_doubles(int place, const Xbyak::RegExp& to) override;
  void store_bools(int place, const Value& value) override;
  void stream(int place, const Xbyak::RegExp& to) override;
  void note_nans(int one, const Xbyak::Operand& two) override;
  void compute(Exact what, int out, std::span<const int> in) override;
  void compute_together(Exact what, const Places& out, const Places& in) override;
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

  int open_ = kNowhere;                          // register
  std::array<int, 2> sums_{kNowhere, kNowhere};  // registers, of the first and the second four of eight
  std::size_t half_ = 0;                         // of these, where a round is one vector
};

}  // namespace tagalong::array
