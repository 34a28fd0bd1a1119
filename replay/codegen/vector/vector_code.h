// Exactly rounded operations of doubles, and what goes with them, as machine code: one loop for several operations,
// whose results stay in registers where nobody else needs them. The bits are those of NumPy's own loops, which do the
// same instructions, except for what these leave open: which of two NaNs a result is, which of two zeros a maximum.
// Where that could matter the code says so, and the block is computed by NumPy's loops instead.
//
//   auto code = VectorCode::make(operations, arrays, stored);  // null: not for this machine, or too many values
//   const bool is_exact = code->run(data, count);             // pointers by slot; arrays are rows
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replay/arrays/numpy/numpy_abi.h"
#include "replay/arrays/numpy/operand.h"
#include "replay/arrays/simd/tally.h"
#include "replay/codegen/printer.h"

namespace tagalong::array {

enum class VectorOp : std::uint8_t {
  kNone,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kSqrt,
  kSquare,
  kReciprocal,
  kNegative,
  kAbsolute,
  kSign,
  kMaximum,
  kMinimum,
  kLess,
  kLessEqual,
  kEqual,
  kNotEqual,
  kGreater,
  kGreaterEqual,
  kAnd,  // of bools
  kOr,
  kNot,
  kSelect,
  kCopy,
  kExp,  // where NumPy's loop does the same (svml_functions.h), by vectors of eight
  kLog,
  kGlibcExp,  // where NumPy's loop is libm's function (libm_functions.h), by vectors of four
  kGlibcLog
};

// Whose results are bools.
constexpr bool is_bool(VectorOp what) { return what >= VectorOp::kLess && what <= VectorOp::kNot; }
[[nodiscard]] std::string_view vector_op_name(VectorOp what);
constexpr bool is_glibc(VectorOp what) { return what == VectorOp::kGlibcExp || what == VectorOp::kGlibcLog; }
constexpr bool is_function(VectorOp what) { return what == VectorOp::kExp || what == VectorOp::kLog || is_glibc(what); }

struct VectorOperation {
  VectorOp what = VectorOp::kNone;
  std::uint8_t nin = 0;
  std::array<std::uint8_t, kMaxInputs> in{};  // slots
  std::uint8_t out = 0;

  bool operator==(const VectorOperation&) const = default;
};

enum class InputKind : std::uint8_t { kScalar, kDoubles, kBools, kItems };  // what is read from memory
struct VectorInput {
  std::uint8_t slot;
  InputKind place;

  bool operator==(const VectorInput&) const = default;
};

// Pairwise sums of one of the results, leaf by leaf as NumPy cuts them: eight partial sums of each. One of `slots`
// points to these, one for each leaf and one for the elements after the last whole vector.
struct SumLeaf {
  std::array<double, 8> sums;  // or the elements
  Extent end;                  // a multiple of eight; 0: there are no more
  Extent halves;               // that end with it: so many sums are added to the one before them
  std::array<Extent, 6> unused;
};
struct VectorSum {
  int result = -1;  // slots; none
  int leaves = -1;

  bool operator==(const VectorSum&) const = default;
};

// Where in each of many short rows the first smallest or largest element of one of the results is. Eight rows at a
// time: their doubles are one for each row, their items (kItems) one for each place in a row, and the place is what is
// stored, as int64. Whoever runs this counts rows, at least eight.
struct VectorArgmin {
  int result = -1;  // slots; none
  int places = -1;
  Extent row = 0;
  bool of_largest = false;

