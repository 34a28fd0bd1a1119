#include "replay/arrays/forming/printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "replay/arrays/forming/group_stores.h"
#include "replay/arrays/planning/plan_printer.h"
#include "replay/ir/printer.h"
#include "replay/steps/constructs.h"

namespace tagalong::replay {
namespace {

class GroupPrinter {
 public:
  GroupPrinter(const Lowered& lowered, const PlannedGroup& group) : lowered_(lowered), group_(group) {}

  std::string print(const Step& first) {
    put("fusion group of step {}, lines {} to {}: {} operations, {} {} as one\n", number_of(first), first.line,
        group_.last_line, group_.plan->operation_count(), group_.count, first.in_loop ? "loop operations" : "steps");
    if (group_.returns) {
      out_ += "ends with the trace: the result is returned\n";
    } else {
      const array::FusionReasonRow& reason = array::row_of(group_.end.reason);
      put("ends there: {} ({})\n", reason.text, reason.name);
    }
    for (std::size_t i = 0; i < group_.computed.size(); ++i) {
      put("value {} = {}\n", i, value(group_.computed[i]));
    }
    for (std::size_t i = 0; i < group_.externals.size(); ++i) {
      const PlannedGroup::External& external = group_.externals[i];
      put("external {} = {}\n", i, source(external.place, external.object, external.number));
    }
    granted();
    out_ += array::print_plan(*group_.plan);
    afterwards();
    return std::move(out_);
  }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  [[nodiscard]] std::size_t number_of(const Step& step) const {
    return static_cast<std::size_t>(&step - lowered_.steps.data());
  }

  // An object that the plan has met may be gone: it is not looked at unless the group or the executor owns it.
  [[nodiscard]] std::string object(PyObject* object) const {
    if (object == nullptr) {
      return "null";
    }
    if (std::ranges::find(group_.numbers, object, &Ref::get) != group_.numbers.end()) {
      return print_object(object);
    }
    if (const auto load = std::ranges::find(group_.loads, object, &PlannedGroup::Load::value);
        load != group_.loads.end()) {
      return fmt::format("what step {} has found", number_of(*load->step));
    }
    if (const auto constant = std::ranges::find(lowered_.constants, object); constant != lowered_.constants.end()) {
      return fmt::format("r{}", constant - lowered_.constants.begin());
    }
    return "the object of the first run";
  }

  // Of a register, of a value that is computed, or an object.
  [[nodiscard]] std::string source(std::int32_t place, PyObject* known, int number) const {
    return number >= 0 ? fmt::format("value {}", number) : place >= 0 ? fmt::format("r{}", place) : object(known);
  }

  [[nodiscard]] std::string value(const GroupValue& value) const {
    const std::string kind = value.unboxed == Unboxed::kNone ? "" : fmt::format(", {}", unboxed_name(value.unboxed));
    const auto operands = [&value] {
      std::string text;
      for (const int operand : value.operands) {
        text += text.empty() ? "" : ", ";
        text += operand == GroupValue::kNull ? "null" : fmt::format("value {}", operand);
      }
      return value.result == 0 ? text : fmt::format("{} (result {})", text, value.result);
    };
    switch (value.kind) {
      case GroupValue::Kind::kRegister:
        return fmt::format("r{}{}", value.place, kind);
      case GroupValue::Kind::kObject:
        return object(value.object) + kind;
      case GroupValue::Kind::kStep:
        return fmt::format("{} {}", print_operation(value.step->op, value.step->immediate, value.step->object),
                           operands());
      case GroupValue::Kind::kOperation:
        return fmt::format("{} {}{}", loop_code_name(value.code), operands(), kind);
    }
    return {};
  }

  // What is checked in front of a run.
  void granted() {
    for (const auto& [place, known] : group_.same) {
      put("where r{} is {}\n", place, object(known));
    }
    for (const PlannedGroup::Load& load : group_.loads) {
      put("where step {} finds the same: {}\n", number_of(*load.step), print_step(lowered_, *load.step));
    }
    for (const PlannedGroup::Guard& guard : group_.guards) {
      put("where {} of {} holds\n", print_operation(guard.step->op, guard.step->immediate, guard.step->object),
          source(guard.place, guard.object, guard.number));
    }
    for (const std::int32_t frame : group_.returned_frames) {
      put("where frame {} is not real\n", frame);
    }
    for (const auto& [frame, slot] : group_.numeric_slots) {
      put("where slot {} of frame {} has a number or nothing\n", slot, frame);
    }
  }

