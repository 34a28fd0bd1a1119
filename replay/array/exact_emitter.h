// Writes the machine code of exact_code.h: one loop over vectors of eight doubles. For the sources beside it only.
#pragma once

#include <xbyak/xbyak.h>

#include <array>
#include <boost/container/static_vector.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/array/exact_code.h"

namespace tagalong::array {

// What vcmppd compares; none raises anything for quiet NaNs.
inline constexpr int kCompareEqual = 0x00, kCompareUnordered = 0x03, kCompareNotEqual = 0x04, kCompareOrdered = 0x07,
                     kCompareLess = 0x11, kCompareLessEqual = 0x12, kCompareGreaterEqual = 0x1D, kCompareGreater = 0x1E;

// What the code holds beside the program's numbers: of some operations the sign and units, of the functions (see
// exact_functions.cpp) limits, coefficients, and tables in halves of eight.
enum class Constant : std::uint8_t {
  kSignBit,
  kOne,
  kMinusOne,
  kThreeQuarters,
  // exp
  kExpLimit,
  kExpPerLn2,
  kExpToPart,
  kExpLn2,
  kExpLn2Low,
  kExp0,
  kExp1,
  kExp2,
  kExp3,
  kExp4,
  kExp5,
  kExpPower,
  kExpPowerEnd,
  kExpPowerLow,
  kExpPowerLowEnd,
  // log
  kLogLn2,
  kLogLn2Low,
  kLog0,
  kLog1,
  kLog2,
  kLog3,
  kLog4,
  kLog5,
  kLog6,
  kLog7,
  kLogOf,
  kLogOfEnd,
  kLogOfLow,
  kLogOfLowEnd,
  // square roots
  kHalf,
  kLeastRooted,
  kRootedRange,
  kNone
};
inline constexpr auto kConstants = static_cast<std::size_t>(Constant::kNone);

// The bits, one for all lanes or one for each.
[[nodiscard]] std::span<const std::uint64_t> bits_of(Constant constant);
// What a function looks at in each of its calls, and has not overwritten afterwards: worth a register.
[[nodiscard]] std::span<const Constant> kept_constants(Exact what);

// The loop over whole vectors, and what remains under a mask:
//   rdi  pointers by slot      rsi  the last element at which a round begins      rax  the element
//   rcx, rdx  scratch, at the beginning the steps to the next row and the number of rows
//   k1   the lanes that remain      k2  those where nothing has been left open
// A round is of two vectors where there are registers enough, or three: what one waits for, the other does not. Each
// operation is done for all before the next one, so that the processor, which looks ahead a few dozen instructions,
// sees them all. Bools are lanes of ones or zeros in registers like the others.
class ExactEmitter final : public Xbyak::CodeGenerator {
 public:
  static constexpr int kRegisters = 32;
  static constexpr std::size_t kUsualVectors = 2;    // of a round
  static constexpr std::size_t kVectorsOfRoots = 3;  // ... with square roots in steps
  static constexpr std::size_t kMostVectors = kVectorsOfRoots;

  ExactEmitter(std::span<const ExactOperation> operations, std::span<const ExactInput> inputs,
               std::span<const std::uint8_t> stored, std::span<const std::uint8_t> streamed, ExactSum sum,
               std::span<const std::uint8_t> divisors, const ExactFinding& finding, bool has_quick_roots,
               bool asks_ahead);

  // Rounds of so many vectors, with at most so many scalars and constants in registers all the time. False: there are
  // more values at once than registers.
  bool emit(std::size_t vectors, std::size_t hoisted);
  // As many as were.
  [[nodiscard]] std::size_t hoisted() const { return hoisted_; }

 private:
  static constexpr int kItemBytes = 8;
  static constexpr int kNowhere = -1;
  static constexpr std::array kSaved = {3, 5, 12, 13, 14, 15};                // rbx, rbp, r12 ... r15
  static constexpr std::array kBases = {8, 9, 10, 11, 3, 5, 12, 13, 14, 15};  // what arrays' pointers are in
  static constexpr std::size_t kSlots = 256;

  struct Value {
    bool is_scalar = false, is_bool = false, is_hoisted = false;
    bool is_item = false;    // of a short row
    bool in_memory = false;  // of its slot
    bool is_stored = false;
    bool is_streamed = false;
    bool is_ordered = false;  // no NaN
    int slot = kNowhere;
    Constant constant = Constant::kNone;
    int place = kNowhere;  // register
    std::vector<std::size_t> uses;

    // By all vectors of a round.
    [[nodiscard]] bool is_shared() const { return is_scalar || is_item; }
  };
  using Places = boost::container::static_vector<int, kMostVectors>;  // registers, one for each vector of a round
  using Wide = boost::container::static_vector<Xbyak::Zmm, kMostVectors>;

