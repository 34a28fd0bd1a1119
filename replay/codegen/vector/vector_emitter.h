// Writes the machine code of vector_code.h: one loop over vectors of doubles. Which values are in which registers, and
// in which order all is done, is the same for all processors; the instructions are those of Avx512Emitter, eight
// doubles at once (AVX-512), or of Avx2Emitter, four (AVX2). For the sources beside it only.
#pragma once

#include <xbyak/xbyak.h>

#include <array>
#include <boost/container/static_vector.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "replay/codegen/vector/vector_code.h"

namespace tagalong::array {

// What vcmppd compares; none raises anything for quiet NaNs.
inline constexpr int kCompareEqual = 0x00, kCompareUnordered = 0x03, kCompareNotEqual = 0x04, kCompareOrdered = 0x07,
                     kCompareLess = 0x11, kCompareLessEqual = 0x12, kCompareGreaterEqual = 0x1D, kCompareGreater = 0x1E;

// What the code holds beside the program's numbers: of some operations the sign and units, of the functions (see
// function_code.cpp) limits, coefficients, and tables in halves of eight.
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
  // exp and log by glibc's steps (libm_code.cpp), each one for all lanes, which lie in memory, too
  kFirstGlibc,
  kGlibcMagnitude = kFirstGlibc,
  kGlibcToInteger,
  kGlibcInTable,
  kGlibcOne,
  kGlibcExpLast,
  kGlibcExpSmaller,
  kGlibcPerLn2,
  kGlibcLn2Part,
  kGlibcLn2PartLow,
  kGlibcExp0,
  kGlibcExp1,
  kGlibcExp2,
  kGlibcExp3,
  kGlibcFromNormal,
  kGlibcNormals,
  kGlibcLogFirst,
  kGlibcExponentBits,
  kGlibcExponentBias,
  kGlibcIntegerBits,
  kGlibcOfInteger,
  kGlibcLn2,
  kGlibcLn2Low,
  kGlibcLog0,
  kGlibcLog1,
  kGlibcLog2,
  kGlibcLog3,
  kGlibcLog4,
  kGlibcFromBeside,
  kGlibcBesides,
  kGlibcSplit,
  kGlibcBeside0,
  kGlibcBeside1,
  kGlibcBeside2,
  kGlibcBeside3,
  kGlibcBeside4,
  kGlibcBeside5,
  kGlibcBeside6,
  kGlibcBeside7,
  kGlibcBeside8,
  kGlibcBeside9,
  kGlibcBeside10,
  kNone
};
inline constexpr auto kConstants = static_cast<std::size_t>(Constant::kNone);
constexpr bool is_glibc_number(Constant constant) {
  return constant >= Constant::kFirstGlibc && constant < Constant::kNone;
}

// What the processor's vectors are.
struct Vectors {
  int registers;
  int lanes;
  std::size_t usual;  // of a round
};
inline constexpr Vectors kAvx512Vectors{.registers = 32, .lanes = kAvx512Lanes, .usual = 2};
inline constexpr Vectors kAvx2Vectors{.registers = 16, .lanes = kAvx2Lanes, .usual = 2};

// The bits, one for all lanes or one for each.
[[nodiscard]] std::span<const std::uint64_t> bits_of(Constant constant);
[[nodiscard]] std::span<const std::uint64_t> glibc_bits_of(Constant constant);  // of those of libm_code.cpp
// What a function looks at in each of its calls, and has not overwritten afterwards: worth a register.
[[nodiscard]] std::span<const Constant> kept_constants(VectorOp what);
[[nodiscard]] std::span<const Constant> kept_glibc_constants(VectorOp what);

// The loop over whole vectors, and what remains:
//   rdi  pointers by slot      rsi  the last element at which a round begins      rax  the element
//   rcx, rdx  scratch, at the beginning the steps to the next row and the number of rows
// A round is of two vectors where there are registers enough: what one waits for, the other does not. Each
// operation is done for all before the next one, so that the processor, which looks ahead a few dozen instructions,
// sees them all. Bools are lanes of ones or zeros in registers like the others.
class VectorEmitter : public Xbyak::CodeGenerator {
 public:
  static constexpr std::size_t kMostVectors = 2;  // of a round

