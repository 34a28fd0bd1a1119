// The values of a fused kernel: its inputs, constants and results, which operations use them, and which of them are
// hoisted, that is, loaded once in front of the loop.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/codegen/vector/vector_code.h"
#include "replay/codegen/vector/vector_constants.h"

namespace tagalong::array {

// The instruction set that a kernel is compiled to. AVX-512 computes the last elements of a kernel under a mask, and
// collects marks in mask registers. AVX2 computes the last elements one by one, and collects marks in vector registers.
struct VectorUnit {
  int registers;
  int item_bytes;  // of a lane
  int lanes;
  bool has_masks;
  std::size_t state_registers;  // for marks, and scratch of one operation
};
constexpr VectorUnit avx512_unit(int item_bytes) {
  return {.registers = 32,
          .item_bytes = item_bytes,
          .lanes = kAvx512Lanes * static_cast<int>(sizeof(double)) / item_bytes,
          .has_masks = true,
          .state_registers = 0};
}
constexpr VectorUnit avx2_unit(int item_bytes) {
  return {.registers = 16,
          .item_bytes = item_bytes,
          .lanes = kAvx2Lanes * static_cast<int>(sizeof(double)) / item_bytes,
          .has_masks = false,
          .state_registers = 2};
}
// For vectors of so many doubles, with lanes of so many bytes.
[[nodiscard]] constexpr VectorUnit unit_of(int doubles, int item_bytes) {
  return doubles == kAvx512Lanes ? avx512_unit(item_bytes) : avx2_unit(item_bytes);
}

inline constexpr std::size_t kMaxVectors = 2;  // in an iteration of the loop
inline constexpr int kPointerBytes = 8;        // also of a row step, and of a number on the stack
inline constexpr int kUnassigned = -1;
inline constexpr int kLeafLanes = 8;  // partial sums in a leaf

// The operations to generate code for. The spans have to outlive the emitter.
struct KernelSpec {
  std::span<const VectorOperation> operations;
  std::span<const VectorInput> inputs;
  std::span<const Slot> stored;
  std::span<const Slot> non_temporal;  // slots of `stored` with non-temporal stores
  VectorSum sum;
  std::span<const Slot> divisors;  // slots of scalars whose reciprocals replace divisions
  VectorArgmin argmin;
  bool prefetches = false;

  [[nodiscard]] bool has_sum() const { return sum.result >= 0; }
  [[nodiscard]] bool has_argmin() const { return argmin.result >= 0; }
  // Whether the code can iterate over rows in memory (VectorCode::run_rows()).
  [[nodiscard]] bool iterates_rows() const { return !has_sum() && !has_argmin(); }
};

struct KernelValue {
  bool is_scalar = false, is_bool = false, is_hoisted = false;
  bool is_item = false;      // an item of a short row (VectorArgmin)
  bool in_memory = false;    // the slot holds the value
  bool is_widened = false;   // by the load
  bool is_part = false;      // of complex numbers in memory
  bool is_half = false;      // a float16 in memory, and a float in registers
  bool is_narrowed = false;  // by the store
  LaneType from = LaneType::kFloat64;
  LaneType to = LaneType::kFloat64;
  bool is_stored = false;
  bool is_non_temporal = false;
  bool is_ordered = false;  // is never an ambiguous NaN
  int slot = kUnassigned;
  Constant constant = Constant::kNone;
  int reg = kUnassigned;
  std::vector<std::size_t> uses;  // operations that read the value

  // Whether all vectors of an iteration share the value.
  [[nodiscard]] bool is_shared() const { return is_scalar || is_item; }
};

class KernelValues {
 public:
  // For so many vectors in an iteration, with at most `hoisted` hoisted values.
  KernelValues(const KernelSpec& spec, const VectorUnit& unit, std::size_t vectors, std::size_t hoisted);

  [[nodiscard]] std::vector<KernelValue>& all() { return values_; }
  [[nodiscard]] KernelValue& of_slot(Slot slot, std::size_t vector) { return values_[index_of(slot, vector)]; }
  [[nodiscard]] KernelValue& of_constant(Constant constant) {
    return values_[by_constant_.at(static_cast<std::size_t>(constant))];
  }
  // The register of a hoisted constant, or kUnassigned.
  [[nodiscard]] int kept_register(Constant constant) const {
    const int value = by_constant_.at(static_cast<std::size_t>(constant));
    return value < 0 ? kUnassigned : values_[value].reg;
  }
  [[nodiscard]] bool has_parts() const { return has_parts_; }
  // Slots of arrays; the pointers of the first ones are in registers.
  [[nodiscard]] const std::vector<int>& bases() const { return bases_; }
  [[nodiscard]] std::size_t hoisted() const { return hoisted_; }

 private:
  [[nodiscard]] std::size_t index_of(Slot slot, std::size_t vector) const {
    return static_cast<std::size_t>(by_slot_.at(vector).at(slot));
  }
  void add(const KernelValue& value);
  void add_operations();
  void use_constant(Constant constant, std::size_t number);
  void find_bases();
  // Estimates how many registers are free for hoisted values.
  [[nodiscard]] std::size_t spare_registers() const;
  // Registers that the code occupies from its beginning to its end.
  [[nodiscard]] std::size_t fixed_registers() const;

  const KernelSpec& spec_;
  const VectorUnit& unit_;
  std::size_t vectors_;
  std::size_t hoisted_ = 0;
  bool has_parts_ = false;
  std::vector<KernelValue> values_;
  std::array<std::vector<int>, kMaxVectors> by_slot_;
  std::array<int, kConstants> by_constant_{};
  std::vector<int> bases_;
};

}  // namespace tagalong::array
