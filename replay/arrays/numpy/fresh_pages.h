// Memory that the system has just given has no pages: each is made when it is first written, one exception after the
// other. Of a result, which is written as a whole, they are asked for together, which takes half of the time. That is
// for memory that is written while it is in the caches; NumPy asks for huge pages for what is larger.
#pragma once

#include <cstddef>

namespace tagalong::array {

// madvise() for the whole pages of some memory.
[[nodiscard]] int advise_pages(void* memory, std::size_t size, int advice);

// Nothing that a program could see but the time. Where there is no such request, none.
void make_pages(void* memory, std::size_t size);

}  // namespace tagalong::array
