#include "replay/codegen/vector/vector_emitter.h"

#ifdef __x86_64__

#include <algorithm>
#include <utility>

#include "replay/arrays/simd/non_temporal.h"
#include "replay/codegen/drafts.h"
#include "replay/codegen/vector/avx2_emitter.h"
#include "replay/codegen/vector/avx512_emitter.h"

namespace tagalong::array {
namespace {

using Xbyak::Label;
using Xbyak::Reg64;

constexpr int kPoolBytes = 64;  // a line of the cache

// Operands behind the program's own.
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

VectorEmitter::VectorEmitter(const Wanted& wanted, const Vectors& machine)
    : CodeGenerator(Xbyak::DEFAULT_MAX_CODE_SIZE, Xbyak::AutoGrow, replay::native::Drafts::memory()),
      machine_(machine),
      operations_(wanted.operations),
      divisors_(wanted.divisors),
      sum_(wanted.sum),
      argmin_(wanted.argmin),
      inputs_(wanted.inputs),
      stored_(wanted.stored),
      non_temporal_(wanted.non_temporal),
      prefetches_(wanted.prefetches) {
  setDefaultJmpNEAR(true);
}

std::unique_ptr<VectorEmitter> VectorEmitter::make(const Wanted& wanted, int lanes) {
  if (lanes == kAvx512Vectors.lanes) {
    return std::make_unique<Avx512Emitter>(wanted);
  }
  return std::make_unique<Avx2Emitter>(wanted);
}

bool VectorEmitter::emit(std::size_t vectors, std::size_t hoisted) {
  vectors_ = vectors;
  collect(hoisted);
  Label behind;
  Label last;
  begin_run();
  for (const int number : kSaved) {
    push(Reg64(number));
  }
  if (goes_through_rows()) {
    push(rdx);
    push(rcx);
  }
  for (std::size_t i = 0; i < bases_.size() && i < kBases.size(); ++i) {
    mov(Reg64(kBases.at(i)), ptr[rdi + bases_[i] * kItemBytes]);
  }
  for (Value& value : values_) {
    if (value.is_hoisted) {
      value.place = take();
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
    leaves(behind);
  } else {
    rounds();
  }
  L(behind);
  if (sum_.result >= 0) {
    mov(rsi, ptr[rsp + kItemBytes]);
  }
  rest(last);
  L(last);
  if (goes_through_rows()) {
    next_row(row);
  }
  end_code();
  Label finish;
  L(finish);
  vzeroupper();
  if (sum_.result >= 0 || goes_through_rows()) {
    add(rsp, 2 * kItemBytes);
  }
  for (std::size_t i = kSaved.size(); i-- > 0;) {
    pop(Reg64(kSaved.at(i)));
  }
  ret();
  L(is_open_);
  mov(eax, 1);
  jmp(finish);
  aside();
  pool();
  ready(PROTECT_RW);  // runs elsewhere
  return !is_full_;
}

// On the stack: how far it is to the next row, by slots, and how many rows there are.
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

void VectorEmitter::rounds() {
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

void VectorEmitter::leaves(const Label& behind) {
  Label next;
  push(rsi);
  push(qword[rdi + sum_.leaves * kItemBytes]);
  L(next);
  mov(rcx, ptr[rsp]);
  mov(rsi, ptr[rcx + offsetof(SumLeaf, end)]);
  sub(rsi, kLeafLanes);
  jl(behind);
  begin_sums();
  eights();
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

// What differs from vector to vector has a register for each.
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
    values.fill(kNowhere);
  }
  by_constant_.fill(kNowhere);
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
  // Last, so that they are the first without a register.
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

// Results that are nowhere else are counted, and what one operation has at once.
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

int VectorEmitter::take() {
  if (free_.empty()) {
    for (Value& value : values_) {
      const bool is_wanted = std::ranges::find(wanted_, &value) != wanted_.end();
      if (value.place >= 0 && !value.is_hoisted && value.in_memory && !is_wanted) {
        return std::exchange(value.place, kNowhere);
      }
    }
    is_full_ = true;
    return 0;
  }
  const int place = free_.back();
  free_.pop_back();
  return place;
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
      load(value.place, value.constant);
    } else {
      mov(rdx, ptr[rdi + value.slot * kItemBytes]);
      broadcast(value.place, ptr[rdx]);
    }
    return;
  }
  if (value.is_item) {
    broadcast(value.place, ptr[base_of(value.slot) + static_cast<int>(item_) * kItemBytes]);
    return;
  }
  const Xbyak::RegExp from = address(value);
  if (value.is_bool) {
    load_bools(value.place, from);
    return;
  }
  if (prefetches_ && !is_rest_) {
    prefetcht0(ptr[from + kPrefetchDistance]);
  }
  load_doubles(value.place, from);
}

Xbyak::RegRip VectorEmitter::pooled(Constant constant) {
  const auto index = static_cast<std::size_t>(constant);
  is_pooled_.at(index) = true;
  return rip + in_pool_.at(index);
}

void VectorEmitter::load(int place, Constant constant) {
  if (bits_of(constant).size() == 1) {
    broadcast(place, ptr[pooled(constant)]);
  } else {
    load_vector(place, ptr[pooled(constant)]);
  }
}

void VectorEmitter::pool() {
  align(kPoolBytes);
  L(numbers_);
  for (Extent number = 0; number < argmin_.row; ++number) {
    dq(static_cast<std::uint64_t>(number));
  }
  align(kPoolBytes);
  // Whole vectors first, so that none lies across two lines of the cache.
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
  if (value->place < 0) {
    value->place = take();
    load(*value);
  }
  return value->place;
}

// Which of two NaNs a result is, is left open. Two vectors that are stored one after another are looked at together.
// The first one keeps its register until then: read again, it would have to be in the innermost cache, which it comes
// to when its line has been fetched, and nothing behind it would be done before.
void VectorEmitter::check_order(Value* value) {
  if (value->is_ordered) {
    return;
  }
  const bool is_in_pairs = value->is_stored && !value->is_non_temporal && !is_rest_ && argmin_.result < 0;
  const bool is_second = vector_ % 2 == 1;
  if (is_in_pairs && !is_second && vector_ + 1 < in_body_) {
    held_ = value;
    return;
  }
  if (!is_in_pairs || !is_second) {
    note_nans(value->place, vector(value->place));
    return;
  }
  Value* const first = std::exchange(held_, nullptr);
  if (first->place >= 0) {
    note_nans(value->place, vector(first->place));
    wanted_.push_back(first);
  } else {
    note_nans(value->place, ptr[address(*value) - machine_.lanes * kItemBytes]);
  }
}

void VectorEmitter::store(Value* value) {
  if (value->is_bool) {
    store_bools(value->place, *value);
  } else {
    check_order(value);
    if (value->is_non_temporal && !is_rest_) {
      stream(value->place, address(*value));
    } else {
      store_doubles(value->place, address(*value));
    }
  }
  value->in_memory = !value->is_non_temporal;  // it would have to be read from afar
}

// What the other body has left in registers means nothing here, but what all items of a row take.
void VectorEmitter::forget_registers(bool keeps_row) {
  for (Value& value : values_) {
    if (!value.is_hoisted && value.place >= 0 && !(keeps_row && is_kept_in_row(value))) {
      release(std::exchange(value.place, kNowhere));
    }
    if (value.is_stored) {
      value.in_memory = false;
    }
  }
}

void VectorEmitter::body(std::size_t vectors) {
  in_body_ = vectors;
  forget_registers();
  compute_all();
}

void VectorEmitter::compute_all() {
  for (std::size_t number = 0; number < operations_.size() && !is_full_; ++number) {
    const VectorOperation& operation = operations_[number];
    if (is_in_steps(operation.what)) {
      compute_function(number);
      continue;
    }
    for (vector_ = 0; vector_ < in_body_; ++vector_) {
      wanted_.clear();
      const Operands in = begin(operation);
      Value& out = begin_result(operation);
      compute(operation.what, out.place, {in.data(), in.size()});
      finish(operation, &out);
      release_operands(number);
    }
    vector_ = 0;
  }
}

bool VectorEmitter::is_in_steps(VectorOp what) const { return is_function(what) && !is_glibc(what); }

void VectorEmitter::compute_function(std::size_t number) {
  const VectorOperation& operation = operations_[number];
  wanted_.clear();
  Places in;
  for (vector_ = 0; vector_ < in_body_; ++vector_) {
    in.push_back(begin(operation)[0]);
  }
  Places out;
  for (vector_ = 0; vector_ < in_body_; ++vector_) {
    out.push_back(begin_result(operation).place);
  }
  vector_ = 0;
  compute_together(operation.what, out, in);
  for (; vector_ < in_body_; ++vector_) {
    finish(operation, &values_[value_of(operation.out)]);
  }
  --vector_;  // what all share is no longer needed behind the last one
  release_operands(number);
  vector_ = 0;
}

VectorEmitter::Operands VectorEmitter::begin(const VectorOperation& operation) {
  const std::size_t first = wanted_.size();
  for (unsigned i = 0; i < operation.nin; ++i) {
    wanted_.push_back(&values_[value_of(operation.in.at(i))]);
  }
  for (const Constant constant : operands_of(operation.what)) {
    wanted_.push_back(&values_[by_constant_.at(static_cast<std::size_t>(constant))]);
  }
  Operands in;
  for (std::size_t i = first; i < wanted_.size(); ++i) {
    in.push_back(in_register(wanted_[i]));
  }
  return in;
}

VectorEmitter::Value& VectorEmitter::begin_result(const VectorOperation& operation) {
  Value& out = values_[value_of(operation.out)];
  out.place = take();
  wanted_.push_back(&out);
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
    add_to_sums(out->place);
  }
  if (argmin_.result == operation.out) {
    take_place(out->place);
  }
}

void VectorEmitter::release_operands(std::size_t number) {
  const bool is_last = vector_ + 1 == in_body_;
  for (Value* value : wanted_) {
    const bool is_over = (value->uses.empty() || value->uses.back() <= number) && (is_last || !value->is_shared());
    if (is_over && value != held_ && !value->is_hoisted && !is_kept_in_row(*value) && value->place >= 0) {
      release(std::exchange(value->place, kNowhere));
    }
  }
}

}  // namespace tagalong::array

#endif