  bool operator==(const VectorArgmin&) const = default;
};

// Doubles at once, with AVX-512 and with AVX2.
inline constexpr int kAvx512Lanes = 8;
inline constexpr int kAvx2Lanes = 4;
// For tests: at most so many doubles at once; 8, 4, or 0 for no machine code.
extern int most_lanes;
// As many as there are on this machine.
[[nodiscard]] int vector_lanes();

extern Tally libms_vectors;  // four elements of exp or log that were left to libm's function

extern LoopTally code_tally;  // pieces of code that have been made, or were there already

class VectorCode {
 public:
  // The same again and again, whoever asks: what has been made last is kept (kMostKept). Needs the GIL.
  static std::shared_ptr<const VectorCode> make(std::span<const VectorOperation> operations,
                                                std::span<const VectorInput> inputs,
                                                std::span<const std::uint8_t> stored, VectorSum sum = {},
                                                std::span<const std::uint8_t> non_temporal = {},
                                                const VectorArgmin& argmin = {}, bool prefetches = false);
  // The same with these of the stored doubles written past the caches, and asking for memory before it is read: on
  // Zen 3, a tenth of the time. They have to lie at multiples of kNonTemporalBytes, and what has been written is there
  // for other threads after a fence.
  [[nodiscard]] std::shared_ptr<const VectorCode> with_non_temporal(std::span<const std::uint8_t> non_temporal) const {
    return make(made_.operations, made_.inputs, made_.stored, made_.sum, non_temporal, {}, true);
  }
  // The same, asking for memory before it is read.
  [[nodiscard]] std::shared_ptr<const VectorCode> with_prefetch() const {
    return make(made_.operations, made_.inputs, made_.stored, made_.sum, {}, {}, true);
  }
  static constexpr std::size_t kNonTemporalBytes = 16;
  static constexpr std::size_t kMostKept = 64;
  // The same with nothing stored but places; `items` are the slots that are the same in all rows. Null: that would be
  // too much code, or too many values at once.
  [[nodiscard]] std::shared_ptr<const VectorCode> argmin(std::span<const std::uint8_t> items,
                                                         const VectorArgmin& argmin) const;
  VectorCode(const VectorCode&) = delete;
  VectorCode& operator=(const VectorCode&) = delete;
  ~VectorCode();
  // False: something is left open; what has been stored means nothing.
  bool run(char* const* data, Extent count) const {
    return divisors_.empty() ? plain_.run(data, count, 1, nullptr) == 0 : run_with_quotients(data, count);
  }
  // Rows of `count` elements, from each of which it is so many bytes to the next one, by slots. Not where there is a
  // sum or where places are found. Pointers may be changed. Long rows that are divided by numbers are better run alone.
  bool run_rows(char** data, Extent count, Extent rows, const Extent* steps) const {
    return plain_.run(data, count, rows, steps) == 0;
  }
  // Whether what is left open is tried otherwise: the operands are read again.
  [[nodiscard]] bool has_second_way() const { return !divisors_.empty(); }
  // `v4 = multiply(v0, v1); v5 = sqrt(v4); stores v5`: the same for each machine that has such code.
  [[nodiscard]] std::string text() const;
  // Where it lies.
  [[nodiscard]] std::vector<replay::native::PlacedCode> placed() const;
  // Elements: for less the reciprocals and two looks at the flags take as long as is saved in half a block.
  static constexpr Extent kLeastQuotients = 768;

 private:
  struct Made;
  static std::shared_ptr<const VectorCode> make_anew(const Made& made);
  struct Code {
    void* memory = nullptr;
    std::size_t size = 0;
    int (*run)(char* const* data, Extent count, Extent rows, const Extent* steps) = nullptr;
  };
  explicit VectorCode(const Made& made);
  bool run_with_quotients(char* const* data, Extent count) const;
  static Code place(const Made& made, std::span<const std::uint8_t> divisors);
  static void remove(const Code& code);
  static std::string text_of(const Made& made);
  static replay::native::PlacedCode described(const Made& made, const Code& code, bool multiplies);
  struct Made {  // of this
    int lanes = 0;
    std::vector<VectorOperation> operations;
    std::vector<VectorInput> inputs;
    std::vector<std::uint8_t> stored;
    VectorSum sum;
    std::vector<std::uint8_t> non_temporal;
    VectorArgmin argmin;
    bool prefetches = false;

    bool operator==(const Made&) const = default;
  };
  Code plain_;
  Code multiplying_;                    // instead of dividing by these
  std::vector<std::uint8_t> divisors_;  // slots of numbers
  Made made_;
};

}  // namespace tagalong::array
