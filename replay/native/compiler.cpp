// The code of one loop program: one pass over its operations, with copies of numbers in machine registers between two
// places that are jumped to.
//
//   rbx  objects of the registers      rbp  numbers of the registers      r15  Frame
//   rax, rcx, rdx, xmm0, xmm1  for one operation; the others have copies, of which calls leave those in r12-r14
#include <array>
#include <bit>
#include <deque>
#include <functional>
#include <optional>
#include <utility>

#include "replay/array/numpy_abi.h"
#include "replay/executor.h"
#include "replay/known_functions.h"
#include "replay/native/code.h"
#include "replay/native/registers.h"
#include "rewriter/interp/errors.h"
#include "rewriter/interp/exact_numbers.h"
#include "rewriter/interp/frames.h"

#ifdef __x86_64__
#include <xbyak/xbyak.h>

#include "rewriter/interp/code_link.h"
#include "rewriter/interp/ints.h"
#include "rewriter/interp/layouts.h"

namespace tagalong::replay::native {
namespace {

namespace layout = interp::layout;
// Of arrays.
constexpr int kArrayData = offsetof(array::ArrayFields, data);
constexpr int kArrayDimensions = offsetof(array::ArrayFields, nd);
constexpr int kArrayExtents = offsetof(array::ArrayFields, dimensions);
constexpr int kArrayStrides = offsetof(array::ArrayFields, strides);
constexpr int kArrayType = offsetof(array::ArrayFields, descr);
constexpr int kArrayFlags = offsetof(array::ArrayFields, flags);
constexpr int kArrayWriteable = array::kWriteable;
constexpr int kArrayWriteFlags = array::kWriteable | array::kWarnOnWrite;
using Xbyak::Label;
using Xbyak::Reg64;
using Xbyak::Xmm;

constexpr std::int64_t kDigit = std::int64_t{1} << 30;         // ints below it have one digit
constexpr std::int64_t kExactInFloat = std::int64_t{1} << 53;  // ints up to it are floats without rounding
constexpr int kNumberSize = 8;
constexpr int kSignBit = 63;
constexpr std::size_t kKept = 3;  // of the registers for ints: those that calls leave alone
constexpr std::array kIntRegisters = {12, 13, 14, 6, 7, 8, 9, 10, 11};  // r12, r13, r14, rsi, rdi, r8 ... r11
constexpr int kFirstXmm = 2;
constexpr std::size_t kXmmCount = 14;

PyObject* object_of_int(std::int64_t number) noexcept {
  PyObject* object = PyLong_FromLongLong(number);
  if (object == nullptr) {
    PyErr_Clear();  // the interpreter tries again
  }
  return object;
}

PyObject* object_of_float(double number) noexcept {
  PyObject* object = PyFloat_FromDouble(number);
  if (object == nullptr) {
    PyErr_Clear();
  }
  return object;
}

PyObject* object_of_scalar(Raw kind, std::int64_t bits) noexcept {
  PyObject* object = object_of(kind, {.i = bits});
  if (object == nullptr) {
    PyErr_Clear();
  }
  return object;
}

const void* item_dtype(int type_number) { return array::met_numpy()->descr[static_cast<std::size_t>(type_number)]; }

void deallocate(PyObject* object, Frame* frame) noexcept {
  frame->is_touched = 1;
  _Py_Dealloc(object);
}

enum class Condition : std::uint8_t { kLess, kLessEqual, kEqual, kNotEqual, kGreater, kGreaterEqual };

class Compiler final : public Xbyak::CodeGenerator {
 public:
  explicit Compiler(const Source& source)
      : CodeGenerator(Xbyak::DEFAULT_MAX_CODE_SIZE, Xbyak::AutoGrow),
        source_(source),
        ops_(source.program.ops),
        labels_(ops_.size()),
        bails_(ops_.size()),
        is_target_(ops_.size()),
        is_bailed_(ops_.size()) {
    setDefaultJmpNEAR(true);
  }

  std::unique_ptr<const Code> make() {
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
    ud2();  // no program goes on behind its end
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
    ready(PROTECT_RW);  // runs elsewhere
    std::vector<std::ptrdiff_t> entries(ops_.size(), -1);
    for (std::size_t place = 0; place < ops_.size(); ++place) {
      if (is_target_[place]) {  // nothing is in machine registers alone there
        entries[place] = labels_[place].getAddress() - getCode();
      }
    }
    return Code::make({getCode(), getSize()}, entries);
  }

 private:
  using Ints = Copies<kIntRegisters.size()>;
  using Floats = Copies<kXmmCount>;

  void find_targets() {
    const auto mark = [this](std::int32_t number) { is_target_[static_cast<std::size_t>(number)] = true; };
    for (const std::int32_t entry : source_.entries) {
      mark(entry);
    }
    for (const LoopOp& op : ops_) {
      if (op.branch >= 0) {
        mark(op.branch);
      }
      if (op.code == LoopCode::kJump || op.code == LoopCode::kServeAndJump) {
        mark(op.right);
      }
    }
  }

  // --- in and out

