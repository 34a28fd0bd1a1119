// What the rewriter knows about the opcodes of the interpreter for which it is compiled. All of it is derived from that
// version's table (opcodes_<version>.inc), the only file that changes when a version is added.
//
//   info(op::kFOR_ITER).caches     pushes(opcode, argument, Edge::kJump)
#pragma once

#include <Python.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030C0000
#define TAGALONG_OPCODE_TABLE "rewriter/versions/opcodes_311.inc"
#else
#error "tagalong has no opcode table for this version of CPython"
#endif

namespace tagalong::rewriter {

enum class Argument : std::uint8_t {
  kNone,            // no argument; the argument byte is kept as it is
  kInteger,         // a count, a depth or flags
  kConstant,        // index into co_consts
  kName,            // index into co_names
  kNameAndNull,     // index into co_names, shifted left by one; the lowest bit asks for a NULL under the value
  kLocal,           // index into the locals, cells and free variables
  kCell,            // like kLocal, for a slot that holds a cell
  kComparison,      // index into dis.cmp_op
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
#define TAGALONG_OPCODE(name, number, ...) inline constexpr std::uint8_t k##name = number;
#define TAGALONG_REVERSED(jump, reversed)
#define TAGALONG_SPECIALISED(name, number, base)
#include TAGALONG_OPCODE_TABLE
#undef TAGALONG_OPCODE
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

// Rows of specialised opcodes have a base and no name: they never appear in an Assembly.
extern const std::array<OpcodeInfo, 256> kOpcodes;

inline const OpcodeInfo& info(std::uint8_t opcode) { return kOpcodes[opcode]; }

// How many values the instruction uses from the stack, and how many it leaves in their place. 64 bits, because
// arguments come from code objects that may be malformed.
std::int64_t pops(std::uint8_t opcode, std::uint32_t argument);
std::int64_t pushes(std::uint8_t opcode, std::uint32_t argument, Edge edge);

std::optional<std::uint8_t> opcode_by_name(std::string_view name);

// Symbols of BINARY_OP ("+", "+=") and COMPARE_OP ("<"); empty if the argument is out of range.
std::string_view binary_operator_symbol(std::uint32_t argument);
std::string_view comparison_symbol(std::uint32_t argument);

}  // namespace tagalong::rewriter
