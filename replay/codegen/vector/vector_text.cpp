// Vector code as text.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "replay/codegen/vector/vector_code.h"

namespace tagalong::array {
namespace {

// An exponential is one, whichever function it is that the machine's vectors do as NumPy does.
constexpr std::array<std::string_view, 28> kNames = {
    "none",        "add",      "subtract",  "multiply", "divide",        "sqrt",        "square",
    "reciprocal",  "negative", "absolute",  "sign",     "maximum",       "minimum",     "less",
    "less_equal",  "equal",    "not_equal", "greater",  "greater_equal", "logical_and", "logical_or",
    "logical_not", "select",   "copy",      "exp",      "log",           "exp",         "log"};
static_assert(kNames.size() == static_cast<std::size_t>(VectorOp::kGlibcLog) + 1);

template <class Slots>
std::string listed(const Slots& slots) {
  std::string text;
  for (const std::uint8_t slot : slots) {
    fmt::format_to(std::back_inserter(text), "{}v{}", text.empty() ? "" : ", ", slot);
  }
  return text;
}

}  // namespace

std::string_view vector_op_name(VectorOp what) { return kNames.at(static_cast<std::size_t>(what)); }

std::string VectorCode::text() const { return text_of(made_); }

std::string VectorCode::text_of(const Made& made) {
  std::string text;
  for (const VectorOperation& operation : made.operations) {
    fmt::format_to(std::back_inserter(text), "{}v{} = {}({})", text.empty() ? "" : "; ", operation.out,
                   vector_op_name(operation.what),
                   listed(std::span(operation.in).first(std::min<std::size_t>(operation.nin, operation.in.size()))));
  }
  text += made.stored.empty() ? "" : "; stores " + listed(made.stored);
  text += made.sum.result < 0 ? "" : fmt::format("; sums v{}", made.sum.result);
  text += made.non_temporal.empty() ? "" : "; past the caches " + listed(made.non_temporal);
  text += made.prefetches ? "; prefetches" : "";
  if (made.argmin.result >= 0) {
    text += fmt::format("; finds the {} of v{} in rows of {}", made.argmin.of_largest ? "largest" : "smallest",
                        made.argmin.result, made.argmin.row);
  }
  return text;
}

std::vector<replay::native::PlacedCode> VectorCode::placed() const {
  std::vector<replay::native::PlacedCode> all;
  for (const Code* code : {&plain_, &multiplying_}) {
    if (code->memory != nullptr) {
      all.push_back(described(made_, *code, code == &multiplying_));
    }
  }
  return all;
}

replay::native::PlacedCode VectorCode::described(const Made& made, const Code& code, bool multiplies) {
  return {code.memory, code.size,
          fmt::format("vector kernel by {} doubles{}: {}", made.lanes, multiplies ? ", multiplying by reciprocals" : "",
                      text_of(made))};
}

}  // namespace tagalong::array