  void prologue() {
    for (const Reg64& saved : {rbx, rbp, r12, r13, r14, r15}) {
      push(saved);
    }
    sub(rsp, kNumberSize);
    mov(r15, rdi);
    mov(rbx, ptr[r15 + offsetof(Frame, objects)]);
    mov(rbp, ptr[r15 + offsetof(Frame, raw)]);
    jmp(rsi);
  }
  void epilogue() {
    L(ended_);
    mov(rax, ptr[r15 + offsetof(Frame, next)]);
    L(exit_);
    add(rsp, kNumberSize);
    for (const Reg64& saved : {r15, r14, r13, r12, rbp, rbx}) {
      pop(saved);
    }
    ret();
  }
  // Where this operation goes when it is not the usual.
  Label& bail() {
    is_bailed_[number_] = true;
    return bails_[number_];
  }
  // Where a guard goes that does not hold.
  Label& failed(const LoopOp& op) { return op.branch < 0 ? bail() : labels_[static_cast<std::size_t>(op.branch)]; }

  // --- memory

  Xbyak::Address object(std::int32_t place) { return qword[rbx + place * kNumberSize]; }
  Xbyak::Address number(std::int32_t place) { return qword[rbp + place * kNumberSize]; }
  static std::int32_t low(const void* address) {
    return static_cast<std::int32_t>(reinterpret_cast<std::intptr_t>(address));
  }
  void compare_with(const Xbyak::Address& word, const void* address) {
    const auto number = reinterpret_cast<std::intptr_t>(address);
    if (number == low(address)) {
      cmp(word, low(address));
    } else {
      mov(rcx, static_cast<std::size_t>(number));
      cmp(word, rcx);
    }
  }

  // --- numbers

