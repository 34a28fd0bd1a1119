// Generates the machine code of vector_code.h: one loop over vectors of doubles. This class allocates registers and
// orders the operations; a backend supplies the instructions: Avx512Emitter (AVX-512, eight doubles) or Avx2Emitter
// (AVX2, four doubles). Only sources of this folder include it.
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

// Predicates of vcmppd. None of them raises a flag for quiet NaNs.
inline constexpr int kCompareEqual = 0x00, kCompareUnordered = 0x03, kCompareNotEqual = 0x04, kCompareOrdered = 0x07,
                     kCompareLess = 0x11, kCompareLessEqual = 0x12, kCompareGreaterEqual = 0x1D, kCompareGreater = 0x1E;

// Constants in the code: sign bit and units of some operations; limits, coefficients and tables of the functions
// (function_code.cpp). A table of 16 is two constants of eight numbers.
enum class Constant : std::uint8_t {
  kSignBit,
  kOne,
  kMinusOne,
  kThreeQuarters,
  // exp (SVML's steps)
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
  // log (SVML's steps)
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
  // exp and log by glibc's steps (libm_code.cpp); in memory each is repeated for all lanes
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
  kGlibcNormalOffset,
  kGlibcNormalLast,
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
  kGlibcNearOneOffset,
  kGlibcNearOneLast,
  kGlibcSplit,
  kGlibcNearOne0,
  kGlibcNearOne1,
  kGlibcNearOne2,
  kGlibcNearOne3,
  kGlibcNearOne4,
  kGlibcNearOne5,
  kGlibcNearOne6,
  kGlibcNearOne7,
  kGlibcNearOne8,
  kGlibcNearOne9,
  kGlibcNearOne10,
  kNone
};
inline constexpr auto kConstants = static_cast<std::size_t>(Constant::kNone);
constexpr bool is_glibc_number(Constant constant) {
  return constant >= Constant::kFirstGlibc && constant < Constant::kNone;
}

// The vector unit that a backend generates code for.
struct VectorUnit {
  int registers;
  int lanes;
  std::size_t unroll;  // vectors in an iteration of the loop
};
inline constexpr VectorUnit kAvx512Unit{.registers = 32, .lanes = kAvx512Lanes, .unroll = 2};
inline constexpr VectorUnit kAvx2Unit{.registers = 16, .lanes = kAvx2Lanes, .unroll = 2};

// The bits of a constant: one number for all lanes, or one for each lane.
[[nodiscard]] std::span<const std::uint64_t> bits_of(Constant constant);
[[nodiscard]] std::span<const std::uint64_t> glibc_bits_of(Constant constant);  // for constants of libm_code.cpp
// Constants of a function that gain most from a register: its steps read and do not overwrite them.
[[nodiscard]] std::span<const Constant> kept_constants(VectorOp what);
[[nodiscard]] std::span<const Constant> kept_glibc_constants(VectorOp what);

// The loop over whole vectors, and the remainder behind it:
//   rdi  pointers by slot      rsi  last element at which an iteration begins      rax  current element
//   rcx, rdx  scratch; on entry the row steps (rcx) and the number of rows (rdx)
// The loop is unrolled to two vectors where the registers suffice, which hides latencies. Each operation is emitted for
// all vectors of the iteration before the next operation, so that the processor's window of instructions covers several
// vectors. A bool is a lane of all ones or all zeros in a vector register.
//
// A lane is *ambiguous* where the instructions do not fix the bits of its result (vector_code.h). The backend collects
// ambiguous lanes in a register, and the code returns whether there was one.
class VectorEmitter : public Xbyak::CodeGenerator {
 public:
  static constexpr std::size_t kMaxVectors = 2;  // in an iteration of the loop

  // The operations to generate code for. The spans have to outlive the emitter.
  struct Spec {
    std::span<const VectorOperation> operations;
    std::span<const VectorInput> inputs;
    std::span<const std::uint8_t> stored;
    std::span<const std::uint8_t> non_temporal;  // slots of `stored` with non-temporal stores
    VectorSum sum;
    std::span<const std::uint8_t> divisors;  // slots of scalars whose reciprocals replace divisions
    VectorArgmin argmin;
    bool prefetches = false;
  };
  // Returns the backend for vectors of so many doubles.
  static std::unique_ptr<VectorEmitter> make(const Spec& spec, int lanes);

