#include "replay/steps/printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "replay/ir/printer.h"
#include "rewriter/cpython/watch.h"

namespace tagalong::replay {
namespace {

class Printer {
 public:
  explicit Printer(const Lowered& lowered) : lowered_(lowered) {}

  std::string steps() {
    put("steps of {}: {} registers\n", lowered_.graph.name, lowered_.register_count);
    for (std::size_t place = 0; place < lowered_.constants.size(); ++place) {
      put("r{} = {}\n", place, constant(place));
    }
    for (std::size_t number = 0; number < lowered_.steps.size(); ++number) {
      const Step& step = lowered_.steps[number];
      put("step {}: ", number);
      operation(step);
      side_exits(step);
      marks(step);
      if (step.line != 0) {
        put("  ; line {}", step.line);
      }
      out_ += '\n';
    }
    for (std::size_t number = 0; number < lowered_.snapshots.size(); ++number) {
      snapshot(number);
    }
    return std::move(out_);
  }

  std::string step(const Step& step) {
    operation(step);
    return std::move(out_);
  }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  // The constant can be printed as long as a node of the graph still has it.
  [[nodiscard]] std::string constant(std::size_t place) const {
    if (place < 2) {
      return place == 0 ? "null" : "the function";
    }
    const auto is_here = [&](const Node& node) {
      return node.op == Op::constant && cpython::watched(node.object.get()) == lowered_.constants[place];
    };
    const auto node = std::ranges::find_if(lowered_.graph.nodes, is_here);
    return print_object(node == lowered_.graph.nodes.end() ? nullptr : node->object.get());
  }

  template <class Places>
  void registers(const Places& places) {
    for (std::size_t i = 0; i < places.size(); ++i) {
      out_ += i == 0 ? "" : ", ";
      place(places[i]);
    }
  }

  void place(std::int32_t place) { place < 0 ? out_.push_back('-') : put("r{}", place); }

  void operation(const Step& step) {
    const auto used = lowered_.used.subspan(step.operands);
    const auto results = used.subspan(step.operand_count, step.result_count);
    registers(results);
    out_ += results.empty() ? "" : " = ";
    out_ += print_operation(step.op, step.immediate, step.object);
    if (step.name) {
      put(" named {}", print_object(step.name.get()));
    }
    out_ += step.operand_count == 0 ? "" : " ";
    registers(used.first(step.operand_count));
    if (step.drop_count != 0) {
      out_ += ", drops ";
      registers(used.subspan(std::size_t{step.operand_count} + step.result_count, step.drop_count));
    }
  }

  // The side exits of a step, with their snapshots.
  void side_exits(const Step& step) {
    const OpInfo& row = info(step.op);
    if (row.is_guard() && step.in_entry_check) {
      out_ += ", or misses";
    } else if (row.is_guard()) {
      out_ += step.snapshot == kNoSnapshot ? ", or leaves" : ", or leaves as";
    } else if (step.expects_raise) {
      out_ += ", raises as recorded";
    } else if (step.can_leave) {
      out_ += row.may_raise() ? ", may raise or leave as" : ", may leave as";
    } else if (row.may_raise()) {
      out_ += ", may raise as";
    } else if (step.snapshot != kNoSnapshot) {
      out_ += ',';
    }
    if (step.snapshot != kNoSnapshot) {
      put(" @{}", step.snapshot);
    }
    if (step.shown != kNoSnapshot) {
      put(", finalisers see @{}", step.shown);
    }
    if (step.relocation >= 0) {
      put(", or step {} leaves in its place", step.relocation);
    }
    if (step.guard >= 0) {
      put(", leaves in the place of step {}", step.guard);
      if (step.since >= 0) {
        put(" unless attributes were read since step {}", step.since);
      }
    }
  }

  void marks(const Step& step) {
    const std::pair<bool, const char*> all[] = {{step.polls, "polls"},
                                                {step.is_header, "loop header"},
                                                {step.in_loop && !step.is_header, "in the loop"},
                                                {step.begins_group, "may begin a fusion group"}};
    for (const auto& [is_set, text] : all) {
      out_ += is_set ? fmt::format(", {}", text) : "";
    }
    constexpr unsigned kMostTemporaries = 8;  // the bits above say which temporaries have names
    const char* separator = ", temporary operands ";
    for (unsigned operand = 0; operand < kMostTemporaries; ++operand) {
      if ((step.temporaries >> operand & 1U) != 0) {
        put("{}{}", std::exchange(separator, " and "), operand);
      }
    }
  }

  void snapshot(std::size_t number) {
    const LoweredSnapshot& each = lowered_.snapshots[number];
    if (each.chain.empty()) {
      return;  // no step uses this snapshot
    }
    put("snapshot {}: frame {}, instruction {}", number, each.frame, each.instruction);
    if (each.chain.size() > 1) {
      put(", caller's @{}", each.chain[each.chain.size() - 2]);
    }
    out_ += ", locals [";
    registers(each.locals);
    out_ += "], stack [";
    registers(each.stack);
    out_ += ']';
    out_ += each.is_entry_state ? ", nothing has happened yet" : "";
    out_ += each.consuming ? ", in a consumer" : "";
    out_ += '\n';
  }

  const Lowered& lowered_;
  std::string out_;
};

}  // namespace

std::string print_steps(const Lowered& lowered) { return Printer(lowered).steps(); }

std::string print_step(const Lowered& lowered, const Step& step) { return Printer(lowered).step(step); }

}  // namespace tagalong::replay
