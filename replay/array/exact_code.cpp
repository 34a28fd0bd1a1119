#include "replay/array/exact_code.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "replay/array/lanes.h"
#include "replay/native/placing.h"

#ifdef __x86_64__
#include <xbyak/xbyak.h>
#endif

namespace tagalong::array {

namespace {

struct Named {
  std::string_view name;
  Exact what;
};
constexpr std::array kOfDoubles{Named{"add", Exact::kAdd},
                                Named{"subtract", Exact::kSubtract},
                                Named{"multiply", Exact::kMultiply},
                                Named{"divide", Exact::kDivide},
                                Named{"true_divide", Exact::kDivide},
                                Named{"sqrt", Exact::kSqrt},
                                Named{"square", Exact::kSquare},
                                Named{"reciprocal", Exact::kReciprocal},
                                Named{"negative", Exact::kNegative},
                                Named{"absolute", Exact::kAbsolute},
                                Named{"fabs", Exact::kAbsolute},
                                Named{"sign", Exact::kSign},
                                Named{"maximum", Exact::kMaximum},
                                Named{"minimum", Exact::kMinimum},
                                Named{"less", Exact::kLess},
                                Named{"less_equal", Exact::kLessEqual},
                                Named{"equal", Exact::kEqual},
                                Named{"not_equal", Exact::kNotEqual},
                                Named{"greater", Exact::kGreater},
                                Named{"greater_equal", Exact::kGreaterEqual}};
constexpr std::array kOfBools{Named{"logical_and", Exact::kAnd}, Named{"bitwise_and", Exact::kAnd},
                              Named{"logical_or", Exact::kOr},   Named{"bitwise_or", Exact::kOr},
                              Named{"logical_not", Exact::kNot}, Named{"invert", Exact::kNot}};

bool is_bool(Exact what) { return what >= Exact::kLess && what <= Exact::kNot; }

}  // namespace

Exact exact_operation(const Kernel& kernel) {
  const auto all_are = [&](unsigned type) {
    return std::all_of(kernel.in_type.begin(), kernel.in_type.begin() + kernel.nin,
                       [&](unsigned in) { return in == type; });
  };
  const auto find = [&](const auto& names) {
    const auto* known = std::ranges::find(names, kernel.name, &Named::name);
    return known == names.end() ? Exact::kNone : known->what;
  };
  if (all_are(kDouble)) {
    const Exact what = find(kOfDoubles);
    return kernel.out_type == (is_bool(what) ? kBool : kDouble) ? what : Exact::kNone;
  }
  return all_are(kBool) && kernel.out_type == kBool ? find(kOfBools) : Exact::kNone;
}

#ifdef __x86_64__

namespace {

using Xbyak::Label;
using Xbyak::Opmask;
using Xbyak::Reg64;
using Xbyak::Zmm;

constexpr int kRegisters = 32;
constexpr int kVectorBytes = 64;
constexpr int kItemBytes = 8;
constexpr int kNowhere = -1;
// What vcmppd compares; none raises anything for quiet NaNs.
constexpr int kCompareEqual = 0x00, kCompareUnordered = 0x03, kCompareNotEqual = 0x04, kCompareLess = 0x11,
              kCompareLessEqual = 0x12, kCompareGreaterEqual = 0x1D, kCompareGreater = 0x1E;
constexpr int kSelectBits = 0xCA;  // vpternlog: a ? b : c, bit by bit
constexpr std::uint64_t kSign = std::uint64_t{1} << 63U;
constexpr std::array<std::uint64_t, 3> kLiterals{kSign, std::bit_cast<std::uint64_t>(1.0),
                                                 std::bit_cast<std::uint64_t>(-1.0)};
enum Literal : std::uint8_t { kSignBit, kOne, kMinusOne, kNoLiteral };

// The loop over whole vectors, and what remains under a mask:
//   rdi  pointers by slot      rsi  the last element at which a whole vector begins      rax  the element
//   rdx  scratch               k1   the lanes that remain      k2  those where something is left open
// Bools are lanes of ones or zeros in registers like the others.
class Emitter final : public Xbyak::CodeGenerator {
 public:
  Emitter(std::span<const ExactOperation> operations, std::span<const ExactInput> inputs,
          std::span<const std::uint8_t> stored, ExactSum sum)
      : CodeGenerator(Xbyak::DEFAULT_MAX_CODE_SIZE, Xbyak::AutoGrow),
        operations_(operations),
        inputs_(inputs),
        stored_(stored),
        sum_(sum) {
    setDefaultJmpNEAR(true);
  }

