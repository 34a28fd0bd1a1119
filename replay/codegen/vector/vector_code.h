// Fused kernels: one loop of machine code for several exactly rounded operations, whose intermediate results stay in
// registers. All lanes of a kernel have one size (lane_type.h). The bits are those of NumPy's loops, which use the same
// instructions. A result is *ambiguous* where these instructions do not fix its bits: which of two NaNs it is, or which
// of two zeros a maximum is. The code then reports it, and the caller computes the block with NumPy's loops.
//
//   auto code = VectorCode::make(operations, arrays, stored);  // null: not on this machine, or too many values
//   const bool is_exact = code->run(data, count);              // data: pointers by slot, to contiguous elements
//
// Complex numbers have a slot for each part (slot.h). Both parts are stored, or none.
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
#include "replay/codegen/vector/lane_type.h"
#include "replay/codegen/vector/slot.h"

namespace tagalong::array {

enum class VectorOp : std::uint8_t {
#define TAGALONG_VECTOR_OP(id, ...) id,
#include "replay/codegen/vector/vector_ops.def"
#undef TAGALONG_VECTOR_OP
};

enum class VectorKind : std::uint8_t { kNumbers, kBools, kSvml, kGlibc };
enum class VectorLanes : std::uint8_t { kAny, kFloats, kDoubles, kIntegers, kLongIntegers, kBits, kComplex };
struct VectorOpInfo {
  std::string_view name;
  VectorKind kind;
  VectorLanes lanes;
  std::uint8_t cost;
  bool bounded;
};
namespace detail {
inline constexpr std::array kVectorOps = [] {
  constexpr bool kYes = true;
  constexpr bool kNo = false;
  return std::array{
#define TAGALONG_VECTOR_OP(id, name, kind, lanes, cost, bounded) \
  VectorOpInfo{name, VectorKind::kind, VectorLanes::lanes, cost, bounded},
#include "replay/codegen/vector/vector_ops.def"
#undef TAGALONG_VECTOR_OP
  };
}();
}  // namespace detail
[[nodiscard]] constexpr const VectorOpInfo& info(VectorOp what) {
  return detail::kVectorOps[static_cast<std::size_t>(what)];
}

// Whether there is code for operands of this type.
[[nodiscard]] constexpr bool takes(VectorOp what, LaneType type) {
  switch (info(what).lanes) {
    case VectorLanes::kFloats:
      return is_float(type);
    case VectorLanes::kDoubles:
      return type == LaneType::kFloat64;
    case VectorLanes::kIntegers:
      return !is_float(type);
    case VectorLanes::kLongIntegers:
      return !is_float(type) && info(type).bytes >= info(LaneType::kInt32).bytes;
    case VectorLanes::kComplex:
      return false;
    case VectorLanes::kAny:
    case VectorLanes::kBits:
      break;
  }
  return true;
}
// Whether the result is a bool.
constexpr bool is_bool(VectorOp what) { return info(what).kind == VectorKind::kBools; }
[[nodiscard]] std::string_view vector_op_name(VectorOp what);
// Whether a store can convert numbers of one type to shorter ones of the other type on this machine, as C does.
[[nodiscard]] bool has_narrowing(LaneType from, LaneType to);
// Whether there is an instruction, or a few, that converts integers to floats of the same size.
[[nodiscard]] bool has_to_float(LaneType from, LaneType to);
// Whether loads and stores can convert float16 numbers on this machine.
[[nodiscard]] bool has_half();
// Whether a load can convert numbers of one type to longer ones of the other type on this machine.
[[nodiscard]] bool has_widening(LaneType from, LaneType to);
constexpr bool is_glibc(VectorOp what) { return info(what).kind == VectorKind::kGlibc; }
constexpr bool is_function(VectorOp what) { return info(what).kind == VectorKind::kSvml || is_glibc(what); }

struct VectorOperation {
  VectorOp what = VectorOp::kNone;
  std::uint8_t nin = 0;
  std::array<Slot, kMaxInputs> in{};
  Slot out = 0;
  LaneType type = LaneType::kFloat64;  // of the operands; of bools: of any of the same size
  bool is_half = false;                // the result is float16 in memory
  LaneType to = LaneType::kFloat64;    // of kNarrow: the type in memory

  bool operator==(const VectorOperation&) const = default;
};

// How an input is read from memory; kItems: as an item of a short row (VectorArgmin).
// kWidened: converted to the lanes' size. kParts: the real or the imaginary part of complex numbers.
enum class InputKind : std::uint8_t { kScalar, kNumbers, kBools, kItems, kWidened, kParts };
struct VectorInput {
  Slot slot;
  InputKind place;
  LaneType from = LaneType::kFloat64;  // of kWidened: in memory, and in the kernel; of kScalar: kFloat16 if it is one
  LaneType to = LaneType::kFloat64;

  bool operator==(const VectorInput&) const = default;
};

// One leaf of NumPy's pairwise summation: the code stores eight partial sums. The slot VectorSum::leaves points to an
// array of leaves, followed by an entry for the elements behind the last whole vector.
struct SumLeaf {
  std::array<double, 8> sums;  // in the last entry: the remaining elements themselves
  Extent end;                  // index behind the leaf, a multiple of eight; 0 ends the array
  Extent halves;               // subtrees that end with this leaf: so many sums are added to their predecessors
  std::array<Extent, 6> unused;
};
struct VectorSum {
  int result = -1;  // slot of the summed result; -1: no sum
  int leaves = -1;  // slot of the leaves

