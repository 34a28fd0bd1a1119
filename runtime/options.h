// The engine's settings; the one table of options is in the Python package, which sets them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "recorder/session.h"

namespace tagalong::runtime {

struct Options {
  recorder::Limits recording;
  int entries_per_anchor = 8;
  int heat = 16;            // rounds of a loop, or landings of side exits, before a place is worth a recording
  int executors = 200;      // of one code object, bridges included
  int grow_after = 16;      // times that an executor goes on in another one before it takes that in; 0: never
  int retries = 4;          // recordings in vain before an anchor gives up
  int retire_after = 32;    // runs that together were worth less than nothing; 0: never
  int executor_depth = 48;  // executors inside executors, by C stack
  bool stress = false;
  bool every_hook = true;  // `record()` has hooks around each instruction, not only where traced functions have them
  std::vector<std::string> opaque_paths;  // code from files below these is not recorded into its callers
};

Options& options();
// False if there is no such option.
bool set_option(std::string_view name, long value);

}  // namespace tagalong::runtime