  // Of what the code is made; it has to outlive the emitter.
  struct Wanted {
    std::span<const VectorOperation> operations;
    std::span<const VectorInput> inputs;
    std::span<const std::uint8_t> stored;
    std::span<const std::uint8_t> non_temporal;  // of these
    VectorSum sum;
    std::span<const std::uint8_t> divisors;  // slots of scalars that are multiplied by instead
    VectorArgmin argmin;
    bool prefetches = false;
  };
  // For vectors of so many doubles.
  static std::unique_ptr<VectorEmitter> make(const Wanted& wanted, int lanes);

  // Rounds of so many vectors, with at most so many scalars and constants in registers all the time. False: there are
  // more values at once than registers.
  bool emit(std::size_t vectors, std::size_t hoisted);
  // As many as were.
  [[nodiscard]] std::size_t hoisted() const { return hoisted_; }

 protected:
  VectorEmitter(const Wanted& wanted, const Vectors& machine);

  static constexpr int kItemBytes = 8;
  static constexpr int kNowhere = -1;
  static constexpr int kLeafLanes = 8;  // partial sums of a leaf

  struct Value {
    bool is_scalar = false, is_bool = false, is_hoisted = false;
    bool is_item = false;    // of a short row
    bool in_memory = false;  // of its slot
    bool is_stored = false;
    bool is_non_temporal = false;
    bool is_ordered = false;  // no NaN
    int slot = kNowhere;
    Constant constant = Constant::kNone;
    int place = kNowhere;  // register
    std::vector<std::size_t> uses;

    // By all vectors of a round.
    [[nodiscard]] bool is_shared() const { return is_scalar || is_item; }
  };
  using Places = boost::container::static_vector<int, kMostVectors>;  // registers, one for each vector of a round

  // --- The instructions

  // Registers of its own, all the time; and of an operation, on the way to its result.
  [[nodiscard]] virtual std::size_t fixed_registers() const = 0;
  [[nodiscard]] virtual std::size_t registers_of(VectorOp what) const = 0;
  // Before anything: the code ends at once where the processor rounds otherwise than its operations ask for.
  virtual void begin_run() = 0;
  // Nothing is left open.
  virtual void begin_code() = 0;
  // Into eax: zero, if nothing has been.
  virtual void end_code() = 0;
  // Behind all that: what is rarely gone to.
  virtual void aside() = 0;
  // What remains behind whole rounds, as far as rsi.
  virtual void rest(const Xbyak::Label& end) = 0;
  virtual void broadcast(int place, const Xbyak::Address& from) = 0;
  virtual void load_vector(int place, const Xbyak::Address& from) = 0;  // of the constants
  virtual void load_doubles(int place, const Xbyak::RegExp& from) = 0;
  virtual void load_bools(int place, const Xbyak::RegExp& from) = 0;
  virtual void store_doubles(int place, const Xbyak::RegExp& to) = 0;
  virtual void store_bools(int place, const Value& value) = 0;
  // In parts: NumPy's memory begins at multiples of no more than them. The processor puts lines together of them.
  virtual void stream(int place, const Xbyak::RegExp& to) = 0;
  // NaNs in one of both leave something open.
  virtual void note_nans(int one, const Xbyak::Operand& two) = 0;
  virtual void compute(VectorOp what, int out, std::span<const int> in) = 0;
  // Of all vectors together, step by step, where there are such operations.
  virtual void compute_together(VectorOp what, const Places& out, const Places& in) = 0;
  // The partial sums of a leaf.
  virtual void begin_sums() = 0;
  virtual void add_to_sums(int place) = 0;
  virtual void store_sums(const Xbyak::Reg64& leaf) = 0;
  // All whole eights of a leaf, of which there is one at least; rsi is where the last one begins.
  virtual void eights() = 0;
  // Places in short rows (argmin_code.cpp).
  virtual void begin_row() = 0;
  virtual void copy(int to, int from) = 0;
  virtual void take_better(int place) = 0;

  [[nodiscard]] virtual Xbyak::Operand vector(int place) const = 0;

  // --- What they are made with

