// Functions with replay code, called from C++, with the events of each call.
//
//   Traced traced("def f(x): return x + 1", "f");
//   BOOST_TEST(traced.call("f(1)") == "2: record");
#pragma once

#include <string>

#include "runtime/records/code_record.h"
#include "tests/support/python.h"

namespace tagalong::runtime {

class Traced : public testing::Namespace {
 public:
  // The functions' names, separated by spaces.
  Traced(const std::string& source, const std::string& functions);

  // The expression's value (or "raised ..."), and the events meanwhile: "2: miss record".
  [[nodiscard]] std::string call(const std::string& expression) const;
  [[nodiscard]] CodeRecord& record(const std::string& name) const;
};

// Restores the engine's options at the end of a test.
class OptionsGuard {
 public:
  OptionsGuard();
  OptionsGuard(const OptionsGuard&) = delete;
  OptionsGuard& operator=(const OptionsGuard&) = delete;
  ~OptionsGuard();

 private:
  struct Saved;
  Saved* saved_;
};

}  // namespace tagalong::runtime
