#include "rewriter/hook_key.h"

#include <vector>

#include "rewriter/interp/errors.h"

namespace tagalong::rewriter {

Ref hook_key(int number) {
  // Each recording needs many of them; never freed.
  static auto* made = new std::vector<Ref>();
  const auto place = static_cast<std::size_t>(number + 1);
  while (made->size() <= place) {
    Ref key = Ref::steal(PyLong_FromLong(kHookKeyBase - 1 + static_cast<long>(made->size())));
    if (!key) {
      throw PythonError();
    }
    made->push_back(key);
  }
  return (*made)[place];
}

}  // namespace tagalong::rewriter
