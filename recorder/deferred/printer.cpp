#include "recorder/deferred/printer.h"

#include <fmt/format.h>

#include "replay/arrays/planning/plan_printer.h"
#include "rewriter/base/lines.h"
#include "rewriter/base/text.h"
#include "rewriter/cpython/frames.h"

namespace tagalong::recorder {

void (*recorded_group_listener)(const std::string& text) = nullptr;

std::string print_recorded_group(OperationRange range, const array::MultiPassPlan* plan, array::FusionReason reason) {
  PyCodeObject* code = cpython::code_of(cpython::current_frame(cpython::thread_state()));
  const auto line = [=](int unit) {
    return PyCode_Addr2Line(code, unit * static_cast<int>(sizeof(rewriter::CodeUnit)));
  };
  std::string text = fmt::format("recording of {}, {}: ", cpython::readable(code->co_qualname),
                                 lines_text(line(range.first), line(range.last)));
  const array::FusionReasonRow& row = array::row_of(reason);
  if (plan == nullptr) {
    return text + fmt::format("no fusion group: {} ({})", row.text, row.name);
  }
  text += "a fusion group\n";
  if (reason != array::FusionReason::kNone) {
    text += fmt::format("gives up, one by one: {} ({})\n", row.text, row.name);
  }
  return text + array::print_plan(*plan);
}

}  // namespace tagalong::recorder
