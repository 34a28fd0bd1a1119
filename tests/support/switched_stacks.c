/* Loaded before the address sanitizer's runtime: lets greenlet switch stacks under it.

   greenlet copies parts of the C stack to the heap and back. The sanitizer's marks around the variables on a stack do not
   travel with them: it would take the copying itself for an overflow, and later go by the marks of another stack. So
   greenlet's copies go unchecked, and no marks are left where a stack was or comes back to. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

void* __asan_memcpy(void* to, const void* from, size_t size);
void __asan_unpoison_memory_region(const volatile void* memory, size_t size);

/* Where greenlet's code is, once it is loaded. */
static size_t first;
static size_t end;

static int find(struct dl_phdr_info* library, size_t size, void* unused) {
  (void)size;
  (void)unused;
  if (strstr(library->dlpi_name, "/_greenlet.") == NULL) {
    return 0;
  }
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    if (library->dlpi_phdr[i].p_type == PT_LOAD && (library->dlpi_phdr[i].p_flags & PF_X) != 0) {
      first = library->dlpi_addr + library->dlpi_phdr[i].p_vaddr;
      end = first + library->dlpi_phdr[i].p_memsz;
    }
  }
  return 1;
}

void* dlopen(const char* name, int flags) {
  void* (*real)(const char*, int) = (void* (*)(const char*, int))dlsym(RTLD_NEXT, "dlopen");
  void* library = real(name, flags);
  if (name != NULL && strstr(name, "/_greenlet.") != NULL) {
    dl_iterate_phdr(find, NULL);
  }
  return library;
}

void* memcpy(void* to, const void* from, size_t size) {
  const size_t caller = (size_t)__builtin_return_address(0);
  if (caller - first >= end - first) {
    return __asan_memcpy(to, from, size);
  }
  __asan_unpoison_memory_region(to, size);
  __asan_unpoison_memory_region(from, size);
  return __asan_memcpy(to, from, size);
}
