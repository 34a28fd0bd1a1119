#include "replay/codegen/scalar/arithmetic.h"

#ifdef __x86_64__
#include <array>
#include <bit>
#include <optional>

#include "replay/ir/stages.h"
#include "replay/objects/known_functions.h"

namespace tagalong::replay::native {
namespace {

constexpr std::int64_t kDigit = std::int64_t{1} << 30;         // smaller ints have one digit
constexpr std::int64_t kExactInFloat = std::int64_t{1} << 53;  // ints up to this magnitude are exact as floats

std::optional<int> power_of_two(std::optional<std::int32_t> number) {
  return number && *number > 0 && std::has_single_bit(static_cast<std::uint32_t>(*number))
             ? std::optional(std::countr_zero(static_cast<std::uint32_t>(*number)))
             : std::nullopt;
}

}  // namespace

template <typename Operand>
void ArithmeticCode::compute_int(LoopCode code, const Reg64& target, const Operand& operand) {
  switch (code) {
    case LoopCode::kAddInt:
      is_faulty(Stage::native_code) ? asm_.sub(target, operand) : asm_.add(target, operand);
      break;
    case LoopCode::kSubtractInt:
      asm_.sub(target, operand);
      break;
    case LoopCode::kAndInt:
      asm_.and_(target, operand);
      break;
    case LoopCode::kOrInt:
      asm_.or_(target, operand);
      break;
    default:
      asm_.xor_(target, operand);
      break;
  }
}

void ArithmeticCode::binary_int(const LoopOp& op) {
  const bool overflows = op.code == LoopCode::kAddInt || op.code == LoopCode::kSubtractInt;
  const Reg64 left = registers_.int_of(op.left);
  const std::optional<std::int32_t> known = registers_.constant(op.right);
  const Reg64 right = known ? rcx : registers_.int_of(op.right);
  registers_.make_int(op.result, [&](const Reg64& target) {
    asm_.mov(target, left);
    if (known) {
      compute_int(op.code, target, *known);
    } else {
      compute_int(op.code, target, right);
    }
    if (overflows) {
      asm_.jo(exits_.bail());
    }
  });
}

void ArithmeticCode::multiply_int(const LoopOp& op) {
  const Reg64 left = registers_.int_of(op.left);
  const Reg64 right = registers_.int_of(op.right);
  registers_.make_int(op.result, [&](const Reg64& target) {
    asm_.mov(target, left);
    asm_.imul(target, right);
    asm_.jo(exits_.bail());
  });
}

void ArithmeticCode::divide_int(const LoopOp& op) {
  const bool is_remainder = op.code == LoopCode::kRemainderInt;
  const Reg64 left = registers_.int_of(op.left);
  const std::optional<std::int32_t> known = registers_.constant(op.right);
  const std::optional<int> bits = power_of_two(known);
  Label slow_path;
  const int index = registers_.take_int();
  const Reg64 target = int_register(index);
  if (bits) {
    asm_.mov(target, left);
    if (is_remainder) {
      asm_.and_(target, *known - 1);
    } else {
      asm_.sar(target, *bits);
    }
  } else {
    Label exact;
    asm_.mov(rcx, number(op.right));
    asm_.lea(rax, ptr[rcx + 1]);
    asm_.cmp(rax, 1);
    asm_.jbe(slow_path);  // the divisor is 0 or -1
    asm_.mov(rax, left);
    asm_.cqo();
    asm_.idiv(rcx);
    asm_.mov(target, is_remainder ? rdx : rax);
    asm_.test(rdx, rdx);
    asm_.jz(exact);
    asm_.xor_(rdx, rcx);
    asm_.jns(exact);  // rounds towards minus infinity
    if (is_remainder) {
      asm_.add(target, rcx);
    } else {
      asm_.dec(target);
    }
    asm_.L(exact);
  }
  if (is_remainder && op.flag != 0) {
    // CPython may return the left operand itself, unless both ints have a single digit.
    Label other;
    asm_.cmp(target, left);
    asm_.jne(other);
    for (const std::int32_t place : {op.left, op.right}) {
      asm_.mov(rax, number(place));
      asm_.add(rax, static_cast<std::int32_t>(kDigit - 1));
      asm_.cmp(rax, static_cast<std::int32_t>(2 * (kDigit - 1)));
      asm_.ja(slow_path);
    }
    asm_.L(other);
  }
  registers_.keep_int(op.result, index);
  if (!bits || op.flag != 0) {
    exits_.perform_out_of_line(slow_path, op);
  }
}

void ArithmeticCode::true_divide(const LoopOp& op) {
  Label slow_path;
  const int index = registers_.take_float();
  for (const std::int32_t place : {op.left, op.right}) {
    asm_.mov(rax, number(place));
    asm_.mov(rcx, kExactInFloat);
    asm_.add(rax, rcx);
    asm_.add(rcx, rcx);
    asm_.cmp(rax, rcx);
    asm_.ja(slow_path);
  }
  asm_.cmp(number(op.right), 0);
  asm_.je(slow_path);
  asm_.pxor(float_register(index), float_register(index));
  asm_.pxor(xmm0, xmm0);
  asm_.mov(rax, number(op.left));
  asm_.cvtsi2sd(float_register(index), rax);
  asm_.mov(rax, number(op.right));
  asm_.cvtsi2sd(xmm0, rax);
  asm_.divsd(float_register(index), xmm0);
  registers_.keep_float(op.result, index);
  exits_.perform_out_of_line(slow_path, op);
}

void ArithmeticCode::shift_left(const LoopOp& op) {
  const Reg64 left = registers_.int_of(op.left);
  registers_.make_int(op.result, [&](const Reg64& target) {
    asm_.mov(rcx, number(op.right));
    asm_.cmp(rcx, kSignBit - 1);
    asm_.ja(exits_.bail());
    asm_.mov(target, left);
    asm_.shl(target, cl);
    asm_.mov(rax, target);
    asm_.sar(rax, cl);
    asm_.cmp(rax, left);
    asm_.jne(exits_.bail());
  });
}

void ArithmeticCode::shift_right(const LoopOp& op) {
  const Reg64 left = registers_.int_of(op.left);
  const std::optional<std::int32_t> known = registers_.constant(op.right);
  registers_.make_int(op.result, [&](const Reg64& target) {
    if (known && *known >= 0 && *known <= kSignBit) {
      asm_.mov(target, left);
      asm_.sar(target, *known);
    } else {
      asm_.mov(rcx, number(op.right));
      asm_.cmp(rcx, kSignBit);
      asm_.ja(exits_.bail());
      asm_.mov(target, left);
      asm_.sar(target, cl);
    }
  });
}

void ArithmeticCode::negate_int(const LoopOp& op) {
  const Reg64 left = registers_.int_of(op.left);
  registers_.make_int(op.result, [&](const Reg64& target) {
    asm_.mov(target, left);
    asm_.neg(target);
    asm_.jo(exits_.bail());
  });
}

void ArithmeticCode::compute_float(LoopCode code, const Xmm& target, const Xmm& operand) {
  switch (code) {
    case LoopCode::kAddFloat:
      is_faulty(Stage::native_code) ? asm_.subsd(target, operand) : asm_.addsd(target, operand);
      break;
    case LoopCode::kAddFloat64:
      asm_.addsd(target, operand);
      break;
    case LoopCode::kSubtractFloat:
    case LoopCode::kSubtractFloat64:
      asm_.subsd(target, operand);
      break;
    case LoopCode::kMultiplyFloat:
    case LoopCode::kMultiplyFloat64:
      asm_.mulsd(target, operand);
      break;
    default:
      asm_.divsd(target, operand);
      break;
  }
}

void ArithmeticCode::binary_float(const LoopOp& op) {
  const Xmm left = registers_.float_of(op.left);
  const Xmm right = registers_.float_of(op.right);
  const int index = registers_.take_float();
  if (op.code == LoopCode::kDivideFloat) {
    Label is_nan;
    asm_.pxor(xmm0, xmm0);
    asm_.ucomisd(right, xmm0);
    asm_.jp(is_nan);
    asm_.je(exits_.bail());
    asm_.L(is_nan);
  }
  asm_.movapd(float_register(index), left);
  compute_float(op.code, float_register(index), right);
  registers_.keep_float(op.result, index);
}

void ArithmeticCode::binary_float64(const LoopOp& op) {
  constexpr std::uint64_t kInfinity = std::uint64_t{0x7FF0000000000000} << 1U;  // shifted left, without the sign
  constexpr std::uint64_t kSmallest = std::uint64_t{0x0010000000000000} << 1U;
  const bool is_product = op.code == LoopCode::kMultiplyFloat64 || op.code == LoopCode::kDivideFloat64;
  const std::uint64_t low = is_product ? kSmallest + 1 : 0;
  const Xmm left = registers_.float_of(op.left);
  const Xmm right = registers_.float_of(op.right);
  const int index = registers_.take_float();
  Label slow_path;
  Label is_zero;
  asm_.movapd(float_register(index), left);
  compute_float(op.code, float_register(index), right);
  asm_.movq(rax, float_register(index));
  asm_.add(rax, rax);
  if (op.code == LoopCode::kMultiplyFloat64) {
    asm_.jz(is_zero);
  }
  asm_.mov(rcx, kInfinity - low);
  if (low != 0) {
    asm_.mov(rdx, low);
    asm_.sub(rax, rdx);
  }
  asm_.cmp(rax, rcx);
  asm_.jae(slow_path);
  if (op.code == LoopCode::kMultiplyFloat64) {
    Label is_exact;
    asm_.L(is_exact);
    exits_.later([this, is_zero = Label(is_zero), is_exact = Label(is_exact), slow_path = Label(slow_path),
                  places = std::array{op.left, op.right}]() mutable {
      asm_.L(is_zero);  // a zero result is exact if an operand is zero
      for (const std::int32_t place : places) {
        asm_.mov(rax, number(place));
        asm_.add(rax, rax);
        asm_.jz(is_exact);
      }
      asm_.jmp(slow_path);
    });
  }
  registers_.keep_float(op.result, index);
  exits_.perform_out_of_line(slow_path, op);
}

void ArithmeticCode::negate_float(const LoopOp& op) {
  const int index = registers_.take_float();
  asm_.mov(rax, number(op.left));
  asm_.btc(rax, kSignBit);
  asm_.movq(float_register(index), rax);
  registers_.keep_float(op.result, index);
}

void ArithmeticCode::float_of_int(const LoopOp& op) {
  const Reg64 left = registers_.int_of(op.left);
  const int index = registers_.take_float();
  asm_.pxor(float_register(index), float_register(index));
  asm_.cvtsi2sd(float_register(index), left);
  registers_.keep_float(op.result, index);
}

void ArithmeticCode::call_float(const LoopOp& op) {
  if (op.flag == static_cast<std::uint8_t>(Known::kSqrt)) {
    const Xmm operand = registers_.float_of(op.left);
    const int index = registers_.take_float();
    asm_.pxor(xmm0, xmm0);
    asm_.ucomisd(operand, xmm0);
    asm_.jb(exits_.bail());  // negative or NaN
    asm_.sqrtsd(float_register(index), operand);
    registers_.keep_float(op.result, index);
  } else if (op.flag == static_cast<std::uint8_t>(Known::kMagnitude) ||
             op.flag == static_cast<std::uint8_t>(Known::kAbsolute)) {
    const int index = registers_.take_float();
    asm_.mov(rax, number(op.left));
    asm_.btr(rax, kSignBit);
    asm_.movq(float_register(index), rax);
    registers_.keep_float(op.result, index);
  } else {
    exits_.perform(op);
  }
}

void ArithmeticCode::call_int(const LoopOp& op) {
  Label slow_path;
  const Xmm operand = registers_.float_of(op.left);
  const int index = registers_.take_int();
  const Reg64 target = int_register(index);
  asm_.cvttsd2si(target, operand);
  asm_.mov(rax, kExactInFloat);
  asm_.lea(rcx, ptr[target + rax]);
  asm_.add(rax, rax);
  asm_.cmp(rcx, rax);
  asm_.ja(slow_path);  // NaN, infinite or large
  if (op.flag != static_cast<std::uint8_t>(Known::kInt)) {
    const bool is_floor = op.flag == static_cast<std::uint8_t>(Known::kFloor);
    Label exact;
    asm_.pxor(xmm0, xmm0);
    asm_.cvtsi2sd(xmm0, target);
    asm_.ucomisd(xmm0, operand);
    is_floor ? asm_.jbe(exact) : asm_.jae(exact);
    is_floor ? asm_.dec(target) : asm_.inc(target);
    asm_.L(exact);
  }
  registers_.keep_int(op.result, index);
  exits_.perform_out_of_line(slow_path, op);
}

}  // namespace tagalong::replay::native
#endif