  // False: there are more values at once than registers.
  bool emit(std::size_t hoisted) {
    collect(hoisted);
    Label loop;
    Label rest;
    Label end;
    for (const int number : kSaved) {
      push(Reg64(number));
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
    kxorw(k2, k2, k2);
    xor_(eax, eax);
    if (sum_.result >= 0) {
      leaves(rest);
    } else {
      sub(rsi, kLanes);
      jl(rest);
      L(loop);
      body();
      add(rax, kLanes);
      cmp(rax, rsi);
      jle(loop);
    }
    L(rest);
    if (sum_.result >= 0) {
      mov(rsi, ptr[rsp + kItemBytes]);
      sub(rsi, kLanes);
    }
    mov(rcx, rsi);
    sub(rcx, rax);
    add(rcx, kLanes);
    jz(end);
    mov(edx, 1);
    shl(edx, cl);
    dec(edx);
    kmovw(k1, edx);
    is_rest_ = true;
    body();
    L(end);
    kmovw(eax, k2);
    vzeroupper();
    if (sum_.result >= 0) {
      add(rsp, 2 * kItemBytes);
    }
    for (std::size_t i = kSaved.size(); i-- > 0;) {
      pop(Reg64(kSaved.at(i)));
    }
    ret();
    ready(PROTECT_RW);  // runs elsewhere
    return !is_full_;
  }

 private:
  // The loop over whole vectors for each leaf. On the stack: the leaf, the number of elements.
  void leaves(const Label& rest) {
    Label next;
    Label loop;
    push(rsi);
    push(qword[rdi + sum_.leaves * kItemBytes]);
    sum_place_ = take();
    L(next);
    mov(rcx, ptr[rsp]);
    mov(rsi, ptr[rcx + offsetof(ExactLeaf, end)]);
    sub(rsi, kLanes);
    jl(rest);
    mov(rdx, kSign);
    vpbroadcastq(Zmm(sum_place_), rdx);  // -0.0, to which all add as they are
    L(loop);
    body();
    add(rax, kLanes);
    cmp(rax, rsi);
    jle(loop);
    mov(rcx, ptr[rsp]);
    vmovupd(ptr[rcx], Zmm(sum_place_));
    add(qword[rsp], static_cast<int>(sizeof(ExactLeaf)));
    jmp(next);
  }

  void add_to_sum(int place) {
    if (is_rest_) {
      mov(rdx, ptr[rsp]);
      vmovupd(ptr[rdx], Zmm(place));
    } else {
      vaddpd(Zmm(sum_place_), Zmm(sum_place_), Zmm(place));
    }
  }

  static constexpr std::array kSaved = {3, 5, 12, 13, 14, 15};                // rbx, rbp, r12 ... r15
  static constexpr std::array kBases = {8, 9, 10, 11, 3, 5, 12, 13, 14, 15};  // what arrays' pointers are in
  static constexpr std::size_t kSlots = 256;

  struct Value {
    bool is_scalar = false, is_bool = false, is_hoisted = false;
    bool in_memory = false;  // of its slot
    bool is_stored = false;
    int slot = kNowhere;
    Literal literal = kNoLiteral;
    int place = kNowhere;  // register
    std::vector<std::size_t> uses;
  };

  int value_of(std::uint8_t slot) const { return by_slot_.at(slot); }

  void collect(std::size_t hoisted) {
    by_slot_.fill(kNowhere);
    literals_.fill(kNowhere);
    for (const ExactInput& input : inputs_) {
      by_slot_.at(input.slot) = static_cast<int>(values_.size());
      values_.push_back({.is_scalar = input.place == ExactPlace::kScalar,
                         .is_bool = input.place == ExactPlace::kBools,
                         .in_memory = true,
                         .slot = input.slot});
    }
    for (std::size_t number = 0; number < operations_.size(); ++number) {
      const ExactOperation& operation = operations_[number];
      for (unsigned i = 0; i < operation.nin; ++i) {
        values_[value_of(operation.in.at(i))].uses.push_back(number);
      }
      for (const Literal literal : literals_of(operation.what)) {
        if (literal != kNoLiteral && literals_.at(literal) < 0) {
          literals_.at(literal) = static_cast<int>(values_.size());
          values_.push_back({.is_scalar = true, .in_memory = true, .literal = literal});
        }
        if (literal != kNoLiteral) {
          values_[literals_.at(literal)].uses.push_back(number);
        }
      }
      const bool makes_bool =
          is_bool(operation.what) || (operation.what == Exact::kCopy && values_[value_of(operation.in[0])].is_bool);
      by_slot_.at(operation.out) = static_cast<int>(values_.size());
      values_.push_back({.is_bool = makes_bool,
                         .is_stored = std::ranges::find(stored_, operation.out) != stored_.end(),
                         .slot = operation.out});
    }
    for (Value& value : values_) {
      if (value.is_scalar && hoisted > 0) {
        value.is_hoisted = true;
        --hoisted;
      }
      if (!value.is_scalar && (value.in_memory || value.is_stored)) {
        bases_.push_back(value.slot);
      }
    }
    free_.clear();
    for (int number = kRegisters; number-- > 0;) {
      free_.push_back(number);
    }
  }

  static std::array<Literal, 2> literals_of(Exact what) {
    switch (what) {
      case Exact::kNegative:
      case Exact::kAbsolute:
        return {kSignBit, kNoLiteral};
      case Exact::kReciprocal:
        return {kOne, kNoLiteral};
      case Exact::kSign:
        return {kOne, kMinusOne};
      default:
        return {kNoLiteral, kNoLiteral};
    }
  }

  // A register; another value may have to be read again later.
  int take() {
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

  void release(int place) { free_.push_back(place); }

  // A register with the lanes that are computed.
  [[nodiscard]] Zmm masked(int place) const { return is_rest_ ? Zmm(place) | k1 | T_z : Zmm(place); }
  [[nodiscard]] Opmask compared() const { return is_rest_ ? k3 | k1 : k3; }

  Xbyak::RegExp address(const Value& value) {
    const auto known = static_cast<std::size_t>(std::ranges::find(bases_, value.slot) - bases_.begin());
    Reg64 base = rdx;
    if (known < kBases.size()) {
      base = Reg64(kBases.at(known));
    } else {
      mov(rdx, ptr[rdi + value.slot * kItemBytes]);
    }
    return value.is_bool ? base + rax : base + rax * kItemBytes;
  }

  void load(const Value& value) {
    if (value.is_scalar) {
      if (value.literal != kNoLiteral) {
        mov(rdx, kLiterals.at(value.literal));
        vpbroadcastq(Zmm(value.place), rdx);
      } else {
        mov(rdx, ptr[rdi + value.slot * kItemBytes]);
        vbroadcastsd(Zmm(value.place), ptr[rdx]);
      }
      return;
    }
    if (value.is_bool) {
      vpmovzxbq(masked(value.place), ptr[address(value)]);
      vptestmq(k3, Zmm(value.place), Zmm(value.place));
      vpmovm2q(Zmm(value.place), k3);
      return;
    }
    vmovupd(masked(value.place), ptr[address(value)]);
  }

  int in_register(Value* value) {
    if (value->place < 0) {
      value->place = take();
      load(*value);
    }
    return value->place;
  }

  void store(Value* value) {
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
      vcmppd(compared(), vector, vector, kCompareUnordered);
      korw(k2, k2, k3);
      if (is_rest_) {
        vmovupd(ptr[address(*value)] | k1, vector);
      } else {
        vmovupd(ptr[address(*value)], vector);
      }
    }
    value->in_memory = true;
  }

  void compare(int out, int one, int two, int how) {
    vcmppd(compared(), Zmm(one), Zmm(two), how);
    vpmovm2q(Zmm(out), k3);
  }

  // NaNs, and zeros of unlike sign.
  void extreme(bool is_maximum, int out, int one, int two) {
    vcmppd(compared(), Zmm(one), Zmm(two), kCompareUnordered);
    korw(k2, k2, k3);
    const int scratch = take();
    vcmppd(compared(), Zmm(one), Zmm(two), kCompareEqual);
    vpxorq(Zmm(scratch), Zmm(one), Zmm(two));
    vptestmq(k3 | k3, Zmm(scratch), Zmm(scratch));
    korw(k2, k2, k3);
    release(scratch);
    if (is_maximum) {
      vmaxpd(masked(out), Zmm(one), Zmm(two));
    } else {
      vminpd(masked(out), Zmm(one), Zmm(two));
    }
  }

  void sign(int out, int one, int literal_one, int minus_one) {
    vcmppd(compared(), Zmm(one), Zmm(one), kCompareUnordered);
    korw(k2, k2, k3);
    const int zero = take();
    vpxorq(Zmm(zero), Zmm(zero), Zmm(zero));
    vcmppd(k3, Zmm(one), Zmm(zero), kCompareGreater);
    vcmppd(k4, Zmm(one), Zmm(zero), kCompareLess);
    vmovapd(Zmm(out) | k3 | T_z, Zmm(literal_one));
    vmovapd(Zmm(out) | k4, Zmm(minus_one));
    release(zero);
  }

  void compute(Exact what, int out, std::span<const int> in) {
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
        return vdivpd(masked(out), one, two);
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
      case Exact::kNone:
        break;
    }
  }