  // All operations of so many vectors.
  void body(std::size_t vectors);
  void forget_registers(bool keeps_row = false);
  void compute_all();
  // For all vectors together, step by step.
  [[nodiscard]] bool is_in_steps(Exact what) const;
  void compute_function(std::size_t number);
  // The operands' registers, for the vector under way.
  using Operands = boost::container::static_vector<int, kMaxInputs + 2>;
  Operands begin(const ExactOperation& operation);
  Value& begin_result(const ExactOperation& operation);
  void finish(const ExactOperation& operation, Value* out);
  void release_operands(std::size_t number);
  // exact_finding.cpp: eight rows after eight, with the row written out.
  void rows();
  void row();
  void take_place(int place);
  [[nodiscard]] bool is_kept_in_row(const Value& value) const {
    return finding_.result >= 0 && value.in_memory && !value.is_item;
  }
  // Of memory, as run_rows() asks for them.
  [[nodiscard]] bool goes_through_rows() const { return sum_.result < 0 && finding_.result < 0; }
  void next_row(const Xbyak::Label& row);
  // The loop over whole vectors.
  void rounds();
  // The same for each leaf. On the stack: the leaf, the number of elements.
  void leaves(const Xbyak::Label& rest);
  void add_to_sum(int place);
  // The constants, behind the code.
  void pool();

  [[nodiscard]] int value_of(std::uint8_t slot) const { return by_slot_.at(vector_).at(slot); }
  void add_value(const Value& value);
  void collect(std::size_t hoisted);
  void use_constant(Constant constant, std::size_t number);
  // Registers that are not needed for anything else, as it is estimated.
  [[nodiscard]] std::size_t spare_registers() const;

  // A register; another value may have to be read again later.
  int take();
  void release(int place) { free_.push_back(place); }
  // A register with the lanes that are computed.
  [[nodiscard]] Xbyak::Zmm masked(int place) const {
    return is_rest_ ? Xbyak::Zmm(place) | k1 | T_z : Xbyak::Zmm(place);
  }
  [[nodiscard]] Xbyak::Opmask compared() const { return is_rest_ ? k3 | k1 : k3; }
  Xbyak::Reg64 base_of(int slot);
  Xbyak::RegExp address(const Value& value);
  void load(const Value& value);
  void load(int place, Constant constant);
  int in_register(Value* value);
  void check_order(Value* value);
  void store(Value* value);
  void stream(const Value& value);

  void compute(Exact what, int out, std::span<const int> in);
  void compare(int out, int one, int two, int how);
  // NaNs, and zeros of unlike sign.
  void extreme(bool is_maximum, int out, int one, int two);
  void sign(int out, int one, int literal_one, int minus_one);
  // Reciprocals of the divisors as two doubles, as in quotients.cpp.
  void prepare_divisors();
  void divide(int out, int one, int two);
  // exact_roots.cpp
  void quick_roots(const Places& out, const Places& in);
  [[nodiscard]] Xbyak::Address pooled(Constant constant);

  // exact_functions.cpp
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

  std::span<const ExactOperation> operations_;
  std::span<const ExactInput> inputs_;
  std::span<const std::uint8_t> stored_;
  std::span<const std::uint8_t> streamed_;  // of these
  std::vector<Value> values_;
  std::array<std::array<int, kSlots>, kMostVectors> by_slot_{};
  std::array<int, kConstants> by_constant_{};
  std::array<Xbyak::Label, kConstants> in_pool_;
  std::array<bool, kConstants> is_pooled_{};
  Xbyak::Label is_open_;
  std::vector<int> bases_;  // slots of arrays; the first ones have their pointers in registers
  std::vector<int> free_;
  std::vector<Value*> wanted_;
  Value* held_ = nullptr;  // stored, and not yet looked at: its register is not given away
  struct Reciprocal {
    int of, high, low;  // registers
  };
  std::span<const std::uint8_t> divisors_;  // slots of scalars that are multiplied by instead
  std::vector<Reciprocal> reciprocals_;
  int sign_place_ = kNowhere;
  ExactSum sum_;
  int sum_place_ = kNowhere;
  ExactFinding finding_;
  bool has_quick_roots_;
  bool asks_ahead_;
  struct Found {
    int value, place;  // registers
    int before;        // the value of the last item, if it was an even one
  };
  Found found_{kNowhere, kNowhere, kNowhere};
  Extent item_ = 0;
  Xbyak::Label numbers_;  // of the items, behind the code
  std::size_t hoisted_ = 0;
  std::size_t vectors_ = 1;  // of a round
  std::size_t in_body_ = 1;  // of the one that is written
  std::size_t vector_ = 0;   // of these
  bool is_rest_ = false;
  bool is_full_ = false;
};

}  // namespace tagalong::array
