// New memory from the system has no pages yet: the first write to each page is a page fault. A result is written as a
// whole, so its pages are requested together, which takes about half of the time. That pays for memory that is written
// while it is in the caches; for larger arrays NumPy asks for huge pages.
#pragma once

#include <cstddef>

namespace tagalong::array {

// madvise() for the whole pages of some memory.
[[nodiscard]] int advise_pages(void* memory, std::size_t size, int advice);

// Has no visible effect except on time. Does nothing where the system does not know the request.
void make_pages(void* memory, std::size_t size);

}  // namespace tagalong::array
