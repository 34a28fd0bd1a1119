#include "replay/arrays/kernels/vector_operation.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "replay/codegen/vector/svml_functions.h"

namespace tagalong::array {
namespace {

struct Named {
  std::string_view name;
  VectorOp what;
};
constexpr std::array kOfDoubles{Named{"add", VectorOp::kAdd},
                                Named{"subtract", VectorOp::kSubtract},
                                Named{"multiply", VectorOp::kMultiply},
                                Named{"divide", VectorOp::kDivide},
                                Named{"true_divide", VectorOp::kDivide},
                                Named{"sqrt", VectorOp::kSqrt},
                                Named{"square", VectorOp::kSquare},
                                Named{"reciprocal", VectorOp::kReciprocal},
                                Named{"negative", VectorOp::kNegative},
                                Named{"absolute", VectorOp::kAbsolute},
                                Named{"fabs", VectorOp::kAbsolute},
                                Named{"sign", VectorOp::kSign},
                                Named{"maximum", VectorOp::kMaximum},
                                Named{"minimum", VectorOp::kMinimum},
                                Named{"less", VectorOp::kLess},
                                Named{"less_equal", VectorOp::kLessEqual},
                                Named{"equal", VectorOp::kEqual},
                                Named{"not_equal", VectorOp::kNotEqual},
                                Named{"greater", VectorOp::kGreater},
                                Named{"greater_equal", VectorOp::kGreaterEqual}};
constexpr std::array kOfBools{Named{"logical_and", VectorOp::kAnd}, Named{"bitwise_and", VectorOp::kAnd},
                              Named{"logical_or", VectorOp::kOr},   Named{"bitwise_or", VectorOp::kOr},
                              Named{"logical_not", VectorOp::kNot}, Named{"invert", VectorOp::kNot}};

}  // namespace

VectorOp vector_operation(const Kernel& kernel) {
  const auto all_are = [&](unsigned type) {
    return std::all_of(kernel.in_type.begin(), kernel.in_type.begin() + kernel.nin,
                       [&](unsigned in) { return in == type; });
  };
  const auto find = [&](const auto& names) {
    const auto* known = std::ranges::find(names, kernel.name, &Named::name);
    return known == names.end() ? VectorOp::kNone : known->what;
  };
  if (all_are(kDouble)) {
    if (is_vector_loop(kernel.loop)) {
      return kernel.name == "exp" ? VectorOp::kExp : VectorOp::kLog;
    }
    if (kernel.is_glibc) {
      const bool is_here = vector_lanes() == kAvx2Lanes;
      return is_here && kernel.name == "exp"   ? VectorOp::kGlibcExp
             : is_here && kernel.name == "log" ? VectorOp::kGlibcLog
                                               : VectorOp::kNone;
    }
    const VectorOp what = find(kOfDoubles);
    return kernel.out_type == (is_bool(what) ? kBool : kDouble) ? what : VectorOp::kNone;
  }
  return all_are(kBool) && kernel.out_type == kBool ? find(kOfBools) : VectorOp::kNone;
}

}  // namespace tagalong::array
