// The recording code of one session: one for each function that the session has entered, all with the session's hook.
//
//  RecordingCode& code = codes.of(decoded, home);   // made at the first request
//   codes.leave();                                   // the session is over: frames leave at their next hook
#pragma once

#include <vector>

#include "recorder/code/recording_code.h"

namespace tagalong::recorder {

class RecordingCodes {
 public:
  void set_hook(Ref hook, bool has_every_hook);
  [[nodiscard]] const Ref& hook() const { return hook_; }

  RecordingCode& of(std::shared_ptr<const DecodedCode> decoded, const HomeRef& home = {},
                    const DecodedCode::Entry* elsewhere = nullptr);
  // The root's. If an earlier recording has left one that can be used again, it is: making recording code costs time
  // for each instruction of the function, however few of them are recorded.
  RecordingCode& of_root(const std::shared_ptr<const DecodedCode>& decoded, const HomeRef& home,
                         const DecodedCode::Entry* elsewhere, const RecordingCodeRef& known);
  [[nodiscard]] const RecordingCodeRef& root() const { return codes_.front(); }
  // The recording code with this code object; null: none of this session.
  [[nodiscard]] RecordingCode* find(const PyCodeObject* code) const;
  void leave() const;

 private:
  Ref hook_;
  bool has_every_hook_ = false;
  std::vector<RecordingCodeRef> codes_;
};

}  // namespace tagalong::recorder
