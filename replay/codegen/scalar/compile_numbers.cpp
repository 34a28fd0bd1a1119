// Operations on numbers: arithmetic, calls of known functions, comparisons.
#include "replay/codegen/scalar/compiler.h"

#ifdef __x86_64__
#include "replay/objects/known_functions.h"
#include "rewriter/cpython/exact_numbers.h"

namespace tagalong::replay::native {

void Compiler::multiply_int(const LoopOp& op) {
  const Reg64 left = int_of(op.left);
  const Reg64 right = int_of(op.right);
  int_result(op, [&](const Reg64& target) {
    mov(target, left);
    imul(target, right);
    jo(bail());
  });
}

std::optional<int> Compiler::power_of_two(std::optional<std::int32_t> number) {
  return number && *number > 0 && std::has_single_bit(static_cast<std::uint32_t>(*number))
             ? std::optional(std::countr_zero(static_cast<std::uint32_t>(*number)))
             : std::nullopt;
}

void Compiler::divide_int(const LoopOp& op) {
  const bool is_remainder = op.code == LoopCode::kRemainderInt;
  const Reg64 left = int_of(op.left);
  const std::optional<std::int32_t> known = constant(op.right);
  const std::optional<int> bits = power_of_two(known);
  Label slow_path;
  const int index = ints_.take();
  const Reg64 target = int_register(index);
  if (bits) {
    mov(target, left);
    if (is_remainder) {
      and_(target, *known - 1);
    } else {
      sar(target, *bits);
    }
  } else {
    Label exact;
    mov(rcx, number(op.right));
    lea(rax, ptr[rcx + 1]);
    cmp(rax, 1);
    jbe(slow_path);  // the divisor is 0 or -1
    mov(rax, left);
    cqo();
    idiv(rcx);
    mov(target, is_remainder ? rdx : rax);
    test(rdx, rdx);
    jz(exact);
    xor_(rdx, rcx);
    jns(exact);  // rounds towards minus infinity
    if (is_remainder) {
      add(target, rcx);
    } else {
      dec(target);
    }
    L(exact);
  }
  if (is_remainder && op.flag != 0) {
    // CPython may return the left operand itself, unless both ints have a single digit.
    Label other;
    cmp(target, left);
    jne(other);
    for (const std::int32_t place : {op.left, op.right}) {
      mov(rax, number(place));
      add(rax, static_cast<std::int32_t>(kDigit - 1));
      cmp(rax, static_cast<std::int32_t>(2 * (kDigit - 1)));
      ja(slow_path);
    }
    L(other);
  }
  keep_int(op.result, index);
  if (!bits || op.flag != 0) {
    perform_aside(slow_path, op);
  }
}

void Compiler::true_divide(const LoopOp& op) {
  Label slow_path;
  const int index = floats_.take();
  for (const std::int32_t place : {op.left, op.right}) {
    mov(rax, number(place));
    mov(rcx, kExactInFloat);
    add(rax, rcx);
    add(rcx, rcx);
    cmp(rax, rcx);
    ja(slow_path);
  }
  cmp(number(op.right), 0);
  je(slow_path);
  pxor(float_register(index), float_register(index));
  pxor(xmm0, xmm0);
  mov(rax, number(op.left));
  cvtsi2sd(float_register(index), rax);
  mov(rax, number(op.right));
  cvtsi2sd(xmm0, rax);
  divsd(float_register(index), xmm0);
  keep_float(op.result, index);
  perform_aside(slow_path, op);
}

void Compiler::shift_left(const LoopOp& op) {
  const Reg64 left = int_of(op.left);
  int_result(op, [&](const Reg64& target) {
    mov(rcx, number(op.right));
    cmp(rcx, kSignBit - 1);
    ja(bail());
    mov(target, left);
    shl(target, cl);
    mov(rax, target);
    sar(rax, cl);
    cmp(rax, left);
    jne(bail());
  });
}

void Compiler::shift_right(const LoopOp& op) {
  const Reg64 left = int_of(op.left);
  const std::optional<std::int32_t> known = constant(op.right);
  int_result(op, [&](const Reg64& target) {
    if (known && *known >= 0 && *known <= kSignBit) {
      mov(target, left);
      sar(target, *known);
    } else {
      mov(rcx, number(op.right));
      cmp(rcx, kSignBit);
      ja(bail());
      mov(target, left);
      sar(target, cl);
    }
  });
}

void Compiler::negate_int(const LoopOp& op) {
  const Reg64 left = int_of(op.left);
  int_result(op, [&](const Reg64& target) {
    mov(target, left);
    neg(target);
    jo(bail());
  });
}

void Compiler::negate_float(const LoopOp& op) {
  const int index = floats_.take();
  mov(rax, number(op.left));
  btc(rax, kSignBit);
  movq(float_register(index), rax);
  keep_float(op.result, index);
}

void Compiler::float_of_int(const LoopOp& op) {
  const Reg64 left = int_of(op.left);
  const int index = floats_.take();
  pxor(float_register(index), float_register(index));
  cvtsi2sd(float_register(index), left);
  keep_float(op.result, index);
}

void Compiler::call_float(const LoopOp& op) {
  if (op.flag == static_cast<std::uint8_t>(Known::kSqrt)) {
    const Xmm operand = float_of(op.left);
    const int index = floats_.take();
    pxor(xmm0, xmm0);
    ucomisd(operand, xmm0);
    jb(bail());  // negative or NaN
    sqrtsd(float_register(index), operand);
    keep_float(op.result, index);
  } else if (op.flag == static_cast<std::uint8_t>(Known::kMagnitude) ||
             op.flag == static_cast<std::uint8_t>(Known::kAbsolute)) {
    const int index = floats_.take();
    mov(rax, number(op.left));
    btr(rax, kSignBit);
    movq(float_register(index), rax);
    keep_float(op.result, index);
  } else {
    perform(op);
  }
}

void Compiler::call_int(const LoopOp& op) {
  Label slow_path;
  const Xmm operand = float_of(op.left);
  const int index = ints_.take();
  const Reg64 target = int_register(index);
  cvttsd2si(target, operand);
  mov(rax, kExactInFloat);
  lea(rcx, ptr[target + rax]);
  add(rax, rax);
  cmp(rcx, rax);
  ja(slow_path);  // NaN, infinite or large
  if (op.flag != static_cast<std::uint8_t>(Known::kInt)) {
    const bool is_floor = op.flag == static_cast<std::uint8_t>(Known::kFloor);
    Label exact;
    pxor(xmm0, xmm0);
    cvtsi2sd(xmm0, target);
    ucomisd(xmm0, operand);
    is_floor ? jbe(exact) : jae(exact);
    is_floor ? dec(target) : inc(target);
    L(exact);
  }
  keep_int(op.result, index);
  perform_aside(slow_path, op);
}

void Compiler::length(const LoopOp& op) {
  Label other;
  Label counts;
  int_result(op, [&](const Reg64& target) {
    mov(rax, object(op.left));
    if (op.flag == 0) {
      compare_with(qword[rax + layout::kType], &PyList_Type);
      je(counts);
      compare_with(qword[rax + layout::kType], &PyTuple_Type);
      jne(other);
      L(counts);
    }
    mov(target, qword[rax + layout::kSize]);
  });
  if (op.flag == 0) {
    perform_aside(other, op);
  }
}

void Compiler::make_range(const LoopOp& op) {
  Label& slow_path = bail();
  if (op.left < 0) {
    xor_(edi, edi);
  } else {
    mov(rdi, number(op.left));
  }
  mov(rsi, number(op.right));
  call_function(&iterate_range);
  forget_volatile();
  test(rax, rax);
  jz(slow_path);
  mov(object(op.result), rax);
}

// The order of the comparisons (loop_ops.h).
static_assert(static_cast<int>(Condition::kLess) == Py_LT && static_cast<int>(Condition::kLessEqual) == Py_LE &&
              static_cast<int>(Condition::kEqual) == Py_EQ && static_cast<int>(Condition::kNotEqual) == Py_NE &&
              static_cast<int>(Condition::kGreater) == Py_GT && static_cast<int>(Condition::kGreaterEqual) == Py_GE);

Condition Compiler::condition(LoopCode code, LoopCode first) {
  return static_cast<Condition>(static_cast<int>(code) - static_cast<int>(first));
}

void Compiler::compare_ints(const LoopOp& op) {
  const Reg64 left = int_of(op.left);
  if (const std::optional<std::int32_t> known = constant(op.right)) {
    cmp(left, *known);
  } else {
    cmp(left, int_of(op.right));
  }
}

void Compiler::compare_int(const LoopOp& op) {
  const Condition which = condition(op.code, LoopCode::kLessInt);
  const int index = ints_.take();
  compare_ints(op);
  switch (which) {
    case Condition::kLess:
      setl(al);
      break;
    case Condition::kLessEqual:
      setle(al);
      break;
    case Condition::kEqual:
      sete(al);
      break;
    case Condition::kNotEqual:
      setne(al);
      break;
    case Condition::kGreater:
      setg(al);
      break;
    case Condition::kGreaterEqual:
      setge(al);
      break;
  }
  movzx(int_register(index).cvt32(), al);
  keep_int(op.result, index);
}

void Compiler::guard_int(const LoopOp& op) {
  compare_ints(op);
  Label& fails = failed(op);
  const bool holds = op.flag != 0;
  switch (condition(op.code, LoopCode::kGuardLessInt)) {
    case Condition::kLess:
      holds ? jge(fails) : jl(fails);
      break;
    case Condition::kLessEqual:
      holds ? jg(fails) : jle(fails);
      break;
    case Condition::kEqual:
      holds ? jne(fails) : je(fails);
      break;
    case Condition::kNotEqual:
      holds ? je(fails) : jne(fails);
      break;
    case Condition::kGreater:
      holds ? jle(fails) : jg(fails);
      break;
    case Condition::kGreaterEqual:
      holds ? jl(fails) : jge(fails);
      break;
  }
}

void Compiler::compare_floats(const LoopOp& op, Condition which) {
  const Xmm left = float_of(op.left);
  const Xmm right = float_of(op.right);
  if (which == Condition::kLess || which == Condition::kLessEqual) {
    ucomisd(right, left);
  } else {
    ucomisd(left, right);
  }
}

void Compiler::compare_float(const LoopOp& op) {
  const Condition which = condition(op.code, LoopCode::kLessFloat);
  const int index = ints_.take();
  compare_floats(op, which);
  switch (which) {
    case Condition::kLess:
    case Condition::kGreater:
      seta(al);
      break;
    case Condition::kLessEqual:
    case Condition::kGreaterEqual:
      setae(al);
      break;
    case Condition::kEqual:
      sete(al);
      setnp(cl);
      and_(al, cl);
      break;
    case Condition::kNotEqual:
      setne(al);
      setp(cl);
      or_(al, cl);
      break;
  }
  movzx(int_register(index).cvt32(), al);
  keep_int(op.result, index);
}

void Compiler::guard_float(const LoopOp& op) {
  const Condition which = condition(op.code, LoopCode::kGuardLessFloat);
  compare_floats(op, which);
  Label& fails = failed(op);
  const bool holds = op.flag != 0;
  switch (which) {
    case Condition::kLess:
    case Condition::kGreater:
      holds ? jbe(fails) : ja(fails);
      break;
    case Condition::kLessEqual:
    case Condition::kGreaterEqual:
      holds ? jb(fails) : jae(fails);
      break;
    case Condition::kEqual:
    case Condition::kNotEqual:
      if (holds == (which == Condition::kEqual)) {
        jp(fails);
        jne(fails);
      } else {
        Label differs;
        jp(differs);
        je(fails);
        L(differs);
      }
      break;
  }
}

void Compiler::truth(const LoopOp& op) {
  const int index = ints_.take();
  if (op.code == LoopCode::kTruthFloat) {
    pxor(xmm0, xmm0);
    ucomisd(xmm0, float_of(op.left));
    setne(al);
    setp(cl);
    or_(al, cl);
  } else {
    cmp(number(op.left), 0);
    op.code == LoopCode::kNotBool ? sete(al) : setne(al);
  }
  movzx(int_register(index).cvt32(), al);
  keep_int(op.result, index);
}

}  // namespace tagalong::replay::native
#endif
