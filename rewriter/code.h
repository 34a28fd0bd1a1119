// An Assembly is a code object taken apart so that it can be changed: instructions with labels, exact positions,
// exception ranges. EXTENDED_ARG and inline caches follow from the rest, so they are never listed; jumps name the index
// of the instruction they go to. What an Assembly does not hold comes from its `origin`.
//
// Refused, with a RewriteError that says what is wrong and where: code objects whose tables do not fit together (an
// unknown opcode, a jump into the middle of an instruction, an index out of range, a damaged table), and assemblies
// whose stack depths contradict each other. Nothing is read outside of what the code object owns, whatever it contains.
//
//   Assembly assembly = decode(code);
//   assembly.instructions[3].arg = add_constant(assembly, value);
//   CodeRef changed = encode(assembly).code;
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "rewriter/base/kept_ref.h"
#include "rewriter/base/ref.h"
#include "rewriter/versions/opcodes.h"

namespace tagalong::rewriter {

// Malformed code or an edit that cannot be encoded. In Python: tagalong.rewriter.RewriteError, a ValueError.
class RewriteError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class... Arguments>
[[noreturn]] void refuse(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  throw RewriteError(fmt::format(format, std::forward<Arguments>(arguments)...));
}

// Lines count from 1 and columns from 0, in bytes of UTF-8; -1 is "none". line == -1: no location at all, and then the
// others are -1 too. A line without columns has column == end_column == -1.
struct Position {
  int line = -1;
  int end_line = -1;
  int column = -1;
  int end_column = -1;

  friend bool operator==(const Position&, const Position&) = default;
};

inline constexpr Position kNoPosition{};

struct Instruction {
  std::uint8_t opcode = op::kNOP;
  std::uint32_t arg = 0;     // meaningless for jumps
  std::int32_t target = -1;  // jumps: index of the instruction to go to
  Position position;
  std::uint8_t prefixes = 0;  // keep at least so many EXTENDED_ARGs (some code has more than it needs)

  friend bool operator==(const Instruction&, const Instruction&) = default;
};

// An exception in the instructions [start, end) cuts the stack to `depth`, pushes the offset of the raising instruction
// if `lasti`, then the exception, and goes to `target`.
struct ExceptionRange {
  int start = 0;
  int end = 0;
  int target = 0;
  int depth = 0;
  bool lasti = false;

  [[nodiscard]] int handler_depth() const { return depth + (lasti ? 2 : 1); }
  friend bool operator==(const ExceptionRange&, const ExceptionRange&) = default;
};

struct Assembly {
  std::vector<Instruction> instructions;
  std::vector<ExceptionRange> ranges;  // in order, without overlap
  std::vector<cpython::KeptRef> constants;
  std::vector<Ref> names;
  CodeRef origin;      // supplies all other fields
  int stack_size = 0;  // the origin's; encode() never goes below

  [[nodiscard]] int size() const { return static_cast<int>(instructions.size()); }
  // By instruction: whether a jump or an exception arrives there.
  [[nodiscard]] std::vector<bool> arrivals() const;
};

// Throws RewriteError. Specialised instructions are read as what they stand for, caches as empty.
Assembly decode(PyCodeObject* code);

struct EncodeOptions {
  int extra_stack = 0;  // slots to reserve beyond what the instructions need
  int stack_size = -1;  // known already: the depths are neither computed nor checked
};

struct Encoded {
  CodeRef code;
  std::vector<int> offsets;  // code-unit index of each instruction itself, after its EXTENDED_ARGs
};

// Throws RewriteError, or PythonError when the interpreter cannot make the object. Jumps take the opcode of the
// direction they go to. An assembly that was not changed gives the same bytes in every table.
Encoded encode(const Assembly& assembly, const EncodeOptions& options = {});

// Depth of the value stack before each instruction, -1 where it is never reached. Throws RewriteError where two ways to
// an instruction disagree, the stack underflows, or control runs off the end.
std::vector<int> stack_depths(const Assembly& assembly);

// The most slots in use before or after any instruction, given the depths before each.
int largest_depth(const Assembly& assembly, const std::vector<int>& depths);

// Index of this very object among the constants or names, appended if it is not there.
int add_constant(Assembly& assembly, const Ref& object);
int add_name(Assembly& assembly, const Ref& name);

// Throws RewriteError if the argument of one instruction is out of range for its assembly.
void check_instruction(const Assembly& assembly, int index);

// Index of the first RESUME, where the frame becomes visible and calls may be made; -1 if there is none.
int first_resume(const Assembly& assembly);

}  // namespace tagalong::rewriter
