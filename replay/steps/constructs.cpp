#include "replay/steps/constructs.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "replay/ir/operators.h"
#include "rewriter/base/text.h"

namespace tagalong::replay {
namespace {

constexpr int kCallableSlots = 2;

bool looks_up_name(const Step& step) {
  switch (step.op) {
    case Op::load_global:
    case Op::load_name:
    case Op::load_attr:
    case Op::load_method:
    case Op::load_module_attr:
    case Op::load_module_method:
      return true;
    default:
      return false;
  }
}

// The name under which an earlier step has found what the register holds; empty: it is not known.
std::string name_of(const Lowered& lowered, const Step& before, std::int32_t place) {
  for (const Step* step = &before; step != lowered.steps.data();) {
    --step;
    const auto results = lowered.used.subspan(step->operands + step->operand_count, step->result_count);
    if (step->result != place && std::ranges::find(results, place) == results.end()) {
      continue;
    }
    return looks_up_name(*step) ? cpython::readable(step->object) : "";
  }
  return {};
}

std::string called(const Lowered& lowered, const Step& step) {
  const auto operands = lowered.used.subspan(step.operands, step.operand_count);
  std::string name;
  for (int slot = 0; slot < std::min<int>(step.operand_count, kCallableSlots) && name.empty(); ++slot) {
    name = name_of(lowered, step, operands[static_cast<std::size_t>(slot)]);
  }
  return name.empty() ? "a call" : fmt::format("a call of `{}`", name);
}

std::string with_operator(std::string_view text, const Step& step) {
  const auto sign = operator_text(step.op, step.immediate);
  return fmt::format("{} `{}`", text, sign.value_or("?"));
}

std::string with_name(std::string_view text, std::string_view before, const Step& step) {
  return fmt::format("{} `{}{}`", text, before, cpython::readable(step.object));
}

}  // namespace

std::string construct_text(const Lowered& lowered, const Step& step) {
  switch (step.op) {
    case Op::unary_op:
    case Op::array_unary:
    case Op::binary_op:
    case Op::int_binary:
    case Op::float_binary:
    case Op::float64_binary:
    case Op::int64_binary:
    case Op::array_binary:
      return with_operator("the operator", step);
    case Op::compare_op:
    case Op::compare_truth:
    case Op::int_compare:
    case Op::float_compare:
    case Op::scalar_compare:
    case Op::array_compare:
      return with_operator("the comparison", step);
    case Op::is_op:
    case Op::contains_op:
      return with_operator("the test", step);
    case Op::unary_not:
    case Op::to_bool:
    case Op::bool_not:
    case Op::number_truth:
      return "a test of a truth value";
    case Op::call:
    case Op::array_call:
    case Op::known_call:
    case Op::call_ex:
      return called(lowered, step);
    case Op::load_attr:
      return with_name("the attribute", ".", step);
    case Op::store_attr:
      return with_name("an assignment to the attribute", ".", step);
    case Op::load_method:
    case Op::load_module_method:
      return with_name("the method", ".", step);
    case Op::load_global:
    case Op::load_module_attr:
      return with_name("the name", "", step);
    case Op::store_global:
    case Op::rebind_global:
      return with_name("an assignment to the name", "", step);
    case Op::cell_get:
    case Op::closure_cell:
      return "a variable of an outer function";
    case Op::cell_set:
    case Op::make_cell:
      return "a variable that an inner function uses";
    case Op::binary_subscr:
    case Op::sequence_item:
    case Op::array_item:
      return "an item or part, `x[i]`";
    case Op::store_subscr:
    case Op::list_store:
    case Op::list_renew:
    case Op::array_store:
      return "an assignment to an item or part, `x[i] = ...`";
    case Op::build_list:
    case Op::list_extend:
    case Op::list_append:
      return "a list";
    case Op::build_tuple:
    case Op::list_to_tuple:
      return "a tuple";
    case Op::build_map:
    case Op::build_const_key_map:
      return "a dict";
    case Op::unpack_sequence:
    case Op::unpack_ex:
      return "an unpacking, `a, b = ...`";
    case Op::get_iter:
    case Op::loop:
      return "the beginning of a loop";
    case Op::for_iter:
    case Op::range_next:
    case Op::array_next:
      return "the next item of a loop";
    case Op::jump_back:
      return "the next round of a loop";
    case Op::return_value:
      return "the return";
    case Op::link:
      return "the end of what was recorded";
    case Op::yield_value:
    case Op::leave_generator:
      return "a yield";
    case Op::make_function:
      return "a function or lambda that is made";
    case Op::new_instance:
      return "an instance that is made";
    case Op::format_value:
    case Op::build_string:
      return "a formatted string";
    case Op::before_with:
      return "a `with` block";
    case Op::leave_frame:
      return "the return of an inlined function";
    case Op::sync_local:
      return "an assignment to a variable";
    default:
      return info(step.op).is_guard() ? fmt::format("the check `{}`", info(step.op).name)
                                      : fmt::format("the operation `{}`", info(step.op).name);
  }
}

}  // namespace tagalong::replay
