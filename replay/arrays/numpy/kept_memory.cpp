#include "replay/arrays/numpy/kept_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "replay/arrays/numpy/fresh_pages.h"

#ifdef __SANITIZE_ADDRESS__
extern "C" void __asan_poison_memory_region(const volatile void* memory, std::size_t size);
extern "C" void __asan_unpoison_memory_region(const volatile void* memory, std::size_t size);
#endif

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
constexpr std::size_t kMostLent = 8;
// Smaller ones have few large pages in them, if any.
constexpr std::size_t kLeastJoined = 4U << 20U;
// How often memory has been taken when its pages are joined: that takes as long as to use them apart so often, where
// the system gets those pages back each time, and where it does not.
constexpr unsigned kOftenLent = 2;
constexpr unsigned kOftenOwn = 16;

struct Kept {
  void* memory;
  std::size_t size;
  unsigned taken = 0;  // how often, where pages may be joined
};

// In the order in which they have come.
struct Shelf {
  std::size_t most;
  std::vector<Kept> kept;
  std::size_t together = 0;
};
struct Store {
  std::mutex mutex;
  Shelf ordinary{.most = kMostKeptTogether};
  Shelf large{.most = kMostLargeTogether};  // larger ones, of whose pages the system takes what it needs
  std::uint64_t taken = 0;                  // how often
  std::vector<Kept> lent;                   // those of kLeastJoined and more that have been taken, the last of them
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

Shelf& shelf_of(std::size_t size) { return size <= kMostKeptTogether ? store().ordinary : store().large; }

// To the address sanitizer memory on a shelf is as freed.
void mark_as_freed(const Kept& kept, bool is_freed) {
#ifdef __SANITIZE_ADDRESS__
  (is_freed ? __asan_poison_memory_region : __asan_unpoison_memory_region)(kept.memory, kept.size);
#else
  static_cast<void>(kept);
  static_cast<void>(is_freed);
#endif
}

// False: it is not memory that can be given so.
bool lend_pages(void* memory, std::size_t size) { return advise_pages(memory, size, MADV_FREE) == 0; }

// Of memory in small pages each of which is said to be free, and then written again, the system notes it page by page:
// that takes as long as to compute what is written there. And where an array is read again from the third cache, as in
// softmax, a fifth of the time is looking for its pages. Whoever had the memory before NumPy may not have asked for
// large ones.
void join_pages(void* memory, std::size_t size) {
#ifdef MADV_COLLAPSE
  constexpr int kCollapse = MADV_COLLAPSE;
#else
  constexpr int kCollapse = 25;
#endif
  static_cast<void>(advise_pages(memory, size, kCollapse));  // where there is no such request, they stay as they are
}

// How often it had been taken when it was given away, or 0.
unsigned times_taken(const void* memory, std::size_t size) {
  std::vector<Kept>& lent = store().lent;
  const auto found =
      std::ranges::find_if(lent, [&](const Kept& kept) { return kept.memory == memory && kept.size == size; });
  if (found == lent.end()) {
    return 0;
  }
  const unsigned times = found->taken;
  lent.erase(found);
  return times;
}

// What must go, so that there is not too much.
void take_oldest(Shelf* shelf, std::size_t most, std::vector<Kept>* oldest) {
  while (shelf->together > most) {
    oldest->push_back(shelf->kept.front());
    shelf->together -= shelf->kept.front().size;
    shelf->kept.erase(shelf->kept.begin());
  }
}

void release(const Allocator& numpys, const std::vector<Kept>& all) {
  for (const Kept& kept : all) {
    mark_as_freed(kept, false);
    numpys.free(numpys.context, kept.memory, kept.size);
  }
}

// The context of each: NumPy's own allocator.
void* take(void* context, std::size_t size) {
  Store& own = store();
  const auto& numpys = *static_cast<const Allocator*>(context);
  if (size >= kLeastKept) {
    const std::scoped_lock lock(own.mutex);
    Shelf& shelf = shelf_of(size);
    for (std::size_t place = shelf.kept.size(); place-- > 0;) {
      const auto found = shelf.kept.begin() + static_cast<std::ptrdiff_t>(place);
      if (found->size == size) {
        void* memory = found->memory;
        mark_as_freed(*found, false);
        if (size >= kLeastJoined) {
          if (own.lent.size() == kMostLent) {
            own.lent.erase(own.lent.begin());
          }
          own.lent.push_back({memory, size, found->taken + 1});
        }
        shelf.together -= size;
        shelf.kept.erase(found);
        ++own.taken;
        return memory;
      }
    }
  }
  void* memory = numpys.malloc(numpys.context, size);
  if (memory == nullptr) [[unlikely]] {
    std::vector<Kept> all;
    {
      const std::scoped_lock lock(own.mutex);
      take_oldest(&own.ordinary, 0, &all);
      take_oldest(&own.large, 0, &all);
    }
    release(numpys, all);
    memory = numpys.malloc(numpys.context, size);
  }
  if (memory != nullptr && size >= kLeastKept) {
    make_pages(memory, size);
  }
  return memory;
}

void give(void* context, void* memory, std::size_t size) {
  Store& own = store();
  const auto& numpys = *static_cast<const Allocator*>(context);
  const bool is_kept = memory != nullptr && size >= kLeastKept && size <= kMostLargeTogether;
  const bool is_large = is_kept && size > kMostKeptTogether;
  unsigned taken = 0;
  if (is_kept && size >= kLeastJoined) {
    {
      const std::scoped_lock lock(own.mutex);
      taken = times_taken(memory, size);
    }
    if (taken == (is_large ? kOftenLent : kOftenOwn)) {
      join_pages(memory, size);
    }
  }
  if (!is_kept || (is_large && !lend_pages(memory, size))) {
    numpys.free(numpys.context, memory, size);
    return;
  }
  std::vector<Kept> oldest;
  {
    const std::scoped_lock lock(own.mutex);
    Shelf& shelf = shelf_of(size);
    shelf.kept.push_back({memory, size, taken});
    mark_as_freed(shelf.kept.back(), true);
    shelf.together += size;
    take_oldest(&shelf, shelf.most, &oldest);
  }
  release(numpys, oldest);
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

// Null: NumPy's handler is not the one known here, or the program has set another one.
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
