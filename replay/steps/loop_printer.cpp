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

// What the three numbers of an operation are.
enum class Part : char {
  kNone,
  kRegister,
  kSource,  // the register `result`, which is read
  kOperation,
  kSnapshot,
  kTrace,
  kType,
  kStep,
  kSlot
};

struct Row {
  std::string_view name;
  Part result = Part::kNone, left = Part::kNone, right = Part::kNone;
};

using enum Part;
constexpr std::array kRows = {
    Row{"step"},
    Row{"leave_if_watched"},
    Row{"box", kNone, kRegister},
    Row{"clear", kNone, kRegister},
    Row{"clear_shown", kNone, kRegister, kSnapshot},
    Row{"move", kRegister, kRegister},
    Row{"share", kRegister, kRegister},
    Row{"sync"},
    Row{"sync_unboxed", kNone, kRegister},
    Row{"unbox_int", kNone, kRegister},
    Row{"unbox_float", kNone, kRegister},
    Row{"unbox_bool", kNone, kRegister},
    Row{"unbox_numpy_int", kNone, kRegister},
    Row{"unbox_numpy_float", kNone, kRegister},
    Row{"unbox_numpy_bool", kNone, kRegister},
    Row{"add_int", kRegister, kRegister, kRegister},
    Row{"subtract_int", kRegister, kRegister, kRegister},
    Row{"multiply_int", kRegister, kRegister, kRegister},
    Row{"floor_divide_int", kRegister, kRegister, kRegister},
    Row{"remainder_int", kRegister, kRegister, kRegister},
    Row{"true_divide_int", kRegister, kRegister, kRegister},
    Row{"and_int", kRegister, kRegister, kRegister},
    Row{"or_int", kRegister, kRegister, kRegister},
    Row{"xor_int", kRegister, kRegister, kRegister},
    Row{"shift_left_int", kRegister, kRegister, kRegister},
    Row{"shift_right_int", kRegister, kRegister, kRegister},
    Row{"negate_int", kRegister, kRegister},
    Row{"add_float", kRegister, kRegister, kRegister},
    Row{"subtract_float", kRegister, kRegister, kRegister},
    Row{"multiply_float", kRegister, kRegister, kRegister},
    Row{"divide_float", kRegister, kRegister, kRegister},
    Row{"negate_float", kRegister, kRegister},
    Row{"float_of_int", kRegister, kRegister},
    Row{"add_float64", kRegister, kRegister, kRegister},
    Row{"subtract_float64", kRegister, kRegister, kRegister},
    Row{"multiply_float64", kRegister, kRegister, kRegister},
    Row{"divide_float64", kRegister, kRegister, kRegister},
    Row{"less_int", kRegister, kRegister, kRegister},
    Row{"less_equal_int", kRegister, kRegister, kRegister},
    Row{"equal_int", kRegister, kRegister, kRegister},
    Row{"not_equal_int", kRegister, kRegister, kRegister},
    Row{"greater_int", kRegister, kRegister, kRegister},
    Row{"greater_equal_int", kRegister, kRegister, kRegister},
    Row{"less_float", kRegister, kRegister, kRegister},
    Row{"less_equal_float", kRegister, kRegister, kRegister},
    Row{"equal_float", kRegister, kRegister, kRegister},
    Row{"not_equal_float", kRegister, kRegister, kRegister},
    Row{"greater_float", kRegister, kRegister, kRegister},
    Row{"greater_equal_float", kRegister, kRegister, kRegister},
    Row{"call_float", kRegister, kRegister},
    Row{"call_int", kRegister, kRegister},
    Row{"length", kRegister, kRegister},
    Row{"make_range", kRegister, kRegister, kRegister},
    Row{"truth_int", kRegister, kRegister},
    Row{"truth_float", kRegister, kRegister},
    Row{"not_bool", kRegister, kRegister},
    Row{"guard_bool", kNone, kRegister},
    Row{"guard_less_int", kNone, kRegister, kRegister},
    Row{"guard_less_equal_int", kNone, kRegister, kRegister},
    Row{"guard_equal_int", kNone, kRegister, kRegister},
    Row{"guard_not_equal_int", kNone, kRegister, kRegister},
    Row{"guard_greater_int", kNone, kRegister, kRegister},
    Row{"guard_greater_equal_int", kNone, kRegister, kRegister},
    Row{"guard_less_float", kNone, kRegister, kRegister},
    Row{"guard_less_equal_float", kNone, kRegister, kRegister},
    Row{"guard_equal_float", kNone, kRegister, kRegister},
    Row{"guard_not_equal_float", kNone, kRegister, kRegister},
    Row{"guard_greater_float", kNone, kRegister, kRegister},
    Row{"guard_greater_equal_float", kNone, kRegister, kRegister},
    Row{"range_next", kRegister, kRegister},
    Row{"for_iter", kRegister, kRegister, kStep},
    Row{"item", kRegister, kRegister, kRegister},
    Row{"item_int", kRegister, kRegister, kRegister},
    Row{"item_float", kRegister, kRegister, kRegister},
    Row{"store_item", kSource, kRegister, kRegister},
    Row{"pair", kRegister, kRegister, kRegister},
    Row{"array_item", kRegister, kRegister, kRegister},
    Row{"array_item_2", kRegister, kRegister, kRegister},
    Row{"array_next", kRegister, kRegister, kStep},
    Row{"array_store", kSource, kRegister, kRegister},
    Row{"array_store_2", kSource, kRegister, kRegister},
    Row{"poll", kNone, kTrace},
    Row{"jump", kNone, kNone, kOperation},
    Row{"poll_and_jump", kNone, kTrace, kOperation},
    Row{"guard_type", kNone, kRegister},
    Row{"guard_is", kNone, kRegister},
    Row{"global", kRegister, kRegister},
    Row{"global_int", kRegister, kRegister},
    Row{"global_float", kRegister, kRegister},
    Row{"attribute", kRegister, kRegister},
    Row{"method", kRegister, kRegister, kRegister},
    Row{"append", kNone, kRegister, kRegister},
    Row{"guard_null", kNone, kRegister},
    Row{"rebind", kNone, kRegister, kRegister},
    Row{"cross", kNone, kTrace, kSnapshot},
    Row{"check_quiet"},
    Row{"give_up_rest"},
    Row{"check_bound", kNone, kRegister},
    Row{"check_unbound", kNone, kRegister},
    Row{"check_type", kNone, kRegister, kType},
    Row{"unbind", kNone, kSlot},
};
static_assert(kRows.size() == static_cast<std::size_t>(LoopCode::kUnbind) + 1);
static_assert(kRows[static_cast<std::size_t>(LoopCode::kGuardBool)].name == "guard_bool");
static_assert(kRows[static_cast<std::size_t>(LoopCode::kPoll)].name == "poll");

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
    const Row& row = kRows[static_cast<std::size_t>(op.code)];
    const Step& step = lowered_.steps[op.step];
    if (op.code == LoopCode::kStep || op.code == LoopCode::kSync) {
      out_ += print_step(lowered_, step);
      out_ += op.code == LoopCode::kSync ? ", in place" : "";
    } else {
      if (row.result == Part::kRegister) {
        put("r{} = ", op.result);
      }
      out_ += row.name;
      immediate(op, step);
      const char* separator = " ";
      for (const auto& [part, number] : {std::pair{row.left, op.left}, std::pair{row.right, op.right},
                                         std::pair{row.result == kSource ? kSource : kNone, op.result}}) {
        if (const std::string text = operand(part, number); !text.empty()) {
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

  static bool is_condition(LoopCode code) {
    return code >= LoopCode::kGuardBool && code <= LoopCode::kGuardGreaterEqualFloat;
  }

  [[nodiscard]] std::string operand(Part part, std::int32_t number) const {
    switch (part) {
      case Part::kRegister:
      case Part::kSource:
        return number < 0 ? "-" : fmt::format("r{}", number);
      case Part::kOperation:
        return fmt::format("to {}", number);
      case Part::kSnapshot:
        return number < 0 ? "" : fmt::format("@{}", number);
      case Part::kTrace:
        return number < 0 ? "" : fmt::format("trace {}", number);
      case Part::kType:
        return print_object(loop_.types[static_cast<std::size_t>(number)]);
      case Part::kStep:
        return fmt::format("by step {}", number);
      case Part::kSlot:
        return fmt::format("slot {}", number);
      case Part::kNone:
        break;
    }
    return {};
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

std::string_view loop_code_name(LoopCode code) { return kRows.at(static_cast<std::size_t>(code)).name; }

}  // namespace tagalong::replay
