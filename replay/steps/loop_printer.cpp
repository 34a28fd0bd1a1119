#include <fmt/format.h>

#include <array>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "replay/ir/printer.h"
#include "replay/objects/known_functions.h"
#include "replay/steps/printer.h"

namespace tagalong::replay {
namespace {

constexpr std::array<std::string_view, 8> kUnboxedNames = {"object",    "int",         "float",      "bool",
                                                           "numpy int", "numpy float", "numpy bool", "pair of ints"};
static_assert(kUnboxedNames.size() == static_cast<std::size_t>(Unboxed::kPair) + 1);

constexpr std::array<std::string_view, 16> kKnownNames = {"-",   "sqrt",  "sin",  "cos",  "tan",   "atan",
                                                          "exp", "log",   "fabs", "abs",  "floor", "ceil",
                                                          "int", "float", "len",  "range"};
static_assert(kKnownNames.size() == static_cast<std::size_t>(Known::kRange) + 1);

class LoopPrinter {
 public:
  explicit LoopPrinter(const Lowered& lowered) : lowered_(lowered), loop_(lowered.loop) {}

  std::string print() {
    put("loop of {}: {} operations\n", lowered_.graph.name, loop_.ops.size());
    for (std::size_t place = 0; place < loop_.kinds.size(); ++place) {
      if (loop_.kinds[place] != Unboxed::kNone) {
        put("register r{}: {}\n", place, unboxed_name(loop_.kinds[place]));
      }
    }
    entries("parameter", loop_.parameters);
    entries("invariant", loop_.invariants);
    for (std::size_t number = 0; number < loop_.ops.size(); ++number) {
      put("{}: ", number);
      operation(loop_.ops[number]);
      out_ += '\n';
    }
    for (std::size_t number = 0; number < loop_.unboxed.size(); ++number) {
      const std::vector<std::int32_t>& places = loop_.unboxed[number];
      if (!places.empty()) {
        put("snapshot {}: numbers in", number);
        for (const std::int32_t place : std::set<std::int32_t>(places.begin(), places.end())) {
          put(" r{}", place);
        }
        out_ += '\n';
      }
    }
    return std::move(out_);
  }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  void entries(const char* what, const std::vector<LoopProgram::Entry>& all) {
    for (const auto& [from, to, unboxed] : all) {
      if (from == to) {
        put("{} r{}: {}\n", what, to, unboxed_name(unboxed));
      } else {
        put("{} r{} from r{}: {}\n", what, to, from, unboxed_name(unboxed));
      }
    }
  }

  void operation(const LoopOp& op) {
    const LoopOpInfo& row = info(op.code);
    const Step& step = lowered_.steps[op.step];
    if (op.code == LoopCode::kStep || op.code == LoopCode::kSync) {
      out_ += print_step(lowered_, step);
      out_ += op.code == LoopCode::kSync ? ", in place" : "";
    } else {
      const bool is_read = row.result == LoopField::kSource;
      if (is_register(row.result) && !is_read) {
        put("r{} = ", op.result);
      }
      out_ += row.name;
      immediate(op, step);
      const char* separator = " ";
      for (const auto& [field, number] : {std::pair{row.left, op.left}, std::pair{row.right, op.right},
                                          std::pair{is_read ? LoopField::kSource : LoopField::kUnused, op.result}}) {
        if (const std::string text = operand(field, number); !text.empty()) {
          out_ += separator + text;
          separator = ", ";
        }
      }
    }
    if (op.branch >= 0) {
      put(", or goes on with {}", op.branch);
    } else if (op.is_guard) {
      put(", or leaves as @{}", step.snapshot);
    }
    put("  ; step {}", op.step);
  }

  void immediate(const LoopOp& op, const Step& step) {
    switch (op.code) {
      case LoopCode::kCallFloat:
      case LoopCode::kCallInt:
        put("[{}]", kKnownNames.at(op.flag));
        break;
      case LoopCode::kGuardType:
      case LoopCode::kGuardIs:
      case LoopCode::kGlobal:
      case LoopCode::kGlobalInt:
      case LoopCode::kGlobalFloat:
      case LoopCode::kAttribute:
      case LoopCode::kMethod:
      case LoopCode::kRebind:
        put("{{{}}}", step.object == nullptr ? "null" : print_object(step.object));
        break;
      case LoopCode::kSyncUnboxed:
        put("[{}]", step.immediate);
        break;
      case LoopCode::kItem:
        out_ += static_cast<Container>(op.flag) == Container::kList    ? "[list]"
                : static_cast<Container>(op.flag) == Container::kTuple ? "[tuple]"
                                                                       : "";
        break;
      case LoopCode::kStoreItem:
        out_ += (op.flag & kStoresNumber) != 0 ? "[number]" : "";
        out_ += (op.flag & kStoresRenewed) != 0 ? "[over a number]" : "";
        break;
      case LoopCode::kArrayItem:
      case LoopCode::kArrayItem2:
      case LoopCode::kArrayNext:
      case LoopCode::kArrayStore:
      case LoopCode::kArrayStore2:
        put("[{}]", unboxed_name(unboxed_of_items(op.flag)));
        break;
      default:
        if (is_condition(op.code)) {
          out_ += op.flag != 0 ? "" : "[not]";
        } else if (op.code == LoopCode::kGuardNull) {
          out_ += op.flag != 0 ? "[not]" : "";
        } else if (op.flag != 0 && op.code != LoopCode::kJump) {
          put("[{}]", op.flag);
        }
        break;
    }
  }

  // Whether it is a guard on numbers.
  static bool is_condition(LoopCode code) {
    const LoopOpInfo& row = info(code);
    return row.has(loop_trait::kGuards) &&
           (row.left == LoopField::kBool || row.left == LoopField::kInt || row.left == LoopField::kFloat);
  }

  [[nodiscard]] std::string operand(LoopField field, std::int32_t number) const {
    switch (field) {
      case LoopField::kOperation:
        return fmt::format("to {}", number);
      case LoopField::kSnapshot:
      case LoopField::kShown:
        return number < 0 ? "" : fmt::format("@{}", number);
      case LoopField::kTrace:
      case LoopField::kOwnTrace:
        return number < 0 ? "" : fmt::format("trace {}", number);
      case LoopField::kType:
        return print_object(loop_.types[static_cast<std::size_t>(number)]);
      case LoopField::kStep:
        return fmt::format("by step {}", number);
      case LoopField::kSlot:
        return fmt::format("slot {}", number);
      default:
        return !is_register(field) ? "" : number < 0 ? "-" : fmt::format("r{}", number);
    }
  }

  const Lowered& lowered_;
  const LoopProgram& loop_;
  std::string out_;
};

}  // namespace

std::string print_loop(const Lowered& lowered) {
  return lowered.loop.ops.empty() ? std::string() : LoopPrinter(lowered).print();
}

std::string_view unboxed_name(Unboxed kind) { return kUnboxedNames.at(static_cast<std::size_t>(kind)); }

std::string_view loop_code_name(LoopCode code) { return info(code).name; }

}  // namespace tagalong::replay
