// What the C library does with memory that eager operations have freed. glibc gives large memory back to the system and
// asks for it anew, page by page, until it has seen some of that size come and go, and then still gives back what lies
// on top. With its limits from the start where they come to be at most, the next array finds memory that is there. This
// is for a program that is traced as a whole: it is of the whole process.
#pragma once

namespace tagalong::array {

// From when the program uses NumPy; nothing where its environment has settings of the C library's allocator.
void keep_freed_memory();

namespace detail {
// NumPy has been found.
void keep_freed_memory_if_wanted();
}  // namespace detail

}  // namespace tagalong::array
