#include "runtime/options.h"

#include "replay/array/region.h"

namespace tagalong::runtime {

Options& options() {
  static Options instance;
  return instance;
}

bool set_option(std::string_view name, long value) {
  Options& all = options();
  for (const replay::LimitRow& row : replay::kLimitRows) {
    if (row.name == name) {
      all.limits.*row.value = static_cast<int>(value);
      return true;
    }
  }
  if (name == "loops") {
    all.limits.loops = static_cast<int>(value);
    return true;
  }
  if (name == "regions") {
    array::regions_enabled = static_cast<int>(value);
    return true;
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
