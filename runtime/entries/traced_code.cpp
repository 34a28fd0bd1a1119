#include "runtime/entries/traced_code.h"

#include <utility>

#include "rewriter/base/text.h"
#include "rewriter/cpython/first_call.h"

namespace tagalong::runtime {

using recorder::Limits;

TracedCode::TracedCode(std::shared_ptr<const recorder::DecodedCode> decoded)
    : decoded_(std::move(decoded)), entries(*decoded_), limits_(&options().limits) {}

PyCodeObject* TracedCode::as_written() {
  if (!cpython::is_armed(original())) {
    return original();
  }
  if (!copy_) {
    copy_ = cpython::code_to_run(original());
  }
  return copy_.get();
}

std::string TracedCode::name() const { return cpython::readable(original()->co_qualname); }

void TracedCode::trace_by_name(bool retires, const std::optional<Limits>& own) {
  is_traced_by_name_ = true;
  retires_ = retires;
  own_limits_ = own;
  limits_ = own_limits_ ? &*own_limits_ : &options().limits;
  for (replay::Executor* executor : entries.executors()) {
    executor->groups = limits_->groups;
  }
}

void TracedCode::count_limits(const replay::Reached& reached) {
  for (const replay::LimitRow& row : replay::kLimitRows) {
    count_limit(counters, row.limit, reached.at(static_cast<std::size_t>(row.limit)));
  }
}

}  // namespace tagalong::runtime
