// Recording code: a code object with hooks, and the mapping between its instructions and the original's. Made for one
// recording: its hook object belongs to that recording's session.
#pragma once

#include <memory>
#include <vector>

#include "recorder/code/decoded_code.h"

namespace tagalong::recorder {

struct RecordingCode {
  std::shared_ptr<const DecodedCode> decoded;
  CodeRef code;
  std::vector<int> instruction_at;  // original instruction at a code unit, -1: a hook
  // By entry: code unit to which a redirect goes to start the recording (the redirect's value is on the stack).
  std::vector<int> start_pads;
  int start_pad = -1;          // for a start that is not an entry of the code
  int callable_constant = -1;  // index of the hook object among the constants
  HomeRef home;
  bool has_every_hook = false;
  bool has_array_hooks = false;
  bool has_elsewhere = false;

  // `hook` is called with 2 * instruction (before), 2 * instruction + 1 (after), or kUnwound when an exception leaves
  // the frame. With a home, frames go there at yields (leaving.h). Without `has_every_hook`, instructions that only
  // move values have no hooks. `elsewhere` is a start that is not an entry of the code.
  static std::shared_ptr<RecordingCode> make(std::shared_ptr<const DecodedCode> decoded, const Ref& hook,
                                             const HomeRef& home, bool has_every_hook,
                                             const DecodedCode::Entry* elsewhere = nullptr);
  // Whether make() would give an equal result and no frame runs this code any more: then another recording can use it.
  [[nodiscard]] bool is_reusable(const DecodedCode& wanted, const HomeRef& its_home, bool every_hook) const;
  void take_hook(const Ref& hook) const;
};
using RecordingCodeRef = std::shared_ptr<RecordingCode>;

inline constexpr int kUnwound = -1;

}  // namespace tagalong::recorder
