// The compiler of one loop program: one pass over its operations. Machine registers hold copies of numbers within
// straight-line code; a jump target starts without copies. compile_*.cpp have the code of the operations. Only sources
// of this folder include it.
//
//   rbx  objects of the loop registers      rbp  numbers of the loop registers      r15  Frame
//   rax, rcx, rdx, xmm0, xmm1  scratch for one operation; the others hold copies, and calls preserve those in r12-r14
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

#include "replay/codegen/code_allocator.h"
#include "replay/codegen/scalar/code.h"
#include "replay/codegen/scalar/registers.h"
#include "replay/steps/step.h"
#include "rewriter/cpython/layouts.h"

namespace tagalong::replay::native {

namespace layout = cpython::layout;
using Xbyak::Label;
using Xbyak::Reg64;
using Xbyak::Xmm;

inline constexpr std::int64_t kDigit = std::int64_t{1} << 30;         // smaller ints have one digit
inline constexpr std::int64_t kExactInFloat = std::int64_t{1} << 53;  // ints up to this magnitude are exact as floats
inline constexpr int kNumberSize = 8;
inline constexpr int kSignBit = 63;
inline constexpr std::size_t kKept = 3;  // the first of kIntRegisters, which calls preserve
inline constexpr std::array kIntRegisters = {12, 13, 14, 6, 7, 8, 9, 10, 11};  // r12, r13, r14, rsi, rdi, r8 ... r11
inline constexpr int kFirstXmm = 2;
inline constexpr std::size_t kXmmCount = 14;

enum class Condition : std::uint8_t { kLess, kLessEqual, kEqual, kNotEqual, kGreater, kGreaterEqual };

class Compiler final : public Xbyak::CodeGenerator {
 public:
  explicit Compiler(const Source& source)
      : CodeGenerator(Xbyak::DEFAULT_MAX_CODE_SIZE, Xbyak::AutoGrow, CodeAllocator::instance()),
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

  // --- entry and exit

  void prologue();
  void epilogue();
  // The exit in front of the current operation, for its slow path.
  Label& bail();
  // The target of a failed guard.
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
  // The constant int in this loop register, if it fits an immediate operand.
  [[nodiscard]] std::optional<std::int32_t> constant(std::int32_t place) const;
  void forget(std::int32_t place);
  void keep_int(std::int32_t place, int index);
  void keep_float(std::int32_t place, int index);
  void forget_volatile();
  // Reloads copies that a cold path may have changed or clobbered.
  void load_again(const Ints& ints, const Floats& floats);

  // --- calls

  template <typename Function>
  void call_function(Function* function) {
    mov(rax, reinterpret_cast<std::size_t>(function));
    call(rax);
  }
  // A cold path from `start` that continues at `back` with the same copies in registers.
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
  // The interpreter performs the whole operation.
  void perform(const LoopOp& op);
  // A cold path from `start` that lets the interpreter perform the operation and continues here.
  void perform_aside(const Label& start, const LoopOp& op);

  // --- objects

  void share(const Reg64& object) { inc(qword[object + layout::kCount]); }
  // Decrements the reference count of the object in rax, which is not null.
  void give_up();
  void clear(std::int32_t place);
  // Does not clear exhausted iterators and numbers, as in the interpreter.
  void give_up_rest(const LoopOp& op);
  void clear_shown(const LoopOp& op);
  void copy_number(const LoopOp& op);
  // Where the next operation clears a register with the object in rax, takes that reference over and jumps to `taken`.
  // An increment and a decrement of one count would be two dependent writes in each iteration.
  void take_from_next(const LoopOp& op, const Label& taken);
  void move_or_share(const LoopOp& op);
  void box(const LoopOp& op);

  // --- steps

  void step(const LoopOp& op);
  [[nodiscard]] bool drops_operands(const Step& step) const;
  // Replaces a value whose deallocation runs no user code.
  void store_attribute(const LoopOp& op);
  // Jumps to `other` unless the register holds a function with this code, or with code derived from it.
  void match_function(std::int32_t place, PyObject* const& code, Label& other);
  void check_quiet(const LoopOp& op);