  static Reg64 int_register(int index) { return Reg64(kIntRegisters[static_cast<std::size_t>(index)]); }
  static Xmm float_register(int index) { return Xmm(kFirstXmm + index); }
  Reg64 int_of(std::int32_t place) {
    int index = ints_.find(place);
    if (index < 0) {
      index = ints_.take();
      mov(int_register(index), number(place));
      ints_.bind(index, place);
    }
    return int_register(index);
  }
  Xmm float_of(std::int32_t place) {
    int index = floats_.find(place);
    if (index < 0) {
      index = floats_.take();
      movsd(float_register(index), number(place));
      floats_.bind(index, place);
    }
    return float_register(index);
  }
  // The constant int of this place, if it fits an operand.
  [[nodiscard]] std::optional<std::int32_t> constant(std::int32_t place) const {
    std::int64_t value = 0;
    if (place < 0 || static_cast<std::size_t>(place) >= source_.constants.size()) {
      return std::nullopt;
    }
    PyObject* object = source_.constants[static_cast<std::size_t>(place)];
    if (object == nullptr || !PyLong_CheckExact(object) || !interp::int64_of(object, &value) ||
        !std::in_range<std::int32_t>(value)) {
      return std::nullopt;
    }
    return static_cast<std::int32_t>(value);
  }
  void forget(std::int32_t place) {
    if (place >= 0) {
      ints_.forget(place);
      floats_.forget(place);
    }
  }
  void keep_int(std::int32_t place, int index) {
    mov(number(place), int_register(index));
    forget(place);
    ints_.bind(index, place);
  }
  void keep_float(std::int32_t place, int index) {
    movsd(number(place), float_register(index));
    forget(place);
    floats_.bind(index, place);
  }
  void forget_volatile() {
    ints_.forget_from(kKept);
    floats_.forget_from(0);
  }
  // What code at the side may have changed, or clobbered.
  void load_again(const Ints& ints, const Floats& floats) {
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

  // --- calls

  template <typename Function>
  void call_function(Function* function) {
    mov(rax, reinterpret_cast<std::size_t>(function));
    call(rax);
  }
  // Code at the side that goes on at `back` with all copies as they are there.
  template <typename Body>
  void aside(const Label& start, const Label& back, Body body) {
    later_.emplace_back([this, start = Label(start), back = Label(back), body, ints = ints_, floats = floats_,
                         number = number_]() mutable {
      number_ = number;
      L(start);
      body();
      load_again(ints, floats);
      jmp(back);
    });
  }
  void ask_interpreter(const LoopOp& op) {
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
  // The interpreter does the whole operation.
  void perform(const LoopOp& op) {
    ask_interpreter(op);
    forget_volatile();
    if (op.code != LoopCode::kStep) {
      forget(op.left);
      forget(op.result);
    }
  }
  // It does so where the jump to `start` was made, in front of what is here now.
  void perform_aside(const Label& start, const LoopOp& op) {
    Label back;
    L(back);
    aside(start, back, [this, &op] { ask_interpreter(op); });
  }

  // --- objects

  void share(const Reg64& object) { inc(qword[object + layout::kCount]); }
  // Gives up the object in rax, which is not null.
  void give_up() {
    Label dies;
    Label back;
    dec(qword[rax + layout::kCount]);
    jz(dies);
    L(back);
    aside(dies, back, [this] {
      mov(rdi, rax);
      mov(rsi, r15);
      call_function(&deallocate);
    });
  }
  void clear(std::int32_t place) {
    Label nothing;
    mov(rax, object(place));
    test(rax, rax);
    jz(nothing);
    mov(object(place), 0);
    give_up();
    L(nothing);
  }
  // Iterators at their end and numbers stay where they are, as the interpreter leaves them.
  void give_up_rest(const LoopOp& op) {
    constexpr std::size_t kFew = 6;
    const auto& rest = source_.steps[op.step].rest;
    if (rest == nullptr || rest->size() > kFew) {
      perform(op);
      return;
    }
    Label other;
    for (const std::int32_t place : *rest) {
      Label next;
      mov(rax, object(place));
      test(rax, rax);
      jz(next);
      mov(rdx, qword[rax + layout::kType]);
      for (PyTypeObject* const plain : {&PyRangeIter_Type, &PyFloat_Type, &PyLong_Type}) {
        mov(rcx, reinterpret_cast<std::size_t>(plain));
        cmp(rdx, rcx);
        je(next);
      }
      mov(rcx, reinterpret_cast<std::size_t>(&PyListIter_Type));
      cmp(rdx, rcx);
      jne(other);
      cmp(qword[rax + layout::kIteratorSequence], 0);
      jne(other);
      L(next);
    }
    if (!rest->empty()) {
      perform_aside(other, op);
    }
  }
  // --- steps

  void step(const LoopOp& op) {
    const Step& step = source_.steps[op.step];
    if (step.op == Op::store_attr && !step.serves && drops_operands(step)) {
      store_attribute(op);
      return;
    }
    const bool is_known = step.op == Op::guard_function || step.op == Op::leave_frame;
    if (!is_known || step.can_leave || step.serves) {
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
      je(other);  // the step may be done again from its beginning
      mov(object(place), 0);
      dec(qword[rax + layout::kCount]);
      L(nothing);
    }
    perform_aside(other, op);
  }
  [[nodiscard]] bool drops_operands(const Step& step) const {
    const std::int32_t* used = source_.used.data() + step.operands;
    const std::int32_t* drops = used + step.operand_count + step.result_count;
    return std::all_of(drops, drops + step.drop_count,
                       [&](std::int32_t place) { return place == used[0] || place == used[1]; });
  }
  // In place of a value that nobody is told the end of.
  void store_attribute(const LoopOp& op) {
    const Step& step = source_.steps[op.step];
    const std::int32_t* used = source_.used.data() + step.operands;
    Label other;
    Label stays;
    if (step.can_leave) {
      leave_if_watched();
    }
    mov(rax, object(used[0]));
    check_learned(step, interp::Attribute::Kind::kValue, other);
    if (step.drop_count > 0) {
      cmp(qword[rax + layout::kCount], 1);
      je(other);
    }
    mov(rdx, qword[rax + layout::kValuesBefore]);
    test(rdx, rdx);
    jz(other);
    movsxd(rcx, dword[rcx + learned(step, step.attribute.index)]);
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
    // Neither dies: somebody else has the one, and the other is stored.
    for (int index = 0; index < step.drop_count; ++index) {
      const std::int32_t place = used[step.operand_count + step.result_count + index];
      mov(rax, object(place));
      mov(object(place), 0);
      dec(qword[rax + layout::kCount]);
    }
    perform_aside(other, op);
  }
  // Whether there is a function of this code, or of code that was derived from it.
  void match_function(std::int32_t place, PyObject* const& code, Label& other) {
    Label matches;
    const int number = interp::link_number();
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
  void check_quiet(const LoopOp& op) {
    const Step& guard = source_.steps[op.step];
    const Step& retreat = source_.steps[static_cast<std::size_t>(guard.retreat)];
    Label quiet;
    mov(rax, qword[r15 + offsetof(Frame, loud)]);
    mov(eax, dword[rax]);
    cmp(eax, retreat.since);
    jl(quiet);
    cmp(eax, retreat.guard);
    jle(bail());
    L(quiet);
    mov(rax, qword[r15 + offsetof(Frame, depth)]);
    cmp(dword[rax], 1);
    jne(bail());
  }

  void clear_shown(const LoopOp& op) {
    Label nothing;
    Label last;
    mov(rax, object(op.left));
    test(rax, rax);
    jz(nothing);
    cmp(qword[rax + layout::kCount], 1);
    je(last);
    mov(object(op.left), 0);
    dec(qword[rax + layout::kCount]);
    L(nothing);
    perform_aside(last, op);
  }
  void copy_number(const LoopOp& op) {
    mov(rax, number(op.left));
    mov(number(op.result), rax);
    forget(op.result);
  }
  // The next operation gives up the same object as there in rax: its reference is taken over. Counting the one up and
  // the other down would be two writes that wait for each other, in each round.
  void take_from_next(const LoopOp& op, const Label& taken) {
    const std::size_t next = number_ + 1;
    if (next >= ops_.size() || ops_[next].code != LoopCode::kClear || ops_[next].left == op.result) {
      return;
    }
    Label differs;
    cmp(rax, object(ops_[next].left));
    jne(differs);
    mov(object(ops_[next].left), 0);
    jmp(taken);
    L(differs);
  }
  void move_or_share(const LoopOp& op) {
    Label nothing;
    mov(rdx, object(op.result));
    copy_number(op);
    mov(rax, object(op.left));
    mov(object(op.result), rax);
    if (op.code == LoopCode::kMove) {
      mov(object(op.left), 0);
    } else {
      Label none;
      take_from_next(op, none);
      test(rax, rax);
      jz(none);
      share(rax);
      L(none);
    }
    test(rdx, rdx);
    jz(nothing);
    mov(rax, rdx);
    give_up();
    L(nothing);
  }
  void box(const LoopOp& op) {
    const Raw kind = source_.program.kinds[static_cast<std::size_t>(op.left)];
    Label none;
    Label back;
    cmp(object(op.left), 0);
    je(none);
    L(back);
    Label& unusual = bail();
    aside(none, back, [this, kind, &unusual, place = op.left] {
      if (kind == Raw::kPair) {
        jmp(unusual);
        return;
      }
      if (kind == Raw::kFloat) {
        movsd(xmm0, number(place));
        call_function(&object_of_float);
      } else if (kind == Raw::kInt) {
        mov(rdi, number(place));
        call_function(&object_of_int);
      } else if (kind != Raw::kBool) {
        mov(edi, static_cast<int>(kind));
        mov(rsi, number(place));
        call_function(&object_of_scalar);
      } else {
        mov(rax, reinterpret_cast<std::size_t>(Py_True));
        mov(rcx, reinterpret_cast<std::size_t>(Py_False));
        cmp(number(place), 0);
        cmove(rax, rcx);
        share(rax);
      }
      test(rax, rax);
      jz(unusual);
      mov(object(place), rax);
    });
  }

  // --- out of objects

  // The number of the object in rax; a guard that it is one.
  void keep_float_of(const LoopOp& op, std::int32_t place) {
    compare_with(qword[rax + layout::kType], &PyFloat_Type);
    jne(op.is_guard ? failed(op) : bail());
    const int index = floats_.take();
    movsd(float_register(index), qword[rax + layout::kFloat]);
    keep_float(place, index);
  }
  // To `large` where it has more than two digits.
  void keep_int_of(const LoopOp& op, std::int32_t place, Label& large) {
    compare_with(qword[rax + layout::kType], &PyLong_Type);
    jne(op.is_guard ? failed(op) : bail());
    const int index = ints_.take();
    mov(rdx, qword[rax + layout::kSize]);
    lea(rcx, ptr[rdx + 1]);
    cmp(rcx, 2);
    Label small;
    Label found;
    const Reg64 target = int_register(index);
    jbe(small);
    lea(rcx, ptr[rdx + 2]);
    cmp(rcx, 4);
    ja(large);
    mov(ecx, dword[rax + layout::kDigits + layout::kDigit]);
    shl(rcx, PyLong_SHIFT);
    mov(target.cvt32(), dword[rax + layout::kDigits]);
    or_(target, rcx);
    test(rdx, rdx);
    jns(found);
    neg(target);
    jmp(found);
    L(small);
    mov(target.cvt32(), dword[rax + layout::kDigits]);
    imul(target, rdx);
    L(found);
    keep_int(place, index);
  }
  void unbox(const LoopOp& op) {
    Label large;
    mov(rax, object(op.left));
    switch (op.code) {
      case LoopCode::kUnboxFloat:
        keep_float_of(op, op.left);
        break;
      case LoopCode::kUnboxInt:
        keep_int_of(op, op.left, large);
        perform_aside(large, op);
        break;
      case LoopCode::kUnboxNumpyInt:
      case LoopCode::kUnboxNumpyFloat:
      case LoopCode::kUnboxNumpyBool:
        compare_with(qword[rax + layout::kType], type_of(unboxed(op.code)));
        jne(op.is_guard ? failed(op) : bail());
        lea(rdx, ptr[rax + static_cast<int>(sizeof(PyObject))]);  // array::scalar_value
        keep_item(unboxed(op.code), op.left);
        break;
      default:
        unbox_bool(op);
        break;
    }
  }
  // Of the object in rax.
  void unbox_bool(const LoopOp& op) {
    Label& fails = op.is_guard ? failed(op) : bail();
    Label known;
    const int index = ints_.take();
    mov(int_register(index).cvt32(), 1);
    mov(rcx, reinterpret_cast<std::size_t>(Py_True));
    cmp(rax, rcx);
    je(known);
    mov(rcx, reinterpret_cast<std::size_t>(Py_False));
    cmp(rax, rcx);
    jne(fails);
    xor_(int_register(index).cvt32(), int_register(index).cvt32());
    L(known);
    keep_int(op.left, index);
  }

  // --- arithmetic

  template <typename Body>
  void int_result(const LoopOp& op, Body body) {
    const int index = ints_.take();
    body(int_register(index));
    keep_int(op.result, index);
  }
  // `body(target, operand)`: an instruction with two operands, of which one may be a constant.
  template <typename Body>
  void int_operation(const LoopOp& op, bool overflows, Body body) {
    const Reg64 left = int_of(op.left);
    const std::optional<std::int32_t> known = constant(op.right);
    const Reg64 right = known ? rcx : int_of(op.right);
    int_result(op, [&](const Reg64& target) {
      mov(target, left);
      if (known) {
        body(target, *known);
      } else {
        body(target, right);
      }
      if (overflows) {
        jo(bail());
      }
    });
  }
  void multiply_int(const LoopOp& op) {
    const Reg64 left = int_of(op.left);
    const Reg64 right = int_of(op.right);
    int_result(op, [&](const Reg64& target) {
      mov(target, left);
      imul(target, right);
      jo(bail());
    });
  }
  static std::optional<int> power_of_two(std::optional<std::int32_t> number) {
    return number && *number > 0 && std::has_single_bit(static_cast<std::uint32_t>(*number))
               ? std::optional(std::countr_zero(static_cast<std::uint32_t>(*number)))
               : std::nullopt;
  }
  void divide_int(const LoopOp& op) {
    const bool wants_remainder = op.code == LoopCode::kRemainderInt;
    const Reg64 left = int_of(op.left);
    const std::optional<std::int32_t> known = constant(op.right);
    const std::optional<int> bits = power_of_two(known);
    Label unusual;
    const int index = ints_.take();
    const Reg64 target = int_register(index);
    if (bits) {
      mov(target, left);
      if (wants_remainder) {
        and_(target, *known - 1);
      } else {
        sar(target, *bits);
      }
    } else {
      Label exact;
      mov(rcx, number(op.right));
      lea(rax, ptr[rcx + 1]);
      cmp(rax, 1);
      jbe(unusual);  // by 0 or -1
      mov(rax, left);
      cqo();
      idiv(rcx);
      mov(target, wants_remainder ? rdx : rax);
      test(rdx, rdx);
      jz(exact);
      xor_(rdx, rcx);
      jns(exact);  // rounds towards minus infinity
      if (wants_remainder) {
        add(target, rcx);
      } else {
        dec(target);
      }
      L(exact);
    }
    if (wants_remainder && op.flag != 0) {
      // The result may be the left operand's object, unless both have a single digit.
      Label other;
      cmp(target, left);
      jne(other);
      for (const std::int32_t place : {op.left, op.right}) {
        mov(rax, number(place));
        add(rax, static_cast<std::int32_t>(kDigit - 1));
        cmp(rax, static_cast<std::int32_t>(2 * (kDigit - 1)));
        ja(unusual);
      }
      L(other);
    }
    keep_int(op.result, index);
    if (!bits || op.flag != 0) {
      perform_aside(unusual, op);
    }
  }
  void true_divide(const LoopOp& op) {
    Label unusual;
    const int index = floats_.take();
    for (const std::int32_t place : {op.left, op.right}) {
      mov(rax, number(place));
      mov(rcx, kExactInFloat);
      add(rax, rcx);
      add(rcx, rcx);
      cmp(rax, rcx);
      ja(unusual);
    }
    cmp(number(op.right), 0);
    je(unusual);
    pxor(float_register(index), float_register(index));
    pxor(xmm0, xmm0);
    mov(rax, number(op.left));
    cvtsi2sd(float_register(index), rax);
    mov(rax, number(op.right));
    cvtsi2sd(xmm0, rax);
    divsd(float_register(index), xmm0);
    keep_float(op.result, index);
    perform_aside(unusual, op);
  }
  void shift_left(const LoopOp& op) {
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
  void shift_right(const LoopOp& op) {
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
  void negate_int(const LoopOp& op) {
    const Reg64 left = int_of(op.left);
    int_result(op, [&](const Reg64& target) {
      mov(target, left);
      neg(target);
      jo(bail());
    });
  }
  template <typename Body>
  void float_operation(const LoopOp& op, Body body) {
    const Xmm left = float_of(op.left);
    const Xmm right = float_of(op.right);
    const int index = floats_.take();
    if (op.code == LoopCode::kDivideFloat) {
      Label usual;
      pxor(xmm0, xmm0);
      ucomisd(right, xmm0);
      jp(usual);
      je(bail());
      L(usual);
    }
    movapd(float_register(index), left);
    body(float_register(index), right);
    keep_float(op.result, index);
  }
  // As float64_arithmetic: the interpreter does what NumPy might report something of.
  template <typename Body>
  void float64_operation(const LoopOp& op, Body body) {
    constexpr std::uint64_t kInfinity = std::uint64_t{0x7FF0000000000000} << 1U;  // without the sign, as all here
    constexpr std::uint64_t kSmallest = std::uint64_t{0x0010000000000000} << 1U;
    const bool is_product = op.code == LoopCode::kMultiplyFloat64 || op.code == LoopCode::kDivideFloat64;
    const std::uint64_t low = is_product ? kSmallest + 1 : 0;
    const Xmm left = float_of(op.left);
    const Xmm right = float_of(op.right);
    const int index = floats_.take();
    Label unusual;
    Label exact;
    movapd(float_register(index), left);
    body(float_register(index), right);
    movq(rax, float_register(index));
    add(rax, rax);
    if (op.code == LoopCode::kMultiplyFloat64) {
      jz(exact);
    }
    mov(rcx, kInfinity - low);
    if (low != 0) {
      mov(rdx, low);
      sub(rax, rdx);
    }
    cmp(rax, rcx);
    jae(unusual);
    if (op.code == LoopCode::kMultiplyFloat64) {
      Label usual;
      L(usual);
      later_.emplace_back([this, exact = Label(exact), usual = Label(usual), unusual = Label(unusual),
                           places = std::array{op.left, op.right}]() mutable {
        L(exact);  // nothing has been lost if one of them is zero, too
        for (const std::int32_t place : places) {
          mov(rax, number(place));
          add(rax, rax);
          jz(usual);
        }
        jmp(unusual);
      });
    }
    keep_float(op.result, index);
    perform_aside(unusual, op);
  }
  void negate_float(const LoopOp& op) {
    const int index = floats_.take();
    mov(rax, number(op.left));
    btc(rax, kSignBit);
    movq(float_register(index), rax);
    keep_float(op.result, index);
  }
  void float_of_int(const LoopOp& op) {
    const Reg64 left = int_of(op.left);
    const int index = floats_.take();
    pxor(float_register(index), float_register(index));
    cvtsi2sd(float_register(index), left);
    keep_float(op.result, index);
  }

  // --- known functions

  void call_float(const LoopOp& op) {
    if (op.flag == static_cast<std::uint8_t>(Known::kSqrt)) {
      const Xmm operand = float_of(op.left);
      const int index = floats_.take();
      pxor(xmm0, xmm0);
      ucomisd(operand, xmm0);
      jb(bail());  // or no number
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
  void call_int(const LoopOp& op) {
    Label unusual;
    const Xmm operand = float_of(op.left);
    const int index = ints_.take();
    const Reg64 target = int_register(index);
    cvttsd2si(target, operand);
    mov(rax, kExactInFloat);
    lea(rcx, ptr[target + rax]);
    add(rax, rax);
    cmp(rcx, rax);
    ja(unusual);  // no number, among others
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
    perform_aside(unusual, op);
  }
  void length(const LoopOp& op) {
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
  void make_range(const LoopOp& op) {
    Label& unusual = bail();
    if (op.left < 0) {
      xor_(edi, edi);
    } else {
      mov(rdi, number(op.left));
    }
    mov(rsi, number(op.right));
    call_function(&iterate_range);
    forget_volatile();
    test(rax, rax);
    jz(unusual);
    mov(object(op.result), rax);
  }

  // --- comparisons: `flags` sets the flags as one of unsigned ints does for floats, as one of ints otherwise

  static Condition condition(LoopCode code, LoopCode first) {
    return static_cast<Condition>(static_cast<int>(code) - static_cast<int>(first));
  }
  void compare_ints(const LoopOp& op) {
    const Reg64 left = int_of(op.left);
    if (const std::optional<std::int32_t> known = constant(op.right)) {
      cmp(left, *known);
    } else {
      cmp(left, int_of(op.right));
    }
  }
  void compare_int(const LoopOp& op) {
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
  void guard_int(const LoopOp& op) {
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
  // So that "above" is what is asked for, which nothing is that is no number.
  void compare_floats(const LoopOp& op, Condition which) {
    const Xmm left = float_of(op.left);
    const Xmm right = float_of(op.right);
    if (which == Condition::kLess || which == Condition::kLessEqual) {
      ucomisd(right, left);
    } else {
      ucomisd(left, right);
    }
  }
  void compare_float(const LoopOp& op) {
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
  void guard_float(const LoopOp& op) {
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
  void truth(const LoopOp& op) {
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

  // --- containers and iterators

  void range_next(const LoopOp& op) {
    int_result(op, [&](const Reg64& target) {
      mov(rax, object(op.left));
      mov(target, qword[rax + layout::kRangeIndex]);
      cmp(target, qword[rax + layout::kRangeLength]);
      jge(failed(op));
      inc(qword[rax + layout::kRangeIndex]);
      imul(target, qword[rax + layout::kRangeStep]);
      add(target, qword[rax + layout::kRangeStart]);
    });
  }
  void for_iter(const LoopOp& op) {
    Label other;
    Label no_list;
    Label found;
    mov(rax, object(op.left));
    compare_with(qword[rax + layout::kType], &PyListIter_Type);
    jne(no_list);
    next_place(other);
    mov(rdx, qword[rdx + layout::kListItems]);
    mov(rax, qword[rdx + rcx * kNumberSize]);
    jmp(found);
    L(no_list);
    compare_with(qword[rax + layout::kType], &PyBytesIter_Type);
    jne(other);
    next_place(other);
    movzx(ecx, byte[rdx + rcx + layout::kBytes]);
    TAGALONG_CHECK(
        reinterpret_cast<char*>(interp::int_of_byte(255)) - reinterpret_cast<char*>(interp::int_of_byte(0)) ==
            255 * layout::kIntObject,
        "ints of {} bytes each", layout::kIntObject);
    imul(ecx, ecx, layout::kIntObject);
    mov(rax, reinterpret_cast<std::size_t>(interp::int_of_byte(0)));
    add(rax, rcx);
    L(found);
    Label taken;
    mov(object(op.result), rax);
    take_from_next(op, taken);
    share(rax);
    L(taken);
    perform_aside(other, op);
  }
  // Of the iterator in rax: the sequence in rdx, the place of its next item in rcx; to `other` where there is none.
  void next_place(Label& other) {
    mov(rdx, qword[rax + layout::kIteratorSequence]);
    test(rdx, rdx);
    jz(other);
    mov(rcx, qword[rax + layout::kIteratorIndex]);
    cmp(rcx, qword[rdx + layout::kSize]);
    jge(other);
    inc(qword[rax + layout::kIteratorIndex]);
  }
  // rdx: where the container has the item; to `unusual` if the index is none from the start.
  void find_item(const LoopOp& op, Label& unusual, Container container) {
    mov(rax, object(op.left));
    if (const int index = ints_.find(op.right); index >= 0) {
      mov(rdx, int_register(index));
    } else {
      mov(rdx, number(op.right));
    }
    cmp(rdx, qword[rax + layout::kSize]);
    jae(unusual);
    Label tuple;
    Label found;
    if (container == Container::kEither) {
      compare_with(qword[rax + layout::kType], &PyList_Type);
      jne(tuple);
    }
    if (container != Container::kTuple) {
      mov(rax, qword[rax + layout::kListItems]);
      lea(rdx, ptr[rax + rdx * kNumberSize]);
    }
    if (container == Container::kEither) {
      jmp(found);
    }
    if (container != Container::kList) {
      L(tuple);
      lea(rdx, ptr[rax + rdx * kNumberSize + layout::kTupleItems]);
    }
    L(found);
  }
  void item(const LoopOp& op) {
    Label unusual;
    find_item(op, unusual, static_cast<Container>(op.flag));
    mov(rax, qword[rdx]);
    switch (op.code) {
      case LoopCode::kItemFloat:
        keep_float_of(op, op.result);
        break;
      case LoopCode::kItemInt:
        keep_int_of(op, op.result, unusual);
        break;
      default:
        share(rax);
        mov(object(op.result), rax);
        break;
    }
    perform_aside(unusual, op);
  }
  void store_item(const LoopOp& op) {
    Label unusual;
    Label shared;
    find_item(op, unusual, Container::kList);
    mov(rax, qword[rdx]);
    if ((op.flag & kStoresNumber) != 0) {
      store_number(op, unusual);
      perform_aside(unusual, op);
      return;
    }
    Label same;
    cmp(rax, object(op.result));
    je(same);
    cmp(qword[rax + layout::kCount], 1);
    jne(shared);
    compare_with(qword[rax + layout::kType], &PyFloat_Type);
    je(shared);
    compare_with(qword[rax + layout::kType], &PyLong_Type);
    jne(unusual);
    L(shared);
    mov(rcx, object(op.result));
    share(rcx);
    mov(qword[rdx], rcx);
    give_up();
    L(same);
    perform_aside(unusual, op);
  }

  // Into the float in rax, if that would be freed now.
  void store_number(const LoopOp& op, Label& unusual) {
    cmp(qword[rax + layout::kCount], 1);
    jne(unusual);
    cmp(object(op.result), 0);
    jne(unusual);
    compare_with(qword[rax + layout::kType], &PyFloat_Type);
    jne(unusual);
    movsd(qword[rax + layout::kFloat], float_of(op.result));
  }

  // --- arrays

  void make_pair(const LoopOp& op) {
    mov(number(op.result), int_of(op.left));
    mov(number(op.result + 1), int_of(op.right));
    forget(op.result);
    forget(op.result + 1);
  }
  void load_int(const Reg64& target, std::int32_t place) {
    if (const int index = ints_.find(place); index >= 0) {
      mov(target, int_register(index));
    } else {
      mov(target, number(place));
    }
  }
  // rdx: the distance of an item by this index of the array in rax; rcx is lost.
  void find_distance(std::int32_t index, int dimension, Label& unusual) {
    Label counted;
    load_int(rdx, index);
    mov(rcx, qword[rax + kArrayExtents]);
    mov(rcx, qword[rcx + dimension * kNumberSize]);
    test(rdx, rdx);
    jns(counted);
    add(rdx, rcx);
    L(counted);
    cmp(rdx, rcx);
    jae(unusual);
    mov(rcx, qword[rax + kArrayStrides]);
    imul(rdx, qword[rcx + dimension * kNumberSize]);
  }
  // rdx: where the array has the item; to `unusual` if it has none, or is another one.
  void find_array_item(const LoopOp& op, Label& unusual) {
    const bool is_pair = op.code == LoopCode::kArrayItem2 || op.code == LoopCode::kArrayStore2;
    mov(rax, object(op.left));
    compare_with(qword[rax + kArrayType], item_dtype(op.flag));
    jne(unusual);
    cmp(dword[rax + kArrayDimensions], is_pair ? 2 : 1);
    jne(unusual);
    find_distance(op.right, 0, unusual);
    if (is_pair) {
      const Reg64 row = int_register(ints_.take());
      mov(row, rdx);
      find_distance(op.right + 1, 1, unusual);
      add(rdx, row);
    }
    add(rdx, qword[rax + kArrayData]);
  }
  // The number at rdx.
  void keep_item(Raw kind, std::int32_t place) {
    if (kind == Raw::kNumpyFloat) {
      const int index = floats_.take();
      movsd(float_register(index), qword[rdx]);
      keep_float(place, index);
      return;
    }
    const int index = ints_.take();
    if (kind == Raw::kNumpyInt) {
      mov(int_register(index), qword[rdx]);
    } else {
      cmp(byte[rdx], 0);
      setne(cl);
      movzx(int_register(index).cvt32(), cl);
    }
    keep_int(place, index);
  }
  void array_item(const LoopOp& op) {
    Label unusual;
    find_array_item(op, unusual);
    keep_item(raw_of_items(op.flag), op.result);
    perform_aside(unusual, op);
  }
  void array_next(const LoopOp& op) {
    Label unusual;
    mov(rax, object(op.left));
    mov(rdx, qword[rax + layout::kIteratorIndex]);
    mov(rax, qword[rax + layout::kIteratorSequence]);
    test(rax, rax);
    jz(unusual);
    compare_with(qword[rax + layout::kType], array::met_numpy()->array_type);
    jne(unusual);
    compare_with(qword[rax + kArrayType], item_dtype(op.flag));
    jne(unusual);
    cmp(dword[rax + kArrayDimensions], 1);
    jne(unusual);
    mov(rcx, qword[rax + kArrayExtents]);
    cmp(rdx, qword[rcx]);
    jae(unusual);
    mov(rcx, qword[rax + kArrayStrides]);
    imul(rdx, qword[rcx]);
    add(rdx, qword[rax + kArrayData]);
    mov(rax, object(op.left));
    inc(qword[rax + layout::kIteratorIndex]);
    keep_item(raw_of_items(op.flag), op.result);
    perform_aside(unusual, op);
  }
  void array_store(const LoopOp& op) {
    Label unusual;
    const Raw kind = raw_of_items(op.flag);
    find_array_item(op, unusual);
    mov(ecx, dword[rax + kArrayFlags]);
    and_(ecx, kArrayWriteFlags);
    cmp(ecx, kArrayWriteable);
    jne(unusual);
    if (kind == Raw::kNumpyFloat) {
      movsd(qword[rdx], float_of(op.result));
    } else {
      load_int(rcx, op.result);
      kind == Raw::kNumpyInt ? mov(qword[rdx], rcx) : mov(byte[rdx], cl);
    }
    perform_aside(unusual, op);
  }

  // --- guards on objects

  // What is there for good may be named in the code; what may die is looked up where the executor has it, since
  // something else may get its address.
  void guard_object(const LoopOp& op, PyObject* const& expected) {
    Label& fails = failed(op);
    mov(rax, object(op.left));
    if (op.code != LoopCode::kGuardIs) {
      mov(rax, qword[rax + layout::kType]);
    }
    load_object(rcx, expected);
    cmp(rax, rcx);
    jne(fails);
  }
  void load_object(const Reg64& target, PyObject* const& object) {
    const bool is_static =
        PyType_Check(object) && !PyType_HasFeature(reinterpret_cast<PyTypeObject*>(object), Py_TPFLAGS_HEAPTYPE);
    if (is_static || object == Py_None || object == Py_True || object == Py_False) {
      mov(target, reinterpret_cast<std::size_t>(object));
    } else {
      mov(target, reinterpret_cast<std::size_t>(&object));
      mov(target, qword[target]);
    }
  }
  void guard_bool(const LoopOp& op) {
    Label& fails = failed(op);
    cmp(number(op.left), 0);
    op.flag != 0 ? je(fails) : jne(fails);
  }

  // Where it lies, seen from the step's key.
  template <typename Member>
  static int learned(const Step& step, const Member& member) {
    return static_cast<int>(reinterpret_cast<const char*>(&member) - reinterpret_cast<const char*>(&step.key));
  }
  // What the step has found under its name, if that is still so (Interpreter::known_global).
  void global(const LoopOp& op) {
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

  // To `other` unless the step has learned of this kind of attribute for the class of the object in rax, which is in
  // rdx then; what it has learned is around rcx (Interpreter::try_attribute).
  void check_learned(const Step& step, interp::Attribute::Kind kind, Label& other) {
    mov(rcx, reinterpret_cast<std::size_t>(&step.key));
    mov(rdx, qword[rax + layout::kType]);
    mov(edx, dword[rdx + layout::kTypeVersion]);
    test(rdx, rdx);
    jz(other);
    cmp(rdx, qword[rcx + learned(step, step.version1)]);
    jne(other);
    cmp(byte[rcx + learned(step, step.attribute.kind)], static_cast<int>(kind));
    jne(other);
    mov(rdx, qword[rax + layout::kType]);
  }
  void attribute(const LoopOp& op) {
    const Step& step = source_.steps[op.step];
    Label other;
    mov(rax, object(op.left));
    check_learned(step, interp::Attribute::Kind::kValue, other);
    mov(rdx, qword[rax + layout::kValuesBefore]);
    test(rdx, rdx);
    jz(other);
    movsxd(rcx, dword[rcx + learned(step, step.attribute.index)]);
    mov(rax, qword[rdx + rcx * kNumberSize]);
    test(rax, rax);
    jz(other);
    share(rax);
    mov(object(op.result), rax);
    perform_aside(other, op);
  }
  void method(const LoopOp& op) {
    const Step& step = source_.steps[op.step];
    Label other;
    Label visible;
    mov(rax, object(op.left));
    check_learned(step, interp::Attribute::Kind::kOfType, other);
    cmp(byte[rcx + learned(step, step.attribute.is_method)], 0);
    je(other);
    test(dword[rdx + layout::kTypeFlags], static_cast<int>(Py_TPFLAGS_MANAGED_DICT));
    jz(visible);
    cmp(qword[rax + layout::kValuesBefore], 0);
    je(other);
    mov(rdx, qword[rdx + layout::kSharedKeys]);
    mov(rdx, qword[rdx + interp::kSharedKeyCount]);
    cmp(edx, dword[rcx + learned(step, step.attribute.index)]);
    jne(other);
    L(visible);
    mov(rcx, qword[rcx + learned(step, step.attribute.object)]);
    share(rcx);
    mov(object(op.result), rcx);
    share(rax);
    mov(object(op.right), rax);
    perform_aside(other, op);
  }
  void append(const LoopOp& op) {
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

  void sync(const LoopOp& op) {
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

  // --- rounds

  void leave_if_watched() {
    Label& unusual = bail();
    mov(rax, ptr[r15 + offsetof(Frame, thread)]);
    mov(rax, qword[rax + layout::kThreadCFrame]);
    cmp(byte[rax + layout::kUseTracing], 0);
    jne(unusual);
    mov(rax, reinterpret_cast<std::size_t>(interp::kTraceMalloc));
    cmp(dword[rax], 0);
    jne(unusual);
  }
  // Nobody waits or watches; the round is counted.
  void begin_round(const LoopOp& op) {
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

  void emit(const LoopOp& op) {
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
        int_operation(op, true, [this](const Reg64& target, const auto& operand) { add(target, operand); });
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
        float_operation(op, [this](const Xmm& target, const Xmm& operand) { addsd(target, operand); });
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
      case LoopCode::kServe:
      case LoopCode::kCross:
        begin_round(op);
        break;
      case LoopCode::kServeAndJump:
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
      case LoopCode::kSyncRaw:
      case LoopCode::kUnbind:
      case LoopCode::kRebind:
        perform(op);
        break;
    }
  }

  const Source& source_;
  const std::vector<LoopOp>& ops_;
  std::vector<Label> labels_;  // by operation
  std::vector<Label> bails_;
  std::vector<bool> is_target_;
  std::vector<bool> is_bailed_;
  std::deque<std::function<void()>> later_;
  Label ended_;
  Label exit_;
  Ints ints_;
  Floats floats_;
  std::size_t number_ = 0;
};

}  // namespace

std::unique_ptr<const Code> compile(const Source& source) {
  try {
    return Compiler(source).make();
  } catch (const Xbyak::Error&) {
    return nullptr;  // no memory for it, or a register file beyond what an instruction reaches
  }
}

}  // namespace tagalong::replay::native

#else

namespace tagalong::replay::native {

std::unique_ptr<const Code> compile(const Source& /*source*/) { return nullptr; }

}  // namespace tagalong::replay::native

#endif
