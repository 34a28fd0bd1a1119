#include "replay/codegen/vector/memory_code.h"

#ifdef __x86_64__

#include <algorithm>
#include <utility>

#include "replay/arrays/simd/non_temporal.h"

namespace tagalong::array {

void MemoryCode::load_pointers() {
  const std::vector<int>& bases = values_.bases();
  for (std::size_t i = 0; i < bases.size() && i < kPointers.size(); ++i) {
    asm_.mov(Reg64(kPointers.at(i)), ptr[rdi + bases[i] * kPointerBytes]);
  }
}

void MemoryCode::advance_pointers() {
  const std::vector<int>& bases = values_.bases();
  for (std::size_t i = 0; i < bases.size(); ++i) {
    const int offset = bases[i] * kPointerBytes;
    if (i < kPointers.size()) {
      asm_.add(Reg64(kPointers.at(i)), ptr[rcx + offset]);
    } else {
      asm_.mov(rdx, ptr[rcx + offset]);
      asm_.add(ptr[rdi + offset], rdx);
    }
  }
}

Reg64 MemoryCode::pointer(int slot) {
  slot = memory_of(static_cast<Slot>(slot));
  const std::vector<int>& bases = values_.bases();
  const auto known = static_cast<std::size_t>(std::ranges::find(bases, slot) - bases.begin());
  if (known < kPointers.size()) {
    return Reg64(kPointers.at(known));
  }
  asm_.mov(rdx, ptr[rdi + slot * kPointerBytes]);
  return rdx;
}

Xbyak::RegExp MemoryCode::address(const KernelValue& value) {
  const Reg64 base = pointer(value.slot);
  const int begin = static_cast<int>(position_.vector) * asm_.unit().lanes;
  if (value.is_part) {
    const int part = asm_.unit().item_bytes;
    asm_.lea(rcx, ptr[rax + rax]);  // addresses have no factor of sixteen
    return base + rcx * part + begin * 2 * part;
  }
  const int item = value.is_widened    ? info(value.from).bytes
                   : value.is_half     ? info(LaneType::kFloat16).bytes
                   : value.is_narrowed ? info(value.to).bytes
                                       : asm_.unit().item_bytes;
  return value.is_bool ? base + rax + begin : base + rax * item + begin * item;
}

Xbyak::RegRip MemoryCode::operand(Constant constant) {
  const auto index = static_cast<std::size_t>(constant);
  is_used_.at(index) = true;
  return rip + labels_.at(index);
}

Xbyak::Address MemoryCode::item_number(Extent item) {
  return ptr[rip + item_numbers_ + static_cast<int>(item) * asm_.unit().item_bytes];
}

void MemoryCode::load(int reg, Constant constant) {
  if (bits_of(constant).size() == 1) {
    asm_.broadcast(reg, ptr[operand(constant)]);
  } else {
    asm_.load_vector(reg, ptr[operand(constant)]);
  }
}

void MemoryCode::emit_constants() {
  constexpr int kLine = 64;  // bytes of a cache line
  asm_.align(kLine);
  asm_.L(item_numbers_);
  for (Extent number = 0; number < spec_.argmin.row; ++number) {
    asm_.dq(static_cast<std::uint64_t>(number));
  }
  asm_.align(kLine);
  // Constants of a whole vector first, so that none crosses a cache line.
  for (const bool are_vectors : {true, false}) {
    for (std::size_t index = 0; index < kConstants; ++index) {
      const auto constant = static_cast<Constant>(index);
      const std::span<const std::uint64_t> items = bits_of(constant);
      if (is_used_.at(index) && (items.size() > 1 || is_glibc_number(constant)) == are_vectors) {
        asm_.L(labels_.at(index));
        for (int copy = 0; copy < (is_glibc_number(constant) ? asm_.unit().lanes : 1); ++copy) {
          for (const std::uint64_t item : items) {
            asm_.dq(item);
          }
        }
      }
    }
  }
}

void MemoryCode::load(const KernelValue& value) {
  if (value.is_scalar) {
    if (value.constant != Constant::kNone) {
      load(value.reg, value.constant);
    } else {
      const auto slot = static_cast<Slot>(value.slot);
      asm_.mov(rdx, ptr[rdi + memory_of(slot) * kPointerBytes]);
      if (value.is_half) {
        return asm_.broadcast_half(value.reg, ptr[rdx]);
      }
      asm_.broadcast(value.reg, ptr[rdx + (is_imaginary(slot) ? asm_.unit().item_bytes : 0)]);
    }
    return;
  }
  if (value.is_item) {
    asm_.broadcast(value.reg, ptr[pointer(value.slot) + static_cast<int>(position_.item) * asm_.unit().item_bytes]);
    return;
  }
  const Xbyak::RegExp from = address(value);
  if (value.is_bool) {
    asm_.load_bools(value.reg, from);
    return;
  }
  if (value.is_widened) {
    asm_.load_widened(value.reg, from, value.from, value.to);
    return;
  }
  if (value.is_half) {  // a result
    asm_.load_widened(value.reg, from, LaneType::kFloat16, LaneType::kFloat32);
    return;
  }
  if (spec_.prefetches && !asm_.is_remainder()) {
    asm_.prefetcht0(ptr[from + kPrefetchDistance]);
  }
  asm_.load_numbers(value.reg, from);
}

int MemoryCode::in_register(KernelValue* value) {
  if (value->reg < 0) {
    value->reg = allocate();
    if (value->is_part) {
      load_parts(value);
    } else {
      load(*value);
    }
  }
  return value->reg;
}

KernelValue& MemoryCode::other_part(const KernelValue& value) {
  return values_.of_slot(static_cast<Slot>(value.slot ^ kImaginaryPart), position_.vector);
}

// Loads both parts where the other one is used, too.
void MemoryCode::load_parts(KernelValue* value) {
  KernelValue& other = other_part(*value);
  const bool is_used = other.reg < 0 && other.in_memory && !other.uses.empty();
  const int reg = allocate();
  if (is_used) {
    other.reg = reg;
    registers_.pin(&other);
  }
  if (is_imaginary(static_cast<Slot>(value->slot))) {
    asm_.load_parts(reg, value->reg, address(*value));
  } else {
    asm_.load_parts(value->reg, reg, address(*value));
  }
  if (!is_used) {
    release(reg);
  }
}

void MemoryCode::store_parts(KernelValue* value) {
  KernelValue& real = other_part(*value);
  registers_.pin(&real);
  asm_.mark_nans(value->reg, asm_.vector(real.reg));
  const bool is_non_temporal = value->is_non_temporal && !asm_.is_remainder();
  asm_.store_parts(real.reg, value->reg, address(*value), is_non_temporal);
  value->in_memory = real.in_memory = !value->is_non_temporal;
}

void MemoryCode::store(KernelValue* value) {
  if (value->is_part) {
    if (is_imaginary(static_cast<Slot>(value->slot))) {
      store_parts(value);
    }
    return;
  }
  if (value->is_bool) {
    const int bytes = asm_.bytes_of(value->reg);
    asm_.store_bytes(bytes, address(*value));
  } else {
    mark_nans(value);
    if (value->is_half) {
      asm_.store_half(value->reg, address(*value));
    } else if (value->is_narrowed) {
      asm_.store_narrowed(value->reg, address(*value), value->from, value->to);
    } else if (value->is_non_temporal && !asm_.is_remainder()) {
      asm_.store_non_temporal(value->reg, address(*value));
    } else {
      asm_.store_numbers(value->reg, address(*value));
    }
  }
  value->in_memory =
      value->is_half || (!value->is_non_temporal && !value->is_narrowed);  // a reload would read main memory
}

// One comparison checks two vectors that are stored in succession. The first keeps its register until then: reading it
// back from memory would wait for the store's cache line.
void MemoryCode::mark_nans(KernelValue* value) {
  if (value->is_ordered) {
    return;
  }
  const bool is_in_pairs = value->is_stored && !value->is_half && !value->is_narrowed && !value->is_non_temporal &&
                           !asm_.is_remainder() && !spec_.has_argmin();
  const bool is_second = position_.vector % 2 == 1;
  if (is_in_pairs && !is_second && !position_.is_last()) {
    unchecked_ = value;
    return;
  }
  if (!is_in_pairs || !is_second) {
    asm_.mark_nans(value->reg, asm_.vector(value->reg));
    return;
  }
  KernelValue* const first = std::exchange(unchecked_, nullptr);
  if (first->reg >= 0) {
    asm_.mark_nans(value->reg, asm_.vector(first->reg));
    registers_.pin(first);
  } else {
    asm_.mark_nans(value->reg, ptr[address(*value) - asm_.vector_bytes()]);
  }
}

}  // namespace tagalong::array

#endif