  bool operator==(const VectorSum&) const = default;
};

// The index of the first smallest or largest element of one result, in each of many short rows. A vector has one lane
// for each row: inputs of kind kNumbers have one element for each row, inputs of kind kItems one for each position in a
// row. All lanes are doubles. Only the indices are stored, as int64. The `count` of run() is the number of rows, at
// least eight.
struct VectorArgmin {
  int result = -1;  // slot of the result; -1: no argmin
  int places = -1;  // slot of the indices
  Extent row = 0;
  bool of_largest = false;

  bool operator==(const VectorArgmin&) const = default;
};

// Doubles in a vector. Of shorter numbers there are more.
inline constexpr int kAvx512Lanes = 8;
inline constexpr int kAvx2Lanes = 4;
// The widest vectors that may be used: 8, 4, or 0 for no machine code. Tests set it.
extern int most_lanes;
// The doubles in a vector on this machine, 0 where there is no vector code.
[[nodiscard]] int vector_lanes();

extern Tally libms_vectors;  // vectors of exp or log that were left to libm's function

extern LoopTally code_tally;  // computed: code was generated; left: it was in the cache

class VectorCode {
 public:
  // Equal arguments give the same code, from a cache of the kMostKept most recently used. Needs the GIL.
  static std::shared_ptr<const VectorCode> make(std::span<const VectorOperation> operations,
                                                std::span<const VectorInput> inputs, std::span<const Slot> stored,
                                                VectorSum sum = {}, std::span<const Slot> non_temporal = {},
                                                const VectorArgmin& argmin = {}, bool prefetches = false);
  // The same code with non-temporal stores to these slots, and with software prefetch. The results have to be aligned
  // to kNonTemporalBytes. Other threads see the stores after a fence (finish_non_temporal()).
  [[nodiscard]] std::shared_ptr<const VectorCode> with_non_temporal(std::span<const Slot> non_temporal) const {
    return make(spec_.operations, spec_.inputs, spec_.stored, spec_.sum, non_temporal, {}, true);
  }
  // The same code with software prefetch.
  [[nodiscard]] std::shared_ptr<const VectorCode> with_prefetch() const {
    return make(spec_.operations, spec_.inputs, spec_.stored, spec_.sum, {}, {}, true);
  }
  static constexpr std::size_t kNonTemporalBytes = 16;
  static constexpr std::size_t kMostKept = 64;
  // The same operations, storing nothing but the indices. `items` are the slots of inputs that all rows share. Null:
  // too much code, or too many live values.
  [[nodiscard]] std::shared_ptr<const VectorCode> argmin(std::span<const Slot> items, const VectorArgmin& argmin) const;
  VectorCode(const VectorCode&) = delete;
  VectorCode& operator=(const VectorCode&) = delete;
  ~VectorCode();
  // False: a result is ambiguous, and the stored results are invalid.
  bool run(char* const* data, Extent count) const {
    return divisors_.empty() ? code_.run(data, count, 1, nullptr) == 0 : run_with_reciprocals(data, count);
  }
  // Runs `rows` rows of `count` elements; `steps` are the bytes from one row to the next, by slot. Changes pointers in
  // `data`. Not for code with a sum or an argmin. Does not use reciprocals, so run() is faster for long rows with
  // divisions by a number.
  bool run_rows(char** data, Extent count, Extent rows, const Extent* steps) const {
    return code_.run(data, count, rows, steps) == 0;
  }
  // Whether run() may compute a block twice, with reciprocals and then with divisions, and so reads the operands again.
  [[nodiscard]] bool may_run_twice() const { return !divisors_.empty(); }
  // The operations as text, such as `v4 = multiply(v0, v1); v5 = sqrt(v4); stores v5`; independent of the processor.
  [[nodiscard]] std::string text() const;
  // The machine code of this object.
  [[nodiscard]] std::vector<replay::native::PlacedCode> placed() const;
  // Elements below which the reciprocals and reading the flags twice take longer than they save.
  static constexpr Extent kLeastQuotients = 768;

 private:
  struct Spec;
  static std::shared_ptr<const VectorCode> generate(const Spec& spec);
  struct Code {
    void* memory = nullptr;
    std::size_t size = 0;
    int (*run)(char* const* data, Extent count, Extent rows, const Extent* steps) = nullptr;
  };
  explicit VectorCode(const Spec& spec);
  bool run_with_reciprocals(char* const* data, Extent count) const;
  static Code assemble(const Spec& spec, std::span<const Slot> divisors);
  static void remove(const Code& code);
  static std::string text_of(const Spec& spec);
  static replay::native::PlacedCode described(const Spec& spec, const Code& code, bool multiplies);
  struct Spec {
    int lanes = 0;
    std::vector<VectorOperation> operations;
    std::vector<VectorInput> inputs;
    std::vector<Slot> stored;
    VectorSum sum;
    std::vector<Slot> non_temporal;
    VectorArgmin argmin;
    bool prefetches = false;

    bool operator==(const Spec&) const = default;
  };
  Code code_;
  Code reciprocal_code_;        // multiplies by the reciprocals of divisors_
  std::vector<Slot> divisors_;  // slots of scalars
  Spec spec_;
};

}  // namespace tagalong::array
