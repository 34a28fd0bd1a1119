#include "replay/executor/printer.h"

#include <fmt/format.h>

#include "replay/arrays/forming/printer.h"
#include "replay/codegen/vector/vector_code.h"
#include "replay/steps/printer.h"

namespace tagalong::replay {

PlanListener* plan_listener = nullptr;

namespace {

// Each site with the step that it begins with, that of the whole trace first.
template <class Do>
void for_each_site(const Executor& executor, const Do& act) {
  if (const Straight* straight = executor.straight(); straight != nullptr) {
    act(straight->site, executor.steps()[straight->first]);
  }
  for (const Step& step : executor.steps()) {
    if (step.group) {
      act(*step.group, step);
    }
  }
}

}  // namespace

std::string print_kernels(const Executor& executor) {
  std::string text;
  for_each_site(executor, [&](const FusionSite& site, const Step& first) {
    text += print_groups(executor.lowered(), site, first);
  });
  return text;
}

std::vector<native::PlacedCode> placed_code(const Executor& executor) {
  std::vector<native::PlacedCode> all;
  if (executor.native() != nullptr) {
    all.push_back(executor.native()->placed(fmt::format("loop of {}", executor.graph().name)));
  }
  for_each_site(executor, [&](const FusionSite& site, const Step& /*first*/) {
    for (const auto& group : site.groups) {
      for (const auto& kernel : group->plan->kernels()) {
        for (native::PlacedCode& code : kernel->placed()) {
          all.push_back(std::move(code));
        }
      }
    }
  });
  return all;
}

}  // namespace tagalong::replay
