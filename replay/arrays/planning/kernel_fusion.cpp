#include "replay/arrays/planning/kernel_fusion.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "replay/arrays/planning/complex_steps.h"
#include "replay/arrays/planning/half_steps.h"

namespace tagalong::array {
namespace {

// Masks that come from bools in memory first: other kernels read them.
constexpr std::array kLaneBytes{1, 2, 4, 8};

bool is_logic(VectorOp what) { return info(what).lanes == VectorLanes::kBits; }

bool takes_bool(VectorOp what, unsigned operand) {
  return is_logic(what) || ((what == VectorOp::kSelect || what == VectorOp::kFromBool) && operand == 0);
}

// Whether eager NumPy may swap the operands, and the bits depend on their order.
bool is_swappable(const PlanOperation& operation) {
  return operation.is_complex && operation.vector_op == VectorOp::kMultiply && (operation.elidable & 2U) != 0;
}

}  // namespace

KernelFusion::Steps KernelFusion::fuse() {
  if (vector_lanes() == 0) {
    return {};
  }
  find_scalars();
  find_lanes();
  find_visible();
  find_readers();
  form_groups();
  if (!make_steps()) {
    plan_.sum = {};
    return {};
  }
  finish_plan();
  Steps steps{.in_memory = in_memory_, .of = std::vector<std::size_t>(operations_.size())};
  for (std::size_t step = 0; step < groups_.size(); ++step) {
    for (const std::size_t number : groups_[step]) {
      steps.of[number] = step;
    }
  }
  return steps;
}

void KernelFusion::find_scalars() {
  for (const PlanScalar& scalar : plan_.scalars) {
    is_scalar_.at(scalar.slot) = true;
  }
  for (const PlanConstant& constant : plan_.constants) {
    is_scalar_.at(constant.slot) = true;
  }
}

void KernelFusion::find_lanes() {
  for (const PlanOperation& operation : operations_) {
    const int bytes = lane_bytes_.emplace_back(lanes_of(operation));
    mask_bytes_.at(operation.out()) = is_bool(operation.vector_op) ? bytes : 0;
    is_narrowed_.at(operation.out()) = operation.vector_op == VectorOp::kNarrow;
  }
}

void KernelFusion::find_visible() {
  for (const PlanOutput& output : plan_.outputs) {
    is_visible_.at(output.slot) = is_visible_.at(output.slot) || (output.reduction < 0 && output.axis_reduction < 0);
  }
  for (const PlanTarget& target : plan_.targets) {
    is_visible_.at(target.slot) = true;
  }
  for (const PlanAxisReduction& axis_reduction : plan_.axis_reductions) {
    is_visible_.at(axis_reduction.slot) = true;
  }
}

void KernelFusion::find_readers() {
  readers_.resize(kMaxFusionSlots);
  for (std::size_t number = 0; number < operations_.size(); ++number) {
    for (unsigned i = 0; i < operations_[number].nin; ++i) {
      readers_[operations_[number].slots[i]].push_back(number);
    }
  }
}

// The size of the lanes in which vector code computes the operation; 0: there is no such code. Logical operations take
// the size of a comparison in registers, or a byte where all operands come from memory.
int KernelFusion::lanes_of(const PlanOperation& operation) const {
  if (operation.vector_op == VectorOp::kNone) {
    return 0;
  }
  if (operation.vector_op == VectorOp::kWiden &&
      (is_widened_otherwise(operation) || is_narrowed_.at(operation.slots[0]))) {
    return 0;
  }
  int bytes = is_logic(operation.vector_op) ? 0 : info(operation.lane_type).bytes;
  for (unsigned i = 0; i < operation.nin; ++i) {
    if (takes_bool(operation.vector_op, i) && is_scalar_.at(operation.slots[i])) {
      return 0;
    }
    bytes = bytes == 0 ? mask_bytes_.at(operation.slots[i]) : bytes;
  }
  return bytes == 0 ? 1 : bytes;
}

// Alternates: first all operations that vector code can compute by now become one group for each size of lanes, then
// come operations with NumPy's loops.
void KernelFusion::form_groups() {
  SlotSet exists_yet{};
  exists_yet.fill(true);
  for (const PlanOperation& operation : operations_) {
    exists_yet.at(operation.out()) = false;
  }
  std::vector<bool> is_done(operations_.size());
  const auto has_operands = [&](std::size_t number) {
    const PlanOperation& operation = operations_[number];
    return !is_done[number] && std::all_of(operation.slots.begin(), operation.slots.begin() + operation.nin,
                                           [&](Slot slot) { return exists_yet.at(slot); });
  };
  const auto finish = [&](std::size_t number) {
    is_done[number] = true;
    exists_yet.at(operations_[number].out()) = true;
  };
  for (std::size_t left = operations_.size(); left > 0;) {
    for (const int bytes : kLaneBytes) {
      Group fusable;
      for (std::size_t number = 0; number < operations_.size(); ++number) {
        if (lane_bytes_[number] == bytes && has_operands(number)) {
          fusable.push_back(number);
          finish(number);
        }
      }
      left -= fusable.size();
      if (!fusable.empty()) {
        groups_.push_back(std::move(fusable));
      }
    }
    for (std::size_t number = 0; number < operations_.size(); ++number) {
      if (lane_bytes_[number] == 0 && has_operands(number)) {
        groups_.push_back({number});
        finish(number);
        --left;
      }
    }
  }
}

// False: a kernel cannot be made, or there is none.
bool KernelFusion::make_steps() {
  for (std::size_t place = 0; place < groups_.size();) {
    const Group& group = groups_[place];
    const PlanOperation& first = operations_[group.front()];
    if (lane_bytes_[group.front()] == 0) {
      in_memory_.at(first.out()) = true;
      steps_.push_back({.code = nullptr, .operation = group.front()});
      ++place;
      continue;
    }
    Kernel kernel = kernel_of(group);
    if (!kernel.is_too_long && (group.size() == 1 || fits_registers(kernel))) {
      compile(group, &kernel);
    }
    if (kernel.code == nullptr && group.size() == 1) {
      return false;
    }
    if (kernel.code == nullptr) {
      split(place);  // there are too many values for the registers
    } else {
      add_step(group, std::move(kernel));
      ++place;
    }
  }
  return std::ranges::any_of(steps_, [](const PlanStep& step) { return step.code != nullptr; });
}

// Whether the operand is also loaded as numbers of another type with lanes of the same size.
bool KernelFusion::is_widened_otherwise(const PlanOperation& cast) const {
  return std::ranges::any_of(operations_, [&](const PlanOperation& other) {
    return other.vector_op == VectorOp::kWiden && other.slots[0] == cast.slots[0] &&
           other.lane_type != cast.lane_type && info(other.lane_type).bytes == info(cast.lane_type).bytes;
  });
}

// Whether an operation of the group reads the slot.
bool KernelFusion::is_read_in(const Group& group, Slot slot) const {
  return std::ranges::any_of(group, [&](std::size_t number) {
    const PlanOperation& operation = operations_[number];
    const auto* end = operation.slots.begin() + operation.nin;
    return std::find(operation.slots.begin(), end, slot) != end;
  });
}

KernelFusion::Kernel KernelFusion::kernel_of(const Group& group, bool swaps) const {
  Kernel kernel;
  ComplexSteps complex(&kernel.operations);
  SlotSet is_known{};
  std::array<Slot, kMaxFusionSlots> loaded{};  // by result of a cast: the slot whose load makes that cast
  std::iota(loaded.begin(), loaded.end(), Slot{0});
  for (const std::size_t number : group) {
    const PlanOperation& operation = operations_[number];
    if (operation.vector_op == VectorOp::kWiden) {
      const Slot from = operation.slots[0];
      if (!std::exchange(is_known.at(from), true)) {
        kernel.inputs.push_back(
            {.slot = from, .place = InputKind::kWidened, .from = operation.memory_type, .to = operation.lane_type});
      }
      loaded.at(operation.out()) = from;
      const bool is_stored = is_read_elsewhere(group, operation.out(), false);
      if (is_stored || !is_read_in(group, operation.out())) {
        kernel.operations.push_back(
            {.what = VectorOp::kCopy, .nin = 1, .in = {from}, .out = operation.out(), .type = operation.lane_type});
      }
      if (is_stored) {
        kernel.stored.push_back(operation.out());
      }
      continue;
    }
    VectorOperation own{.what = operation.vector_op,
                        .nin = operation.nin,
                        .out = operation.out(),
                        .type = is_logic(operation.vector_op) ? lane_of(lane_bytes_[number]) : operation.lane_type};
    for (unsigned i = 0; i < operation.nin; ++i) {
      const Slot slot = own.in.at(i) = loaded.at(operation.slots[i]);
      if (!std::exchange(is_known.at(slot), true)) {
        const bool has_parts = operation.is_complex && is_complex_operand(own.what, i);
        const bool is_half = operation.is_half && !takes_bool(own.what, i) && is_half_operand(own.what);
        kernel.inputs.push_back({.slot = slot,
                                 .place = is_scalar_.at(slot)                  ? InputKind::kScalar
                                          : has_parts                          ? InputKind::kParts
                                          : is_half                            ? InputKind::kWidened
                                          : takes_bool(operation.vector_op, i) ? InputKind::kBools
                                                                               : InputKind::kNumbers,
                                 .from = is_half ? LaneType::kFloat16 : LaneType::kFloat64,
                                 .to = is_half ? LaneType::kFloat32 : LaneType::kFloat64});
        if (has_parts) {
          kernel.inputs.push_back({.slot = imaginary_of(slot), .place = kernel.inputs.back().place});
        }
      }
    }
    own.to = operation.memory_type;
    is_known.at(own.out) = true;
    if (operation.is_half) {
      add_half_steps(own, complex.new_slot(), &kernel.operations);
      kernel.is_too_long = kernel.is_too_long || complex.is_exhausted();
    } else if (!operation.is_complex) {
      kernel.operations.push_back(own);
    } else {
      if (is_swappable(operation)) {
        kernel.swappable.push_back(static_cast<std::uint16_t>(number));
        if (swaps) {
          std::swap(own.in[0], own.in[1]);
        }
      }
      kernel.is_too_long = kernel.is_too_long || complex.is_exhausted();
      if (!kernel.is_too_long) {
        complex.add(own);
      }
    }
    if (is_read_elsewhere(group, own.out, false)) {
      kernel.stored.push_back(own.out);
      if (operation.is_complex && gives_complex(own.what)) {
        kernel.stored.push_back(imaginary_of(own.out));
      }
    }
  }
  return kernel;
}

// False: the kernel certainly needs more registers than there are. To find that out is faster than to generate code.
bool KernelFusion::fits_registers(const Kernel& kernel) {
  constexpr std::size_t kAvx2Registers = 16;
  constexpr std::size_t kAvx512Registers = 32;
  const std::size_t registers = vector_lanes() == kAvx512Lanes ? kAvx512Registers : kAvx2Registers;
  std::array<std::size_t, kMostKernelSlots> last_use{};
  std::array<bool, kMostKernelSlots>
      is_free{};  // results that the kernel stores can be read again, inputs are in memory, bools may be masks
  is_free.fill(true);
  for (std::size_t number = 0; number < kernel.operations.size(); ++number) {
    const VectorOperation& operation = kernel.operations[number];
    is_free.at(operation.out) = is_bool(operation.what);
    std::for_each_n(operation.in.begin(), operation.nin, [&](Slot slot) { last_use.at(slot) = number; });
  }
  std::ranges::for_each(kernel.stored, [&](Slot slot) { is_free.at(slot) = true; });
  std::size_t results = 0;
  std::size_t most = 0;
  for (std::size_t number = 0; number < kernel.operations.size(); ++number) {
    const VectorOperation& operation = kernel.operations[number];
    for (unsigned i = 0; i < operation.nin; ++i) {
      const Slot slot = operation.in.at(i);
      if (last_use.at(slot) == number && !std::exchange(is_free.at(slot), true)) {
        --results;
      }
    }
    results += is_free.at(operation.out) || last_use.at(operation.out) == 0 ? 0 : 1;
    most = std::max(most, results);
  }
  return most <= registers;
}

// Makes the code with a sum, if that is possible; else without one.
void KernelFusion::compile(const Group& group, Kernel* kernel) {
  const VectorSum before = plan_.sum;
  compile_in_order(group, kernel);
  if (kernel->code != nullptr && !kernel->swappable.empty()) {
    const Kernel other = kernel_of(group, true);
    kernel->swapped_code =
        VectorCode::make(other.operations, other.inputs, kernel->stored, plan_.sum == before ? VectorSum() : plan_.sum);
  }
}

void KernelFusion::compile_in_order(const Group& group, Kernel* kernel) {
  const VectorSum sum = sum_of(kernel->operations);
  if (sum.result >= 0) {
    std::vector<Slot> stored = kernel->stored;  // a result that only the sum needs is not stored
    if (!is_read_elsewhere(group, static_cast<Slot>(sum.result), true)) {
      std::erase(stored, sum.result);
    }
    kernel->code = VectorCode::make(kernel->operations, kernel->inputs, stored, sum);
    if (kernel->code != nullptr) {
      plan_.sum = sum;
      kernel->stored = std::move(stored);
      return;
    }
  }
  kernel->code = VectorCode::make(kernel->operations, kernel->inputs, kernel->stored);
}

// The pairwise sum that the kernel of these operations can compute, too; empty: there is none.
VectorSum KernelFusion::sum_of(std::span<const VectorOperation> operations) {
  for (const PlanReduction& reduced : plan_.reductions) {
    const bool is_computed_here =
        std::ranges::find(operations, reduced.slot, &VectorOperation::out) != operations.end();
    if (reduced.kernel->has_known_order && is_computed_here && plan_.sum.result < 0) {
      const bool has_slot = plan_.slots < kMaxFusionSlots;
      return has_slot ? VectorSum{.result = reduced.slot, .leaves = static_cast<int>(plan_.slots++)} : VectorSum();
    }
  }
  return {};
}

// Whether the slot is read from memory outside the group (with `is_summed`: apart from the group's own sum).
bool KernelFusion::is_read_elsewhere(const Group& group, Slot slot, bool is_summed) const {
  const auto is_outside = [&](std::size_t number) { return !std::ranges::binary_search(group, number); };
  if (std::ranges::any_of(readers_[slot], is_outside)) {
    return true;
  }
  const auto reduces = [&](const PlanReduction& reduced) {
    return reduced.slot == slot && !(is_summed && reduced.kernel->has_known_order);
  };
  return is_visible_.at(slot) || std::ranges::any_of(plan_.reductions, reduces);
}

void KernelFusion::split(std::size_t place) {
  const Group group = groups_[place];
  const auto middle = group.begin() + static_cast<std::ptrdiff_t>(group.size() / 2);
  groups_[place].assign(middle, group.end());
  groups_.insert(groups_.begin() + static_cast<std::ptrdiff_t>(place), {group.begin(), middle});
}

void KernelFusion::add_step(const Group& group, Kernel kernel) {
  for (const Slot slot : kernel.stored) {
    in_memory_.at(memory_of(slot)) = true;
  }
  for (const VectorInput& input : kernel.inputs) {
    is_row_.at(memory_of(input.slot)) = true;
  }
  const PlanOperation& first = operations_[group.front()];
  const bool is_quotient = operations_.size() == 1 && first.vector_op == VectorOp::kDivide && !first.is_complex &&
                           first.lane_type == LaneType::kFloat64 && plan_.reductions.empty() &&
                           !is_scalar_.at(first.slots[0]) && is_scalar_.at(first.slots[1]);
  steps_.push_back({.code = std::move(kernel.code),
                    .swappable = std::move(kernel.swappable),
                    .swapped_code = std::move(kernel.swapped_code),
                    .operation = group.front(),
                    .is_quotient = is_quotient});
}

void KernelFusion::finish_plan() {
  const auto stores_no_nans = [&](const PlanStep& step) {
    return (step.code != nullptr && !step.is_quotient) ||
           operations_[step.operation].extent == OperationExtent::kAxisReduction;
  };
  plan_.steps = std::move(steps_);
  plan_.is_fused = plan_.steps.size() == 1;
  plan_.stores_no_nans = !plan_.is_cut_by_rows() && std::ranges::all_of(plan_.steps, stores_no_nans);
  for (const PlanInput& input : plan_.inputs) {
    if (is_row_.at(input.slot)) {
      plan_.rows.emplace_back(input.slot, np_.item_size[input.type]);
    }
  }
}

}  // namespace tagalong::array
