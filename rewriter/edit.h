// Inserting instructions into an Assembly, at many places at once, in time linear in the size of the code. Labels move
// with the code: jumps, exception ranges and handlers keep their meaning.
//
//   std::vector<Insertion> insertions = {{.before = 4, .code = {...}, .follows = Follows::kNext}};
//   Edited edited = insert(assembly, insertions);       // edited.index[4] is where instruction 4 is now
#pragma once

#include <vector>

#include "rewriter/code.h"

namespace tagalong::rewriter {

// Inside of inserted code, a target in [0, size] is an index in that code; size means the instruction in front of which
// the code is inserted. This function names another instruction of the assembly. A jump there also executes the code
// that is inserted in front of that instruction, if jumps see that code.
constexpr std::int32_t original_label(int index) { return -2 - index; }

// Which instruction the inserted code belongs to: exception ranges cover the code like that instruction.
enum class Follows : std::uint8_t { kNext, kPrevious, kNone };

struct Insertion {
  int before = 0;  // index of the instruction in front of which the code goes
  std::vector<Instruction> code;
  Follows follows = Follows::kNext;
  bool jumps_see_it = true;  // jumps to that instruction lead to the inserted code
};

struct Edited {
  Assembly assembly;
  std::vector<int> index;  // new index of each original instruction
};

// Insertions are given in the order of the result. Refused: an insertion outside of the code; at one place, code that
// belongs to the previous instruction behind code that belongs to the next; and code that jumps do not see behind code
// that they see, which the jumps would execute.
Edited insert(const Assembly& assembly, const std::vector<Insertion>& insertions);

// Appends the pieces of a new Assembly in order; insert(), instrument() and insert_entry() use it. Every instruction of
// the source must be appended once, in order.
class Layout {
 public:
  static constexpr int kNoOwner = -1;

  Layout(const Assembly& source, std::size_t expected);

  // Index of the next instruction.
  [[nodiscard]] int here() const { return static_cast<int>(result_.instructions.size()); }
  // Jumps to `index` of the source lead here. Without a call of label(), they lead to where append() puts the
  // instruction.
  void label(int index) {
    int& entry = entry_[static_cast<std::size_t>(index)];
    if (entry < 0) {
      entry = here();
    }
  }
  // Adds new code. `owner`: the instruction of the source whose exception ranges cover the new code, or kNoOwner. A
  // target >= 0 is an index of the result.
  void add(const Instruction& instruction, int owner);
  // Appends an instruction of the source.
  void append(int index);
  // Changes the argument of an appended instruction.
  void set_argument(int index, std::uint32_t argument) {
    result_.instructions[static_cast<std::size_t>(itself_[static_cast<std::size_t>(index)])].arg = argument;
  }
  // Makes the jump `index` lead directly to its target, not to code that was inserted in front of the target.
  void bypass_insertions(int index) { bypassing_.push_back(index); }

  Edited finish();

 private:
  void own(int owner, int index) {
    const auto slot = static_cast<std::size_t>(owner);
    if (first_[slot] < 0) {
      first_[slot] = index;
    }
    last_[slot] = index;
  }
  void move_ranges();

  const Assembly& source_;
  Assembly result_;
  std::vector<int> entry_;
  std::vector<int> itself_;
  std::vector<int> first_;
  std::vector<int> last_;
  std::vector<int> bypassing_;
  std::vector<int> outward_;               // inserted jumps to labels of the source
  std::vector<std::pair<int, int>> bare_;  // ranges of the result that no exception range may cover
};

}  // namespace tagalong::rewriter
