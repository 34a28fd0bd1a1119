// Inserting instructions into an Assembly, many places at once, in time linear in the size of the code. Labels move
// with the code: jumps, exception ranges and handlers keep their meaning.
//
//   std::vector<Insertion> insertions = {{.before = 4, .code = {...}, .follows = Follows::kNext}};
//   Edited edited = insert(assembly, insertions);       // edited.index[4] is where instruction 4 is now
#pragma once

#include <vector>

#include "rewriter/code.h"

namespace tagalong::rewriter {

// Inside inserted code a target in [0, size] is a place in that code, size being the instruction it stands before.
// This names another instruction of the assembly; what is inserted before that one is executed, too, if jumps see it.
constexpr std::int32_t original_label(int index) { return -2 - index; }

// Which instruction the inserted code belongs to, which decides what exception ranges cover it.
enum class Follows : std::uint8_t { kNext, kPrevious, kNone };

struct Insertion {
  int before = 0;  // index of the instruction in front of which the code goes
  std::vector<Instruction> code;
  Follows follows = Follows::kNext;
  bool jumps_see_it = true;  // jumps to that instruction go to the inserted code
};

struct Edited {
  Assembly assembly;
  std::vector<int> index;  // of each original instruction
};

// Insertions come in the order they shall stand in. Refused: an insertion outside of the code, one that belongs to the
// previous instruction after one that belongs to the next, one that jumps see after one they do not see at the same
// place the other way round (the jumps would skip it).
Edited insert(const Assembly& assembly, const std::vector<Insertion>& insertions);

// The pieces of a new Assembly in order; what insert(), instrument() and insert_entry() are made of. Every instruction
// of the source must be appended once, in order.
class Layout {
 public:
  static constexpr int kNobody = -1;

  Layout(const Assembly& source, std::size_t expected);

  // Index of the next instruction.
  [[nodiscard]] int here() const { return static_cast<int>(result_.instructions.size()); }
  // Jumps to `index` of the source go here, unless append() is the first to say so.
  void label(int index) {
    int& entry = entry_[static_cast<std::size_t>(index)];
    if (entry < 0) {
      entry = here();
    }
  }
  // New code; `owner`: the source's instruction it is covered like, or kNobody. A target >= 0 is an index of the
  // result.
  void add(const Instruction& instruction, int owner);
  // The source's instruction itself.
  void append(int index);
  // The jump `index` goes to its target itself, past what was inserted before that.
  void go_straight(int index) { straight_.push_back(index); }

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
  std::vector<int> straight_;
  std::vector<int> outward_;               // inserted jumps to the source's labels
  std::vector<std::pair<int, int>> bare_;  // runs of the result that no range may cover
};

}  // namespace tagalong::rewriter
