// The code of one loop program: one pass over its operations, with copies of numbers in machine registers between two
// places that are jumped to. What there is for which operations is in compile_*.cpp. Internal to replay/native/.
//
//   rbx  objects of the registers      rbp  numbers of the registers      r15  Frame
//   rax, rcx, rdx, xmm0, xmm1  for one operation; the others have copies, of which calls leave those in r12-r14
#pragma once

#ifdef __x86_64__
#include <xbyak/xbyak.h>

#include <array>
#include <bit>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "replay/codegen/drafts.h"
#include "replay/codegen/scalar/code.h"
#include "replay/codegen/scalar/registers.h"
#include "replay/steps/step.h"
#include "rewriter/cpython/layouts.h"

namespace tagalong::replay::native {

namespace layout = cpython::layout;
using Xbyak::Label;
using Xbyak::Reg64;
using Xbyak::Xmm;

inline constexpr std::int64_t kDigit = std::int64_t{1} << 30;         // ints below it have one digit
inline constexpr std::int64_t kExactInFloat = std::int64_t{1} << 53;  // ints up to it are floats without rounding
inline constexpr int kNumberSize = 8;
inline constexpr int kSignBit = 63;
inline constexpr std::size_t kKept = 3;  // of the registers for ints: those that calls leave alone
inline constexpr std::array kIntRegisters = {12, 13, 14, 6, 7, 8, 9, 10, 11};  // r12, r13, r14, rsi, rdi, r8 ... r11
inline constexpr int kFirstXmm = 2;
inline constexpr std::size_t kXmmCount = 14;

enum class Condition : std::uint8_t { kLess, kLessEqual, kEqual, kNotEqual, kGreater, kGreaterEqual };

class Compiler final : public Xbyak::CodeGenerator {
 public:
  explicit Compiler(const Source& source)
      : CodeGenerator(Xbyak::DEFAULT_MAX_CODE_SIZE, Xbyak::AutoGrow, Drafts::memory()),
        source_(source),
        ops_(source.program.ops),
        labels_(ops_.size()),
        bails_(ops_.size()),
        is_target_(ops_.size()),
        is_bailed_(ops_.size()) {
    setDefaultJmpNEAR(true);
  }

  std::unique_ptr<const Code> make();

 private:
  using Ints = Copies<kIntRegisters.size()>;
  using Floats = Copies<kXmmCount>;

  void find_targets();

  // --- in and out

  void prologue();
  void epilogue();
  // Where this operation goes when it is not the usual.
  Label& bail();
  // Where a guard goes that does not hold.
  Label& failed(const LoopOp& op) { return op.branch < 0 ? bail() : labels_[static_cast<std::size_t>(op.branch)]; }

  // --- memory

  Xbyak::Address object(std::int32_t place) { return qword[rbx + place * kNumberSize]; }
  Xbyak::Address number(std::int32_t place) { return qword[rbp + place * kNumberSize]; }
  static std::int32_t low(const void* address);
  void compare_with(const Xbyak::Address& word, const void* address);

  // --- numbers

  static Reg64 int_register(int index) { return Reg64(kIntRegisters[static_cast<std::size_t>(index)]); }
  static Xmm float_register(int index) { return Xmm(kFirstXmm + index); }
  Reg64 int_of(std::int32_t place);
  Xmm float_of(std::int32_t place);
  // The constant int of this place, if it fits an operand.
  [[nodiscard]] std::optional<std::int32_t> constant(std::int32_t place) const;
  void forget(std::int32_t place);
  void keep_int(std::int32_t place, int index);
  void keep_float(std::int32_t place, int index);
  void forget_volatile();
  // What code at the side may have changed, or clobbered.
  void load_again(const Ints& ints, const Floats& floats);

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
  void ask_interpreter(const LoopOp& op);
  // The interpreter does the whole operation.
  void perform(const LoopOp& op);
  // It does so where the jump to `start` was made, in front of what is here now.
  void perform_aside(const Label& start, const LoopOp& op);

  // --- objects

  void share(const Reg64& object) { inc(qword[object + layout::kCount]); }
  // Gives up the object in rax, which is not null.
  void give_up();
  void clear(std::int32_t place);
  // Iterators at their end and numbers stay where they are, as the interpreter leaves them.
  void give_up_rest(const LoopOp& op);
  void clear_shown(const LoopOp& op);
  void copy_number(const LoopOp& op);
  // The next operation gives up the same object as there in rax: its reference is taken over. Counting the one up and
  // the other down would be two writes that wait for each other, in each round.
  void take_from_next(const LoopOp& op, const Label& taken);
  void move_or_share(const LoopOp& op);
  void box(const LoopOp& op);

