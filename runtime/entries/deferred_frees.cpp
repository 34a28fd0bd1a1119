#include "runtime/entries/deferred_frees.h"

#include <utility>
#include <vector>

namespace tagalong::runtime {
namespace {

// free_deferred() empties both.
std::vector<std::shared_ptr<replay::Executor>>& executors() {
  static auto* deferred = new std::vector<std::shared_ptr<replay::Executor>>();
  return *deferred;
}

std::vector<Ref>& objects() {
  static auto* deferred = new std::vector<Ref>();
  return *deferred;
}

}  // namespace

void defer_free(std::shared_ptr<replay::Executor> executor) {
  executor->keeper = nullptr;
  executors().push_back(std::move(executor));
  detail::has_deferred_frees = true;
}

void defer_free(Ref object) {
  objects().push_back(std::move(object));
  detail::has_deferred_frees = true;
}

void free_deferred_objects() { const auto deferred = std::exchange(objects(), {}); }

void detail::free_deferred() {
  has_deferred_frees = false;
  free_deferred_objects();
  auto deferred = std::exchange(executors(), {});
  for (auto& executor : deferred) {
    if (executor->is_running()) {
      defer_free(std::move(executor));
    }
  }
}

}  // namespace tagalong::runtime
