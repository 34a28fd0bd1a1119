#include "replay/arrays/planning/plan_printer.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <iterator>

#include "replay/arrays/fusion/fusion_group.h"
#include "replay/arrays/fusion/multi_pass.h"

namespace tagalong::array {

// The numbers of operands are their slots: v0, v1, ...
class PlanPrinter {
 public:
  std::string print(const MultiPassPlan& passes) {
    for (std::size_t number = 0; number < passes.groups_.size(); ++number) {
      const FusionPlan& plan = passes.groups_[number]->plan();
      put("pass {}: {} operations\n", number, plan.calls);
      pass(plan);
      for (std::size_t call = 0; call < passes.calls_.size(); ++call) {
        if (passes.calls_[call].pass == number) {
          bins(passes.calls_[call], call);
        }
      }
    }
    for (std::size_t number = 0; number < passes.carried_.size(); ++number) {
      put("carried {}: {}\n", number, result(passes.carried_[number]));
    }
    for (std::size_t number = 0; number < passes.outputs_.size(); ++number) {
      put("output {}: {}\n", number, result(passes.outputs_[number]));
    }
    return std::move(out_);
  }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  static std::string external(std::size_t number) {
    return number >= kMostExternals ? fmt::format("carried {}", number - kMostExternals)
                                    : fmt::format("external {}", number);
  }

  static std::string result(const MultiPassPlan::Result& result) {
    return result.second >= MultiPassPlan::kOfCall ? fmt::format("bincount {}", result.second - MultiPassPlan::kOfCall)
                                                   : fmt::format("result {} of pass {}", result.second, result.first);
  }

  void bins(const MultiPassPlan::Call& call, std::size_t number) {
    put("bincount {} of {}", number, external(static_cast<std::size_t>(call.labels)));
    if (call.weights >= 0) {
      put(", weights {}", external(static_cast<std::size_t>(call.weights)));
    }
    put(", at least {}\n", call.least);
  }

  void pass(const FusionPlan& plan) {
    for (const PlanInput& input : plan.inputs) {
      put("  v{} = {}{}, {}\n", input.slot, external(input.external), view(plan, input.view), dtype_name(input.type));
    }
    for (const PlanScalar& scalar : plan.scalars) {
      put("  v{} = number {}, {} as {}\n", scalar.slot, external(scalar.external), code_name(scalar.code),
          dtype_name(scalar.type));
    }
    for (const PlanConstant& constant : plan.constants) {
      put("  v{} = {}, {}\n", constant.slot, value(constant), dtype_name(constant.type));
    }
    for (const PlanOperation& each : plan.operations) {
      operation(plan, each);
    }
    steps(plan);
    for (std::size_t number = 0; number < plan.reductions.size(); ++number) {
      const PlanReduction& reduced = plan.reductions[number];
      put("  reduction {} = {}(v{}), {}{}\n", number, reduction_name(reduced.reduction), reduced.slot,
          dtype_name(reduced.kernel->type),
          plan.sum.result == reduced.slot && reduced.kernel->has_known_order ? ", summed by the kernel" : "");
    }
    for (std::size_t number = 0; number < plan.axis_reductions.size(); ++number) {
      const PlanAxisReduction& reduced = plan.axis_reductions[number];
      put("  axis reduction {} = {}(v{}), {}, axes{}{}\n", number, reduction_name(reduced.reduction), reduced.slot,
          dtype_name(reduced.kernel->type), axes(reduced.axes), reduced.axes.keeps_dims ? ", keeps dimensions" : "");
    }
    for (std::size_t number = 0; number < plan.outputs.size(); ++number) {
      output(plan.outputs[number], number);
    }
    for (const PlanTarget& target : plan.targets) {
      put("  in place: {}{}, {}, gets v{}{}\n", external(target.external), view(plan, target.view),
          dtype_name(target.type), target.slot, target.later == 0 ? "" : ", which is read afterwards");
    }
    if (plan.reused_buffer.output >= 0) {
      put("  result {} takes over the memory of {}\n", plan.reused_buffer.output,
          external(plan.reused_buffer.external));
    }
    for (const Temporary& temporary : plan.temporaries) {
      put("  v{} in buffer {}\n", temporary.slot, temporary.buffer);
    }
    put("  {}; {}{}\n", blocks(plan), plan.is_serial ? "one thread" : "threads where it is large",
        plan.is_small ? "; a short way for small arrays" : "");
  }

  static std::string blocks(const FusionPlan& plan) {
    return plan.is_cut_by_rows()     ? fmt::format("blocks of whole rows, {} elements or more", kBlock)
           : plan.operations.empty() ? std::string("no blocks")
                                     : fmt::format("blocks of {} elements", kBlock);
  }

  void operation(const FusionPlan& plan, const PlanOperation& each) {
    put("  v{} = {}(", each.out(), each.name);
    for (unsigned i = 0; i < each.nin; ++i) {
      put("{}v{}", i == 0 ? "" : ", ", each.slots.at(i));
    }
    put("), {}", dtype_name(each.out_type));
    if (each.axis_reduction >= 0) {
      put(", axis reduction {}", each.axis_reduction);
    }
    out_ += each.extent == OperationExtent::kColumn ? ", of columns" : "";
    out_ += each.is_masked ? ", where the mask is true" : "";
    if (each.target >= 0) {
      put(", into {}", external(plan.targets[static_cast<std::size_t>(each.target)].external));
    }
    if (each.elidable != 0) {
      put(", may be into operand{}", each.elidable == 3 ? "s 0 and 1" : each.elidable == 1 ? " 0" : " 1");
    }
    out_ += '\n';
  }

