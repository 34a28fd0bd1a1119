#include "replay/codegen/scalar/guards.h"

#ifdef __x86_64__
#include "rewriter/cpython/code_link.h"

namespace tagalong::replay::native {

void GuardCode::step(const LoopOp& op) {
  const Step& step = source_.steps[op.step];
  const bool is_known = step.op == Op::guard_function || step.op == Op::leave_frame;
  if (!is_known || step.can_leave || step.polls) {
    exits_.perform(op);
    return;
  }
  Label slow_path;
  const std::int32_t* used = source_.used.data() + step.operands;
  if (step.op == Op::guard_function) {
    match_function(used[0], step.object, slow_path);
  } else {
    asm_.mov(rax, qword[r15 + offsetof(Frame, depth)]);
    asm_.cmp(dword[rax], 1);
    asm_.jg(slow_path);
  }
  for (int index = 0; index < step.drop_count; ++index) {
    const std::int32_t place = used[step.operand_count + step.result_count + index];
    Label nothing;
    asm_.mov(rax, object(place));
    asm_.test(rax, rax);
    asm_.jz(nothing);
    asm_.if_last(rax, slow_path);  // the interpreter repeats the step from its beginning
    asm_.mov(object(place), 0);
    asm_.give_back(rax);
    asm_.L(nothing);
  }
  exits_.perform_out_of_line(slow_path, op);
}

void GuardCode::match_function(std::int32_t place, PyObject* const& code, Label& slow_path) {
  Label matches;
  const int number = cpython::link_number();
  asm_.mov(rax, object(place));
  asm_.test(rax, rax);
  asm_.jz(slow_path);
  asm_.compare_with(qword[rax + layout::kType], &PyFunction_Type);
  asm_.jne(slow_path);
  asm_.mov(rax, qword[rax + layout::kFunctionCode]);
  asm_.load_object(rcx, code);
  asm_.cmp(rax, rcx);
  asm_.je(matches);
  asm_.mov(rax, qword[rax + layout::kCodeExtra]);
  asm_.test(rax, rax);
  asm_.jz(slow_path);
  asm_.cmp(qword[rax], number);
  asm_.jle(slow_path);
  asm_.mov(rax, qword[rax + (1 + number) * kNumberSize]);
  asm_.test(rax, rax);
  asm_.jz(slow_path);
  asm_.cmp(rcx, qword[rax]);
  asm_.jne(slow_path);
  asm_.L(matches);
}

void GuardCode::check_relocatable(const LoopOp& op) {
  const Step& guard = source_.steps[op.step];
  const Step& relocation = source_.steps[static_cast<std::size_t>(guard.relocation)];
  Label relocatable;
  asm_.mov(rax, qword[r15 + offsetof(Frame, runs_user_code)]);
  asm_.mov(eax, dword[rax]);
  asm_.cmp(eax, relocation.since);
  asm_.jl(relocatable);
  asm_.cmp(eax, relocation.guard);
  asm_.jle(exits_.bail());
  asm_.L(relocatable);
  asm_.mov(rax, qword[r15 + offsetof(Frame, depth)]);
  asm_.cmp(dword[rax], 1);
  asm_.jne(exits_.bail());
}

void GuardCode::guard_object(const LoopOp& op, PyObject* const& expected) {
  Label& fails = exits_.failed(op);
  asm_.mov(rax, object(op.left));
  if (op.code != LoopCode::kGuardIs) {
    asm_.mov(rax, qword[rax + layout::kType]);
  }
  asm_.load_object(rcx, expected);
  asm_.cmp(rax, rcx);
  asm_.jne(fails);
}

void GuardCode::guard_null(const LoopOp& op) {
  Label& fails = exits_.failed(op);
  asm_.cmp(object(op.left), 0);
  op.flag != 0 ? asm_.je(fails) : asm_.jne(fails);
}

void GuardCode::check_bound(const LoopOp& op) {
  asm_.cmp(object(op.left), 0);
  op.code == LoopCode::kCheckBound ? asm_.je(exits_.bail()) : asm_.jne(exits_.bail());
}

}  // namespace tagalong::replay::native
#endif
