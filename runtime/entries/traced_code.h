// One original code object as all parts of its record see it: the code, its replay code, its entries, its counters and
// its limits. It decides nothing.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "recorder/trace/recorded.h"
#include "runtime/base/events.h"
#include "runtime/base/options.h"
#include "runtime/entries/entry_table.h"

namespace tagalong::runtime {

// The replay code, and where the original instructions are in it. Filled in by replay_code.cpp.
struct ReplayCode {
  Ref weak;                // weak reference: the replay code owns the anchor that owns the record
  std::vector<int> units;  // code unit of each original instruction
  std::vector<int> shown;  // replay::CodeShape::shown of it
  std::vector<int> starts;
  std::vector<int> pads;   // where a frame with an empty stack is redirected to, by instruction
  recorder::HomeRef home;  // of generators, and of code with loops

  // Null: it has been freed.
  [[nodiscard]] PyCodeObject* get() const {
    PyObject* object = weak ? PyWeakref_GET_OBJECT(weak.get()) : Py_None;
    return object == Py_None ? nullptr : reinterpret_cast<PyCodeObject*>(object);
  }
};

class TracedCode {
 public:
  explicit TracedCode(std::shared_ptr<const recorder::DecodedCode> decoded);

  [[nodiscard]] const recorder::DecodedCode& decoded() const { return *decoded_; }
  [[nodiscard]] const std::shared_ptr<const recorder::DecodedCode>& decoded_ref() const { return decoded_; }
  [[nodiscard]] PyCodeObject* original() const { return decoded_->shape->code.get(); }
  // The code in which a frame of the original can continue at any instruction: the original, or a copy of it as long as
  // the original begins with the stub for first calls. Throws PythonError.
  [[nodiscard]] PyCodeObject* as_written();
  [[nodiscard]] const CodeRef& copy() const { return copy_; }  // null: there is none
  [[nodiscard]] std::string name() const;
  // Whether a run that leaves an executor may continue in another one.
  [[nodiscard]] bool is_linked() const { return decoded_->is_joined; }

  // The program names the function: it is recorded whatever that costs, and replayed whether that pays or not, unless
  // it `retires`. `own`: limits of this function instead of those of the process.
  void trace_by_name(bool retires, const std::optional<recorder::Limits>& own);
  [[nodiscard]] bool is_traced_by_name() const { return is_traced_by_name_; }
  [[nodiscard]] const recorder::Limits& limits() const { return *limits_; }
  [[nodiscard]] bool retires() const { return retires_; }
  // False: executors are kept even if they do not pay.
  [[nodiscard]] bool may_retire() const { return retires_ && limits_->retire_after > 0 && !options().stress; }

  void count_limits(const replay::Reached& reached);

 private:
  std::shared_ptr<const recorder::DecodedCode> decoded_;  // in front of `entries`, which refer to it
  CodeRef copy_;

 public:
  ReplayCode replay_code;
  EntryTable entries;
  Counters counters;
  bool records_calls = true;  // false: the body of a module, which is called once

 private:
  bool is_traced_by_name_ = false;
  bool retires_ = true;
  std::optional<recorder::Limits> own_limits_;
  const recorder::Limits* limits_;  // own_limits_, or those of the process
};

}  // namespace tagalong::runtime