  // --- steps

  void step(const LoopOp& op);
  [[nodiscard]] bool drops_operands(const Step& step) const;
  // In place of a value that nobody is told the end of.
  void store_attribute(const LoopOp& op);
  // Whether there is a function of this code, or of code that was derived from it.
  void match_function(std::int32_t place, PyObject* const& code, Label& other);
  void check_quiet(const LoopOp& op);

  // --- out of objects

  // The number of the object in rax; a guard that it is one.
  void keep_float_of(const LoopOp& op, std::int32_t place);
  // To `large` where it has more than two digits.
  void keep_int_of(const LoopOp& op, std::int32_t place, Label& large);
  void unbox(const LoopOp& op);
  // Of the object in rax.
  void unbox_bool(const LoopOp& op);

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
  void multiply_int(const LoopOp& op);
  static std::optional<int> power_of_two(std::optional<std::int32_t> number);
  void divide_int(const LoopOp& op);
  void true_divide(const LoopOp& op);
  void shift_left(const LoopOp& op);
  void shift_right(const LoopOp& op);
  void negate_int(const LoopOp& op);
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
  void negate_float(const LoopOp& op);
  void float_of_int(const LoopOp& op);

  // --- known functions

  void call_float(const LoopOp& op);
  void call_int(const LoopOp& op);
  void length(const LoopOp& op);
  void make_range(const LoopOp& op);

  // --- comparisons: `flags` sets the flags as one of unsigned ints does for floats, as one of ints otherwise

  static Condition condition(LoopCode code, LoopCode first);
  void compare_ints(const LoopOp& op);
  void compare_int(const LoopOp& op);
  void guard_int(const LoopOp& op);
  // So that "above" is what is asked for, which nothing is that is no number.
  void compare_floats(const LoopOp& op, Condition which);
  void compare_float(const LoopOp& op);
  void guard_float(const LoopOp& op);
  void truth(const LoopOp& op);

  // --- containers and iterators

  void range_next(const LoopOp& op);
  void for_iter(const LoopOp& op);
  // Of the iterator in rax: the sequence in rdx, the place of its next item in rcx; to `other` where there is none.
  void next_place(Label& other);
  // rdx: where the container has the item; to `unusual` if the index is none from the start.
  void find_item(const LoopOp& op, Label& unusual, Container container);
  void item(const LoopOp& op);
  void store_item(const LoopOp& op);

  // Into the float in rax, if that would be freed now.
  void store_number(const LoopOp& op, Label& unusual);

  // --- arrays

  void make_pair(const LoopOp& op);
  void load_int(const Reg64& target, std::int32_t place);
  // rdx: the distance of an item by this index of the array in rax; rcx is lost.
  void find_distance(std::int32_t index, int dimension, Label& unusual);
  // rdx: where the array has the item; to `unusual` if it has none, or is another one.
  void find_array_item(const LoopOp& op, Label& unusual);
  // The number at rdx.
  void keep_item(Unboxed kind, std::int32_t place);
  void array_item(const LoopOp& op);
  void array_next(const LoopOp& op);
  void array_store(const LoopOp& op);

  // --- guards on objects

  // What is there for good may be named in the code; what may die is looked up where the executor has it, since
  // something else may get its address.
  void guard_object(const LoopOp& op, PyObject* const& expected);
  void load_object(const Reg64& target, PyObject* const& object);
  void guard_bool(const LoopOp& op);

  // Where it lies, seen from the step's key.
  template <typename Member>
  static int learned(const Step& step, const Member& member) {
    return static_cast<int>(reinterpret_cast<const char*>(&member) - reinterpret_cast<const char*>(&step.key));
  }
  // What the step has found under its name, if that is still so (Interpreter::known_global).
  void global(const LoopOp& op);

  // To `other` unless the step has learned of this kind of attribute for the class of the object in rax, which is in
  // rdx then; what it has learned is around rcx (Interpreter::try_attribute).
  void check_learned(const Step& step, cpython::Attribute::Kind kind, Label& other);
  void attribute(const LoopOp& op);
  void method(const LoopOp& op);
  void append(const LoopOp& op);

  void sync(const LoopOp& op);

  // --- rounds

  void leave_if_watched();
  // Nobody waits or watches; the round is counted.
  void begin_round(const LoopOp& op);

  void emit(const LoopOp& op);

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

}  // namespace tagalong::replay::native
#endif
