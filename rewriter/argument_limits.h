// What an argument may be and how much room it takes. The limits are computed once for an assembly, so that checking an
// instruction costs one comparison; check_instruction() is the slow form that explains.
#pragma once

#include <array>

#include "rewriter/code.h"

namespace tagalong::rewriter {

// Number of EXTENDED_ARG prefixes that an argument needs.
constexpr int prefixes_for(std::uint32_t argument) {
  return argument > 0xFFFFFF ? 3 : argument > 0xFFFF ? 2 : argument > 0xFF ? 1 : 0;
}
inline constexpr int kMostPrefixes = 3;
inline constexpr int kMostUnits = 1 << 28;  // code units; a code object's tables cannot describe more

class ArgumentLimits {
 public:
  explicit ArgumentLimits(const Assembly& assembly) {
    limits_.fill(std::uint64_t{1} << 32);
    (*this)[Argument::kConstant] = assembly.constants.size();
    (*this)[Argument::kName] = assembly.names.size();
    (*this)[Argument::kNameAndNull] = 2 * assembly.names.size();
    (*this)[Argument::kNameAndFlags] = 4 * assembly.names.size();
    (*this)[Argument::kLocal] = static_cast<std::uint64_t>(assembly.origin->co_nlocalsplus);
    (*this)[Argument::kCell] = static_cast<std::uint64_t>(assembly.origin->co_nlocalsplus);
    (*this)[Argument::kTwoLocals] = 0;  // certain only one by one
    (*this)[Argument::kComparison] = std::uint64_t{6} << version::kComparisonShift;
    (*this)[Argument::kBinaryOperator] = 26;
  }

  [[nodiscard]] bool holds(Argument kind, std::uint32_t argument) const {
    return argument < limits_[static_cast<std::size_t>(kind)];
  }
  // True only if the argument is certainly valid; on false, check_instruction() decides. Not for jumps.
  [[nodiscard]] bool is_certainly_valid(const Instruction& instruction) const {
    const OpcodeInfo& row = info(instruction.opcode);
    return row.known() && row.flow != Flow::kImplied && row.argument != Argument::kCell &&
           holds(row.argument, instruction.arg);
  }

 private:
  std::uint64_t& operator[](Argument kind) { return limits_[static_cast<std::size_t>(kind)]; }

  std::array<std::uint64_t, static_cast<std::size_t>(Argument::kBackward) + 1> limits_;
};

}  // namespace tagalong::rewriter
