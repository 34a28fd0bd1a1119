#include "runtime/options.h"

#include <array>
#include <utility>

#include "replay/array/region.h"

namespace tagalong::runtime {

Options& options() {
  static Options instance;
  return instance;
}

bool set_option(std::string_view name, long value) {
  Options& all = options();
  const std::array<std::pair<std::string_view, int*>, 12> numbers = {{
      {"nodes", &all.recording.nodes},
      {"unroll", &all.recording.unroll},
      {"loops", &all.recording.loops},
      {"regions", &array::regions_enabled},
      {"inline_depth", &all.recording.inline_depth},
      {"entries_per_anchor", &all.entries_per_anchor},
      {"retries", &all.retries},
      {"heat", &all.heat},
      {"executors", &all.executors},
      {"grow_after", &all.grow_after},
      {"executor_depth", &all.executor_depth},
      {"retire_after", &all.retire_after},
  }};
  for (const auto& [known, place] : numbers) {
    if (known == name) {
      *place = static_cast<int>(value);
      return true;
    }
  }
  if (name == "stress") {
    all.stress = value != 0;
    return true;
  }
  if (name == "every_hook") {
    all.every_hook = value != 0;
    return true;
  }
  return name == "threads";  // for the array regions to come
}

}  // namespace tagalong::runtime
