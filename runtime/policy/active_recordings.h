// The recordings of one code object that are under way, one for each stack. While a recursive function is recorded its
// own calls are refused; if they are many, the stubs without executors are closed until the recording ends.
#pragma once

#include <cstddef>
#include <vector>

#include "rewriter/cpython/stacks.h"
#include "runtime/entries/traced_code.h"

namespace tagalong::runtime {

class ActiveRecordings {
 public:
  explicit ActiveRecordings(TracedCode& code) : code_(code) {}

  void begin(const cpython::StackId& stack) { stacks_.push_back(stack); }
  void end(const cpython::StackId& stack);
  [[nodiscard]] bool has(PyThreadState* thread) const;
  [[nodiscard]] std::size_t size() const { return stacks_.size(); }
  // In the child of a fork: the recordings of other threads do not continue.
  void drop_other_threads(std::uint64_t thread);

  // A call was not recorded because its stack is recording this code.
  void refuse();
  [[nodiscard]] bool has_paused(std::size_t entry) const;
  // Opens the stubs again.
  void resume();

 private:
  TracedCode& code_;
  std::vector<cpython::StackId> stacks_;
  std::vector<std::size_t> paused_;  // entries whose stubs are closed meanwhile
  int refused_ = 0;
};

}  // namespace tagalong::runtime
