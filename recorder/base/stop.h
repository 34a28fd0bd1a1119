// Why a recording ended before the root frame returned.
#pragma once

#include <cstdint>

namespace tagalong::recorder {

// The names are stable, because stats() and explain() show them.
enum class Stop : std::uint8_t {
  kNone,
#define TAGALONG_STOP(name, text) k_##name,
#include "recorder/base/stops.inc"
#undef TAGALONG_STOP
};
const char* stop_name(Stop stop);
const char* stop_text(Stop stop);

}  // namespace tagalong::recorder
