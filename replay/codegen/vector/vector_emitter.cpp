#include "replay/codegen/vector/vector_emitter.h"

#ifdef __x86_64__

#include <algorithm>

namespace tagalong::array {

bool VectorEmitter::emit() {
  Label row;
  Label rest;
  Label last;
  Label finish;
  prologue();
  hoist();
  arithmetic_.prepare_divisors();
  asm_.begin_marks();
  asm_.L(row);
  asm_.xor_(eax, eax);
  if (spec_.has_argmin()) {
    row_loop();
    asm_.jmp(last);
  } else if (spec_.has_sum()) {
    leaf_loops(rest);
  } else {
    main_loop();
  }
  asm_.L(rest);
  if (spec_.has_sum()) {
    asm_.mov(rsi, ptr[rsp + kPointerBytes]);
  }
  remainder(last);
  asm_.L(last);
  if (spec_.iterates_rows()) {
    next_row(row);
  }
  asm_.end_marks();
  asm_.L(finish);
  asm_.vzeroupper();
  if (spec_.has_sum() || spec_.iterates_rows()) {
    asm_.add(rsp, 2 * kPointerBytes);
  }
  for (std::size_t i = kSaved.size(); i-- > 0;) {
    asm_.pop(Reg64(kSaved.at(i)));
  }
  asm_.ret();
  asm_.L(emission_.ambiguous);
  asm_.mov(eax, 1);
  asm_.jmp(finish);
  glibc_.emit_cold_paths();
  memory_.emit_constants();
  asm_.ready(VectorAssembler::PROTECT_RW);  // resolves labels; the code runs in executable memory
  return !registers_.is_exhausted();
}

// The stack holds a pointer to the row steps, by slot, and the number of rows left.
void VectorEmitter::prologue() {
  glibc_.check_rounding_mode();
  for (const int number : kSaved) {
    asm_.push(Reg64(number));
  }
  if (spec_.iterates_rows()) {
    asm_.push(rdx);
    asm_.push(rcx);
  }
  memory_.load_pointers();
}

void VectorEmitter::hoist() {
  for (KernelValue& value : emission_.values.all()) {
    if (value.is_hoisted) {
      value.reg = registers_.allocate();
      memory_.load(value);
    }
  }
}

void VectorEmitter::next_row(const Label& row) {
  Label end;
  asm_.dec(qword[rsp + kPointerBytes]);
  asm_.jz(end);
  asm_.mov(rcx, ptr[rsp]);
  memory_.advance_pointers();
  asm_.jmp(row);
  asm_.L(end);
}

void VectorEmitter::main_loop() {
  const auto step = static_cast<std::uint32_t>(vectors_) * static_cast<std::uint32_t>(unit_.lanes);
  Label loop;
  Label end;
  asm_.sub(rsi, step);
  asm_.jl(end);
  asm_.L(loop);
  body(vectors_);
  asm_.add(rax, step);
  asm_.cmp(rax, rsi);
  asm_.jle(loop);
  asm_.L(end);
  asm_.add(rsi, step);
}

void VectorEmitter::leaf_loops(const Label& rest) {
  Label next;
  asm_.push(rsi);
  asm_.push(qword[rdi + spec_.sum.leaves * kPointerBytes]);
  asm_.L(next);
  asm_.mov(rcx, ptr[rsp]);
  asm_.mov(rsi, ptr[rcx + offsetof(SumLeaf, end)]);
  asm_.sub(rsi, kLeafLanes);
  asm_.jl(rest);
  sums_.begin_leaf();
  group_loop();
  asm_.mov(rcx, ptr[rsp]);
  sums_.store_leaf(rcx);
  asm_.add(qword[rsp], static_cast<int>(sizeof(SumLeaf)));
  asm_.jmp(next);
}

void VectorEmitter::group_loop() {
  const std::size_t groups = vectors_ / sums_.group();  // in an iteration
  const auto others = static_cast<std::uint32_t>(groups > 1 ? (groups - 1) * kLeafLanes : 0);
  Label end;
  if (groups > 1) {
    Label loop;
    Label one;
    asm_.sub(rsi, others);
    asm_.cmp(rax, rsi);
    asm_.jg(one);
    asm_.L(loop);
    body(vectors_);
    asm_.add(rax, others + kLeafLanes);
    asm_.cmp(rax, rsi);
    asm_.jle(loop);
    asm_.L(one);
    asm_.add(rsi, others);
    asm_.cmp(rax, rsi);
    asm_.jg(end);
  }
  Label loop;
  asm_.L(loop);
  const std::size_t vectors = std::min(vectors_, sums_.group());
  for (std::size_t first = 0; first < sums_.group(); first += vectors) {
    sums_.begin_body(first);
    body(vectors);
    asm_.add(rax, static_cast<int>(vectors) * unit_.lanes);
  }
  asm_.cmp(rax, rsi);
  asm_.jle(loop);
  asm_.L(end);
}

// The last group of rows overlaps the one before, so that it fills all lanes.
void VectorEmitter::row_loop() {
  Label loop;
  Label end;
  argmin_.begin();
  asm_.L(loop);
  argmin_.begin_rows();
  for (position_.item = 0; position_.item < spec_.argmin.row && !registers_.is_exhausted(); ++position_.item) {
    forget_registers(position_.item > 0);
    compute_all();
  }
  argmin_.store_rows();
  asm_.add(rax, unit_.lanes);
  asm_.cmp(rax, rsi);
  asm_.jge(end);
  asm_.lea(rcx, ptr[rsi - unit_.lanes]);
  asm_.cmp(rax, rcx);
  asm_.cmovg(rax, rcx);
  asm_.jmp(loop);
  asm_.L(end);
}

// The elements behind the last whole iteration, up to rsi.
void VectorEmitter::remainder(const Label& end) {
  if (unit_.has_masks) {
    masked_remainder(end);
  } else {
    single_elements(end);
  }
}

void VectorEmitter::masked_remainder(const Label& end) {
  Label remaining;
  asm_.L(remaining);
  asm_.mov(rcx, rsi);
  asm_.sub(rcx, rax);
  asm_.jle(end);
  asm_.mov(edx, unit_.lanes);
  asm_.cmp(rcx, rdx);
  asm_.cmovg(rcx, rdx);
  asm_.mask_elements(emission_.values.has_parts());
  asm_.begin_remainder();
  body(1);
  if (vectors_ > 1 && !spec_.has_sum()) {
    asm_.add(rax, unit_.lanes);
    asm_.jmp(remaining);
  }
}

// Whole vectors first.
void VectorEmitter::single_elements(const Label& end) {
  if (!spec_.has_sum() && vectors_ > 1) {
    Label next;
    Label one_by_one;
    asm_.L(next);
    asm_.lea(rcx, ptr[rax + unit_.lanes]);
    asm_.cmp(rcx, rsi);
    asm_.jg(one_by_one);
    body(1);
    asm_.add(rax, unit_.lanes);
    asm_.jmp(next);
    asm_.L(one_by_one);
  }
  Label remaining;
  asm_.L(remaining);
  asm_.cmp(rax, rsi);
  asm_.jge(end);
  asm_.begin_remainder();
  body(1);
  asm_.inc(rax);
  asm_.jmp(remaining);
}

// Another body's register contents are not valid here, except values that all items of a row share.
void VectorEmitter::forget_registers(bool keeps_row) {
  for (KernelValue& value : emission_.values.all()) {
    if (!value.is_hoisted && value.reg >= 0 && !(keeps_row && is_kept_in_row(value))) {
      registers_.release(&value);
    }
    if (value.is_stored) {
      value.in_memory = false;
    }
  }
}

void VectorEmitter::body(std::size_t vectors) {
  position_.body_vectors = vectors;
  forget_registers();
  compute_all();
}

void VectorEmitter::compute_all() {
  for (std::size_t number = 0; number < spec_.operations.size() && !registers_.is_exhausted(); ++number) {
    const VectorOp what = spec_.operations[number].what;
    if (is_function(what) && !is_glibc(what)) {
      compute_batch(number);
    } else {
      compute(number);
    }
  }
}

void VectorEmitter::compute(std::size_t number) {
  const VectorOperation& operation = spec_.operations[number];
  for (position_.vector = 0; position_.vector < position_.body_vectors; ++position_.vector) {
    registers_.unpin_all();
    const Operands in = begin(operation);
    KernelValue& out = begin_result(operation);
    if (is_glibc(operation.what)) {
      glibc_.compute(operation.what, out.reg, in[0]);
    } else if (!is_float(operation.type) && info(operation.what).lanes != VectorLanes::kBits) {
      integers_.compute(operation, out.reg, {in.data(), in.size()});
    } else {
      arithmetic_.compute(operation, out.reg, {in.data(), in.size()});
    }
    finish(operation, &out);
    release_operands(number);
  }
  position_.vector = 0;
}

void VectorEmitter::compute_batch(std::size_t number) {
  const VectorOperation& operation = spec_.operations[number];
  registers_.unpin_all();
  KernelRegisters in;
  for (position_.vector = 0; position_.vector < position_.body_vectors; ++position_.vector) {
    in.push_back(begin(operation)[0]);
  }
  KernelRegisters out;
  for (position_.vector = 0; position_.vector < position_.body_vectors; ++position_.vector) {
    out.push_back(begin_result(operation).reg);
  }
  position_.vector = 0;
  svml_.compute(operation.what, out, in);
  for (; position_.vector < position_.body_vectors; ++position_.vector) {
    finish(operation, &emission_.values.of_slot(operation.out, position_.vector));
  }
  --position_.vector;  // shared values are released behind the last vector
  release_operands(number);
  position_.vector = 0;
}

VectorEmitter::Operands VectorEmitter::begin(const VectorOperation& operation) {
  const std::size_t first = registers_.pinned().size();
  for (unsigned i = 0; i < operation.nin; ++i) {
    registers_.pin(&emission_.values.of_slot(operation.in.at(i), position_.vector));
  }
  for (const Constant constant : operands_of(operation)) {
    registers_.pin(&emission_.values.of_constant(constant));
  }
  Operands in;
  const std::size_t end = registers_.pinned().size();  // loading one part of a complex number may pin the other one
  for (std::size_t i = first; i < end; ++i) {
    in.push_back(memory_.in_register(registers_.pinned()[i]));
  }
  return in;
}

KernelValue& VectorEmitter::begin_result(const VectorOperation& operation) {
  KernelValue& out = emission_.values.of_slot(operation.out, position_.vector);
  out.reg = registers_.allocate();
  registers_.pin(&out);
  return out;
}

void VectorEmitter::finish(const VectorOperation& operation, KernelValue* out) {
  if (out->is_stored) {
    memory_.store(out);
  }
  if (spec_.sum.result == operation.out) {
    if (!out->is_stored) {
      memory_.mark_nans(out);
    }
    sums_.add(out->reg);
  }
  if (spec_.argmin.result == operation.out) {
    argmin_.add(out->reg);
  }
}

void VectorEmitter::release_operands(std::size_t number) {
  for (KernelValue* value : registers_.pinned()) {
    const bool is_over =
        (value->uses.empty() || value->uses.back() <= number) && (position_.is_last() || !value->is_shared());
    if (is_over && value != memory_.unchecked() && !value->is_hoisted && !is_kept_in_row(*value) && value->reg >= 0) {
      registers_.release(value);
    }
  }
}

}  // namespace tagalong::array

#endif
