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
#define TAGALONG_LANES(floats, one_float, integers, bits)                                                            \
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
    .first_bits = [](Code& code, const Xmm& out, const Xmm& bools) { code.vpsrl##integers(out, bools, (bits)-1); },  \
    .add = TAGALONG_BINARY(vadd##floats), .subtract = TAGALONG_BINARY(vsub##floats),                                 \
    .multiply = TAGALONG_BINARY(vmul##floats), .divide = TAGALONG_BINARY(vdiv##floats),                              \
    .minimum = TAGALONG_BINARY(vmin##floats), .maximum = TAGALONG_BINARY(vmax##floats),                              \
    .multiply_add = TAGALONG_BINARY(vfmadd213##floats), .multiply_subtract = TAGALONG_BINARY(vfmsub213##floats),     \
    .square_root = TAGALONG_UNARY(vsqrt##floats),                                                                    \
    .round =                                                                                                         \
        [](Code& code, const Xmm& out, const Xmm& one, std::uint8_t direction) {                                     \
          out.isZMM() ? code.vrndscale##floats(out, one, direction) : code.vround##floats(out, one, direction);      \
        },                                                                                                           \
    .compare = [](Code& code, const Xmm& out, const Xmm& one, const Operand& two,                                    \
                  std::uint8_t predicate) { code.vcmp##floats(out, one, two, predicate); },                          \
    .compare_to_mask = [](Code& code, const Opmask& out, const Xmm& one, const Operand& two,                         \
                          std::uint8_t predicate) { code.vcmp##floats(out, one, two, predicate); },                  \
    .integer_add = TAGALONG_BINARY(vpadd##integers), .integer_subtract = TAGALONG_BINARY(vpsub##integers),           \
    .integer_greater = TAGALONG_BINARY(vpcmpgt##integers), .integer_shift_left = TAGALONG_BINARY(vpsllv##integers),  \
    .unsigned_shift_right = TAGALONG_BINARY(vpsrlv##integers),                                                       \
    .integer_compare_to_mask = [](Code& code, const Opmask& out, const Xmm& one, const Operand& two,                 \
                                  std::uint8_t predicate) { code.vpcmp##integers(out, one, two, predicate); },       \
    .unsigned_compare_to_mask = [](Code& code, const Opmask& out, const Xmm& one, const Operand& two,                \
                                   std::uint8_t predicate) { code.vpcmpu##integers(out, one, two, predicate); },     \
    .integer_multiply = TAGALONG_BINARY(vpmull##integers), .integer_shift_right = TAGALONG_BINARY(vpsrav##integers), \
    .integer_minimum = TAGALONG_BINARY(vpmins##integers), .integer_maximum = TAGALONG_BINARY(vpmaxs##integers),      \
    .unsigned_minimum = TAGALONG_BINARY(vpminu##integers), .unsigned_maximum = TAGALONG_BINARY(vpmaxu##integers),    \
    .integer_absolute = TAGALONG_UNARY(vpabs##integers),                                                             \
  }
// Only integers. Instructions with masks need a size that those without masks do not have.
#define TAGALONG_SHORT_LANES(integers, bits, own_from_bytes, own_to_bytes, own_multiply)                         \
  {                                                                                                              \
    .load = load_short<bits>, .broadcast = TAGALONG_UNARY(vpbroadcast##integers), .store = store_short<bits>,    \
    .store_one = [](Code& code, const Address& to, const Xmm& from) { code.vpextr##integers(to, from, 0); },     \
    .from_bytes = own_from_bytes, .broadcast_number = TAGALONG_UNARY(vpbroadcast##integers),                     \
    .test = [](Code& code, const Opmask& out, const Xmm& one,                                                    \
               const Operand& two) { code.vptestm##integers(out, one, two); },                                   \
    .from_mask = [](Code& code, const Xmm& out, const Opmask& mask) { code.vpmovm2##integers(out, mask); },      \
    .to_bytes = own_to_bytes,                                                                                    \
    .sign_bits = [](Code& code, const Reg32& out, const Xmm& from) { code.vpmovmskb(out, from); },               \
    .blend = [](Code& code, const Xmm& out, const Xmm& no, const Operand& yes,                                   \
                const Xmm& condition) { code.vpblendvb(out, no, yes, condition); },                              \
    .equal_bits = TAGALONG_BINARY(vpcmpeq##integers),                                                            \
    .first_bits = [](Code& code, const Xmm& out, const Xmm& bools) { code.vpabs##integers(out, bools); },        \
    .integer_add = TAGALONG_BINARY(vpadd##integers), .integer_subtract = TAGALONG_BINARY(vpsub##integers),       \
    .integer_greater = TAGALONG_BINARY(vpcmpgt##integers),                                                       \
    .integer_compare_to_mask = [](Code& code, const Opmask& out, const Xmm& one, const Operand& two,             \
                                  std::uint8_t predicate) { code.vpcmp##integers(out, one, two, predicate); },   \
    .unsigned_compare_to_mask = [](Code& code, const Opmask& out, const Xmm& one, const Operand& two,            \
                                   std::uint8_t predicate) { code.vpcmpu##integers(out, one, two, predicate); }, \
    .integer_multiply = own_multiply, .integer_minimum = TAGALONG_BINARY(vpmins##integers),                      \
    .integer_maximum = TAGALONG_BINARY(vpmaxs##integers), .unsigned_minimum = TAGALONG_BINARY(vpminu##integers), \
    .unsigned_maximum = TAGALONG_BINARY(vpmaxu##integers), .integer_absolute = TAGALONG_UNARY(vpabs##integers),  \
  }
// NOLINTEND(cppcoreguidelines-macro-usage)

using Xbyak::Address;
using Xbyak::Operand;
using Xbyak::Opmask;
using Xbyak::Reg32;
using Xbyak::Xmm;
using Xbyak::Ymm;
using Code = LaneInstructions::Code;

template <int bits>
void load_short(Code& code, const Xmm& out, const Operand& from) {
  if (!out.isZMM()) {
    code.vmovdqu(out, from);
  } else if (bits == 8) {
    code.vmovdqu8(out, from);
  } else {
    code.vmovdqu16(out, from);
  }
}

template <int bits>
void store_short(Code& code, const Address& to, const Xmm& from) {
  if (!from.isZMM()) {
    code.vmovdqu(to, from);
  } else if (bits == 8) {
    code.vmovdqu8(to, from);
  } else {
    code.vmovdqu16(to, from);
  }
}

constexpr LaneInstructions kEightBytes TAGALONG_LANES(pd, sd, q, 64);
constexpr LaneInstructions kFourBytes TAGALONG_LANES(ps, ss, d, 32);
constexpr LaneInstructions kTwoBytes TAGALONG_SHORT_LANES(w, 16, TAGALONG_UNARY(vpmovzxbw), TAGALONG_STORE(vpmovwb),
                                                          TAGALONG_BINARY(vpmullw));
constexpr LaneInstructions kOneByte TAGALONG_SHORT_LANES(b, 8, load_short<8>, store_short<8>, nullptr);

}  // namespace

const LaneInstructions& instructions_of(int bytes) {
  switch (bytes) {
    case 1:
      return kOneByte;
    case 2:
      return kTwoBytes;
    case 4:
      return kFourBytes;
    default:
      return kEightBytes;
  }
}

}  // namespace tagalong::array

#endif
