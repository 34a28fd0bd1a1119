#include "runtime/policy/active_recordings.h"

#include <algorithm>
#include <utility>

namespace tagalong::runtime {

void ActiveRecordings::end(const cpython::StackId& stack) {
  std::erase(stacks_, stack);
  resume();
}

bool ActiveRecordings::has(PyThreadState* thread) const {
  return !stacks_.empty() && std::ranges::find(stacks_, cpython::stack_of(thread)) != stacks_.end();
}

void ActiveRecordings::drop_other_threads(std::uint64_t thread) {
  std::erase_if(stacks_, [thread](const cpython::StackId& stack) { return stack.thread != thread; });
}

void ActiveRecordings::refuse() {
  constexpr int kPatience = 100;
  PyCodeObject* code = code_.replay_code.get();
  if (++refused_ < kPatience || options().stress || code == nullptr) {
    return;
  }
  for (std::size_t index = 0; index < code_.entries.size(); ++index) {
    Entry& entry = code_.entries[index];
    if (entry.has_stub() && entry.executors.empty() && !entry.stub.is_closed && entry.stub.close(code)) {
      paused_.push_back(index);
    }
  }
}

bool ActiveRecordings::has_paused(std::size_t entry) const {
  return std::ranges::find(paused_, entry) != paused_.end();
}

void ActiveRecordings::resume() {
  refused_ = 0;
  PyCodeObject* code = code_.replay_code.get();
  for (const std::size_t index : std::exchange(paused_, {})) {
    if (code != nullptr) {
      code_.entries[index].stub.open(code);
    }
  }
}

}  // namespace tagalong::runtime
