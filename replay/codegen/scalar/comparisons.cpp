#include "replay/codegen/scalar/comparisons.h"

#ifdef __x86_64__

namespace tagalong::replay::native {

// The order of the comparisons (loop_ops.h).
static_assert(static_cast<int>(Condition::kLess) == Py_LT && static_cast<int>(Condition::kLessEqual) == Py_LE &&
              static_cast<int>(Condition::kEqual) == Py_EQ && static_cast<int>(Condition::kNotEqual) == Py_NE &&
              static_cast<int>(Condition::kGreater) == Py_GT && static_cast<int>(Condition::kGreaterEqual) == Py_GE);

Condition ComparisonCode::condition(LoopCode code, LoopCode first) {
  return static_cast<Condition>(static_cast<int>(code) - static_cast<int>(first));
}

void ComparisonCode::compare_ints(const LoopOp& op) {
  const Reg64 left = registers_.int_of(op.left);
  if (const std::optional<std::int32_t> known = registers_.constant(op.right)) {
    asm_.cmp(left, *known);
  } else {
    asm_.cmp(left, registers_.int_of(op.right));
  }
}

void ComparisonCode::compare_int(const LoopOp& op) {
  const Condition which = condition(op.code, LoopCode::kLessInt);
  const int index = registers_.take_int();
  compare_ints(op);
  switch (which) {
    case Condition::kLess:
      asm_.setl(al);
      break;
    case Condition::kLessEqual:
      asm_.setle(al);
      break;
    case Condition::kEqual:
      asm_.sete(al);
      break;
    case Condition::kNotEqual:
      asm_.setne(al);
      break;
    case Condition::kGreater:
      asm_.setg(al);
      break;
    case Condition::kGreaterEqual:
      asm_.setge(al);
      break;
  }
  asm_.movzx(int_register(index).cvt32(), al);
  registers_.keep_int(op.result, index);
}

void ComparisonCode::guard_int(const LoopOp& op) {
  compare_ints(op);
  Label& fails = exits_.failed(op);
  const bool holds = op.flag != 0;
  switch (condition(op.code, LoopCode::kGuardLessInt)) {
    case Condition::kLess:
      holds ? asm_.jge(fails) : asm_.jl(fails);
      break;
    case Condition::kLessEqual:
      holds ? asm_.jg(fails) : asm_.jle(fails);
      break;
    case Condition::kEqual:
      holds ? asm_.jne(fails) : asm_.je(fails);
      break;
    case Condition::kNotEqual:
      holds ? asm_.je(fails) : asm_.jne(fails);
      break;
    case Condition::kGreater:
      holds ? asm_.jle(fails) : asm_.jg(fails);
      break;
    case Condition::kGreaterEqual:
      holds ? asm_.jl(fails) : asm_.jge(fails);
      break;
  }
}

void ComparisonCode::compare_floats(const LoopOp& op, Condition which) {
  const Xmm left = registers_.float_of(op.left);
  const Xmm right = registers_.float_of(op.right);
  if (which == Condition::kLess || which == Condition::kLessEqual) {
    asm_.ucomisd(right, left);
  } else {
    asm_.ucomisd(left, right);
  }
}

void ComparisonCode::compare_float(const LoopOp& op) {
  const Condition which = condition(op.code, LoopCode::kLessFloat);
  const int index = registers_.take_int();
  compare_floats(op, which);
  switch (which) {
    case Condition::kLess:
    case Condition::kGreater:
      asm_.seta(al);
      break;
    case Condition::kLessEqual:
    case Condition::kGreaterEqual:
      asm_.setae(al);
      break;
    case Condition::kEqual:
      asm_.sete(al);
      asm_.setnp(cl);
      asm_.and_(al, cl);
      break;
    case Condition::kNotEqual:
      asm_.setne(al);
      asm_.setp(cl);
      asm_.or_(al, cl);
      break;
  }
  asm_.movzx(int_register(index).cvt32(), al);
  registers_.keep_int(op.result, index);
}

void ComparisonCode::guard_float(const LoopOp& op) {
  const Condition which = condition(op.code, LoopCode::kGuardLessFloat);
  compare_floats(op, which);
  Label& fails = exits_.failed(op);
  const bool holds = op.flag != 0;
  switch (which) {
    case Condition::kLess:
    case Condition::kGreater:
      holds ? asm_.jbe(fails) : asm_.ja(fails);
      break;
    case Condition::kLessEqual:
    case Condition::kGreaterEqual:
      holds ? asm_.jb(fails) : asm_.jae(fails);
      break;
    case Condition::kEqual:
    case Condition::kNotEqual:
      if (holds == (which == Condition::kEqual)) {
        asm_.jp(fails);
        asm_.jne(fails);
      } else {
        Label differs;
        asm_.jp(differs);
        asm_.je(fails);
        asm_.L(differs);
      }
      break;
  }
}

void ComparisonCode::truth(const LoopOp& op) {
  const int index = registers_.take_int();
  if (op.code == LoopCode::kTruthFloat) {
    asm_.pxor(xmm0, xmm0);
    asm_.ucomisd(xmm0, registers_.float_of(op.left));
    asm_.setne(al);
    asm_.setp(cl);
    asm_.or_(al, cl);
  } else {
    asm_.cmp(number(op.left), 0);
    op.code == LoopCode::kNotBool ? asm_.sete(al) : asm_.setne(al);
  }
  asm_.movzx(int_register(index).cvt32(), al);
  registers_.keep_int(op.result, index);
}

void ComparisonCode::guard_bool(const LoopOp& op) {
  Label& fails = exits_.failed(op);
  asm_.cmp(number(op.left), 0);
  op.flag != 0 ? asm_.je(fails) : asm_.jne(fails);
}

}  // namespace tagalong::replay::native
#endif