  // One vector: all operations.
  void body() {
    // What the other body has left in registers means nothing here.
    for (Value& value : values_) {
      if (!value.is_hoisted && value.place >= 0) {
        release(std::exchange(value.place, kNowhere));
      }
      if (value.is_stored) {
        value.in_memory = false;
      }
    }
    for (std::size_t number = 0; number < operations_.size() && !is_full_; ++number) {
      const ExactOperation& operation = operations_[number];
      wanted_.clear();
      for (unsigned i = 0; i < operation.nin; ++i) {
        wanted_.push_back(&values_[value_of(operation.in.at(i))]);
      }
      for (const Literal literal : literals_of(operation.what)) {
        if (literal != kNoLiteral) {
          wanted_.push_back(&values_[literals_.at(literal)]);
        }
      }
      std::array<int, kMaxInputs + 2> in{};
      for (std::size_t i = 0; i < wanted_.size(); ++i) {
        in.at(i) = in_register(wanted_[i]);
      }
      Value& out = values_[value_of(operation.out)];
      out.place = take();
      wanted_.push_back(&out);
      compute(operation.what, out.place, std::span(in.data(), wanted_.size() - 1));
      if (out.is_stored) {
        store(&out);
      }
      if (sum_.result == operation.out) {
        add_to_sum(out.place);
      }
      for (Value* value : wanted_) {
        const bool is_over = value->uses.empty() || value->uses.back() <= number;
        if (is_over && !value->is_hoisted && value->place >= 0) {
          release(std::exchange(value->place, kNowhere));
        }
      }
    }
  }

