#include "recorder/base/stop.h"

namespace tagalong::recorder {

const char* stop_name(Stop stop) {
  switch (stop) {
#define TAGALONG_STOP(name, text) \
  case Stop::k_##name:            \
    return #name;
#include "recorder/base/stops.inc"
#undef TAGALONG_STOP
    default:
      return "none";
  }
}

const char* stop_text(Stop stop) {
  switch (stop) {
#define TAGALONG_STOP(name, text) \
  case Stop::k_##name:            \
    return text;
#include "recorder/base/stops.inc"
#undef TAGALONG_STOP
    default:
      return "recorded to the return of the root frame";
  }
}

}  // namespace tagalong::recorder
