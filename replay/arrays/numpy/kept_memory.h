// Memory of large results. What a dead one has left is taken by the next of its size: new memory of this size comes
// from the system page by page, which takes longer than to compute what is written there, and goes back as soon as an
// array dies. Behind it is NumPy's own allocation, so whoever gives the memory back, or wants more of it, may know
// nothing of this. The pages of arrays larger than all that is kept otherwise may be taken by the system meanwhile
// (MADV_FREE). A program's own handler (PyDataMem_SetHandler) is left alone.
//
//   { const KeptMemory kept(np, bytes); array = np.new_from_descr(...); }
#pragma once

#include <cstddef>
#include <cstdint>

#include "replay/arrays/numpy/numpy_abi.h"

namespace tagalong::array {

inline constexpr std::size_t kLeastKept = 128U << 10U;  // bytes of an array; below, the C library keeps memory itself
inline constexpr std::size_t kMostKeptTogether = 32U << 20U;
inline constexpr std::size_t kMostLargeTogether = 128U << 20U;  // of arrays larger than that

// How often memory that was kept has been taken, for tests.
std::uint64_t kept_memory_taken();

// As long as it lives, what this thread asks NumPy for may be memory that has been kept.
class KeptMemory {
 public:
  // `bytes`: of the largest array.
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
  PyObject* context_ = nullptr;  // of our own, so that the program's shows nothing of it
};

}  // namespace tagalong::array
