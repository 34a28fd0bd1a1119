#include "rewriter/versions/opcodes.h"

namespace tagalong::rewriter {

namespace {

#define TAGALONG_ABSENT(name)

constexpr std::array<OpcodeInfo, kOpcodeCount + 1> make_table() {
  std::array<OpcodeInfo, kOpcodeCount + 1> table{};
#define TAGALONG_OPCODE(name, number, argument, caches, pops, pushes, flow, pushes_jump) \
  table[number] = OpcodeInfo{#name, Argument::argument, Flow::flow, caches, 0, number};
#define TAGALONG_REVERSED(jump, opposite) table[op::k##jump].reversed = op::k##opposite;
#define TAGALONG_SPECIALISED(name, number, original) table[number].base = op::k##original;
#include "version/opcodes.inc"
#undef TAGALONG_OPCODE
#undef TAGALONG_REVERSED
#undef TAGALONG_SPECIALISED
  return table;
}

constexpr std::array<OpcodeInfo, kOpcodeCount + 1> kTable = make_table();

// A jump and its reverse must agree in everything but the direction.
constexpr bool reversed_jumps_agree() {
  for (const OpcodeInfo& row : kTable) {
    if (row.reversed != 0) {
      const OpcodeInfo& other = kTable[row.reversed];
      if (other.flow != row.flow || other.backward() == row.backward() || !other.jumps()) {
        return false;
      }
    }
  }
  return true;
}
static_assert(reversed_jumps_agree());

constexpr std::array<std::string_view, 26> kBinaryOperators = {
    "+",  "&",  "//",  "<<",  "@",  "*",  "%",  "|",  "**",  ">>",  "-",  "/",  "^",
    "+=", "&=", "//=", "<<=", "@=", "*=", "%=", "|=", "**=", ">>=", "-=", "/=", "^="};
constexpr std::array<std::string_view, 6> kComparisons = {"<", "<=", "==", "!=", ">", ">="};

}  // namespace

constinit const std::array<OpcodeInfo, kOpcodeCount + 1> kOpcodes = kTable;

#define TAGALONG_REVERSED(jump, opposite)
#define TAGALONG_SPECIALISED(name, number, original)

std::int64_t pops(Opcode opcode, std::uint32_t argument) {
  [[maybe_unused]] const std::int64_t n = argument;
  switch (opcode) {
#define TAGALONG_OPCODE(name, number, argument, caches, pops, pushes, flow, pushes_jump) \
  case number:                                                                           \
    return pops;
#include "version/opcodes.inc"
#undef TAGALONG_OPCODE
    default:
      return 0;
  }
}

std::int64_t pushes(Opcode opcode, std::uint32_t argument, Edge edge) {
  [[maybe_unused]] const std::int64_t n = argument;
  switch (opcode) {
#define TAGALONG_OPCODE(name, number, argument, caches, pops, pushes, flow, pushes_jump) \
  case number:                                                                           \
    return edge == Edge::kJump ? (pushes_jump) : (pushes);
#include "version/opcodes.inc"
#undef TAGALONG_OPCODE
    default:
      return 0;
  }
}

#undef TAGALONG_REVERSED
#undef TAGALONG_SPECIALISED
#undef TAGALONG_ABSENT

std::optional<Opcode> opcode_by_name(std::string_view name) {
  for (std::size_t opcode = 0; opcode < kOpcodes.size(); ++opcode) {
    if (kOpcodes[opcode].known() && kOpcodes[opcode].name == name) {
      return static_cast<Opcode>(opcode);
    }
  }
  return std::nullopt;
}

std::string_view binary_operator_symbol(std::uint32_t argument) {
  return argument < kBinaryOperators.size() ? kBinaryOperators[argument] : std::string_view();
}

std::string_view comparison_symbol(std::uint32_t argument) {
  const std::uint32_t comparison = argument >> version::kComparisonShift;
  return comparison < kComparisons.size() ? kComparisons[comparison] : std::string_view();
}

}  // namespace tagalong::rewriter
