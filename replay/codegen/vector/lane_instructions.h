// The instructions that depend on the size of lanes. Everything else about a lane type follows from this table and from
// lane_types.def.
//
//   const LaneInstructions& lanes = instructions_of(unit.item_bytes);
//   lanes.add(asm_, asm_.result(out), asm_.vector(one), asm_.vector(two));
#pragma once

#include <xbyak/xbyak.h>

namespace tagalong::array {

struct LaneInstructions {
  using Code = Xbyak::CodeGenerator;
  using Xmm = Xbyak::Xmm;
  using Operand = Xbyak::Operand;
  using Opmask = Xbyak::Opmask;
  using Unary = void (*)(Code& code, const Xmm& out, const Operand& one);
  using Binary = void (*)(Code& code, const Xmm& out, const Xmm& one, const Operand& two);
  using Store = void (*)(Code& code, const Xbyak::Address& to, const Xmm& from);
  using Compare = void (*)(Code& code, const Xmm& out, const Xmm& one, const Operand& two, std::uint8_t predicate);
  using CompareToMask = void (*)(Code& code, const Opmask& out, const Xmm& one, const Operand& two,
                                 std::uint8_t predicate);
  using Test = void (*)(Code& code, const Opmask& out, const Xmm& one, const Operand& two);

  // Moves. `move` is the one with masks: copies of whole registers need none.
  Unary load, broadcast, move;
  Store store, store_one;
  // Bools: bytes to lanes, bits of lanes to a mask, a mask to lanes (AVX-512), a general register's number to all
  // lanes.
  Unary from_bytes, broadcast_number;
  Test test;
  void (*from_mask)(Code& code, const Xmm& out, const Opmask& mask);
  Store to_bytes;  // AVX-512
  void (*sign_bits)(Code& code, const Xbyak::Reg32& out, const Xmm& from);
  void (*blend)(Code& code, const Xmm& out, const Xmm& no, const Operand& yes, const Xmm& condition);
  Binary equal_bits;
  void (*first_bits)(Code& code, const Xmm& out, const Xmm& bools);  // a lane of ones gives 1
  // Floats: lanes of four and eight bytes.
  Binary add, subtract, multiply, divide, minimum, maximum;
  Binary multiply_add, multiply_subtract;  // of `out`, which is a factor
  Unary square_root;
  void (*round)(Code& code, const Xmm& out, const Xmm& one, std::uint8_t direction);
  Compare compare;
  CompareToMask compare_to_mask;
  // Integers. There are products for lanes of two bytes and more, shifts for those of four and more.
  Binary integer_add, integer_subtract, integer_greater, integer_shift_left, unsigned_shift_right;
  CompareToMask integer_compare_to_mask, unsigned_compare_to_mask;
  // For lanes of eight bytes with AVX-512 only.
  Binary integer_multiply, integer_shift_right;
  Binary integer_minimum, integer_maximum, unsigned_minimum, unsigned_maximum;
  Unary integer_absolute;
};

// `bytes` of a lane: 1, 2, 4 or 8.
[[nodiscard]] const LaneInstructions& instructions_of(int bytes);

}  // namespace tagalong::array
