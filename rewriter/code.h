// An Assembly is a code object taken apart so that it can be changed: instructions with labels, exact positions,
// exception ranges. EXTENDED_ARG and inline caches follow from the other instructions, so they are never listed; a jump
// holds the index of its target instruction. Everything that an Assembly does not hold comes from its `origin`.
//
// Refused, with a RewriteError that says what is wrong and where: code objects whose tables do not fit together (an
// unknown opcode, a jump into the middle of an instruction, an index out of range, a damaged table), and assemblies
// whose stack depths contradict each other. Nothing outside of the code object's own memory is read, whatever the code
// object contains.
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

// Lines count from 1, columns count UTF-8 bytes from 0, and -1 means "none". If line == -1 there is no location, and
// the other fields are -1 as well. A line without columns has column == end_column == -1.
struct Position {
  int line = -1;
  int end_line = -1;
  int column = -1;
  int end_column = -1;

  friend bool operator==(const Position&, const Position&) = default;
};

inline constexpr Position kNoPosition{};

struct Instruction {
  Opcode opcode = op::kNOP;
  std::uint32_t arg = 0;     // not used for jumps
  std::int32_t target = -1;  // for jumps: index of the target instruction
  Position position;
  std::uint8_t prefixes = 0;  // minimum number of EXTENDED_ARGs (some code has more than it needs)

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
  std::vector<ExceptionRange> ranges;  // in order, not overlapping
  std::vector<cpython::KeptRef> constants;
  std::vector<Ref> names;
  CodeRef origin;      // supplies all other fields
  int stack_size = 0;  // the origin's; encode() never makes it smaller

  [[nodiscard]] int size() const { return static_cast<int>(instructions.size()); }
  // For each instruction: whether a jump or an exception handler leads to it.
  [[nodiscard]] std::vector<bool> arrivals() const;
};

// Throws RewriteError. Specialised instructions are decoded as their base instructions, and inline caches as empty.
Assembly decode(PyCodeObject* code);

struct EncodeOptions {
  int extra_stack = 0;  // slots to reserve beyond what the instructions need
  int stack_size = -1;  // if already known: the depths are then neither computed nor checked
};

struct Encoded {
  CodeRef code;
  std::vector<int> offsets;  // code-unit index of each instruction, behind its EXTENDED_ARGs
};

// Throws RewriteError, or PythonError when the interpreter cannot make the object. Forward and backward jumps get their
// opcodes here. An unchanged assembly gives the same bytes in every table.
Encoded encode(const Assembly& assembly, const EncodeOptions& options = {});

// Depth of the value stack before each instruction, -1 for an unreachable one. Throws RewriteError where two paths to
// an instruction disagree, the stack underflows, or control runs off the end.
std::vector<int> stack_depths(const Assembly& assembly);

// The largest stack depth before or after any instruction, given the depths before each.
int largest_depth(const Assembly& assembly, const std::vector<int>& depths);

// Index of the object among the constants or names, compared by identity; appended if it is missing.
int add_constant(Assembly& assembly, const Ref& object);
int add_name(Assembly& assembly, const Ref& name);

// Throws RewriteError if the argument of one instruction is out of range for its assembly.
void check_instruction(const Assembly& assembly, int index);

// The first instruction of the call that ends at `call`: some versions have PRECALL and KW_NAMES in front of CALL. For
// any other instruction, the instruction itself.
int start_of_call(const Assembly& assembly, int call);
// The instruction that holds the names of the call's keyword arguments among its constants; -1: there are none.
int names_of_call(const Assembly& assembly, int call);

// Index of the first RESUME, where the frame becomes visible and calls may be made; -1 if there is none.
int first_resume(const Assembly& assembly);

}  // namespace tagalong::rewriter
