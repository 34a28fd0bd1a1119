#include "replay/array/kept_memory.h"

#include <array>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

namespace tagalong::array {
namespace {

// As NumPy declares them, version 1.
struct Allocator {
  void* context;
  void* (*malloc)(void* context, std::size_t size);
  void* (*calloc)(void* context, std::size_t count, std::size_t size);
  void* (*realloc)(void* context, void* memory, std::size_t size);
  void (*free)(void* context, void* memory, std::size_t size);
};
struct Handler {
  std::array<char, 127> name;
  std::uint8_t version;
  Allocator allocator;
};
constexpr const char* kCapsule = "mem_handler";

struct Kept {
  void* memory;
  std::size_t size;
};

// In the order in which they have come.
struct Store {
  std::mutex mutex;
  std::vector<Kept> kept;
  std::size_t together = 0;
  Handler handler{};
  Allocator numpys{};
  PyObject* capsule = nullptr;
  bool is_asked = false;
};

// Never destroyed: arrays die when nothing else is there any more.
Store& store() {
  static auto* const only = new Store;
  return *only;
}

// The context of each: NumPy's own allocator.
void* take(void* context, std::size_t size) {
  Store& own = store();
  if (size >= kLeastKept) {
    const std::scoped_lock lock(own.mutex);
    for (auto found = own.kept.end(); found-- != own.kept.begin();) {
      if (found->size == size) {
        void* memory = found->memory;
        own.together -= size;
        own.kept.erase(found);
        return memory;
      }
    }
  }
  const auto* numpys = static_cast<const Allocator*>(context);
  return numpys->malloc(numpys->context, size);
}

void give(void* context, void* memory, std::size_t size) {
  Store& own = store();
  const auto& numpys = *static_cast<const Allocator*>(context);
  if (memory == nullptr || size < kLeastKept || size > kMostKeptTogether) {
    numpys.free(numpys.context, memory, size);
    return;
  }
  const std::scoped_lock lock(own.mutex);
  own.kept.push_back({memory, size});
  own.together += size;
  while (own.together > kMostKeptTogether) {
    const Kept first = own.kept.front();
    own.kept.erase(own.kept.begin());
    own.together -= first.size;
    numpys.free(numpys.context, first.memory, first.size);
  }
}

void* take_zeros(void* context, std::size_t count, std::size_t size) {
  const auto* numpys = static_cast<const Allocator*>(context);
  return numpys->calloc(numpys->context, count, size);
}

void* enlarge(void* context, void* memory, std::size_t size) {
  const auto* numpys = static_cast<const Allocator*>(context);
  return numpys->realloc(numpys->context, memory, size);
}

// Null: NumPy's handler is not the one known here.
PyObject* capsule_of(const Numpy& np) {
  Store& own = store();
  if (std::exchange(own.is_asked, true)) {
    return own.capsule;
  }
  const auto* numpys = static_cast<const Handler*>(PyCapsule_GetPointer(np.default_handler, kCapsule));
  if (numpys == nullptr || numpys->version != 1) {
    PyErr_Clear();
    return nullptr;
  }
  own.handler = *numpys;  // by the same name: whoever asks an array is told the same
  own.numpys = numpys->allocator;
  own.handler.allocator = {&own.numpys, take, take_zeros, enlarge, give};
  own.capsule = PyCapsule_New(&own.handler, kCapsule, nullptr);
  PyErr_Clear();
  return own.capsule;
}

}  // namespace

KeptMemory::KeptMemory(const Numpy& np, std::size_t bytes) {
  if (bytes < kLeastKept || np.default_handler == nullptr) [[likely]] {
    return;
  }
  PyObject* capsule = capsule_of(np);
  const Ref current = capsule == nullptr ? Ref() : Ref::steal(np.get_handler());
  if (current.get() != np.default_handler || current.get() == nullptr) {
    PyErr_Clear();
    return;
  }
  context_ = PyContext_CopyCurrent();
  if (context_ != nullptr && PyContext_Enter(context_) != 0) {
    Py_CLEAR(context_);
  }
  if (context_ != nullptr) {
    Py_XDECREF(np.set_handler(capsule));
  }
  PyErr_Clear();
}

void KeptMemory::leave() {
  PyContext_Exit(context_);
  Py_CLEAR(context_);
}

}  // namespace tagalong::array
