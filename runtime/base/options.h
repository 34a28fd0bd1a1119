// The engine's settings; the one table of options is in the Python package, which sets them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "recorder/session.h"

namespace tagalong::runtime {

struct Options {
  recorder::Limits limits;
  bool stress = false;
  bool measuring = true;   // measured times decide about retirement, where they can be taken
  bool every_hook = true;  // `record()` has hooks around each instruction, not only where traced functions have them
  std::vector<std::string> opaque_paths;    // code from files below these is not recorded into its callers
  std::vector<std::string> included_files;  // but code from these files is; sorted
};

namespace detail {
inline constinit Options options;
}
inline Options& options() { return detail::options; }  // asked in each call of a traced function

// A setting of the process that is a number. Those of users have an option in the Python package; the others are for
// tests, fuzzers and benchmarks, and `python -m tagalong info --internal` lists them.
struct Knob {
  std::string_view name;
  std::string_view documentation;
  long (*get)();
  void (*set)(long value);
};
[[nodiscard]] std::span<const Knob> knobs();

// A knob or a limit. False if there is no such one.
bool set_option(std::string_view name, long value);
// The same for settings of one function: its limits, `loops`, `fusion`.
bool set_limit(recorder::Limits* limits, std::string_view name, long value);

}  // namespace tagalong::runtime