  // --- unboxing

  // Keeps the number of the object in rax; guards its type.
  void keep_float_of(const LoopOp& op, std::int32_t place);
  // Jumps to `large` where the int has more than two digits.
  void keep_int_of(const LoopOp& op, std::int32_t place, Label& large);
  void unbox(const LoopOp& op);
  // Unboxes the object in rax.
  void unbox_bool(const LoopOp& op);

  // --- arithmetic

  template <typename Body>
  void int_result(const LoopOp& op, Body body) {
    const int index = ints_.take();
    body(int_register(index));
    keep_int(op.result, index);
  }
  // `body(target, operand)` emits an instruction whose second operand is a register or an immediate.
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
  // As float64_arithmetic: the interpreter performs an operation for which NumPy might report a floating point error.
  template <typename Body>
  void float64_operation(const LoopOp& op, Body body) {
    constexpr std::uint64_t kInfinity = std::uint64_t{0x7FF0000000000000} << 1U;  // shifted left, without the sign
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
        L(exact);  // a zero result is exact if an operand is zero
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

  // --- comparisons: float comparisons set the flags of an unsigned comparison, int comparisons those of a signed one

  static Condition condition(LoopCode code, LoopCode first);
  void compare_ints(const LoopOp& op);
  void compare_int(const LoopOp& op);
  void guard_int(const LoopOp& op);
  // Orders the operands so that the condition is "above", which is false for NaNs.
  void compare_floats(const LoopOp& op, Condition which);
  void compare_float(const LoopOp& op);
  void guard_float(const LoopOp& op);
  void truth(const LoopOp& op);

  // --- containers and iterators

  void range_next(const LoopOp& op);
  void for_iter(const LoopOp& op);
  // For the iterator in rax: loads the sequence into rdx and the next index into rcx; jumps to `other` at the end.
  void next_place(Label& other);
  // Loads the item's address into rdx; jumps to `unusual` if the index is negative or out of range.
  void find_item(const LoopOp& op, Label& unusual, Container container);
  void item(const LoopOp& op);
  void store_item(const LoopOp& op);

  // Stores into the container the spare float; the float in rax, which would be freed, becomes the spare one.
  void store_number(const LoopOp& op, Label& unusual);

  // --- arrays

  void make_pair(const LoopOp& op);
  void load_int(const Reg64& target, std::int32_t place);
  // Loads into rdx the byte offset of this index in the array in rax; clobbers rcx.
  void find_distance(std::int32_t index, int dimension, Label& unusual);
  // Loads the item's address into rdx; jumps to `unusual` if the index or the array does not fit.
  void find_array_item(const LoopOp& op, Label& unusual);
  // Loads the number at rdx.
  void keep_item(Unboxed kind, std::int32_t place);
  void array_item(const LoopOp& op);
  void array_next(const LoopOp& op);
  void array_store(const LoopOp& op);

  // --- guards on objects

  // The code contains the addresses of immortal objects. Other objects are loaded through the executor's reference,
  // since another object may get their address after they die.
  void guard_object(const LoopOp& op, PyObject* const& expected);
  void load_object(const Reg64& target, PyObject* const& object);
  void guard_bool(const LoopOp& op);

  // Offset of a member of the step from its `key`.
  template <typename Member>
  static int learned(const Step& step, const Member& member) {
    return static_cast<int>(reinterpret_cast<const char*>(&member) - reinterpret_cast<const char*>(&step.key));
  }
  // The cached value of the global, guarded by the dictionaries' versions (Interpreter::known_global).
  void global(const LoopOp& op);

  // Jumps to `other` unless the step's cache has an attribute of this kind for the type of the object in rax. Sets rdx
  // to the type and rcx to the cache entry (Interpreter::try_attribute).
  void check_learned(const Step& step, cpython::Attribute::Kind kind, Label& other);
  void attribute(const LoopOp& op);
  void method(const LoopOp& op);
  void append(const LoopOp& op);

  void sync(const LoopOp& op);

  // --- iterations

  void leave_if_watched();
  // Checks requests and tracing tools, and counts the iteration.
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
