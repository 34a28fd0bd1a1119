// Loads and stores of a kernel's values. Constants are in memory behind the code; arrays are addressed by their
// pointers, in registers or in the table of slots, and the current element.
//
//   rdi  pointers by slot      rax  current element      rdx  scratch
#pragma once

#include "replay/codegen/vector/kernel_part.h"

namespace tagalong::array {

class MemoryCode : private KernelPart {
 public:
  explicit MemoryCode(KernelEmission& emission) : KernelPart(emission) {}

  // Loads the arrays' pointers to registers.
  void load_pointers();
  // Adds the row steps to the pointers; rcx points to the steps, by slot.
  void advance_pointers();
  [[nodiscard]] Reg64 pointer(int slot);

  void load(int reg, Constant constant);
  [[nodiscard]] Xbyak::RegRip operand(Constant constant);
  // The number of an item of a short row, as a constant.
  [[nodiscard]] Xbyak::Address item_number(Extent item);
  // Emits the constants, behind the code.
  void emit_constants();

  void load(const KernelValue& value);
  // The value's register; loads the value if it has none.
  int in_register(KernelValue* value);
  void store(KernelValue* value);
  // Marks NaN results, which are ambiguous: the instructions do not fix which of two NaNs a result is.
  void mark_nans(KernelValue* value);
  // A stored value whose register is needed until the next vector's value is stored.
  [[nodiscard]] const KernelValue* unchecked() const { return unchecked_; }

 private:
  static constexpr std::array kPointers = {8, 9, 10, 11, 3, 5, 12, 13, 14, 15};  // r8 ... r11, rbx, rbp, r12 ... r15

  // The other part of the complex number, for the current vector.
  [[nodiscard]] KernelValue& other_part(const KernelValue& value);
  void load_parts(KernelValue* value);
  // Stores both parts, of which this is the imaginary one.
  void store_parts(KernelValue* value);
  [[nodiscard]] Xbyak::RegExp address(const KernelValue& value);

  std::array<Label, kConstants> labels_;
  std::array<bool, kConstants> is_used_{};
  Label item_numbers_;
  KernelValue* unchecked_ = nullptr;
};

}  // namespace tagalong::array
