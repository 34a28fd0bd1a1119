#include "runtime/options.h"

#include "recorder/array_proxy.h"
#include "replay/array/parallel.h"
#include "replay/array/region.h"
#include "replay/array/streaming.h"
#include "replay/array/sweeps.h"

namespace tagalong::runtime {

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
  if (name == "worth_part") {
    array::worth_part = value;
    return true;
  }
  if (name == "worth_waiting") {
    recorder::worth_waiting = value;
    return true;
  }
  if (name == "worth_streaming") {
    array::worth_streaming = value;
    return true;
  }
  if (name == "worth_bands") {
    array::worth_bands = value;
    return true;
  }
  if (name == "band_rows") {
    array::rows_of_band = value;
    return true;
  }
  if (name == "threads") {
    array::set_threads(static_cast<unsigned>(value));
    return true;
  }
  return false;
}

}  // namespace tagalong::runtime
