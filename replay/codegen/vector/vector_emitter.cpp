#include "replay/codegen/vector/vector_emitter.h"

#ifdef __x86_64__

#include <algorithm>
#include <utility>

#include "replay/arrays/simd/non_temporal.h"
#include "replay/codegen/code_allocator.h"
#include "replay/codegen/vector/avx2_emitter.h"
#include "replay/codegen/vector/avx512_emitter.h"

namespace tagalong::array {
namespace {

using Xbyak::Label;
using Xbyak::Reg64;

constexpr int kPoolBytes = 64;  // a cache line

// Constants that follow the program's operands.
std::span<const Constant> operands_of(VectorOp what) {
  static constexpr std::array kOfSigns{Constant::kSignBit};
  static constexpr std::array kOfReciprocal{Constant::kOne};
  static constexpr std::array kOfSign{Constant::kOne, Constant::kMinusOne};
  switch (what) {
    case VectorOp::kNegative:
    case VectorOp::kAbsolute:
      return kOfSigns;
    case VectorOp::kReciprocal:
      return kOfReciprocal;
    case VectorOp::kSign:
      return kOfSign;
    default:
      return {};
  }
}

}  // namespace

VectorEmitter::VectorEmitter(const Spec& spec, const VectorUnit& machine)
    : CodeGenerator(Xbyak::DEFAULT_MAX_CODE_SIZE, Xbyak::AutoGrow, replay::native::CodeAllocator::instance()),
      machine_(machine),
      operations_(spec.operations),
      divisors_(spec.divisors),
      sum_(spec.sum),
      argmin_(spec.argmin),
      inputs_(spec.inputs),
      stored_(spec.stored),
      non_temporal_(spec.non_temporal),
      prefetches_(spec.prefetches) {
  setDefaultJmpNEAR(true);
}

std::unique_ptr<VectorEmitter> VectorEmitter::make(const Spec& spec, int lanes) {
  if (lanes == kAvx512Unit.lanes) {
    return std::make_unique<Avx512Emitter>(spec);
  }
  return std::make_unique<Avx2Emitter>(spec);
}

bool VectorEmitter::emit(std::size_t vectors, std::size_t hoisted) {
  vectors_ = vectors;
  collect(hoisted);
  Label behind;
  Label last;
  check_rounding_mode();
  for (const int number : kSaved) {
    push(Reg64(number));
  }
  if (iterates_rows()) {
    push(rdx);
    push(rcx);
  }
  for (std::size_t i = 0; i < bases_.size() && i < kBases.size(); ++i) {
    mov(Reg64(kBases.at(i)), ptr[rdi + bases_[i] * kItemBytes]);
  }
  for (Value& value : values_) {
    if (value.is_hoisted) {
      value.reg = allocate();
      load(value);
    }
  }
  begin_code();
  Label row;
  L(row);
  xor_(eax, eax);
  if (argmin_.result >= 0) {
    rows();
    jmp(last);
  } else if (sum_.result >= 0) {
    leaf_loops(behind);
  } else {
    main_loop();
  }
  L(behind);
  if (sum_.result >= 0) {
    mov(rsi, ptr[rsp + kItemBytes]);
  }
  emit_remainder(last);
  L(last);
  if (iterates_rows()) {
    next_row(row);
  }
  end_code();
  Label finish;
  L(finish);
  vzeroupper();
  if (sum_.result >= 0 || iterates_rows()) {
    add(rsp, 2 * kItemBytes);
  }
  for (std::size_t i = kSaved.size(); i-- > 0;) {
    pop(Reg64(kSaved.at(i)));
  }
  ret();
  L(ambiguous_);
  mov(eax, 1);
  jmp(finish);
  emit_cold_paths();
  emit_pool();
  ready(PROTECT_RW);  // resolves labels; the code runs in executable memory
  return !is_out_of_registers_;
}

// The stack holds a pointer to the row steps, by slot, and the number of rows left.
void VectorEmitter::next_row(const Label& row) {
  Label end;
  dec(qword[rsp + kItemBytes]);
  jz(end);
  mov(rcx, ptr[rsp]);
  for (std::size_t i = 0; i < bases_.size(); ++i) {
    const int offset = bases_[i] * kItemBytes;
    if (i < kBases.size()) {
      add(Reg64(kBases.at(i)), ptr[rcx + offset]);
    } else {
      mov(rdx, ptr[rcx + offset]);
      add(ptr[rdi + offset], rdx);
    }
  }
  jmp(row);
  L(end);
}

void VectorEmitter::main_loop() {
  const auto step = static_cast<std::uint32_t>(vectors_) * static_cast<std::uint32_t>(machine_.lanes);
  Label loop;
  Label end;
  sub(rsi, step);
  jl(end);
  L(loop);
  body(vectors_);
  add(rax, step);
  cmp(rax, rsi);
  jle(loop);
  L(end);
  add(rsi, step);
}

void VectorEmitter::leaf_loops(const Label& behind) {
  Label next;
  push(rsi);
  push(qword[rdi + sum_.leaves * kItemBytes]);
  L(next);
  mov(rcx, ptr[rsp]);
  mov(rsi, ptr[rcx + offsetof(SumLeaf, end)]);
  sub(rsi, kLeafLanes);
  jl(behind);
  begin_sums();
  leaf_loop();
  mov(rcx, ptr[rsp]);
  store_sums(rcx);
  add(qword[rsp], static_cast<int>(sizeof(SumLeaf)));
  jmp(next);
}

void VectorEmitter::use_constant(Constant constant, std::size_t number) {
  int& value = by_constant_.at(static_cast<std::size_t>(constant));
  if (value < 0) {
    value = static_cast<int>(values_.size());
    values_.push_back({.is_scalar = true, .in_memory = true, .constant = constant});
  }
  values_[value].uses.push_back(number);
}

// A value that is not shared has one register for each vector.
void VectorEmitter::add_value(const Value& value) {
  for (std::size_t vector = 0; vector < vectors_; ++vector) {
    if (vector == 0 || !value.is_shared()) {
      values_.push_back(value);
    }
    by_slot_.at(vector).at(static_cast<std::size_t>(value.slot)) = static_cast<int>(values_.size()) - 1;
  }
}

void VectorEmitter::collect(std::size_t hoisted) {
  for (auto& values : by_slot_) {
    values.fill(kUnassigned);
  }
  by_constant_.fill(kUnassigned);
  for (const VectorInput& input : inputs_) {
    add_value({.is_scalar = input.place == InputKind::kScalar,
               .is_bool = input.place == InputKind::kBools,
               .is_item = input.place == InputKind::kItems,
               .in_memory = true,
               .slot = input.slot});
  }
  for (std::size_t number = 0; number < operations_.size(); ++number) {
    const VectorOperation& operation = operations_[number];
    for (unsigned i = 0; i < operation.nin; ++i) {
      for (std::size_t vector = 0; vector < vectors_; ++vector) {
        values_[by_slot_.at(vector).at(operation.in.at(i))].uses.push_back(number);
      }
    }
    for (const Constant constant : operands_of(operation.what)) {
      use_constant(constant, number);
    }
    const bool makes_bool =
        is_bool(operation.what) || (operation.what == VectorOp::kCopy && values_[value_of(operation.in[0])].is_bool);
    add_value({.is_bool = makes_bool,
               .is_stored = std::ranges::find(stored_, operation.out) != stored_.end(),
               .is_non_temporal = std::ranges::find(non_temporal_, operation.out) != non_temporal_.end(),
               .is_ordered = is_function(operation.what),
               .slot = operation.out});
  }
  // Constants of functions come last, so they are the first to go without a register.
  for (std::size_t number = 0; number < operations_.size(); ++number) {
    for (const Constant constant : kept_constants(operations_[number].what)) {
      use_constant(constant, number);
    }
  }
  hoisted = std::min(hoisted, spare_registers());
  for (Value& value : values_) {
    if (value.is_scalar && hoisted_ < hoisted) {
      value.is_hoisted = true;
      ++hoisted_;
    }
    if (!value.is_scalar && (value.in_memory || value.is_stored) &&
        std::ranges::find(bases_, value.slot) == bases_.end()) {
      bases_.push_back(value.slot);
    }
  }
  if (argmin_.result >= 0) {
    bases_.push_back(argmin_.places);
  }
  free_.clear();
  for (int number = machine_.registers; number-- > 0;) {
    free_.push_back(number);
  }
}

// Counts the live results that are not in memory, and the registers that one operation needs at once.
std::size_t VectorEmitter::spare_registers() const {
  std::size_t most = 0;
  std::size_t kept = 0;
  for (std::size_t number = 0; number < operations_.size(); ++number) {
    const VectorOperation& operation = operations_[number];
    std::size_t shared = 1 + operands_of(operation.what).size();
    std::size_t each = kept + 1 + registers_of(operation.what);
    std::size_t over = 0;
    for (unsigned i = 0; i < operation.nin; ++i) {
      const Value& value = values_[value_of(operation.in.at(i))];
      const bool is_kept = !value.in_memory && !value.is_stored;
      shared += value.is_shared() ? 1 : 0;
      each += is_kept || value.is_shared() ? 0 : 1;
      const bool is_first =
          std::find(operation.in.begin(), operation.in.begin() + i, operation.in.at(i)) == operation.in.begin() + i;
      over += is_kept && is_first && value.uses.back() == number ? 1 : 0;
    }
    most = std::max(most, (each * vectors_) + shared);
    const Value& out = values_[value_of(operation.out)];
    kept += !out.is_stored && !out.uses.empty() ? 1 : 0;
    kept -= over;
  }
  return static_cast<std::size_t>(std::max(0, machine_.registers - static_cast<int>(most + fixed_registers())));
}

int VectorEmitter::allocate() {
  if (free_.empty()) {
    for (Value& value : values_) {
      const bool is_pinned = std::ranges::find(pinned_, &value) != pinned_.end();
      if (value.reg >= 0 && !value.is_hoisted && value.in_memory && !is_pinned) {
        return std::exchange(value.reg, kUnassigned);
      }
    }
    is_out_of_registers_ = true;
    return 0;
  }
  const int reg = free_.back();
  free_.pop_back();
  return reg;
}

Reg64 VectorEmitter::base_of(int slot) {
  const auto known = static_cast<std::size_t>(std::ranges::find(bases_, slot) - bases_.begin());
  if (known < kBases.size()) {
    return Reg64(kBases.at(known));
  }
  mov(rdx, ptr[rdi + slot * kItemBytes]);
  return rdx;
}

Xbyak::RegExp VectorEmitter::address(const Value& value) {
  const Reg64 base = base_of(value.slot);
  const int begin = static_cast<int>(vector_) * machine_.lanes;
  return value.is_bool ? base + rax + begin : base + rax * kItemBytes + begin * kItemBytes;
}

void VectorEmitter::load(const Value& value) {
  if (value.is_scalar) {
    if (value.constant != Constant::kNone) {
      load(value.reg, value.constant);
    } else {
      mov(rdx, ptr[rdi + value.slot * kItemBytes]);
      broadcast(value.reg, ptr[rdx]);
    }
    return;
  }
  if (value.is_item) {
    broadcast(value.reg, ptr[base_of(value.slot) + static_cast<int>(item_) * kItemBytes]);
    return;
  }
  const Xbyak::RegExp from = address(value);
  if (value.is_bool) {
    load_bools(value.reg, from);
    return;
  }
  if (prefetches_ && !is_remainder_) {
    prefetcht0(ptr[from + kPrefetchDistance]);
  }
  load_doubles(value.reg, from);
}

Xbyak::RegRip VectorEmitter::pooled(Constant constant) {
  const auto index = static_cast<std::size_t>(constant);
  is_pooled_.at(index) = true;
  return rip + in_pool_.at(index);
}

void VectorEmitter::load(int reg, Constant constant) {
  if (bits_of(constant).size() == 1) {
    broadcast(reg, ptr[pooled(constant)]);
  } else {
    load_vector(reg, ptr[pooled(constant)]);
  }
}

void VectorEmitter::emit_pool() {
  align(kPoolBytes);
  L(numbers_);
  for (Extent number = 0; number < argmin_.row; ++number) {
    dq(static_cast<std::uint64_t>(number));
  }
  align(kPoolBytes);
  // Constants of a whole vector first, so that none crosses a cache line.
  for (const bool are_vectors : {true, false}) {
    for (std::size_t index = 0; index < kConstants; ++index) {
      const auto constant = static_cast<Constant>(index);
      const std::span<const std::uint64_t> items = bits_of(constant);
      if (is_pooled_.at(index) && (items.size() > 1 || is_glibc_number(constant)) == are_vectors) {
        L(in_pool_.at(index));
        for (int copy = 0; copy < (is_glibc_number(constant) ? machine_.lanes : 1); ++copy) {
          for (const std::uint64_t item : items) {
            dq(item);
          }
        }
      }
    }
  }
}

int VectorEmitter::in_register(Value* value) {
  if (value->reg < 0) {
    value->reg = allocate();
    load(*value);
  }
  return value->reg;
}

// A NaN result is ambiguous: the instructions do not fix which of two NaNs it is. One comparison checks two vectors
// that are stored in succession. The first keeps its register until then: reading it back from memory would wait for
// the store's cache line.
void VectorEmitter::check_order(Value* value) {
  if (value->is_ordered) {
    return;
  }
  const bool is_in_pairs = value->is_stored && !value->is_non_temporal && !is_remainder_ && argmin_.result < 0;
  const bool is_second = vector_ % 2 == 1;
  if (is_in_pairs && !is_second && vector_ + 1 < body_vectors_) {
    unchecked_ = value;
    return;
  }
  if (!is_in_pairs || !is_second) {
    mark_nans(value->reg, vector(value->reg));
    return;
  }
  Value* const first = std::exchange(unchecked_, nullptr);
  if (first->reg >= 0) {
    mark_nans(value->reg, vector(first->reg));
    pinned_.push_back(first);
  } else {
    mark_nans(value->reg, ptr[address(*value) - machine_.lanes * kItemBytes]);
  }
}

void VectorEmitter::store(Value* value) {
  if (value->is_bool) {
    store_bools(value->reg, *value);
  } else {
    check_order(value);
    if (value->is_non_temporal && !is_remainder_) {
      store_non_temporal(value->reg, address(*value));
    } else {
      store_doubles(value->reg, address(*value));
    }
  }
  value->in_memory = !value->is_non_temporal;  // a reload would read main memory
}

// Another body's register contents are not valid here, except values that all items of a row share.
void VectorEmitter::forget_registers(bool keeps_row) {
  for (Value& value : values_) {
    if (!value.is_hoisted && value.reg >= 0 && !(keeps_row && is_kept_in_row(value))) {
      release(std::exchange(value.reg, kUnassigned));
    }
    if (value.is_stored) {
      value.in_memory = false;
    }
  }
}

void VectorEmitter::body(std::size_t vectors) {
  body_vectors_ = vectors;
  forget_registers();
  compute_all();
}

void VectorEmitter::compute_all() {
  for (std::size_t number = 0; number < operations_.size() && !is_out_of_registers_; ++number) {
    const VectorOperation& operation = operations_[number];
    if (is_batched(operation.what)) {
      compute_function(number);
      continue;
    }
    for (vector_ = 0; vector_ < body_vectors_; ++vector_) {
      pinned_.clear();
      const Operands in = begin(operation);
      Value& out = begin_result(operation);
      compute(operation.what, out.reg, {in.data(), in.size()});
      finish(operation, &out);
      release_operands(number);
    }
    vector_ = 0;
  }
}

bool VectorEmitter::is_batched(VectorOp what) const { return is_function(what) && !is_glibc(what); }

void VectorEmitter::compute_function(std::size_t number) {
  const VectorOperation& operation = operations_[number];
  pinned_.clear();
  Registers in;
  for (vector_ = 0; vector_ < body_vectors_; ++vector_) {
    in.push_back(begin(operation)[0]);
  }
  Registers out;
  for (vector_ = 0; vector_ < body_vectors_; ++vector_) {
    out.push_back(begin_result(operation).reg);
  }
  vector_ = 0;
  compute_batch(operation.what, out, in);
  for (; vector_ < body_vectors_; ++vector_) {
    finish(operation, &values_[value_of(operation.out)]);
  }
  --vector_;  // shared values are released behind the last vector
  release_operands(number);
  vector_ = 0;
}

VectorEmitter::Operands VectorEmitter::begin(const VectorOperation& operation) {
  const std::size_t first = pinned_.size();
  for (unsigned i = 0; i < operation.nin; ++i) {
    pinned_.push_back(&values_[value_of(operation.in.at(i))]);
  }
  for (const Constant constant : operands_of(operation.what)) {
    pinned_.push_back(&values_[by_constant_.at(static_cast<std::size_t>(constant))]);
  }
  Operands in;
  for (std::size_t i = first; i < pinned_.size(); ++i) {
    in.push_back(in_register(pinned_[i]));
  }
  return in;
}

VectorEmitter::Value& VectorEmitter::begin_result(const VectorOperation& operation) {
  Value& out = values_[value_of(operation.out)];
  out.reg = allocate();
  pinned_.push_back(&out);
  return out;
}

void VectorEmitter::finish(const VectorOperation& operation, Value* out) {
  if (out->is_stored) {
    store(out);
  }
  if (sum_.result == operation.out) {
    if (!out->is_stored) {
      check_order(out);
    }
    add_to_sums(out->reg);
  }
  if (argmin_.result == operation.out) {
    update_argmin(out->reg);
  }
}

void VectorEmitter::release_operands(std::size_t number) {
  const bool is_last = vector_ + 1 == body_vectors_;
  for (Value* value : pinned_) {
    const bool is_over = (value->uses.empty() || value->uses.back() <= number) && (is_last || !value->is_shared());
    if (is_over && value != unchecked_ && !value->is_hoisted && !is_kept_in_row(*value) && value->reg >= 0) {
      release(std::exchange(value->reg, kUnassigned));
    }
  }
}

}  // namespace tagalong::array

#endif
