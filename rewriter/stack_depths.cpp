#include <algorithm>

#include "rewriter/code.h"

namespace tagalong::rewriter {

namespace {

constexpr std::int64_t kDeepest = 1 << 26;

// Follows each path through the code once. Paths that meet must agree on the depth.
class DepthWalk {
 public:
  explicit DepthWalk(const Assembly& assembly)
      : assembly_(assembly), depths_(assembly.instructions.size(), -1), range_of_(assembly.instructions.size(), -1) {
    for (std::size_t r = 0; r < assembly.ranges.size(); ++r) {
      const ExceptionRange& range = assembly.ranges[r];
      if (range.start < 0 || range.start >= range.end || range.end > assembly.size() || range.target < 0 ||
          range.target >= assembly.size() || range.depth < 0) {
        refuse("exception range {} to {} with handler {} does not fit the code", range.start, range.end, range.target);
      }
      std::fill(range_of_.begin() + range.start, range_of_.begin() + range.end, static_cast<int>(r));
    }
    handler_seen_.assign(assembly.ranges.size(), false);
  }

  std::vector<int> run() {
    if (assembly_.instructions.empty()) {
      refuse("there is no instruction");
    }
    arrive(0, 0, -1);
    while (!pending_.empty()) {
      const int start = pending_.back();
      pending_.pop_back();
      walk(start);
    }
    return std::move(depths_);
  }

 private:
  // True if the instruction had not been reached before.
  bool meet(int index, std::int64_t depth, int from) {
    int& known = depths_[static_cast<std::size_t>(index)];
    if (known == depth) {
      return false;
    }
    if (known >= 0) {
      refuse("instruction {} is reached with {} values on the stack and, from {}, with {}", index, known, from, depth);
    }
    if (depth > kDeepest) {
      refuse("the stack grows beyond {} values at instruction {}", kDeepest, index);
    }
    known = static_cast<int>(depth);
    return true;
  }

  void arrive(int index, std::int64_t depth, int from) {
    if (meet(index, depth, from)) {
      pending_.push_back(index);
    }
  }

  void visit_handler(int index, int depth) {
    const int r = range_of_[static_cast<std::size_t>(index)];
    if (r < 0) {
      return;
    }
    const ExceptionRange& range = assembly_.ranges[static_cast<std::size_t>(r)];
    if (depth < range.depth) {
      refuse("instruction {} has {} values on the stack, its exception handler expects {}", index, depth, range.depth);
    }
    if (!handler_seen_[static_cast<std::size_t>(r)]) {
      handler_seen_[static_cast<std::size_t>(r)] = true;
      arrive(range.target, std::int64_t{range.depth} + (range.lasti ? 2 : 1), index);
    }
  }

  void walk(int index) {
    while (true) {
      const Instruction& instruction = assembly_.instructions[static_cast<std::size_t>(index)];
      const OpcodeInfo& row = info(instruction.opcode);
      const int depth = depths_[static_cast<std::size_t>(index)];
      visit_handler(index, depth);
      const std::int64_t rest = depth - pops(instruction.opcode, instruction.arg);
      if (rest < 0) {
        refuse("{} at {} needs {} values on the stack, there are {}", row.name, index,
               pops(instruction.opcode, instruction.arg), depth);
      }
      if (row.jumps()) {
        if (instruction.target < 0 || instruction.target >= assembly_.size()) {
          refuse("{} at {} goes to instruction {}, outside of the code", row.name, index, instruction.target);
        }
        arrive(instruction.target, rest + pushes(instruction.opcode, instruction.arg, Edge::kJump), index);
      }
      if (!row.falls_through()) {
        return;
      }
      if (index + 1 == assembly_.size()) {
        refuse("control runs off the end of the code behind {}", row.name);
      }
      if (!meet(index + 1, rest + pushes(instruction.opcode, instruction.arg, Edge::kNext), index)) {
        return;
      }
      ++index;
    }
  }

  const Assembly& assembly_;
  std::vector<int> depths_;
  std::vector<int> range_of_;
  std::vector<bool> handler_seen_;
  std::vector<int> pending_;
};

}  // namespace

std::vector<int> stack_depths(const Assembly& assembly) { return DepthWalk(assembly).run(); }

int largest_depth(const Assembly& assembly, const std::vector<int>& depths) {
  std::int64_t largest = 0;
  for (std::size_t i = 0; i < depths.size(); ++i) {
    if (depths[i] < 0) {
      continue;
    }
    const Instruction& instruction = assembly.instructions[i];
    const std::int64_t rest = depths[i] - pops(instruction.opcode, instruction.arg);
    largest =
        std::max({largest, std::int64_t{depths[i]}, rest + pushes(instruction.opcode, instruction.arg, Edge::kNext)});
    if (info(instruction.opcode).jumps()) {
      largest = std::max(largest, rest + pushes(instruction.opcode, instruction.arg, Edge::kJump));
    }
  }
  return static_cast<int>(std::min(largest, kDeepest));
}

}  // namespace tagalong::rewriter