  // Generates the code: so many vectors in an iteration, at most `hoisted` scalars and constants loaded in front of the
  // loop. False: more live values than registers.
  bool emit(std::size_t vectors, std::size_t hoisted);
  // How many scalars and constants emit() has hoisted.
  [[nodiscard]] std::size_t hoisted() const { return hoisted_; }

 protected:
  VectorEmitter(const Spec& spec, const VectorUnit& machine);

  static constexpr int kItemBytes = 8;
  static constexpr int kUnassigned = -1;
  static constexpr int kLeafLanes = 8;  // partial sums in a leaf

  struct Value {
    bool is_scalar = false, is_bool = false, is_hoisted = false;
    bool is_item = false;    // an item of a short row (VectorArgmin)
    bool in_memory = false;  // the slot holds it
    bool is_stored = false;
    bool is_non_temporal = false;
    bool is_ordered = false;  // is never an ambiguous NaN
    int slot = kUnassigned;
    Constant constant = Constant::kNone;
    int reg = kUnassigned;
    std::vector<std::size_t> uses;  // operations that read it

    // Whether all vectors of an iteration share the value.
    [[nodiscard]] bool is_shared() const { return is_scalar || is_item; }
  };
  using Registers = boost::container::static_vector<int, kMaxVectors>;  // one for each vector of an iteration

  // --- Instructions of the backend

  // Registers that the backend occupies for the whole code, and scratch registers of one operation.
  [[nodiscard]] virtual std::size_t fixed_registers() const = 0;
  [[nodiscard]] virtual std::size_t registers_of(VectorOp what) const = 0;
  // First instructions: the code returns at once where the rounding mode is not the one that its operations need.
  virtual void check_rounding_mode() = 0;
  // Marks no lane as ambiguous.
  virtual void begin_code() = 0;
  // Sets eax to zero if no lane was ambiguous.
  virtual void end_code() = 0;
  // Cold paths, behind the rest of the code.
  virtual void emit_cold_paths() = 0;
  // The elements behind the last whole iteration, up to rsi.
  virtual void emit_remainder(const Xbyak::Label& end) = 0;
  virtual void broadcast(int reg, const Xbyak::Address& from) = 0;
  virtual void load_vector(int reg, const Xbyak::Address& from) = 0;  // a constant
  virtual void load_doubles(int reg, const Xbyak::RegExp& from) = 0;
  virtual void load_bools(int reg, const Xbyak::RegExp& from) = 0;
  virtual void store_doubles(int reg, const Xbyak::RegExp& to) = 0;
  virtual void store_bools(int reg, const Value& value) = 0;
  // A non-temporal store, in parts of kNonTemporalBytes, to which NumPy's memory is aligned. The processor combines
  // them into lines.
  virtual void store_non_temporal(int reg, const Xbyak::RegExp& to) = 0;
  // Marks lanes as ambiguous where one of the two is a NaN.
  virtual void mark_nans(int one, const Xbyak::Operand& two) = 0;
  virtual void compute(VectorOp what, int out, std::span<const int> in) = 0;
  // One operation for all vectors of an iteration, step by step.
  virtual void compute_batch(VectorOp what, const Registers& out, const Registers& in) = 0;
  // The partial sums of a leaf, in registers.
  virtual void begin_sums() = 0;
  virtual void add_to_sums(int reg) = 0;
  virtual void store_sums(const Xbyak::Reg64& leaf) = 0;
  // The loop over a leaf's groups of eight elements, at least one; rsi is where the last group begins.
  virtual void leaf_loop() = 0;
  // argmin and argmax of short rows (argmin_code.cpp).
  virtual void begin_row() = 0;
  virtual void copy(int to, int from) = 0;
  virtual void update_best(int reg) = 0;

  [[nodiscard]] virtual Xbyak::Operand vector(int reg) const = 0;

  // --- Services for the backends

