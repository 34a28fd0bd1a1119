#include "rewriter/hook_key.h"

#include <vector>

#include "rewriter/cpython/objects/ints.h"

namespace tagalong::rewriter {

Ref hook_key(int number) {
  // Each recording needs many keys, so they are kept for the process: as many as the longest recorded function has
  // needed.
  static auto* made = new std::vector<Ref>();
  const auto place = static_cast<std::size_t>(number + 1);
  while (made->size() <= place) {
    made->push_back(cpython::uncommon_int(static_cast<long>(made->size()) - 1));
  }
  return (*made)[place];
}

}  // namespace tagalong::rewriter
