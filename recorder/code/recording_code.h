// Recording code: a code object with hooks, and how its instructions correspond to the original's. Made for one
// recording: the hook object in it belongs to that recording's session.
#pragma once

#include <memory>
#include <vector>

#include "recorder/code/decoded_code.h"

namespace tagalong::recorder {

struct RecordingCode {
  std::shared_ptr<const DecodedCode> decoded;
  CodeRef code;
  std::vector<int> instruction_at;  // original instruction at a code unit, -1: a hook
  std::vector<int> start_pads;      // by entry: code unit where a landing starts the recording (its value on the stack)
  int start_pad = -1;               // of a start elsewhere
  int callable_constant = -1;       // index of the hook object among the constants
  HomeRef home;
  bool has_every_hook = false;
  bool has_array_hooks = false;
  bool has_elsewhere = false;

  // `hook` is called with 2 * instruction (before) or 2 * instruction + 1 (after), kUnwound when an exception leaves
  // the frame. With a home, yields go there (leaving.h). Without `has_every_hook`
  // instructions that only move values have none. `elsewhere` is a start that is none of the code's entries.
  static std::shared_ptr<RecordingCode> make(std::shared_ptr<const DecodedCode> decoded, const Ref& hook,
                                             const HomeRef& home, bool has_every_hook,
                                             const DecodedCode::Entry* elsewhere = nullptr);
  // Whether it is as make() would make it, and no frame runs it any more. Then it may take another recording's hook.
  [[nodiscard]] bool serves_again(const DecodedCode& wanted, const HomeRef& its_home, bool every_hook) const;
  void take_hook(const Ref& hook) const;
};
using RecordingCodeRef = std::shared_ptr<RecordingCode>;

inline constexpr int kUnwound = -1;

}  // namespace tagalong::recorder