  void steps(const FusionPlan& plan) {
    for (const PlanStep& step : plan.steps) {
      if (step.code != nullptr) {
        put("  vector kernel: {}{}\n", step.code->text(),
            step.is_quotient ? ", or NumPy's loop where blocks are long" : "");
      } else {
        const PlanOperation& operation = plan.operations[step.operation];
        put("  NumPy's loop: v{} = {}\n", operation.out(), operation.name);
      }
    }
    if (plan.steps.empty() && !plan.operations.empty()) {
      out_ += "  NumPy's loops, one operation after the other\n";
    }
  }

  void output(const PlanOutput& output, std::size_t number) {
    put("  result {}: ", number);
    if (output.reduction >= 0) {
      put("reduction {}\n", output.reduction);
    } else if (output.axis_reduction >= 0) {
      put("axis reduction {}\n", output.axis_reduction);
    } else if (output.descr == nullptr) {
      put("{}\n", external(output.external));
    } else {
      put("v{}, a new array of {}{}\n", output.slot, dtype_name(output.type), output.is_column ? ", a column" : "");
    }
  }

  static std::string axes(const ReducedAxes& reduced) {
    std::string text;
    for (int axis = 0; axis < 8; ++axis) {
      text += reduced.has(axis) ? fmt::format(" {}", axis) : "";
    }
    return text;
  }

  static std::string number(const ViewSpec::Number& number) {
    return number.is_none         ? ""
           : number.external >= 0 ? external(static_cast<std::size_t>(number.external))
                                  : fmt::format("{}", number.value);
  }

  static std::string subscript(const ViewSpec::Subscript& axes) {
    std::string text;
    for (const ViewSpec::Axis& axis : axes) {
      text += text.empty() ? "[" : ", ";
      if (axis.is_new || axis.is_rest) {
        text += axis.is_new ? "None" : "...";
      } else if (axis.is_slice) {
        text += number(axis.start) + ":" + number(axis.stop);
        text += axis.step.is_none ? "" : ":" + number(axis.step);
      } else {
        text += number(axis.start);
      }
    }
    return text.empty() ? "[()]" : text + "]";
  }

  static std::string view(const FusionPlan& plan, std::int16_t view) {
    if (view < 0) {
      return {};
    }
    const ViewSpec& spec = plan.views[static_cast<std::size_t>(view)];
    std::string text = subscript(spec.axes);
    for (const ViewSpec::Subscript& further : spec.further) {
      text += subscript(further);
    }
    for (const ViewSpec::Roll& roll : spec.rolls) {
      text += fmt::format(" rolled by {} along {}", number(roll.shift), roll.axis);
    }
    return text;
  }

  static std::string code_name(OperandCode code) {
    switch (code) {
      case kPyBool:
        return "bool";
      case kPyInt:
        return "int";
      case kPyFloat:
        return "float";
      case kPyComplex:
        return "complex";
      default:
        return fmt::format("{} {}", is_numpy_scalar(code) ? "a scalar of" : "an array without dimensions of",
                           dtype_name(type_of(code)));
    }
  }

  template <class Number>
  static Number read(const PlanConstant& constant) {
    Number number;
    std::memcpy(&number, constant.bytes.data(), sizeof(number));
    return number;
  }

  static std::string value(const PlanConstant& constant) {
    switch (constant.type) {
      case kBool:
        return read<std::uint8_t>(constant) != 0 ? "True" : "False";
      case kInt8:
        return fmt::format("{}", static_cast<int>(read<std::int8_t>(constant)));
      case kUInt8:
        return fmt::format("{}", static_cast<int>(read<std::uint8_t>(constant)));
      case kInt16:
        return fmt::format("{}", read<std::int16_t>(constant));
      case kUInt16:
        return fmt::format("{}", read<std::uint16_t>(constant));
      case kIntC:
        return fmt::format("{}", read<std::int32_t>(constant));
      case kUIntC:
        return fmt::format("{}", read<std::uint32_t>(constant));
      case kLong:
      case kLongLong:
        return fmt::format("{}", read<std::int64_t>(constant));
      case kULong:
      case kULongLong:
        return fmt::format("{}", read<std::uint64_t>(constant));
      case kFloat:
        return fmt::format("{:#}", read<float>(constant));
      case kDouble:
        return fmt::format("{:#}", read<double>(constant));
      default:
        return "a constant";
    }
  }

  std::string out_;
};

std::string print_plan(const MultiPassPlan& plan) { return PlanPrinter().print(plan); }

std::string_view dtype_name(unsigned type) {
  constexpr std::array<std::string_view, 17> kNames = {
      "bool",     "int8",      "uint8",   "int16",   "uint16",     "int32",     "uint32",     "int64",      "uint64",
      "longlong", "ulonglong", "float32", "float64", "longdouble", "complex64", "complex128", "clongdouble"};
  return type < kNames.size() ? kNames[type] : type == kHalf ? "float16" : "?";
}

}  // namespace tagalong::array
