// What the rewriter knows about the opcodes of the interpreter for which it is compiled. All of it is derived from that
// version's table (<version>/version/opcodes.inc). The name of an opcode that only other versions have is a number that
// no instruction has, so code that asks for it compiles for every version.
//
//   info(op::kFOR_ITER).caches     pushes(opcode, argument, Edge::kJump)
#pragma once

#include <Python.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "version/encodings.h"

namespace tagalong::rewriter {

using Opcode = std::uint16_t;

// An instruction as it is in bytecode.
struct RawInstruction {
  Opcode opcode;
  int argument;
};

// Bytecode consists of code units: an opcode and an argument below 256, or a part of an inline cache.
using CodeUnit = std::uint16_t;
constexpr Opcode opcode_in(CodeUnit unit) { return unit & 0xFFU; }
constexpr std::uint8_t argument_in(CodeUnit unit) { return static_cast<std::uint8_t>(unit >> 8U); }
constexpr CodeUnit code_unit(RawInstruction instruction) {
  return static_cast<CodeUnit>(instruction.opcode | static_cast<unsigned>(instruction.argument) << 8U);
}

enum class Argument : std::uint8_t {
  kNone,            // no argument; the argument byte is kept as it is
  kInteger,         // a count, a depth or flags
  kConstant,        // index into co_consts
  kName,            // index into co_names
  kNameAndNull,     // index into co_names, shifted left by one; the lowest bit asks for a second value: a NULL, or an
                    // object and its method in place of a bound method
  kNameAndFlags,    // index into co_names, shifted left by two; the lowest bit as above
  kLocal,           // index into the locals, cells and free variables
  kTwoLocals,       // two such indices, in four bits each
  kCell,            // like kLocal, for a slot that holds a cell
  kComparison,      // index into dis.cmp_op, above some flags
  kBinaryOperator,  // index into the operators of BINARY_OP
  kForward,         // distance of a jump towards higher addresses
  kBackward,        // distance of a jump towards lower addresses
};

enum class Flow : std::uint8_t {
  kImplied,  // CACHE and EXTENDED_ARG: follow from other instructions, never listed
  kNext,     // continues with the next instruction
  kBranch,   // continues with the next instruction or the target
  kJump,     // continues with the target
  kStop,     // returns or raises
};

enum class Edge : bool { kNext, kJump };

namespace op {
#define TAGALONG_REVERSED(jump, reversed)
#define TAGALONG_SPECIALISED(name, number, base)
enum class Absent : Opcode {
#define TAGALONG_OPCODE(name, number, ...)
#define TAGALONG_ABSENT(name) k##name,
#include "version/opcodes.inc"
#undef TAGALONG_OPCODE
#undef TAGALONG_ABSENT
};
#define TAGALONG_OPCODE(name, number, ...) inline constexpr Opcode k##name = number;
inline constexpr Opcode kFirstAbsent = 0x100;
#define TAGALONG_ABSENT(name) inline constexpr Opcode k##name = kFirstAbsent + static_cast<Opcode>(Absent::k##name);
#include "version/opcodes.inc"
#undef TAGALONG_OPCODE
#undef TAGALONG_ABSENT
#undef TAGALONG_REVERSED
#undef TAGALONG_SPECIALISED
}  // namespace op

struct OpcodeInfo {
  std::string_view name;  // empty: no such opcode
  Argument argument = Argument::kNone;
  Flow flow = Flow::kNext;
  std::uint8_t caches = 0;    // code units that follow the instruction
  std::uint8_t reversed = 0;  // the same jump in the other direction; 0: none
  std::uint8_t base = 0;      // for a specialised opcode its base, otherwise the opcode itself

  [[nodiscard]] constexpr bool known() const { return !name.empty(); }
  [[nodiscard]] constexpr bool backward() const { return argument == Argument::kBackward; }
  [[nodiscard]] constexpr bool jumps() const { return flow == Flow::kBranch || flow == Flow::kJump; }
  [[nodiscard]] constexpr bool falls_through() const { return flow == Flow::kNext || flow == Flow::kBranch; }
};

// Rows of specialised opcodes have a base and no name: they never appear in an Assembly. The last row is empty, for
// opcodes of other versions.
inline constexpr Opcode kOpcodeCount = 256;
extern const std::array<OpcodeInfo, kOpcodeCount + 1> kOpcodes;

inline const OpcodeInfo& info(Opcode opcode) { return kOpcodes[opcode < kOpcodeCount ? opcode : kOpcodeCount]; }

// How many values the instruction uses from the stack, and how many it leaves in their place. 64 bits, because
// arguments come from code objects that may be malformed.
std::int64_t pops(Opcode opcode, std::uint32_t argument);
std::int64_t pushes(Opcode opcode, std::uint32_t argument, Edge edge);

std::optional<Opcode> opcode_by_name(std::string_view name);

// By how many bits the index in the argument is shifted left.
constexpr unsigned shift_of(Argument argument) {
  switch (argument) {
    case Argument::kNameAndNull:
      return 1;
    case Argument::kNameAndFlags:
      return 2;
    case Argument::kComparison:
      return version::kComparisonShift;
    default:
      return 0;
  }
}
// The name, constant, local or comparison that the argument means.
inline std::uint32_t index_of(Opcode opcode, std::uint32_t argument) {
  return argument >> shift_of(info(opcode).argument);
}
// Whether the lowest bit of a name's argument asks for a second value.
inline bool has_second_value(Opcode opcode, std::uint32_t argument) {
  const Argument kind = info(opcode).argument;
  return (kind == Argument::kNameAndNull || kind == Argument::kNameAndFlags) && (argument & 1U) != 0;
}

// Symbols of BINARY_OP ("+", "+=") and COMPARE_OP ("<"); empty if the argument is out of range.
std::string_view binary_operator_symbol(std::uint32_t argument);
std::string_view comparison_symbol(std::uint32_t argument);

}  // namespace tagalong::rewriter