  // All operations of so many vectors.
  void body(std::size_t vectors);
  // Of memory, as run_rows() asks for them.
  [[nodiscard]] bool goes_through_rows() const { return sum_.result < 0 && argmin_.result < 0; }
  [[nodiscard]] int value_of(std::uint8_t slot) const { return by_slot_.at(vector_).at(slot); }
  // A register; another value may have to be read again later.
  int take();
  void release(int place) { free_.push_back(place); }
  Xbyak::RegExp address(const Value& value);
  void load(int place, Constant constant);
  [[nodiscard]] Xbyak::RegRip pooled(Constant constant);
  // Its register, if it has one all the time.
  [[nodiscard]] int kept_place(Constant constant) const {
    const int value = by_constant_.at(static_cast<std::size_t>(constant));
    return value < 0 ? kNowhere : values_[value].place;
  }

  const Vectors machine_;
  std::span<const VectorOperation> operations_;
  std::vector<Value> values_;
  std::array<int, kConstants> by_constant_{};
  Xbyak::Label is_open_;
  std::span<const std::uint8_t> divisors_;
  VectorSum sum_;
  VectorArgmin argmin_;
  struct Found {
    int value, place;  // registers
    int before;        // the value of the last item, if it was an even one
  };
  Found found_{kNowhere, kNowhere, kNowhere};
  Extent item_ = 0;
  Xbyak::Label numbers_;     // of the items, behind the code
  std::size_t vectors_ = 1;  // of a round
  std::size_t in_body_ = 1;  // of the one that is written
  std::size_t vector_ = 0;   // of these
  bool is_rest_ = false;
  bool is_full_ = false;

 private:
  static constexpr std::array kSaved = {3, 5, 12, 13, 14, 15};                // rbx, rbp, r12 ... r15
  static constexpr std::array kBases = {8, 9, 10, 11, 3, 5, 12, 13, 14, 15};  // what arrays' pointers are in
  static constexpr std::size_t kSlots = 256;

  void forget_registers(bool keeps_row = false);
  void compute_all();
  // For all vectors together, step by step.
  [[nodiscard]] bool is_in_steps(VectorOp what) const;
  void compute_function(std::size_t number);
  // The operands' registers, for the vector under way.
  using Operands = boost::container::static_vector<int, kMaxInputs + 2>;
  Operands begin(const VectorOperation& operation);
  Value& begin_result(const VectorOperation& operation);
  void finish(const VectorOperation& operation, Value* out);
  void release_operands(std::size_t number);
  // argmin_code.cpp: eight rows after eight, with the row written out.
  void rows();
  void row();
  void take_place(int place);
  [[nodiscard]] bool is_kept_in_row(const Value& value) const {
    return argmin_.result >= 0 && value.in_memory && !value.is_item;
  }
  void next_row(const Xbyak::Label& row);
  // The loop over whole vectors.
  void rounds();
  // The same for each leaf. On the stack: the leaf, the number of elements.
  void leaves(const Xbyak::Label& rest);
  // The constants, behind the code.
  void pool();

  void add_value(const Value& value);
  void collect(std::size_t hoisted);
  void use_constant(Constant constant, std::size_t number);
  // Registers that are not needed for anything else, as it is estimated.
  [[nodiscard]] std::size_t spare_registers() const;
  Xbyak::Reg64 base_of(int slot);
  void load(const Value& value);
  int in_register(Value* value);
  void check_order(Value* value);
  void store(Value* value);

  std::span<const VectorInput> inputs_;
  std::span<const std::uint8_t> stored_;
  std::span<const std::uint8_t> non_temporal_;
  std::array<std::array<int, kSlots>, kMostVectors> by_slot_{};
  std::array<Xbyak::Label, kConstants> in_pool_;
  std::array<bool, kConstants> is_pooled_{};
  std::vector<int> bases_;  // slots of arrays; the first ones have their pointers in registers
  std::vector<int> free_;
  std::vector<Value*> wanted_;
  Value* held_ = nullptr;  // stored, and not yet looked at: its register is not given away
  bool prefetches_;
  std::size_t hoisted_ = 0;
};

}  // namespace tagalong::array
