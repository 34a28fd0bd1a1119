#include "rewriter/cpython/stacks.h"

#include <pthread.h>

#include <algorithm>

#include "rewriter/cpython/frames.h"
#include "version/calls.h"

namespace tagalong::cpython {
namespace {

struct Bounds {
  std::uintptr_t low = 0;
  std::uintptr_t high = 0;
};
thread_local Bounds t_bounds;

// If memory runs out, the bounds stay unknown, and the thread's next call tries again.
void learn_bounds() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
    return;
  }
  void* low = nullptr;
  std::size_t size = 0;
  if (pthread_attr_getstack(&attributes, &low, &size) == 0) {
    t_bounds.low = reinterpret_cast<std::uintptr_t>(low);
    t_bounds.high = t_bounds.low + size;
  }
  pthread_attr_destroy(&attributes);
}

}  // namespace

StackId stack_of(PyThreadState* thread) {
  const _PyStackChunk* chunk = thread->datastack_chunk;
  while (chunk != nullptr && chunk->previous != nullptr) {
    chunk = chunk->previous;
  }
  return {thread->id, chunk};
}

bool has_c_stack(PyThreadState* thread, int kibibytes) {
  constexpr std::uintptr_t kKibibyte = 1024;
  constexpr std::uintptr_t kLevel = version::kStackPerLevel * kKibibyte;
  if (t_bounds.high == 0) [[unlikely]] {
    learn_bounds();
  }
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (here <= t_bounds.low || here >= t_bounds.high) {
    return false;
  }
  const std::uintptr_t asked = static_cast<std::uintptr_t>(kibibytes) * kKibibyte;
  const std::uintptr_t whole = t_bounds.high - t_bounds.low;
  const auto levels = static_cast<std::uintptr_t>(std::max(recursion_left(thread), 0));
  constexpr std::uintptr_t kShares = 8;  // the last eighth of the stack is for replays, however many levels are left
  const std::uintptr_t left = std::min(levels * kLevel, whole - whole / kShares);
  return here - t_bounds.low >= std::max(asked, left);
}

}  // namespace tagalong::cpython
