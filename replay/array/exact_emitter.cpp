#include "replay/array/exact_emitter.h"

#ifdef __x86_64__

#include <algorithm>
#include <utility>

#include "replay/array/lanes.h"
#include "replay/array/streaming.h"
#include "replay/native/drafts.h"

namespace tagalong::array {
namespace {

using Xbyak::Label;
using Xbyak::Opmask;
using Xbyak::Reg64;
using Xbyak::Zmm;

constexpr int kVectorBytes = 64;
constexpr int kAllLanes = 0xFF;
constexpr int kSelectBits = 0xCA;  // vpternlog: a ? b : c, bit by bit
constexpr int kSelectLast = 0xD8;  // c ? b : a

// On the way to a result.
std::size_t registers_of(Exact what) {
  switch (what) {
    case Exact::kExp:
      return 5;
    case Exact::kLog:
      return 7;
    default:
      return 0;
  }
}

constexpr std::size_t kOfFinding = 3;  // registers
constexpr std::size_t kOfRoot = 2;

// Operands behind the program's own.
std::span<const Constant> operands_of(Exact what) {
  static constexpr std::array kOfSigns{Constant::kSignBit};
  static constexpr std::array kOfReciprocal{Constant::kOne};
  static constexpr std::array kOfSign{Constant::kOne, Constant::kMinusOne};
  switch (what) {
    case Exact::kNegative:
    case Exact::kAbsolute:
      return kOfSigns;
    case Exact::kReciprocal:
      return kOfReciprocal;
    case Exact::kSign:
      return kOfSign;
    default:
      return {};
  }
}

}  // namespace

ExactEmitter::ExactEmitter(std::span<const ExactOperation> operations, std::span<const ExactInput> inputs,
                           std::span<const std::uint8_t> stored, std::span<const std::uint8_t> streamed, ExactSum sum,
                           std::span<const std::uint8_t> divisors, const ExactFinding& finding, bool has_quick_roots,
                           bool asks_ahead)
    : CodeGenerator(Xbyak::DEFAULT_MAX_CODE_SIZE, Xbyak::AutoGrow, replay::native::Drafts::memory()),
      operations_(operations),
      inputs_(inputs),
      stored_(stored),
      streamed_(streamed),
      divisors_(divisors),
      sum_(sum),
      finding_(finding),
      has_quick_roots_(has_quick_roots),
      asks_ahead_(asks_ahead) {
  setDefaultJmpNEAR(true);
}

bool ExactEmitter::emit(std::size_t vectors, std::size_t hoisted) {
  vectors_ = vectors;
  collect(hoisted);
  Label rest;
  Label end;
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
  prepare_divisors();
  kxnorw(k2, k2, k2);
  Label row;
  L(row);
  xor_(eax, eax);
  if (finding_.result >= 0) {
    rows();
    jmp(end);
  } else if (sum_.result >= 0) {
    leaves(rest);
  } else {
    rounds();
  }
  L(rest);
  if (sum_.result >= 0) {
    mov(rsi, ptr[rsp + kItemBytes]);
  }
  Label remaining;
  L(remaining);
  mov(rcx, rsi);
  sub(rcx, rax);
  jle(end);
  mov(edx, kLanes);
  cmp(rcx, rdx);
  cmovg(rcx, rdx);
  mov(edx, 1);
  shl(edx, cl);
  dec(edx);
  kmovw(k1, edx);
  is_rest_ = true;
  body(1);
  if (vectors_ > 1 && sum_.result < 0) {
    add(rax, kLanes);
    jmp(remaining);
  }
  L(end);
  if (goes_through_rows()) {
    next_row(row);
  }
  kmovb(eax, k2);
  xor_(eax, kAllLanes);
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
  pool();
  ready(PROTECT_RW);  // runs elsewhere
  return !is_full_;
}

// On the stack: how far it is to the next row, by slots, and how many rows there are.
void ExactEmitter::next_row(const Label& row) {
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

void ExactEmitter::rounds() {
  const auto step = static_cast<std::uint32_t>(vectors_ * kLanes);
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

void ExactEmitter::leaves(const Label& rest) {
  Label next;
  Label loop;
  Label one;
  Label end;
  push(rsi);
  push(qword[rdi + sum_.leaves * kItemBytes]);
  sum_place_ = take();
  L(next);
  mov(rcx, ptr[rsp]);
  mov(rsi, ptr[rcx + offsetof(ExactLeaf, end)]);
  sub(rsi, kLanes);
  jl(rest);
  load(sum_place_, Constant::kSignBit);  // -0.0, to which all add as they are
  if (vectors_ > 1) {
    const auto others = static_cast<std::uint32_t>((vectors_ - 1) * kLanes);
    sub(rsi, others);
    cmp(rax, rsi);
    jg(one);
    L(loop);
    body(vectors_);
    add(rax, others + kLanes);
    cmp(rax, rsi);
    jle(loop);
    L(one);
    add(rsi, others);
    cmp(rax, rsi);
    jg(end);
  }
  Label last;
  L(last);
  body(1);
  add(rax, kLanes);
  cmp(rax, rsi);
  jle(last);
  L(end);
  mov(rcx, ptr[rsp]);
  vmovupd(ptr[rcx], Zmm(sum_place_));
  add(qword[rsp], static_cast<int>(sizeof(ExactLeaf)));
  jmp(next);
}

void ExactEmitter::prepare_divisors() {
  for (const std::uint8_t slot : divisors_) {
    const Value& value = values_[value_of(slot)];
    if (!value.is_hoisted) {
      is_full_ = true;  // then they are divided by
      return;
    }
    const Reciprocal made{.of = value.place, .high = take(), .low = take()};
    load(made.low, Constant::kOne);
    vdivpd(Zmm(made.high), Zmm(made.low), Zmm(made.of));
    vfnmadd231pd(Zmm(made.low), Zmm(made.high), Zmm(made.of));
    vmulpd(Zmm(made.low), Zmm(made.low), Zmm(made.high));
    reciprocals_.push_back(made);
  }
  if (!divisors_.empty()) {
    sign_place_ = take();
    load(sign_place_, Constant::kSignBit);
  }
}

void ExactEmitter::divide(int out, int one, int two) {
  const auto known = std::ranges::find(reciprocals_, two, &Reciprocal::of);
  if (known == reciprocals_.end()) {
    vdivpd(masked(out), Zmm(one), Zmm(two));
    return;
  }
  const int remainder = take();
  const Zmm near = is_rest_ ? Zmm(out) | k1 : Zmm(out);
  const Zmm left = is_rest_ ? Zmm(remainder) | k1 : Zmm(remainder);
  vmulpd(masked(out), Zmm(one), Zmm(known->low));
  vfmadd231pd(near, Zmm(one), Zmm(known->high));
  vmovapd(Zmm(remainder), Zmm(one));
  vfnmadd231pd(left, Zmm(out), Zmm(two));
  vfmadd231pd(near, Zmm(remainder), Zmm(known->high));
  vpternlogq(Zmm(out), Zmm(one), Zmm(sign_place_), kSelectLast);
  release(remainder);
}

void ExactEmitter::add_to_sum(int place) {
  if (is_rest_) {
    mov(rdx, ptr[rsp]);
    vmovupd(ptr[rdx], Zmm(place));
  } else {
    vaddpd(Zmm(sum_place_), Zmm(sum_place_), Zmm(place));
  }
}

void ExactEmitter::use_constant(Constant constant, std::size_t number) {
  int& value = by_constant_.at(static_cast<std::size_t>(constant));
  if (value < 0) {
    value = static_cast<int>(values_.size());
    values_.push_back({.is_scalar = true, .in_memory = true, .constant = constant});
  }
  values_[value].uses.push_back(number);
}

// What differs from vector to vector has a register for each.
void ExactEmitter::add_value(const Value& value) {
  for (std::size_t vector = 0; vector < vectors_; ++vector) {
    if (vector == 0 || !value.is_shared()) {
      values_.push_back(value);
    }
    by_slot_.at(vector).at(static_cast<std::size_t>(value.slot)) = static_cast<int>(values_.size()) - 1;
  }
}

void ExactEmitter::collect(std::size_t hoisted) {
  for (auto& values : by_slot_) {
    values.fill(kNowhere);
  }
  by_constant_.fill(kNowhere);
  for (const ExactInput& input : inputs_) {
    add_value({.is_scalar = input.place == ExactPlace::kScalar,
               .is_bool = input.place == ExactPlace::kBools,
               .is_item = input.place == ExactPlace::kItems,
               .in_memory = true,
               .slot = input.slot});
  }
  for (std::size_t number = 0; number < operations_.size(); ++number) {
    const ExactOperation& operation = operations_[number];
    for (unsigned i = 0; i < operation.nin; ++i) {
      for (std::size_t vector = 0; vector < vectors_; ++vector) {
        values_[by_slot_.at(vector).at(operation.in.at(i))].uses.push_back(number);
      }
    }
    for (const Constant constant : operands_of(operation.what)) {
      use_constant(constant, number);
    }
    const bool makes_bool =
        is_bool(operation.what) || (operation.what == Exact::kCopy && values_[value_of(operation.in[0])].is_bool);
    add_value({.is_bool = makes_bool,
               .is_stored = std::ranges::find(stored_, operation.out) != stored_.end(),
               .is_streamed = std::ranges::find(streamed_, operation.out) != streamed_.end(),
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
  if (finding_.result >= 0) {
    bases_.push_back(finding_.places);
  }
  free_.clear();
  for (int number = kRegisters; number-- > 0;) {
    free_.push_back(number);
  }
}

// Results that are nowhere else are counted, and what one operation has at once.
std::size_t ExactEmitter::spare_registers() const {
  const std::size_t fixed = (sum_.result >= 0 ? 1 : 0) + 2 * divisors_.size() + (divisors_.empty() ? 0 : 1) +
                            (finding_.result >= 0 ? kOfFinding : 0);
  std::size_t most = 0;
  std::size_t kept = 0;
  for (std::size_t number = 0; number < operations_.size(); ++number) {
    const ExactOperation& operation = operations_[number];
    std::size_t shared = 1 + operands_of(operation.what).size();
    const bool is_quick_root = has_quick_roots_ && operation.what == Exact::kSqrt;
    std::size_t each = kept + 1 + (is_quick_root ? kOfRoot : registers_of(operation.what));
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
  return static_cast<std::size_t>(std::max(0, kRegisters - static_cast<int>(most + fixed)));
}

int ExactEmitter::take() {
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

Reg64 ExactEmitter::base_of(int slot) {
  const auto known = static_cast<std::size_t>(std::ranges::find(bases_, slot) - bases_.begin());
  if (known < kBases.size()) {
    return Reg64(kBases.at(known));
  }
  mov(rdx, ptr[rdi + slot * kItemBytes]);
  return rdx;
}

Xbyak::RegExp ExactEmitter::address(const Value& value) {
  const Reg64 base = base_of(value.slot);
  const int begin = static_cast<int>(vector_) * kLanes;
  return value.is_bool ? base + rax + begin : base + rax * kItemBytes + begin * kItemBytes;
}

void ExactEmitter::load(const Value& value) {
  if (value.is_scalar) {
    if (value.constant != Constant::kNone) {
      load(value.place, value.constant);
    } else {
      mov(rdx, ptr[rdi + value.slot * kItemBytes]);
      vbroadcastsd(Zmm(value.place), ptr[rdx]);
    }
    return;
  }
  if (value.is_item) {
    vbroadcastsd(Zmm(value.place), ptr[base_of(value.slot) + static_cast<int>(item_) * kItemBytes]);
    return;
  }
  if (value.is_bool) {
    vpmovzxbq(masked(value.place), ptr[address(value)]);
    vptestmq(k3, Zmm(value.place), Zmm(value.place));
    vpmovm2q(Zmm(value.place), k3);
    return;
  }
  if (asks_ahead_ && !is_rest_) {
    prefetcht0(ptr[address(value) + kAhead]);
  }
  vmovupd(masked(value.place), ptr[address(value)]);
}

void ExactEmitter::load(int place, Constant constant) {
  const auto index = static_cast<std::size_t>(constant);
  is_pooled_.at(index) = true;
  if (bits_of(constant).size() == 1) {
    vbroadcastsd(Zmm(place), ptr[rip + in_pool_.at(index)]);
  } else {
    vmovupd(Zmm(place), ptr[rip + in_pool_.at(index)]);
  }
}

void ExactEmitter::pool() {
  align(kVectorBytes);
  L(numbers_);
  for (Extent number = 0; number < finding_.row; ++number) {
    dq(static_cast<std::uint64_t>(number));
  }
  align(kVectorBytes);
  // Whole vectors first, so that none lies across two lines of the cache.
  for (const bool are_vectors : {true, false}) {
    for (std::size_t index = 0; index < kConstants; ++index) {
      const std::span<const std::uint64_t> items = bits_of(static_cast<Constant>(index));
      if (is_pooled_.at(index) && (items.size() > 1) == are_vectors) {
        L(in_pool_.at(index));
        for (const std::uint64_t item : items) {
          dq(item);
        }
      }
    }
  }
}

int ExactEmitter::in_register(Value* value) {
  if (value->place < 0) {
    value->place = take();
    load(*value);
  }
  return value->place;
}

// Which of two NaNs a result is, is left open. Two vectors that are stored one after another are looked at together.
// The first one keeps its register until then: read again, it would have to be in the innermost cache, which it comes
// to when its line has been fetched, and nothing behind it would be done before.
void ExactEmitter::check_order(Value* value) {
  const Zmm vector(value->place);
  if (value->is_ordered) {
    return;
  }
  if (is_rest_) {
    vcmppd(compared(), vector, vector, kCompareUnordered);
    kandnw(k2, k3, k2);
    return;
  }
  const bool is_in_pairs = value->is_stored && !value->is_streamed && finding_.result < 0;
  const bool is_second = vector_ % 2 == 1;
  if (is_in_pairs && !is_second && vector_ + 1 < in_body_) {
    held_ = value;
    return;
  }
  if (!is_in_pairs || !is_second) {
    vcmppd(k2 | k2, vector, vector, kCompareOrdered);
    return;
  }
  Value* const first = std::exchange(held_, nullptr);
  if (first->place >= 0) {
    vcmppd(k2 | k2, vector, Zmm(first->place), kCompareOrdered);
    wanted_.push_back(first);
  } else {
    vcmppd(k2 | k2, vector, ptr[address(*value) - kVectorBytes], kCompareOrdered);
  }
}

void ExactEmitter::store(Value* value) {
  const Zmm vector(value->place);
  if (value->is_bool) {
    const int scratch = take();
    vpsrlq(Zmm(scratch), vector, kItemBytes * kItemBytes - 1);
    if (is_rest_) {
      vpmovqb(ptr[address(*value)] | k1, Zmm(scratch));
    } else {
      vpmovqb(ptr[address(*value)], Zmm(scratch));
    }
    release(scratch);
  } else {
    check_order(value);
    if (is_rest_) {
      vmovupd(ptr[address(*value)] | k1, vector);
    } else if (value->is_streamed) {
      stream(*value);
    } else {
      vmovupd(ptr[address(*value)], vector);
    }
  }
  value->in_memory = !value->is_streamed;  // it would have to be read from afar
}

// In quarters: NumPy's memory begins at multiples of no more. The processor puts lines together of them.
void ExactEmitter::stream(const Value& value) {
  constexpr int kQuarter = static_cast<int>(ExactCode::kStreamedBytes);
  const Xbyak::RegExp begin = address(value);
  const int scratch = take();
  vmovntpd(ptr[begin], Xbyak::Xmm(value.place));
  for (int quarter = 1; quarter < kVectorBytes / kQuarter; ++quarter) {
    vextractf64x2(Xbyak::Xmm(scratch), Zmm(value.place), quarter);
    vmovntpd(ptr[begin + quarter * kQuarter], Xbyak::Xmm(scratch));
  }
  release(scratch);
}

void ExactEmitter::compare(int out, int one, int two, int how) {
  vcmppd(compared(), Zmm(one), Zmm(two), how);
  vpmovm2q(Zmm(out), k3);
}

void ExactEmitter::extreme(bool is_maximum, int out, int one, int two) {
  vcmppd(compared(), Zmm(one), Zmm(two), kCompareUnordered);
  kandnw(k2, k3, k2);
  const int scratch = take();
  vcmppd(compared(), Zmm(one), Zmm(two), kCompareEqual);
  vpxorq(Zmm(scratch), Zmm(one), Zmm(two));
  vptestmq(k3 | k3, Zmm(scratch), Zmm(scratch));
  kandnw(k2, k3, k2);
  release(scratch);
  if (is_maximum) {
    vmaxpd(masked(out), Zmm(one), Zmm(two));
  } else {
    vminpd(masked(out), Zmm(one), Zmm(two));
  }
}

void ExactEmitter::sign(int out, int one, int literal_one, int minus_one) {
  vcmppd(compared(), Zmm(one), Zmm(one), kCompareUnordered);
  kandnw(k2, k3, k2);
  const int zero = take();
  vpxorq(Zmm(zero), Zmm(zero), Zmm(zero));
  vcmppd(k3, Zmm(one), Zmm(zero), kCompareGreater);
  vcmppd(k4, Zmm(one), Zmm(zero), kCompareLess);
  vmovapd(Zmm(out) | k3 | T_z, Zmm(literal_one));
  vmovapd(Zmm(out) | k4, Zmm(minus_one));
  release(zero);
}

void ExactEmitter::compute(Exact what, int out, std::span<const int> in) {
  const Zmm one(in[0]);
  const Zmm two(in.size() > 1 ? in[1] : in[0]);
  switch (what) {
    case Exact::kAdd:
      return vaddpd(masked(out), one, two);
    case Exact::kSubtract:
      return vsubpd(masked(out), one, two);
    case Exact::kMultiply:
      return vmulpd(masked(out), one, two);
    case Exact::kDivide:
      return divide(out, in[0], in[1]);
    case Exact::kSqrt:
      return vsqrtpd(masked(out), one);
    case Exact::kSquare:
      return vmulpd(masked(out), one, one);
    case Exact::kReciprocal:
      return vdivpd(masked(out), two, one);
    case Exact::kNegative:
      return vpxorq(Zmm(out), one, two);
    case Exact::kAbsolute:
      return vpandnq(Zmm(out), two, one);
    case Exact::kSign:
      return sign(out, in[0], in[1], in[2]);
    case Exact::kMaximum:
    case Exact::kMinimum:
      return extreme(what == Exact::kMaximum, out, in[0], in[1]);
    case Exact::kLess:
      return compare(out, in[0], in[1], kCompareLess);
    case Exact::kLessEqual:
      return compare(out, in[0], in[1], kCompareLessEqual);
    case Exact::kEqual:
      return compare(out, in[0], in[1], kCompareEqual);
    case Exact::kNotEqual:
      return compare(out, in[0], in[1], kCompareNotEqual);
    case Exact::kGreater:
      return compare(out, in[0], in[1], kCompareGreater);
    case Exact::kGreaterEqual:
      return compare(out, in[0], in[1], kCompareGreaterEqual);
    case Exact::kAnd:
      return vpandq(Zmm(out), one, two);
    case Exact::kOr:
      return vporq(Zmm(out), one, two);
    case Exact::kNot:
      return vpternlogq(Zmm(out), one, one, 0x55);
    case Exact::kSelect:
      vmovapd(Zmm(out), one);
      return vpternlogq(Zmm(out), two, Zmm(in[2]), kSelectBits);
    case Exact::kCopy:
      return vmovapd(Zmm(out), one);
    case Exact::kExp:  // for all vectors together
    case Exact::kLog:
    case Exact::kNone:
      break;
  }
}

// What the other body has left in registers means nothing here, but what all items of a row take.
void ExactEmitter::forget_registers(bool keeps_row) {
  for (Value& value : values_) {
    if (!value.is_hoisted && value.place >= 0 && !(keeps_row && is_kept_in_row(value))) {
      release(std::exchange(value.place, kNowhere));
    }
    if (value.is_stored) {
      value.in_memory = false;
    }
  }
}

void ExactEmitter::body(std::size_t vectors) {
  in_body_ = vectors;
  forget_registers();
  compute_all();
}

void ExactEmitter::compute_all() {
  for (std::size_t number = 0; number < operations_.size() && !is_full_; ++number) {
    const ExactOperation& operation = operations_[number];
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

bool ExactEmitter::is_in_steps(Exact what) const {
  return is_function(what) || (has_quick_roots_ && what == Exact::kSqrt);
}

void ExactEmitter::compute_function(std::size_t number) {
  const ExactOperation& operation = operations_[number];
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
  if (operation.what == Exact::kExp) {
    exponential(out, in);
  } else if (operation.what == Exact::kLog) {
    logarithm(out, in);
  } else {
    quick_roots(out, in);
  }
  for (; vector_ < in_body_; ++vector_) {
    finish(operation, &values_[value_of(operation.out)]);
  }
  --vector_;  // what all share is no longer needed behind the last one
  release_operands(number);
  vector_ = 0;
}

ExactEmitter::Operands ExactEmitter::begin(const ExactOperation& operation) {
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

ExactEmitter::Value& ExactEmitter::begin_result(const ExactOperation& operation) {
  Value& out = values_[value_of(operation.out)];
  out.place = take();
  wanted_.push_back(&out);
  return out;
}

void ExactEmitter::finish(const ExactOperation& operation, Value* out) {
  if (out->is_stored) {
    store(out);
  }
  if (sum_.result == operation.out) {
    if (!out->is_stored) {
      check_order(out);
    }
    add_to_sum(out->place);
  }
  if (finding_.result == operation.out) {
    take_place(out->place);
  }
}

void ExactEmitter::release_operands(std::size_t number) {
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
