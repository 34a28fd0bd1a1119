#include "replay/codegen/vector/kernel_values.h"

#ifdef __x86_64__

#include <algorithm>

#include "replay/codegen/vector/glibc_code.h"
#include "replay/codegen/vector/svml_code.h"

namespace tagalong::array {

KernelValues::KernelValues(const KernelSpec& spec, const VectorUnit& unit, std::size_t vectors, std::size_t hoisted)
    : spec_(spec), unit_(unit), vectors_(vectors) {
  Slot last = 0;
  for (const VectorInput& input : spec_.inputs) {
    last = std::max(last, input.slot);
  }
  for (const VectorOperation& operation : spec_.operations) {
    last = std::max(last, operation.out);
  }
  for (auto& values : by_slot_) {
    values.assign(last + std::size_t{1}, kUnassigned);
  }
  by_constant_.fill(kUnassigned);
  has_parts_ = std::ranges::find(spec_.inputs, InputKind::kParts, &VectorInput::place) != spec_.inputs.end() ||
               std::ranges::any_of(spec_.stored, is_imaginary);
  for (const VectorInput& input : spec_.inputs) {
    add({.is_scalar = input.place == InputKind::kScalar,
         .is_bool = input.place == InputKind::kBools,
         .is_item = input.place == InputKind::kItems,
         .in_memory = true,
         .is_widened = input.place == InputKind::kWidened,
         .is_part = input.place == InputKind::kParts,
         .is_half = input.from == LaneType::kFloat16,
         .from = input.from,
         .to = input.to,
         .slot = input.slot});
  }
  add_operations();
  hoisted = std::min(hoisted, spare_registers());
  for (KernelValue& value : values_) {
    if (value.is_scalar && hoisted_ < hoisted) {
      value.is_hoisted = true;
      ++hoisted_;
    }
  }
  find_bases();
}

// A value that is not shared has one register for each vector.
void KernelValues::add(const KernelValue& value) {
  for (std::size_t vector = 0; vector < vectors_; ++vector) {
    if (vector == 0 || !value.is_shared()) {
      values_.push_back(value);
    }
    by_slot_.at(vector).at(static_cast<std::size_t>(value.slot)) = static_cast<int>(values_.size()) - 1;
  }
}

void KernelValues::use_constant(Constant constant, std::size_t number) {
  int& value = by_constant_.at(static_cast<std::size_t>(constant));
  if (value < 0) {
    value = static_cast<int>(values_.size());
    values_.push_back({.is_scalar = true, .in_memory = true, .constant = constant});
  }
  values_[value].uses.push_back(number);
}

void KernelValues::add_operations() {
  const auto contains = [](std::span<const Slot> slots, Slot slot) {
    return std::ranges::find(slots, slot) != slots.end();
  };
  for (std::size_t number = 0; number < spec_.operations.size(); ++number) {
    const VectorOperation& operation = spec_.operations[number];
    for (unsigned i = 0; i < operation.nin; ++i) {
      for (std::size_t vector = 0; vector < vectors_; ++vector) {
        of_slot(operation.in.at(i), vector).uses.push_back(number);
      }
    }
    for (const Constant constant : operands_of(operation)) {
      use_constant(constant, number);
    }
    const bool makes_bool =
        is_bool(operation.what) || (operation.what == VectorOp::kCopy && of_slot(operation.in[0], 0).is_bool);
    const Slot memory = memory_of(operation.out);
    const bool is_part = contains(spec_.stored, imaginary_of(memory));
    if (is_part && is_imaginary(operation.out)) {  // both parts are stored together
      for (std::size_t vector = 0; vector < vectors_; ++vector) {
        of_slot(memory, vector).uses.push_back(number);
      }
    }
    add({.is_bool = makes_bool,
         .is_part = is_part,
         .is_half = operation.is_half,
         .is_narrowed = operation.what == VectorOp::kNarrow,
         .from = operation.type,
         .to = operation.to,
         .is_stored = contains(spec_.stored, operation.out),
         .is_non_temporal = contains(spec_.non_temporal, memory),
         .is_ordered = is_function(operation.what) || !is_float(operation.type),
         .slot = operation.out});
  }
  // Constants of functions come last, so they are the first to go without a register.
  for (std::size_t number = 0; number < spec_.operations.size(); ++number) {
    for (const Constant constant : kept_constants(spec_.operations[number].what)) {
      use_constant(constant, number);
    }
  }
}

void KernelValues::find_bases() {
  for (const KernelValue& value : values_) {
    if (!value.is_scalar && (value.in_memory || value.is_stored) &&
        std::ranges::find(bases_, memory_of(static_cast<Slot>(value.slot))) == bases_.end()) {
      bases_.push_back(memory_of(static_cast<Slot>(value.slot)));
    }
  }
  if (spec_.has_argmin()) {
    bases_.push_back(spec_.argmin.places);
  }
}

std::size_t KernelValues::fixed_registers() const {
  constexpr std::size_t kOfArgmin = 3;
  const auto of_sums = static_cast<std::size_t>(kLeafLanes / unit_.lanes);
  const std::size_t of_reciprocals = spec_.divisors.empty() ? 0 : 2 * spec_.divisors.size() + 1;
  // glibc's functions are emitted for one vector after another, so all share the registers.
  std::size_t of_functions = 0;
  for (const VectorOperation& operation : spec_.operations) {
    of_functions = std::max(of_functions, GlibcCode::registers_of(operation.what));
  }
  return unit_.state_registers + (spec_.has_sum() ? of_sums : 0) + of_reciprocals +
         (spec_.has_argmin() ? kOfArgmin : 0) + of_functions;
}

// Counts the live results that are not in memory, and the registers that one operation needs at once.
std::size_t KernelValues::spare_registers() const {
  std::size_t most = 0;
  std::size_t kept = 0;
  for (std::size_t number = 0; number < spec_.operations.size(); ++number) {
    const VectorOperation& operation = spec_.operations[number];
    std::size_t shared = 1 + operands_of(operation).size();
    std::size_t each = kept + 1 + SvmlCode::registers_of(operation.what);
    std::size_t over = 0;
    for (unsigned i = 0; i < operation.nin; ++i) {
      const KernelValue& value = values_[index_of(operation.in.at(i), 0)];
      const bool is_kept = !value.in_memory && !value.is_stored;
      shared += value.is_shared() ? 1 : 0;
      each += is_kept || value.is_shared() ? 0 : 1;
      const bool is_first =
          std::find(operation.in.begin(), operation.in.begin() + i, operation.in.at(i)) == operation.in.begin() + i;
      over += is_kept && is_first && value.uses.back() == number ? 1 : 0;
    }
    most = std::max(most, (each * vectors_) + shared);
    const KernelValue& out = values_[index_of(operation.out, 0)];
    kept += !out.is_stored && !out.uses.empty() ? 1 : 0;
    kept -= over;
  }
  return static_cast<std::size_t>(std::max(0, unit_.registers - static_cast<int>(most + fixed_registers())));
}

}  // namespace tagalong::array

#endif
