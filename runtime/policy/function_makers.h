// Code that makes functions of one code object: lambdas, comprehensions, nested functions. Each has the original and
// the replay code among its constants; functions are made of the original while the code is retired, and of the replay
// code otherwise.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/entries/traced_code.h"

namespace tagalong::runtime {

class FunctionMakers {
 public:
  explicit FunctionMakers(TracedCode& code) : code_(code) {}

  // `used`: the constant that the maker's instructions name; `spare`: where the other code object is kept. Throws
  // PythonError.
  void add(const CodeRef& maker, std::size_t used, std::size_t spare);
  [[nodiscard]] bool has(const PyCodeObject* maker) const;
  // Functions that are made from now on have the original code, or the replay code.
  void make_of_original(bool is_original);

 private:
  struct Maker {
    Ref code;  // weak reference
    std::size_t used;
    std::size_t spare;
  };
  void update();

  TracedCode& code_;
  std::vector<Maker> makers_;
  bool is_original_ = false;
};

}  // namespace tagalong::runtime
