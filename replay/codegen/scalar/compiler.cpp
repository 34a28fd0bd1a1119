// The compiler's frame: entry and exit, copies in machine registers, calls of the interpreter, and the switch over
// operations.
#include "replay/codegen/scalar/compiler.h"

#include <algorithm>

#ifdef __x86_64__
#include "replay/ir/stages.h"
#include "rewriter/cpython/exact_numbers.h"
#include "rewriter/cpython/foreign_eval.h"
#include "rewriter/cpython/frames.h"

namespace tagalong::replay::native {

std::unique_ptr<const Code> Compiler::make() {
  find_targets();
  prologue();
  for (number_ = 0; number_ < ops_.size(); ++number_) {
    if (is_target_[number_]) {
      ints_ = {};
      floats_ = {};
      L(labels_[number_]);
    }
    emit(ops_[number_]);
  }
  ud2();  // unreachable: every program ends with a jump
  while (!later_.empty()) {
    const std::function<void()> emit_aside = std::move(later_.front());
    later_.pop_front();
    emit_aside();
  }
  for (std::size_t number = 0; number < ops_.size(); ++number) {
    if (is_bailed_[number]) {
      L(bails_[number]);
      mov(rax, reinterpret_cast<std::size_t>(&ops_[number]));
      jmp(exit_);
    }
  }
  epilogue();
  ready(PROTECT_RW);  // resolves labels; the code runs in executable memory
  std::vector<std::ptrdiff_t> entries(ops_.size(), -1);
  for (std::size_t place = 0; place < ops_.size(); ++place) {
    if (is_target_[place]) {  // a target holds no copies in machine registers
      entries[place] = labels_[place].getAddress() - getCode();
    }
  }
  return Code::make({getCode(), getSize()}, entries);
}

void Compiler::find_targets() {
  const auto mark = [this](std::int32_t number) { is_target_[static_cast<std::size_t>(number)] = true; };
  for (const std::int32_t entry : source_.entries) {
    mark(entry);
  }
  for (const LoopOp& op : ops_) {
    if (op.branch >= 0) {
      mark(op.branch);
    }
    if (info(op.code).jumps()) {
      mark(op.right);
    }
  }
}

void Compiler::prologue() {
  for (const Reg64& saved : {rbx, rbp, r12, r13, r14, r15}) {
    push(saved);
  }
  sub(rsp, kNumberSize);
  mov(r15, rdi);
  mov(rbx, ptr[r15 + offsetof(Frame, objects)]);
  mov(rbp, ptr[r15 + offsetof(Frame, unboxed)]);
  jmp(rsi);
}

void Compiler::epilogue() {
  L(ended_);
  mov(rax, ptr[r15 + offsetof(Frame, next)]);
  L(exit_);
  add(rsp, kNumberSize);
  for (const Reg64& saved : {r15, r14, r13, r12, rbp, rbx}) {
    pop(saved);
  }
  ret();
}

Label& Compiler::bail() {
  is_bailed_[number_] = true;
  return bails_[number_];
}

std::int32_t Compiler::low(const void* address) {
  return static_cast<std::int32_t>(reinterpret_cast<std::intptr_t>(address));
}

void Compiler::compare_with(const Xbyak::Address& word, const void* address) {
  const auto number = reinterpret_cast<std::intptr_t>(address);
  if (number == low(address)) {
    cmp(word, low(address));
  } else {
    mov(rcx, static_cast<std::size_t>(number));
    cmp(word, rcx);
  }
}

Reg64 Compiler::int_of(std::int32_t place) {
  int index = ints_.find(place);
  if (index < 0) {
    index = ints_.take();
    mov(int_register(index), number(place));
    ints_.bind(index, place);
  }
  return int_register(index);
}

Xmm Compiler::float_of(std::int32_t place) {
  int index = floats_.find(place);
  if (index < 0) {
    index = floats_.take();
    movsd(float_register(index), number(place));
    floats_.bind(index, place);
  }
  return float_register(index);
}

std::optional<std::int32_t> Compiler::constant(std::int32_t place) const {
  std::int64_t value = 0;
  if (place < 0 || static_cast<std::size_t>(place) >= source_.constants.size()) {
    return std::nullopt;
  }
  PyObject* object = source_.constants[static_cast<std::size_t>(place)];
  if (object == nullptr || !PyLong_CheckExact(object) || !cpython::int64_of(object, &value) ||
      !std::in_range<std::int32_t>(value)) {
    return std::nullopt;
  }
  return static_cast<std::int32_t>(value);
}

void Compiler::forget(std::int32_t place) {
  if (place >= 0) {
    ints_.forget(place);
    floats_.forget(place);
  }
}

void Compiler::keep_int(std::int32_t place, int index) {
  mov(number(place), int_register(index));
  forget(place);
  ints_.bind(index, place);
}

void Compiler::keep_float(std::int32_t place, int index) {
  movsd(number(place), float_register(index));
  forget(place);
  floats_.bind(index, place);
}

void Compiler::forget_volatile() {
  ints_.forget_from(kKept);
  floats_.forget_from(0);
}

void Compiler::load_again(const Ints& ints, const Floats& floats) {
  for (std::size_t index = 0; index < Ints::size(); ++index) {
    if (ints.place(index) != Ints::kNone) {
      mov(int_register(static_cast<int>(index)), number(ints.place(index)));
    }
  }
  for (std::size_t index = 0; index < Floats::size(); ++index) {
    if (floats.place(index) != Floats::kNone) {
      movsd(float_register(static_cast<int>(index)), number(floats.place(index)));
    }
  }
}

void Compiler::ask_interpreter(const LoopOp& op) {
  mov(rdi, r15);
  mov(rsi, reinterpret_cast<std::size_t>(&op));
  call_function(source_.perform);
  test(eax, eax);
  if (op.branch < 0) {
    jnz(ended_);
    return;
  }
  Label other;
  jnz(other);
  later_.emplace_back([this, other, &op]() mutable {
    L(other);
    cmp(eax, static_cast<int>(Did::kBranch));
    je(labels_[static_cast<std::size_t>(op.branch)]);
    jmp(ended_);
  });
}

void Compiler::perform(const LoopOp& op) {
  ask_interpreter(op);
  forget_volatile();
  if (op.code != LoopCode::kStep) {
    forget(op.left);
    forget(op.result);
  }
}

void Compiler::perform_aside(const Label& start, const LoopOp& op) {
  Label back;
  L(back);
  aside(start, back, [this, &op] { ask_interpreter(op); });
}

void Compiler::leave_if_watched() {
  Label& unusual = bail();
  mov(rax, ptr[r15 + offsetof(Frame, thread)]);
  mov(rax, qword[rax + layout::kThreadCFrame]);
  cmp(byte[rax + layout::kUseTracing], 0);
  jne(unusual);
  mov(rax, reinterpret_cast<std::size_t>(cpython::kTraceMalloc));
  cmp(dword[rax], 0);
  jne(unusual);
  mov(rax, reinterpret_cast<std::size_t>(&cpython::are_frames_of_others));
  cmp(dword[rax], 0);
  jne(unusual);
}

void Compiler::begin_round(const LoopOp& op) {
  Label& unusual = bail();
  Label touched;
  Label untouched;
  mov(rax, ptr[r15 + offsetof(Frame, requests)]);
  cmp(dword[rax], 0);
  jne(unusual);
  if (op.code == LoopCode::kCross) {
    mov(rax, ptr[r15 + offsetof(Frame, depth)]);
    cmp(dword[rax], 1);
    jne(unusual);
  }
  if (!source_.arrivals.empty()) {
    const auto member = static_cast<std::size_t>(std::max(op.left, 0));
    mov(rax, reinterpret_cast<std::size_t>(source_.arrivals[member]));
    sub(qword[rax], 1);
    jle(unusual);
  }
  cmp(dword[r15 + offsetof(Frame, is_touched)], 0);
  jne(touched);
  L(untouched);
  add(qword[r15 + offsetof(Frame, gain)], op.result);
  later_.emplace_back([this, touched = Label(touched), untouched = Label(untouched), number = number_]() mutable {
    number_ = number;
    L(touched);
    leave_if_watched();
    mov(rax, ptr[r15 + offsetof(Frame, depth)]);
    Label is_virtual;
    cmp(dword[rax], source_.level);
    jle(is_virtual);
    mov(rax, ptr[r15 + offsetof(Frame, synced)]);
    mov(dword[rax], -1);
    L(is_virtual);
    mov(dword[r15 + offsetof(Frame, is_touched)], 0);
    jmp(untouched);
  });
}

void Compiler::emit(const LoopOp& op) {
  switch (op.code) {
    case LoopCode::kLeaveIfWatched:
      leave_if_watched();
      break;
    case LoopCode::kBox:
      box(op);
      break;
    case LoopCode::kClear:
      clear(op.left);
      break;
    case LoopCode::kClearShown:
      clear_shown(op);
      break;
    case LoopCode::kMove:
    case LoopCode::kShare:
      move_or_share(op);
      break;
    case LoopCode::kUnboxInt:
    case LoopCode::kUnboxFloat:
    case LoopCode::kUnboxBool:
    case LoopCode::kUnboxNumpyInt:
    case LoopCode::kUnboxNumpyFloat:
    case LoopCode::kUnboxNumpyBool:
      unbox(op);
      break;
    case LoopCode::kAddInt:
      int_operation(op, true, [this](const Reg64& target, const auto& operand) {
        if (is_faulty(Stage::native_code)) {
          sub(target, operand);
        } else {
          add(target, operand);
        }
      });
      break;
    case LoopCode::kSubtractInt:
      int_operation(op, true, [this](const Reg64& target, const auto& operand) { sub(target, operand); });
      break;
    case LoopCode::kMultiplyInt:
      multiply_int(op);
      break;
    case LoopCode::kAndInt:
      int_operation(op, false, [this](const Reg64& target, const auto& operand) { and_(target, operand); });
      break;
    case LoopCode::kOrInt:
      int_operation(op, false, [this](const Reg64& target, const auto& operand) { or_(target, operand); });
      break;
    case LoopCode::kXorInt:
      int_operation(op, false, [this](const Reg64& target, const auto& operand) { xor_(target, operand); });
      break;
    case LoopCode::kFloorDivideInt:
    case LoopCode::kRemainderInt:
      divide_int(op);
      break;
    case LoopCode::kTrueDivideInt:
      true_divide(op);
      break;
    case LoopCode::kShiftLeftInt:
      shift_left(op);
      break;
    case LoopCode::kShiftRightInt:
      shift_right(op);
      break;
    case LoopCode::kNegateInt:
      negate_int(op);
      break;
    case LoopCode::kAddFloat:
      float_operation(op, [this](const Xmm& target, const Xmm& operand) {
        if (is_faulty(Stage::native_code)) {
          subsd(target, operand);
        } else {
          addsd(target, operand);
        }
      });
      break;
    case LoopCode::kSubtractFloat:
      float_operation(op, [this](const Xmm& target, const Xmm& operand) { subsd(target, operand); });
      break;
    case LoopCode::kMultiplyFloat:
      float_operation(op, [this](const Xmm& target, const Xmm& operand) { mulsd(target, operand); });
      break;
    case LoopCode::kDivideFloat:
      float_operation(op, [this](const Xmm& target, const Xmm& operand) { divsd(target, operand); });
      break;
    case LoopCode::kNegateFloat:
      negate_float(op);
      break;
    case LoopCode::kFloatOfInt:
      float_of_int(op);
      break;
    case LoopCode::kLessInt:
    case LoopCode::kLessEqualInt:
    case LoopCode::kEqualInt:
    case LoopCode::kNotEqualInt:
    case LoopCode::kGreaterInt:
    case LoopCode::kGreaterEqualInt:
      compare_int(op);
      break;
    case LoopCode::kLessFloat:
    case LoopCode::kLessEqualFloat:
    case LoopCode::kEqualFloat:
    case LoopCode::kNotEqualFloat:
    case LoopCode::kGreaterFloat:
    case LoopCode::kGreaterEqualFloat:
      compare_float(op);
      break;
    case LoopCode::kCallFloat:
      call_float(op);
      break;
    case LoopCode::kCallInt:
      call_int(op);
      break;
    case LoopCode::kLength:
      length(op);
      break;
    case LoopCode::kMakeRange:
      make_range(op);
      break;
    case LoopCode::kTruthInt:
    case LoopCode::kTruthFloat:
    case LoopCode::kNotBool:
      truth(op);
      break;
    case LoopCode::kGuardBool:
      guard_bool(op);
      break;
    case LoopCode::kGuardLessInt:
    case LoopCode::kGuardLessEqualInt:
    case LoopCode::kGuardEqualInt:
    case LoopCode::kGuardNotEqualInt:
    case LoopCode::kGuardGreaterInt:
    case LoopCode::kGuardGreaterEqualInt:
      guard_int(op);
      break;
    case LoopCode::kGuardLessFloat:
    case LoopCode::kGuardLessEqualFloat:
    case LoopCode::kGuardEqualFloat:
    case LoopCode::kGuardNotEqualFloat:
    case LoopCode::kGuardGreaterFloat:
    case LoopCode::kGuardGreaterEqualFloat:
      guard_float(op);
      break;
    case LoopCode::kRangeNext:
      range_next(op);
      break;
    case LoopCode::kForIter:
      for_iter(op);
      break;
    case LoopCode::kItem:
    case LoopCode::kItemInt:
    case LoopCode::kItemFloat:
      item(op);
      break;
    case LoopCode::kStoreItem:
      store_item(op);
      break;
    case LoopCode::kPair:
      make_pair(op);
      break;
    case LoopCode::kArrayItem:
    case LoopCode::kArrayItem2:
      array_item(op);
      break;
    case LoopCode::kArrayNext:
      array_next(op);
      break;
    case LoopCode::kArrayStore:
    case LoopCode::kArrayStore2:
      array_store(op);
      break;
    case LoopCode::kAddFloat64:
      float64_operation(op, [this](const Xmm& target, const Xmm& operand) { addsd(target, operand); });
      break;
    case LoopCode::kSubtractFloat64:
      float64_operation(op, [this](const Xmm& target, const Xmm& operand) { subsd(target, operand); });
      break;
    case LoopCode::kMultiplyFloat64:
      float64_operation(op, [this](const Xmm& target, const Xmm& operand) { mulsd(target, operand); });
      break;
    case LoopCode::kDivideFloat64:
      float64_operation(op, [this](const Xmm& target, const Xmm& operand) { divsd(target, operand); });
      break;
    case LoopCode::kGlobal:
    case LoopCode::kGlobalInt:
    case LoopCode::kGlobalFloat:
      global(op);
      break;
    case LoopCode::kAttribute:
      attribute(op);
      break;
    case LoopCode::kMethod:
      method(op);
      break;
    case LoopCode::kAppend:
      append(op);
      break;
    case LoopCode::kGuardNull: {
      Label& fails = failed(op);
      cmp(object(op.left), 0);
      op.flag != 0 ? je(fails) : jne(fails);
      break;
    }
    case LoopCode::kGiveUpRest:
      give_up_rest(op);
      break;
    case LoopCode::kPoll:
    case LoopCode::kCross:
      begin_round(op);
      if (const std::int32_t place = source_.places[number_]; place >= 0) {
        mov(rax, ptr[r15 + offsetof(Frame, root_code)]);
        mov(rcx, ptr[r15 + offsetof(Frame, root_place)]);
        add(rax, place * static_cast<int>(sizeof(std::uint16_t)));
        mov(ptr[rcx], rax);
      }
      break;
    case LoopCode::kPollAndJump:
      begin_round(op);
      jmp(labels_[static_cast<std::size_t>(op.right)]);
      break;
    case LoopCode::kJump:
#ifdef TAGALONG_CHECKS
      if (op.flag != 0) {
        perform(op);
      }
#endif
      jmp(labels_[static_cast<std::size_t>(op.right)]);
      break;
    case LoopCode::kGuardType:
    case LoopCode::kGuardIs:
      guard_object(op, source_.steps[op.step].object);
      break;
    case LoopCode::kCheckType:
      guard_object(op, source_.program.types[static_cast<std::size_t>(op.right)]);
      break;
    case LoopCode::kCheckBound:
      cmp(object(op.left), 0);
      je(bail());
      break;
    case LoopCode::kCheckUnbound:
      cmp(object(op.left), 0);
      jne(bail());
      break;
    case LoopCode::kSync:
      sync(op);
      break;
    case LoopCode::kStep:
      step(op);
      break;
    case LoopCode::kCheckQuiet:
      check_quiet(op);
      break;
    case LoopCode::kSyncUnboxed:
    case LoopCode::kUnbind:
    case LoopCode::kRebind:
      perform(op);
      break;
  }
}

std::unique_ptr<const Code> compile(const Source& source) {
  try {
    return Compiler(source).make();
  } catch (const Xbyak::Error&) {
    return nullptr;  // no memory, or a displacement that does not fit an instruction
  }
}

}  // namespace tagalong::replay::native

#else

namespace tagalong::replay::native {

std::unique_ptr<const Code> compile(const Source& /*source*/) { return nullptr; }

}  // namespace tagalong::replay::native

#endif
