// Prints the operations of fused kernels.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "replay/codegen/vector/vector_code.h"

namespace tagalong::array {
namespace {

std::string slot_name(Slot slot) { return fmt::format("v{}{}", memory_of(slot), is_imaginary(slot) ? ".imag" : ""); }

template <class Slots>
std::string listed(const Slots& slots) {
  std::string text;
  for (const Slot slot : slots) {
    fmt::format_to(std::back_inserter(text), "{}{}", text.empty() ? "" : ", ", slot_name(slot));
  }
  return text;
}

}  // namespace

std::string_view vector_op_name(VectorOp what) { return info(what).name; }

std::string VectorCode::text() const { return text_of(spec_); }

std::string VectorCode::text_of(const Spec& spec) {
  std::string text;
  for (const VectorOperation& operation : spec.operations) {
    const bool shows_type = operation.type != LaneType::kFloat64 && info(operation.what).lanes != VectorLanes::kBits;
    fmt::format_to(std::back_inserter(text), "{}{} = {}{}({})", text.empty() ? "" : "; ", slot_name(operation.out),
                   vector_op_name(operation.what), shows_type ? fmt::format("[{}]", info(operation.type).name) : "",
                   listed(std::span(operation.in).first(std::min<std::size_t>(operation.nin, operation.in.size()))));
  }
  for (const VectorInput& input : spec.inputs) {
    if (input.place == InputKind::kWidened) {
      fmt::format_to(std::back_inserter(text), "; widens v{} from {} to {}", input.slot, info(input.from).name,
                     info(input.to).name);
    }
  }
  std::vector<Slot> halves;
  for (const VectorOperation& operation : spec.operations) {
    if (operation.is_half && std::ranges::find(spec.stored, operation.out) != spec.stored.end()) {
      halves.push_back(operation.out);
    }
  }
  text += halves.empty() ? "" : "; narrows " + listed(halves) + " to float16";
  text += spec.stored.empty() ? "" : "; stores " + listed(spec.stored);
  text += spec.sum.result < 0 ? "" : fmt::format("; sums v{}", spec.sum.result);
  text += spec.non_temporal.empty() ? "" : "; past the caches " + listed(spec.non_temporal);
  text += spec.prefetches ? "; prefetches" : "";
  if (spec.argmin.result >= 0) {
    text += fmt::format("; finds the {} of v{} in rows of {}", spec.argmin.of_largest ? "largest" : "smallest",
                        spec.argmin.result, spec.argmin.row);
  }
  return text;
}

std::vector<replay::native::PlacedCode> VectorCode::placed() const {
  std::vector<replay::native::PlacedCode> all;
  for (const Code* code : {&code_, &reciprocal_code_}) {
    if (code->memory != nullptr) {
      all.push_back(described(spec_, *code, code == &reciprocal_code_));
    }
  }
  return all;
}

replay::native::PlacedCode VectorCode::described(const Spec& spec, const Code& code, bool multiplies) {
  const int bytes = info(spec.operations.front().type).bytes;
  const int lanes = spec.lanes * static_cast<int>(sizeof(double)) / bytes;
  const std::string numbers = bytes == sizeof(double) ? "doubles" : fmt::format("numbers of {} bytes", bytes);
  return {code.memory, code.size,
          fmt::format("vector kernel by {} {}{}: {}", lanes, numbers, multiplies ? ", multiplying by reciprocals" : "",
                      text_of(spec))};
}

}  // namespace tagalong::array
