// Guards, attributes, global variables and inlined calls.
#include "replay/codegen/scalar/compiler.h"

#ifdef __x86_64__
#include "rewriter/cpython/code_link.h"

namespace tagalong::replay::native {

using Way = KnownAttributes::Way;

void Compiler::step(const LoopOp& op) {
  const Step& step = source_.steps[op.step];
  if (step.op == Op::store_attr && !step.polls && drops_operands(step)) {
    store_attribute(op);
    return;
  }
  const bool is_known = step.op == Op::guard_function || step.op == Op::leave_frame;
  if (!is_known || step.can_leave || step.polls) {
    perform(op);
    return;
  }
  Label other;
  const std::int32_t* used = source_.used.data() + step.operands;
  if (step.op == Op::guard_function) {
    match_function(used[0], step.object, other);
  } else {
    mov(rax, qword[r15 + offsetof(Frame, depth)]);
    cmp(dword[rax], 1);
    jg(other);
  }
  for (int index = 0; index < step.drop_count; ++index) {
    const std::int32_t place = used[step.operand_count + step.result_count + index];
    Label nothing;
    mov(rax, object(place));
    test(rax, rax);
    jz(nothing);
    cmp(qword[rax + layout::kCount], 1);
    je(other);  // the interpreter repeats the step from its beginning
    mov(object(place), 0);
    dec(qword[rax + layout::kCount]);
    L(nothing);
  }
  perform_aside(other, op);
}

bool Compiler::drops_operands(const Step& step) const {
  const std::int32_t* used = source_.used.data() + step.operands;
  const std::int32_t* drops = used + step.operand_count + step.result_count;
  return std::all_of(drops, drops + step.drop_count,
                     [&](std::int32_t place) { return place == used[0] || place == used[1]; });
}

void Compiler::store_attribute(const LoopOp& op) {
  const Step& step = source_.steps[op.step];
  const std::int32_t* used = source_.used.data() + step.operands;
  Label other;
  Label stays;
  if (step.can_leave) {
    leave_if_watched();
  }
  mov(rax, object(used[0]));
  check_learned(step, cpython::Attribute::Kind::kValue, other);
  if (step.drop_count > 0) {
    cmp(qword[rax + layout::kCount], 1);
    je(other);
  }
  mov(rdx, qword[rax + layout::kValuesBefore]);
  test(rdx, rdx);
  jz(other);
  movsxd(rcx, dword[rcx + offsetof(Way, attribute.index)]);
  lea(rdx, ptr[rdx + rcx * kNumberSize]);
  mov(rax, qword[rdx]);
  test(rax, rax);
  jz(other);
  cmp(qword[rax + layout::kCount], 1);
  jne(stays);
  mov(rcx, reinterpret_cast<std::size_t>(&PyFloat_Type));
  cmp(rcx, qword[rax + layout::kType]);
  je(stays);
  mov(rcx, reinterpret_cast<std::size_t>(&PyLong_Type));
  cmp(rcx, qword[rax + layout::kType]);
  jne(other);
  L(stays);
  mov(rcx, object(used[1]));
  share(rcx);
  mov(qword[rdx], rcx);
  give_up();
  // No drop frees an object: the first operand's count is above one, and the second operand has been stored.
  for (int index = 0; index < step.drop_count; ++index) {
    const std::int32_t place = used[step.operand_count + step.result_count + index];
    mov(rax, object(place));
    mov(object(place), 0);
    dec(qword[rax + layout::kCount]);
  }
  perform_aside(other, op);
}

void Compiler::match_function(std::int32_t place, PyObject* const& code, Label& other) {
  Label matches;
  const int number = cpython::link_number();
  mov(rax, object(place));
  test(rax, rax);
  jz(other);
  compare_with(qword[rax + layout::kType], &PyFunction_Type);
  jne(other);
  mov(rax, qword[rax + layout::kFunctionCode]);
  load_object(rcx, code);
  cmp(rax, rcx);
  je(matches);
  mov(rax, qword[rax + layout::kCodeExtra]);
  test(rax, rax);
  jz(other);
  cmp(qword[rax], number);
  jle(other);
  mov(rax, qword[rax + (1 + number) * kNumberSize]);
  test(rax, rax);
  jz(other);
  cmp(rcx, qword[rax]);
  jne(other);
  L(matches);
}

void Compiler::check_quiet(const LoopOp& op) {
  const Step& guard = source_.steps[op.step];
  const Step& relocation = source_.steps[static_cast<std::size_t>(guard.relocation)];
  Label quiet;
  mov(rax, qword[r15 + offsetof(Frame, runs_user_code)]);
  mov(eax, dword[rax]);
  cmp(eax, relocation.since);
  jl(quiet);
  cmp(eax, relocation.guard);
  jle(bail());
  L(quiet);
  mov(rax, qword[r15 + offsetof(Frame, depth)]);
  cmp(dword[rax], 1);
  jne(bail());
}

void Compiler::guard_object(const LoopOp& op, PyObject* const& expected) {
  Label& fails = failed(op);
  mov(rax, object(op.left));
  if (op.code != LoopCode::kGuardIs) {
    mov(rax, qword[rax + layout::kType]);
  }
  load_object(rcx, expected);
  cmp(rax, rcx);
  jne(fails);
}

void Compiler::load_object(const Reg64& target, PyObject* const& object) {
  const bool is_static =
      PyType_Check(object) && !PyType_HasFeature(reinterpret_cast<PyTypeObject*>(object), Py_TPFLAGS_HEAPTYPE);
  if (is_static || object == Py_None || object == Py_True || object == Py_False) {
    mov(target, reinterpret_cast<std::size_t>(object));
  } else {
    mov(target, reinterpret_cast<std::size_t>(&object));
    mov(target, qword[target]);
  }
}

void Compiler::guard_bool(const LoopOp& op) {
  Label& fails = failed(op);
  cmp(number(op.left), 0);
  op.flag != 0 ? je(fails) : jne(fails);
}

void Compiler::global(const LoopOp& op) {
  const Step& step = source_.steps[op.step];
  Label other;
  Label found;
  mov(rax, object(op.left));
  mov(rcx, reinterpret_cast<std::size_t>(&step.key));
  mov(rdx, qword[rax + layout::kFunctionGlobals]);
  cmp(rdx, qword[rcx]);
  jne(other);
  mov(rdx, qword[rdx + layout::kDictVersion]);
  cmp(rdx, qword[rcx + learned(step, step.version1)]);
  jne(other);
  mov(rdx, qword[rcx + learned(step, step.version2)]);
  test(rdx, rdx);
  jz(found);
  mov(rax, qword[rax + layout::kFunctionBuiltins]);
  cmp(rdx, qword[rax + layout::kDictVersion]);
  jne(other);
  L(found);
  mov(rax, qword[rcx + learned(step, step.cached)]);
  switch (op.code) {
    case LoopCode::kGlobalFloat:
      keep_float_of(op, op.result);
      break;
    case LoopCode::kGlobalInt:
      keep_int_of(op, op.result, other);
      break;
    default:
      share(rax);
      mov(object(op.result), rax);
      break;
  }
  perform_aside(other, op);
}

void Compiler::check_learned(const Step& step, cpython::Attribute::Kind kind, Label& other) {
  if (step.attributes == nullptr) {
    step.attributes = std::make_unique<KnownAttributes>();
  }
  const auto& ways = step.attributes->ways;
  Label found;
  mov(rcx, reinterpret_cast<std::size_t>(ways.data()));
  mov(rdx, qword[rax + layout::kType]);
  mov(edx, dword[rdx + layout::kTypeVersion]);
  test(rdx, rdx);
  jz(other);
  for (std::size_t number = 0; number + 1 < ways.size(); ++number) {
    cmp(edx, dword[rcx + offsetof(Way, version)]);
    je(found);
    add(rcx, sizeof(Way));
  }
  cmp(edx, dword[rcx + offsetof(Way, version)]);
  jne(other);
  L(found);
  cmp(byte[rcx + offsetof(Way, attribute.kind)], static_cast<int>(kind));
  jne(other);
  mov(rdx, qword[rax + layout::kType]);
}

void Compiler::attribute(const LoopOp& op) {
  const Step& step = source_.steps[op.step];
  Label other;
  mov(rax, object(op.left));
  check_learned(step, cpython::Attribute::Kind::kValue, other);
  mov(rdx, qword[rax + layout::kValuesBefore]);
  test(rdx, rdx);
  jz(other);
  movsxd(rcx, dword[rcx + offsetof(Way, attribute.index)]);
  mov(rax, qword[rdx + rcx * kNumberSize]);
  test(rax, rax);
  jz(other);
  share(rax);
  mov(object(op.result), rax);
  perform_aside(other, op);
}

void Compiler::method(const LoopOp& op) {
  const Step& step = source_.steps[op.step];
  Label other;
  Label visible;
  mov(rax, object(op.left));
  check_learned(step, cpython::Attribute::Kind::kOfType, other);
  cmp(byte[rcx + offsetof(Way, attribute.is_method)], 0);
  je(other);
  test(dword[rdx + layout::kTypeFlags], Py_TPFLAGS_MANAGED_DICT);
  jz(visible);
  cmp(qword[rax + layout::kValuesBefore], 0);
  je(other);
  mov(rdx, qword[rdx + layout::kSharedKeys]);
  mov(rdx, qword[rdx + cpython::kSharedKeyCount]);
  cmp(edx, dword[rcx + offsetof(Way, attribute.index)]);
  jne(other);
  L(visible);
  mov(rcx, qword[rcx + offsetof(Way, attribute.object)]);
  share(rcx);
  mov(object(op.result), rcx);
  share(rax);
  mov(object(op.right), rax);
  perform_aside(other, op);
}

void Compiler::append(const LoopOp& op) {
  Label full;
  mov(rax, object(op.left));
  mov(rcx, qword[rax + layout::kSize]);
  cmp(rcx, qword[rax + layout::kListRoom]);
  jge(full);
  mov(rdx, object(op.right));
  share(rdx);
  inc(qword[rax + layout::kSize]);
  mov(rax, qword[rax + layout::kListItems]);
  mov(qword[rax + rcx * kNumberSize], rdx);
  perform_aside(full, op);
}

void Compiler::sync(const LoopOp& op) {
  Label same;
  Label other;
  Label nothing;
  mov(rax, ptr[r15 + offsetof(Frame, root_slots)]);
  test(rax, rax);
  jz(other);
  mov(rcx, object(op.left));
  mov(rdx, qword[rax + op.right * kNumberSize]);
  cmp(rcx, rdx);
  je(same);
  test(rcx, rcx);
  jz(other);
  test(rdx, rdx);
  jz(nothing);
  cmp(qword[rdx + layout::kCount], 1);
  je(other);
  dec(qword[rdx + layout::kCount]);
  L(nothing);
  share(rcx);
  mov(qword[rax + op.right * kNumberSize], rcx);
  mov(rax, ptr[r15 + offsetof(Frame, root_synced)]);
  mov(dword[rax], -1);
  L(same);
  perform_aside(other, op);
}

}  // namespace tagalong::replay::native
#endif
