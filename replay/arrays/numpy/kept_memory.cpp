#include "replay/arrays/numpy/kept_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#ifdef __SANITIZE_ADDRESS__
extern "C" void __asan_poison_memory_region(const volatile void* memory, std::size_t size);
extern "C" void __asan_unpoison_memory_region(const volatile void* memory, std::size_t size);
#endif

namespace tagalong::array {
namespace {

// NumPy's declarations, version 1.
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

// Blocks in the order in which they were given back.
struct FreeList {
  std::size_t max_bytes;
  std::vector<Kept> kept;
  std::size_t bytes = 0;
};
struct Store {
  std::mutex mutex;
  FreeList ordinary{.max_bytes = kMostKeptTogether};
  FreeList large{.max_bytes = kMostLargeTogether};  // for larger blocks, whose pages the system may take back
  std::uint64_t taken = 0;
  Handler handler{};
  Allocator numpy_allocator{};
  PyObject* capsule = nullptr;
  bool is_initialised = false;
};

// Never destroyed: arrays may die after all other static objects.
Store& store() {
  static auto* const only = new Store;
  return *only;
}

FreeList& free_list_of(std::size_t size) { return size <= kMostKeptTogether ? store().ordinary : store().large; }

// The address sanitizer treats kept memory as freed.
void mark_as_freed(const Kept& kept, bool is_freed) {
#ifdef __SANITIZE_ADDRESS__
  (is_freed ? __asan_poison_memory_region : __asan_unpoison_memory_region)(kept.memory, kept.size);
#else
  static_cast<void>(kept);
  static_cast<void>(is_freed);
#endif
}

// Lets the system take the pages back. False: it does not accept the request for this memory.
bool mark_pages_free(void* memory, std::size_t size) {
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(memory) + page - 1) / page * page;
  const auto end = (reinterpret_cast<std::uintptr_t>(memory) + size) / page * page;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): whole pages of the block
  return madvise(reinterpret_cast<void*>(begin), end - begin, MADV_FREE) == 0;
}

// Removes the oldest blocks from the list until it holds at most `max_bytes`.
void evict_oldest(FreeList* free_list, std::size_t max_bytes, std::vector<Kept>* oldest) {
  while (free_list->bytes > max_bytes) {
    oldest->push_back(free_list->kept.front());
    free_list->bytes -= free_list->kept.front().size;
    free_list->kept.erase(free_list->kept.begin());
  }
}

void release(const Allocator& numpy_allocator, const std::vector<Kept>& all) {
  for (const Kept& kept : all) {
    mark_as_freed(kept, false);
    numpy_allocator.free(numpy_allocator.context, kept.memory, kept.size);
  }
}

// The context of each allocator function below is NumPy's own allocator.
void* allocate(void* context, std::size_t size) {
  Store& own = store();
  const auto& numpy_allocator = *static_cast<const Allocator*>(context);
  if (size >= kLeastKept) {
    const std::scoped_lock lock(own.mutex);
    FreeList& free_list = free_list_of(size);
    for (std::size_t index = free_list.kept.size(); index-- > 0;) {
      const auto found = free_list.kept.begin() + static_cast<std::ptrdiff_t>(index);
      if (found->size == size) {
        void* memory = found->memory;
        mark_as_freed(*found, false);
        free_list.bytes -= size;
        free_list.kept.erase(found);
        ++own.taken;
        return memory;
      }
    }
  }
  void* memory = numpy_allocator.malloc(numpy_allocator.context, size);
  if (memory == nullptr) [[unlikely]] {
    std::vector<Kept> all;
    {
      const std::scoped_lock lock(own.mutex);
      evict_oldest(&own.ordinary, 0, &all);
      evict_oldest(&own.large, 0, &all);
    }
    release(numpy_allocator, all);
    memory = numpy_allocator.malloc(numpy_allocator.context, size);
  }
  return memory;
}

void deallocate(void* context, void* memory, std::size_t size) {
  Store& own = store();
  const auto& numpy_allocator = *static_cast<const Allocator*>(context);
  const bool is_kept = memory != nullptr && size >= kLeastKept && size <= kMostLargeTogether;
  const bool is_large = is_kept && size > kMostKeptTogether;
  if (!is_kept || (is_large && !mark_pages_free(memory, size))) {
    numpy_allocator.free(numpy_allocator.context, memory, size);
    return;
  }
  std::vector<Kept> oldest;
  {
    const std::scoped_lock lock(own.mutex);
    FreeList& free_list = free_list_of(size);
    free_list.kept.push_back({memory, size});
    mark_as_freed(free_list.kept.back(), true);
    free_list.bytes += size;
    evict_oldest(&free_list, free_list.max_bytes, &oldest);
  }
  release(numpy_allocator, oldest);
}

void* allocate_zeros(void* context, std::size_t count, std::size_t size) {
  const auto* numpy_allocator = static_cast<const Allocator*>(context);
  return numpy_allocator->calloc(numpy_allocator->context, count, size);
}

void* reallocate(void* context, void* memory, std::size_t size) {
  const auto* numpy_allocator = static_cast<const Allocator*>(context);
  return numpy_allocator->realloc(numpy_allocator->context, memory, size);
}

// Null: NumPy's handler has a layout that is not known here.
PyObject* capsule_of(const Numpy& np) {
  Store& own = store();
  if (std::exchange(own.is_initialised, true)) {
    return own.capsule;
  }
  const auto* numpy_handler = static_cast<const Handler*>(PyCapsule_GetPointer(np.default_handler, kCapsule));
  if (numpy_handler == nullptr || numpy_handler->version != 1) {
    PyErr_Clear();
    return nullptr;
  }
  // A copy with the same name, so that programs that ask an array for its handler's name see NumPy's.
  own.handler = *numpy_handler;
  own.numpy_allocator = numpy_handler->allocator;
  own.handler.allocator = {&own.numpy_allocator, allocate, allocate_zeros, reallocate, deallocate};
  own.capsule = PyCapsule_New(&own.handler, kCapsule, nullptr);
  PyErr_Clear();
  return own.capsule;
}

// Null: NumPy's handler has a layout that is not known here, or the program has set another one.
PyObject* capsule_if_default(const Numpy& np) {
  PyObject* capsule = np.default_handler == nullptr ? nullptr : capsule_of(np);
  const Ref current = capsule == nullptr ? Ref() : Ref::steal(np.get_handler());
  return current.get() != np.default_handler ? nullptr : capsule;
}

}  // namespace

std::uint64_t kept_memory_taken() {
  const std::scoped_lock lock(store().mutex);
  return store().taken;
}

KeptMemory::KeptMemory(const Numpy& np, std::size_t bytes) {
  if (bytes < kLeastKept) [[likely]] {
    return;
  }
  PyObject* capsule = capsule_if_default(np);
  if (capsule == nullptr) {
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
