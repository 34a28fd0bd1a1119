#include "replay/codegen/vector/lane_instructions.h"

#ifdef __x86_64__

namespace tagalong::array {
namespace {

// The mnemonics of one size of lanes differ in their suffixes only: of vectors of floats, of one float, of integers.
// NOLINTBEGIN(cppcoreguidelines-macro-usage): mnemonics cannot be composed otherwise
#define TAGALONG_UNARY(name) [](Code& code, const Xmm& out, const Operand& one) { code.name(out, one); }
#define TAGALONG_BINARY(name) \
  [](Code& code, const Xmm& out, const Xmm& one, const Operand& two) { code.name(out, one, two); }
#define TAGALONG_STORE(name) [](Code& code, const Address& to, const Xmm& from) { code.name(to, from); }
#define TAGALONG_LANES(floats, one_float, integers)                                                                  \
  {                                                                                                                  \
    .load = TAGALONG_UNARY(vmovu##floats),                                                                           \
    .broadcast = [](Code& code, const Xmm& out,                                                                      \
                    const Operand& one) { code.vbroadcast##one_float(static_cast<const Ymm&>(out), one); },          \
    .move = TAGALONG_UNARY(vmova##floats), .store = TAGALONG_STORE(vmovu##floats),                                   \
    .store_one = TAGALONG_STORE(vmov##one_float), .from_bytes = TAGALONG_UNARY(vpmovzxb##integers),                  \
    .broadcast_number = TAGALONG_UNARY(vpbroadcast##integers),                                                       \
    .test = [](Code& code, const Opmask& out, const Xmm& one,                                                        \
               const Operand& two) { code.vptestm##integers(out, one, two); },                                       \
    .from_mask = [](Code& code, const Xmm& out, const Opmask& mask) { code.vpmovm2##integers(out, mask); },          \
    .to_bytes = TAGALONG_STORE(vpmov##integers##b),                                                                  \
    .sign_bits = [](Code& code, const Reg32& out, const Xmm& from) { code.vmovmsk##floats(out, from); },             \
    .blend = [](Code& code, const Xmm& out, const Xmm& no, const Operand& yes,                                       \
                const Xmm& condition) { code.vblendv##floats(out, no, yes, condition); },                            \
    .equal_bits = TAGALONG_BINARY(vpcmpeq##integers),                                                                \
    .shift_right = [](Code& code, const Xmm& out, const Xmm& one,                                                    \
                      std::uint8_t bits) { code.vpsrl##integers(out, one, bits); },                                  \
    .add = TAGALONG_BINARY(vadd##floats), .subtract = TAGALONG_BINARY(vsub##floats),                                 \
    .multiply = TAGALONG_BINARY(vmul##floats), .divide = TAGALONG_BINARY(vdiv##floats),                              \
    .minimum = TAGALONG_BINARY(vmin##floats), .maximum = TAGALONG_BINARY(vmax##floats),                              \
    .square_root = TAGALONG_UNARY(vsqrt##floats),                                                                    \
    .compare = [](Code& code, const Xmm& out, const Xmm& one, const Operand& two,                                    \
                  std::uint8_t predicate) { code.vcmp##floats(out, one, two, predicate); },                          \
    .compare_to_mask = [](Code& code, const Opmask& out, const Xmm& one, const Operand& two,                         \
                          std::uint8_t predicate) { code.vcmp##floats(out, one, two, predicate); },                  \
    .integer_add = TAGALONG_BINARY(vpadd##integers), .integer_subtract = TAGALONG_BINARY(vpsub##integers),           \
    .integer_greater = TAGALONG_BINARY(vpcmpgt##integers), .integer_shift_left = TAGALONG_BINARY(vpsllv##integers),  \
    .unsigned_shift_right = TAGALONG_BINARY(vpsrlv##integers),                                                       \
    .integer_shift_left_all = [](Code& code, const Xmm& out, const Xmm& one,                                         \
                                 std::uint8_t bits) { code.vpsll##integers(out, one, bits); },                       \
    .integer_compare_to_mask = [](Code& code, const Opmask& out, const Xmm& one, const Operand& two,                 \
                                  std::uint8_t predicate) { code.vpcmp##integers(out, one, two, predicate); },       \
    .unsigned_compare_to_mask = [](Code& code, const Opmask& out, const Xmm& one, const Operand& two,                \
                                   std::uint8_t predicate) { code.vpcmpu##integers(out, one, two, predicate); },     \
    .integer_multiply = TAGALONG_BINARY(vpmull##integers), .integer_shift_right = TAGALONG_BINARY(vpsrav##integers), \
    .integer_minimum = TAGALONG_BINARY(vpmins##integers), .integer_maximum = TAGALONG_BINARY(vpmaxs##integers),      \
    .unsigned_minimum = TAGALONG_BINARY(vpminu##integers), .unsigned_maximum = TAGALONG_BINARY(vpmaxu##integers),    \
    .integer_absolute = TAGALONG_UNARY(vpabs##integers),                                                             \
  }
// NOLINTEND(cppcoreguidelines-macro-usage)

using Xbyak::Address;
using Xbyak::Operand;
using Xbyak::Opmask;
using Xbyak::Reg32;
using Xbyak::Xmm;
using Xbyak::Ymm;
using Code = LaneInstructions::Code;

constexpr LaneInstructions kEightBytes TAGALONG_LANES(pd, sd, q);
constexpr LaneInstructions kFourBytes TAGALONG_LANES(ps, ss, d);

}  // namespace

const LaneInstructions& instructions_of(int bytes) { return bytes == 4 ? kFourBytes : kEightBytes; }

}  // namespace tagalong::array

#endif
