// Memory of large results. A new result takes the memory that a dead one of the same size has left: new memory of that
// size would come from the system page by page, which takes longer than computing what is written there, and would go
// back as soon as the array dies. The memory comes from NumPy's own allocator, so code that frees or enlarges it needs
// no knowledge of this file. The system may take the pages of very large kept blocks (MADV_FREE). A program's own
// handler (PyDataMem_SetHandler) is left alone.
//
//   { const KeptMemory kept(np, bytes); array = np.new_from_descr(...); }
#pragma once

#include <cstddef>
#include <cstdint>

#include "replay/arrays/numpy/numpy_abi.h"

namespace tagalong::array {

inline constexpr std::size_t kLeastKept = 128U << 10U;  // bytes of an array; smaller blocks are kept by the C library
inline constexpr std::size_t kMostKeptTogether = 32U << 20U;
inline constexpr std::size_t kMostLargeTogether = 128U << 20U;  // of arrays of more than kMostKeptTogether

// How often memory that was kept has been taken, for tests.
std::uint64_t kept_memory_taken();

// While it lives, this thread's requests to NumPy for memory may be answered with kept memory.
class KeptMemory {
 public:
  // `bytes`: the size of the largest array that is made meanwhile.
  KeptMemory(const Numpy& np, std::size_t bytes);
  KeptMemory(const KeptMemory&) = delete;
  KeptMemory& operator=(const KeptMemory&) = delete;
  ~KeptMemory() {
    if (context_ != nullptr) {
      leave();
    }
  }

 private:
  void leave();
  PyObject* context_ = nullptr;  // a context of our own, so that the program's context does not show the handler
};

}  // namespace tagalong::array
