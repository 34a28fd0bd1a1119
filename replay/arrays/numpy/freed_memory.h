// How glibc keeps memory that eager operations have freed. By itself glibc returns large blocks to the system and asks
// for new ones, page by page, until it has seen some blocks of that size; even then it returns free memory at the top
// of the heap. With the thresholds set to their maximum from the start, the next array finds memory with pages. The
// setting holds for the whole process, so it is meant for programs that are traced as a whole.
#pragma once

namespace tagalong::array {

// Takes effect when the program uses NumPy. Does nothing where the environment has settings of the C library's
// allocator.
void keep_freed_memory();

namespace detail {
// Called once NumPy has been found.
void keep_freed_memory_if_enabled();
}  // namespace detail

}  // namespace tagalong::array
