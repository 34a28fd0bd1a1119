#include "replay/arrays/kernels/exact_operation.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "replay/codegen/vector/vector_functions.h"

namespace tagalong::array {
namespace {

struct Named {
  std::string_view name;
  Exact what;
};
constexpr std::array kOfDoubles{Named{"add", Exact::kAdd},
                                Named{"subtract", Exact::kSubtract},
                                Named{"multiply", Exact::kMultiply},
                                Named{"divide", Exact::kDivide},
                                Named{"true_divide", Exact::kDivide},
                                Named{"sqrt", Exact::kSqrt},
                                Named{"square", Exact::kSquare},
                                Named{"reciprocal", Exact::kReciprocal},
                                Named{"negative", Exact::kNegative},
                                Named{"absolute", Exact::kAbsolute},
                                Named{"fabs", Exact::kAbsolute},
                                Named{"sign", Exact::kSign},
                                Named{"maximum", Exact::kMaximum},
                                Named{"minimum", Exact::kMinimum},
                                Named{"less", Exact::kLess},
                                Named{"less_equal", Exact::kLessEqual},
                                Named{"equal", Exact::kEqual},
                                Named{"not_equal", Exact::kNotEqual},
                                Named{"greater", Exact::kGreater},
                                Named{"greater_equal", Exact::kGreaterEqual}};
constexpr std::array kOfBools{Named{"logical_and", Exact::kAnd}, Named{"bitwise_and", Exact::kAnd},
                              Named{"logical_or", Exact::kOr},   Named{"bitwise_or", Exact::kOr},
                              Named{"logical_not", Exact::kNot}, Named{"invert", Exact::kNot}};

}  // namespace

Exact exact_operation(const Kernel& kernel) {
  const auto all_are = [&](unsigned type) {
    return std::all_of(kernel.in_type.begin(), kernel.in_type.begin() + kernel.nin,
                       [&](unsigned in) { return in == type; });
  };
  const auto find = [&](const auto& names) {
    const auto* known = std::ranges::find(names, kernel.name, &Named::name);
    return known == names.end() ? Exact::kNone : known->what;
  };
  if (all_are(kDouble)) {
    if (is_vector_loop(kernel.loop)) {
      return kernel.name == "exp" ? Exact::kExp : Exact::kLog;
    }
    if (kernel.is_near) {
      const bool is_here = exact_lanes() == kNarrowLanes;
      return is_here && kernel.name == "exp"   ? Exact::kNearExp
             : is_here && kernel.name == "log" ? Exact::kNearLog
                                               : Exact::kNone;
    }
    const Exact what = find(kOfDoubles);
    return kernel.out_type == (is_bool(what) ? kBool : kDouble) ? what : Exact::kNone;
  }
  return all_are(kBool) && kernel.out_type == kBool ? find(kOfBools) : Exact::kNone;
}

}  // namespace tagalong::array
