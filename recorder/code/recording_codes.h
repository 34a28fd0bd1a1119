// The recording code of one session: one for each function that it has come to, all with the session's hook.
//
//   RecordingCode& code = codes.of(decoded, home);   // made when first asked for
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
  // The root's, of which an earlier recording may have left one that serves again: to make it takes time for each
  // instruction of the function, however few the recording comes to.
  RecordingCode& of_root(const std::shared_ptr<const DecodedCode>& decoded, const HomeRef& home,
                         const DecodedCode::Entry* elsewhere, const RecordingCodeRef& known);
  [[nodiscard]] const RecordingCodeRef& root() const { return codes_.front(); }
  // The one that has this code object; null: none of ours.
  [[nodiscard]] RecordingCode* find(const PyCodeObject* code) const;
  void leave() const;

 private:
  Ref hook_;
  bool has_every_hook_ = false;
  std::vector<RecordingCodeRef> codes_;
};

}  // namespace tagalong::recorder
