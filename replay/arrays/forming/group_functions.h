// Calls of NumPy's functions inside a fusion group, and what their arguments have to be: reductions, casts, and
// functions of several operations. roll, diff and flip are written in Python over parts of arrays, which a group reads
// where they are; var and std are written in Python, too. No frames are needed.
#pragma once

#include <cstdint>
#include <span>

#include "replay/arrays/forming/group_contents.h"
#include "replay/arrays/forming/subscript_reader.h"

namespace tagalong::replay {

// Whether the keyword at the index has this name.
[[nodiscard]] bool is_named(PyObject* keywords, Py_ssize_t index, const char* name);

class FunctionCalls {
  using Reason = array::FusionReason;

 public:
  FunctionCalls(GroupContents* contents, SubscriptReader* subscripts)
      : contents_(*contents), subscripts_(*subscripts) {}

  // Gives the call to the builder; its result becomes that of the step. The operands are the call's arguments, the
  // keyword arguments behind the positional ones. False: `reason` says why the group cannot contain the call.
  bool call(const Step& step, array::KnownFunction function, std::span<const std::int32_t> operands);
  // array.astype(dtype)
  bool cast(const Step& step, std::int32_t array, std::int32_t dtype);
  [[nodiscard]] Reason reason() const { return reason_; }

 private:
  using Content = GroupContents::Content;
  using Kind = GroupContents::Kind;

  bool reduce(const Step& step, array::Reduction reduction, std::span<const std::int32_t> operands);
  bool count_bins(const Step& step, std::span<const std::int32_t> operands);
  bool roll(const Step& step, std::span<const std::int32_t> operands);
  bool difference(const Step& step, std::span<const std::int32_t> operands);
  bool flip(const Step& step, std::span<const std::int32_t> operands);
  bool round(const Step& step, std::span<const std::int32_t> operands);
  bool spread(const Step& step, bool is_deviation, std::span<const std::int32_t> operands);
  bool read_constant(std::int32_t place, array::Extent least, array::Extent most, array::Extent* number);
  bool refuse(Reason reason);
  // Gives an operation to the builder; its result becomes that of the step.
  bool add(const array::ArrayVerb& verb, const Step& step);
  bool add_result(int number, const Step& step);
  array::MultiPassBuilder& builder() { return contents_.builder(); }
  [[nodiscard]] const array::Numpy& np() const { return contents_.np(); }

  GroupContents& contents_;
  SubscriptReader& subscripts_;
  Reason reason_ = Reason::kNone;
};

}  // namespace tagalong::replay