  // Emits all operations for so many vectors.
  void body(std::size_t vectors);
  // Whether the code can iterate over rows in memory (VectorCode::run_rows()).
  [[nodiscard]] bool iterates_rows() const { return sum_.result < 0 && argmin_.result < 0; }
  [[nodiscard]] int value_of(std::uint8_t slot) const { return by_slot_.at(vector_).at(slot); }
  // Allocates a register. It may evict a value that is also in memory.
  int allocate();
  void release(int reg) { free_.push_back(reg); }
  Xbyak::RegExp address(const Value& value);
  void load(int reg, Constant constant);
  [[nodiscard]] Xbyak::RegRip pooled(Constant constant);
  // The register of a hoisted constant, or kUnassigned.
  [[nodiscard]] int kept_register(Constant constant) const {
    const int value = by_constant_.at(static_cast<std::size_t>(constant));
    return value < 0 ? kUnassigned : values_[value].reg;
  }

  const VectorUnit machine_;
  std::span<const VectorOperation> operations_;
  std::vector<Value> values_;
  std::array<int, kConstants> by_constant_{};
  Xbyak::Label ambiguous_;
  std::span<const std::uint8_t> divisors_;
  VectorSum sum_;
  VectorArgmin argmin_;
  // Registers of an argmin: the best value, its index, and the previous item's value if that item's number is even.
  struct Argmin {
    int value, index;
    int previous;
  };
  Argmin best_{kUnassigned, kUnassigned, kUnassigned};
  Extent item_ = 0;
  Xbyak::Label numbers_;          // the numbers 0, 1, ... of the items, behind the code
  std::size_t vectors_ = 1;       // in an iteration of the loop
  std::size_t body_vectors_ = 1;  // in the body that is being emitted
  std::size_t vector_ = 0;        // the current one in that body
  bool is_remainder_ = false;
  bool is_out_of_registers_ = false;

 private:
  static constexpr std::array kSaved = {3, 5, 12, 13, 14, 15};                // rbx, rbp, r12 ... r15
  static constexpr std::array kBases = {8, 9, 10, 11, 3, 5, 12, 13, 14, 15};  // hold pointers to arrays
  static constexpr std::size_t kSlots = 256;

  void forget_registers(bool keeps_row = false);
  void compute_all();
  // Whether the operation is emitted for all vectors of an iteration at once.
  [[nodiscard]] bool is_batched(VectorOp what) const;
  void compute_function(std::size_t number);
  // Registers of the operands, for the current vector.
  using Operands = boost::container::static_vector<int, kMaxInputs + 2>;
  Operands begin(const VectorOperation& operation);
  Value& begin_result(const VectorOperation& operation);
  void finish(const VectorOperation& operation, Value* out);
  void release_operands(std::size_t number);
  // argmin_code.cpp: a loop over groups of rows, with the items of a row unrolled.
  void rows();
  void row();
  void update_argmin(int reg);
  [[nodiscard]] bool is_kept_in_row(const Value& value) const {
    return argmin_.result >= 0 && value.in_memory && !value.is_item;
  }
  void next_row(const Xbyak::Label& row);
  // The loop over whole iterations.
  void main_loop();
  // The loop over leaves. The stack holds a pointer to the current leaf and the number of elements.
  void leaf_loops(const Xbyak::Label& rest);
  // Emits the constants, behind the code.
  void emit_pool();

  void add_value(const Value& value);
  void collect(std::size_t hoisted);
  void use_constant(Constant constant, std::size_t number);
  // Estimates how many registers are free for hoisted values.
  [[nodiscard]] std::size_t spare_registers() const;
  Xbyak::Reg64 base_of(int slot);
  void load(const Value& value);
  int in_register(Value* value);
  void check_order(Value* value);
  void store(Value* value);

  std::span<const VectorInput> inputs_;
  std::span<const std::uint8_t> stored_;
  std::span<const std::uint8_t> non_temporal_;
  std::array<std::array<int, kSlots>, kMaxVectors> by_slot_{};
  std::array<Xbyak::Label, kConstants> in_pool_;
  std::array<bool, kConstants> is_pooled_{};
  std::vector<int> bases_;  // slots of arrays; the pointers of the first ones are in registers
  std::vector<int> free_;
  std::vector<Value*> pinned_;  // values of the current operation: allocate() does not evict them
  Value* unchecked_ = nullptr;  // stored, not yet checked for NaNs: its register is not released
  bool prefetches_;
  std::size_t hoisted_ = 0;
};

}  // namespace tagalong::array
