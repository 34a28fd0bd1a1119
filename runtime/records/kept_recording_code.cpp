#include "runtime/records/kept_recording_code.h"

#include <algorithm>

namespace tagalong::runtime {

KeptRecordingCode::~KeptRecordingCode() {
  if (holder_ == this) {
    holder_ = nullptr;
  }
}

void KeptRecordingCode::offer(const recorder::RecordingCodeRef& code) {
  constexpr int kManyLoops = 4;
  if (code->has_elsewhere) {
    return;
  }
  if (holder_ != nullptr && holder_ != this) {
    holder_->code_.reset();
  }
  const auto lacks_executor = [](const Entry& entry) {
    return entry.is(Entry::Kind::kHeader) && entry.executors.empty() && !entry.stub.is_closed;
  };
  const bool is_kept = std::ranges::count_if(entries_, lacks_executor) >= kManyLoops;
  code_ = is_kept ? code : nullptr;
  holder_ = is_kept ? this : nullptr;
}

}  // namespace tagalong::runtime