  std::span<const ExactOperation> operations_;
  std::span<const ExactInput> inputs_;
  std::span<const std::uint8_t> stored_;
  std::vector<Value> values_;
  std::array<int, kSlots> by_slot_{};
  std::array<int, 3> literals_{};
  std::vector<int> bases_;  // slots of arrays; the first ones have their pointers in registers
  std::vector<int> free_;
  std::vector<Value*> wanted_;
  ExactSum sum_;
  int sum_place_ = kNowhere;
  bool is_rest_ = false;
  bool is_full_ = false;
};

}  // namespace

std::unique_ptr<const ExactCode> ExactCode::make(std::span<const ExactOperation> operations,
                                                 std::span<const ExactInput> inputs,
                                                 std::span<const std::uint8_t> stored, ExactSum sum) {
  if (!has_avx512()) {
    return nullptr;
  }
  // Scalars are in registers all the time, as far as there are enough.
  for (std::size_t hoisted = kRegisters;; hoisted = hoisted * 3 / 4) {
    Emitter emitter(operations, inputs, stored, sum);
    if (emitter.emit(std::min<std::size_t>(hoisted, kRegisters - 6))) {
      void* memory = replay::native::place_code({emitter.getCode(), emitter.getSize()});
      if (memory == nullptr) {
        return nullptr;
      }
      std::unique_ptr<ExactCode> made(new ExactCode);
      made->memory_ = memory;
      made->size_ = emitter.getSize();
      made->run_ = reinterpret_cast<int (*)(char* const*, Extent)>(memory);
      return made;
    }
    if (hoisted == 0) {
      return nullptr;
    }
  }
}

#else

std::unique_ptr<const ExactCode> ExactCode::make(std::span<const ExactOperation>, std::span<const ExactInput>,
                                                 std::span<const std::uint8_t>, ExactSum) {
  return nullptr;
}

#endif

ExactCode::~ExactCode() {
  if (memory_ != nullptr) {
    replay::native::remove_code(memory_, size_);
  }
}

}  // namespace tagalong::array
