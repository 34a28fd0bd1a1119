// The recording code of a function with many loops is kept, since each of its loops will be recorded. Only one function
// of the process keeps one at a time. Used under the GIL.
#pragma once

#include "recorder/code/recording_code.h"
#include "runtime/entries/entry_table.h"

namespace tagalong::runtime {

class KeptRecordingCode {
 public:
  explicit KeptRecordingCode(const EntryTable& entries) : entries_(entries) {}
  KeptRecordingCode(const KeptRecordingCode&) = delete;
  KeptRecordingCode& operator=(const KeptRecordingCode&) = delete;
  ~KeptRecordingCode();

  // Null: there is none.
  [[nodiscard]] const recorder::RecordingCodeRef& get() const { return code_; }
  // Keeps the code of a recording that has ended, if many loops have no executor yet.
  void offer(const recorder::RecordingCodeRef& code);

 private:
  const EntryTable& entries_;
  recorder::RecordingCodeRef code_;
  static inline KeptRecordingCode* holder_ = nullptr;  // the only one with a code
};

}  // namespace tagalong::runtime
