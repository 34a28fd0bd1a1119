#include "replay/codegen/scalar/attributes.h"

#ifdef __x86_64__

namespace tagalong::replay::native {
namespace {

using Entry = KnownAttributes::Entry;

// The offset of a member of the step from its `key`.
template <typename Member>
int from_key(const Step& step, const Member& member) {
  return static_cast<int>(reinterpret_cast<const char*>(&member) - reinterpret_cast<const char*>(&step.key));
}

}  // namespace

void AttributeCode::global(const LoopOp& op) {
  const Step& step = source_.steps[op.step];
  Label slow_path;
  Label found;
  asm_.mov(rax, object(op.left));
  asm_.mov(rcx, reinterpret_cast<std::size_t>(&step.key));
  asm_.mov(rdx, qword[rax + layout::kFunctionGlobals]);
  asm_.cmp(rdx, qword[rcx]);
  asm_.jne(slow_path);
  version::machine::load_dict_version(asm_, rdx, rdx);
  asm_.cmp(rdx, qword[rcx + from_key(step, step.version1)]);
  asm_.jne(slow_path);
  asm_.mov(rdx, qword[rcx + from_key(step, step.version2)]);
  asm_.test(rdx, rdx);
  asm_.jz(found);
  asm_.mov(rax, qword[rax + layout::kFunctionBuiltins]);
  version::machine::load_dict_version(asm_, rax, rax);
  asm_.cmp(rdx, rax);
  asm_.jne(slow_path);
  asm_.L(found);
  asm_.mov(rax, qword[rcx + from_key(step, step.cached)]);
  boxing_.keep_result(op, slow_path);
  exits_.perform_out_of_line(slow_path, op);
}

void AttributeCode::check_cached(const Step& step, cpython::Attribute::Kind kind, Label& slow_path) {
  if (step.attributes == nullptr) {
    step.attributes = std::make_unique<KnownAttributes>();
  }
  const auto& entries = step.attributes->entries;
  Label found;
  asm_.mov(rcx, reinterpret_cast<std::size_t>(entries.data()));
  asm_.mov(rdx, qword[rax + layout::kType]);
  asm_.mov(edx, dword[rdx + layout::kTypeVersion]);
  asm_.test(rdx, rdx);
  asm_.jz(slow_path);
  for (std::size_t number = 0; number + 1 < entries.size(); ++number) {
    asm_.cmp(edx, dword[rcx + offsetof(Entry, version)]);
    asm_.je(found);
    asm_.add(rcx, sizeof(Entry));
  }
  asm_.cmp(edx, dword[rcx + offsetof(Entry, version)]);
  asm_.jne(slow_path);
  asm_.L(found);
  asm_.cmp(byte[rcx + offsetof(Entry, attribute.kind)], static_cast<int>(kind));
  asm_.jne(slow_path);
  asm_.mov(rdx, qword[rax + layout::kType]);
}

void AttributeCode::attribute(const LoopOp& op) {
  const Step& step = source_.steps[op.step];
  Label slow_path;
  asm_.mov(rax, object(op.left));
  check_cached(step, cpython::Attribute::Kind::kValue, slow_path);
  version::machine::load_values(asm_, rdx, rax, slow_path);
  asm_.movsxd(rcx, dword[rcx + offsetof(Entry, attribute.index)]);
  asm_.mov(rax, qword[rdx + rcx * kNumberSize]);
  asm_.test(rax, rax);
  asm_.jz(slow_path);
  asm_.share(rax);
  asm_.mov(object(op.result), rax);
  exits_.perform_out_of_line(slow_path, op);
}

void AttributeCode::method(const LoopOp& op) {
  const Step& step = source_.steps[op.step];
  Label slow_path;
  Label visible;
  asm_.mov(rax, object(op.left));
  check_cached(step, cpython::Attribute::Kind::kOfType, slow_path);
  asm_.cmp(byte[rcx + offsetof(Entry, attribute.is_method)], 0);
  asm_.je(slow_path);
  asm_.test(dword[rdx + layout::kTypeFlags], Py_TPFLAGS_MANAGED_DICT);
  asm_.jz(visible);
  version::machine::if_without_values(asm_, rax, rdx, slow_path);
  asm_.mov(rdx, qword[rdx + layout::kSharedKeys]);
  asm_.mov(rdx, qword[rdx + cpython::kSharedKeyCount]);
  asm_.cmp(edx, dword[rcx + offsetof(Entry, attribute.index)]);
  asm_.jne(slow_path);
  asm_.L(visible);
  asm_.mov(rcx, qword[rcx + offsetof(Entry, attribute.object)]);
  asm_.share(rcx);
  asm_.mov(object(op.result), rcx);
  asm_.share(rax);
  asm_.mov(object(op.right), rax);
  exits_.perform_out_of_line(slow_path, op);
}

bool AttributeCode::is_stored(const Step& step) const {
  if (step.op != Op::store_attr || step.polls) {
    return false;
  }
  const std::int32_t* used = source_.used.data() + step.operands;
  const std::int32_t* drops = used + step.operand_count + step.result_count;
  return std::all_of(drops, drops + step.drop_count,
                     [&](std::int32_t place) { return place == used[0] || place == used[1]; });
}

void AttributeCode::store_attribute(const LoopOp& op) {
  const Step& step = source_.steps[op.step];
  const std::int32_t* used = source_.used.data() + step.operands;
  Label slow_path;
  Label stays;
  if (step.can_leave) {
    polls_.leave_if_watched();
  }
  asm_.mov(rax, object(used[0]));
  check_cached(step, cpython::Attribute::Kind::kValue, slow_path);
  if (step.drop_count > 0) {
    asm_.if_last(rax, slow_path);
  }
  version::machine::load_values(asm_, rdx, rax, slow_path);
  asm_.movsxd(rcx, dword[rcx + offsetof(Entry, attribute.index)]);
  asm_.lea(rdx, ptr[rdx + rcx * kNumberSize]);
  asm_.mov(rax, qword[rdx]);
  asm_.test(rax, rax);
  asm_.jz(slow_path);
  asm_.if_shared(rax, stays);
  asm_.mov(rcx, reinterpret_cast<std::size_t>(&PyFloat_Type));
  asm_.cmp(rcx, qword[rax + layout::kType]);
  asm_.je(stays);
  asm_.mov(rcx, reinterpret_cast<std::size_t>(&PyLong_Type));
  asm_.cmp(rcx, qword[rax + layout::kType]);
  asm_.jne(slow_path);
  asm_.L(stays);
  asm_.mov(rcx, object(used[1]));
  asm_.share(rcx);
  asm_.mov(qword[rdx], rcx);
  references_.release();
  // No drop frees an object: the first operand's count is above one, and the second operand has been stored.
  for (int index = 0; index < step.drop_count; ++index) {
    const std::int32_t place = used[step.operand_count + step.result_count + index];
    asm_.mov(rax, object(place));
    asm_.mov(object(place), 0);
    asm_.give_back(rax);
  }
  exits_.perform_out_of_line(slow_path, op);
}

}  // namespace tagalong::replay::native
#endif
