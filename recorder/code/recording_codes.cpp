#include "recorder/code/recording_codes.h"

#include <utility>

#include "recorder/code/leaving.h"

namespace tagalong::recorder {

void RecordingCodes::set_hook(Ref hook, bool has_every_hook) {
  hook_ = std::move(hook);
  has_every_hook_ = has_every_hook;
}

RecordingCode& RecordingCodes::of(std::shared_ptr<const DecodedCode> decoded, const HomeRef& home,
                                  const DecodedCode::Entry* elsewhere) {
  for (const auto& code : codes_) {
    if (code->decoded->shape->code.get() == decoded->shape->code.get()) {
      return *code;
    }
  }
  codes_.push_back(RecordingCode::make(std::move(decoded), hook_, home, has_every_hook_, elsewhere));
  return *codes_.back();
}

RecordingCode& RecordingCodes::of_root(const std::shared_ptr<const DecodedCode>& decoded, const HomeRef& home,
                                       const DecodedCode::Entry* elsewhere, const RecordingCodeRef& known) {
  if (known != nullptr && elsewhere == nullptr && known->is_reusable(*decoded, home, has_every_hook_)) {
    known->take_hook(hook_);
    return *codes_.emplace_back(known);
  }
  return of(decoded, home, elsewhere);
}

RecordingCode* RecordingCodes::find(const PyCodeObject* code) const {
  RecordingCode* found = nullptr;
  for (const auto& candidate : codes_) {
    if (candidate->code.get() == code) {
      found = candidate.get();
    }
  }
  return found;
}

void RecordingCodes::leave() const {
  for (const auto& code : codes_) {
    leave_at_next_hook(*code);
  }
}

}  // namespace tagalong::recorder