  void afterwards() {
    for (const auto& [place, output] : group_.results) {
      put("then r{} = output {}\n", place, output);
    }
    for (const auto& [place, known] : group_.loaded) {
      put("then r{} = {}\n", place, object(known));
    }
    for (const auto& [place, from] : group_.copied) {
      put("then r{} = r{}\n", place, from);
    }
    for (const auto& [place, number] : group_.numeric) {
      put("then r{} = value {}\n", place, number);
    }
    for (const UnboxedRegister& unboxed : group_.unboxed) {
      put("then r{}:{}{}{}\n", unboxed.place,
          unboxed.is_changed ? fmt::format(" {} of value {},", unboxed_name(unboxed.unboxed), unboxed.number) : "",
          unboxed.clears ? " without its object," : "", unboxed.boxes ? " with an object" : "");
    }
    if (group_.tuple >= 0) {
      put("then r{} = tuple(", group_.tuple);
      for (std::size_t i = 0; i < group_.items.size(); ++i) {
        out_ += (i == 0 ? "" : ", ") + item(group_.items[i]);
      }
      out_ += ")\n";
    }
    for (const PlannedGroup::Store& store : group_.stores) {
      put("then {} of value {} = {}\n", target(store), store.object, item(store.value));
    }
    for (const PlannedGroup::Local& local : group_.locals) {
      put("then slot {} of frame {} = {}\n", local.slot, local.frame,
          local.source < 0 ? "nothing" : fmt::format("r{}", local.source));
    }
    if (!group_.dropped.empty()) {
      std::vector<std::int32_t> dropped = group_.dropped;
      std::ranges::sort(dropped);
      out_ += "drops";
      for (const std::int32_t place : dropped) {
        put(" r{}", place);
      }
      out_ += '\n';
    }
  }

  [[nodiscard]] static std::string target(const PlannedGroup::Store& store) {
    switch (kind_of(*store.step)) {
      case StoreKind::kAttribute:
        return fmt::format("attribute {}", print_object(store.step->object));
      case StoreKind::kItem:
        return fmt::format("item value {}", store.key);
      case StoreKind::kAppend:
        return "new item";
    }
    return {};
  }

  [[nodiscard]] std::string item(const PlannedGroup::Item& item) const {
    switch (item.from) {
      case PlannedGroup::Item::From::kRegister:
        return fmt::format("r{}", item.index);
      case PlannedGroup::Item::From::kObject:
        return object(item.object);
      case PlannedGroup::Item::From::kResult:
        return fmt::format("output {}", item.index);
      case PlannedGroup::Item::From::kNumber:
        return fmt::format("value {}", item.index);
    }
    return {};
  }

  const Lowered& lowered_;
  const PlannedGroup& group_;
  std::string out_;
};

}  // namespace

std::string print_group(const Lowered& lowered, const PlannedGroup& group, const Step& first) {
  return GroupPrinter(lowered, group).print(first);
}

std::string print_end(const Lowered& lowered, const GroupEnd& end) {
  const std::string_view text = array::row_of(end.reason).text;
  if (end.step == nullptr) {
    return std::string(text);
  }
  // What a function does before its first line has no line.
  const std::string line = end.step->line > 0 ? fmt::format("line {}: ", end.step->line) : "";
  const std::string construct = construct_text(lowered, *end.step);
  return end.reason == array::FusionReason::kOther ? fmt::format("{}{} follows", line, construct)
                                                   : fmt::format("{} ({}{})", text, line, construct);
}

std::string print_groups(const Lowered& lowered, const FusionSite& site, const Step& first) {
  std::string text;
  for (const auto& group : site.groups) {
    text += print_group(lowered, *group, first);
  }
  for (std::size_t number = 1; number < array::kFusionReasons.size(); ++number) {
    if (site.reasons.of.at(number) != 0) {
      const array::FusionReasonRow& reason = array::kFusionReasons.at(number);
      text += fmt::format("step {}, line {}: one by one: {} ({})\n", &first - lowered.steps.data(), first.line,
                          reason.text, reason.name);
    }
  }
  return text;
}

}  // namespace tagalong::replay
