#include "replay/arrays/kernels/costs.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "replay/codegen/vector/svml_functions.h"

namespace tagalong::array {
namespace {

struct Row {
  std::string_view name;
  std::uint8_t doubles;
  std::uint8_t floats;
  std::uint8_t integers;
};

// Loops that do more than load, one fast instruction and store. A ufunc without a row costs kPlainCost, so it stays on
// one thread longer.
constexpr std::array kRows{Row{"divide", 5, 2, 12},
                           Row{"true_divide", 5, 2, 12},
                           Row{"reciprocal", 10, 3, 12},
                           Row{"sqrt", 10, 5, 20},
                           Row{"sign", 9, 6, 3},
                           Row{"floor_divide", 150, 150, 24},
                           Row{"remainder", 135, 135, 24},
                           Row{"fmod", 75, 80, 24},
                           Row{"copysign", 9, 9, 9},
                           Row{"exp", 12, 7, 12},
                           Row{"exp2", 11, 3, 11},
                           Row{"expm1", 22, 5, 22},
                           Row{"log", 12, 7, 12},
                           Row{"log2", 13, 4, 13},
                           Row{"log10", 13, 3, 13},
                           Row{"log1p", 16, 7, 16},
                           Row{"sin", 136, 10, 136},
                           Row{"cos", 136, 9, 136},
                           Row{"tan", 20, 6, 20},
                           Row{"arcsin", 20, 6, 20},
                           Row{"arccos", 20, 6, 20},
                           Row{"arctan", 20, 6, 20},
                           Row{"sinh", 18, 5, 18},
                           Row{"cosh", 18, 6, 18},
                           Row{"tanh", 26, 5, 26},
                           Row{"arcsinh", 32, 10, 32},
                           Row{"arccosh", 32, 10, 32},
                           Row{"arctanh", 24, 8, 24},
                           Row{"cbrt", 15, 5, 15},
                           Row{"power", 34, 10, 25},
                           Row{"hypot", 90, 60, 90},
                           Row{"arctan2", 33, 9, 33},
                           Row{"logaddexp", 160, 160, 160},
                           Row{"logaddexp2", 160, 160, 160},
                           Row{"float_power", 150, 150, 120},
                           Row{"heaviside", 20, 25, 20},
                           Row{"nextafter", 60, 35, 60},
                           Row{"spacing", 43, 30, 43},
                           Row{"deg2rad", 20, 20, 20},
                           Row{"radians", 20, 20, 20},
                           Row{"rad2deg", 20, 20, 20},
                           Row{"degrees", 20, 20, 20},
                           Row{"clip", 14, 14, 10},
                           Row{"logical_and", 12, 12, 3},
                           Row{"logical_or", 12, 12, 3},
                           Row{"logical_not", 9, 9, 3},
                           Row{"gcd", 35, 35, 35},
                           Row{"lcm", 35, 35, 35}};
constexpr Cost kGlibcCost = 48;  // vectorised sin, cos and arcsin (libm_functions.h)
constexpr Cost kGlibcExpCost = 16;
constexpr Cost kGlibcLogCost = 22;
constexpr Cost kExpCost = 6;  // SVML's steps (svml_functions.h)
constexpr Cost kLogCost = 8;
constexpr Cost kSelectCost = 4;

}  // namespace

Cost loop_cost(const Kernel& kernel) {
  const unsigned type = kernel.in_type[0];
  const auto* row = std::ranges::find(kRows, kernel.name, &Row::name);
  if (kernel.is_glibc) {
    return kernel.name == "exp" ? kGlibcExpCost : kernel.name == "log" ? kGlibcLogCost : kGlibcCost;
  }
  if (is_vector_loop(kernel.loop)) {
    return kernel.name == "exp" ? kExpCost : kLogCost;
  }
  if (kernel.name.empty() && kernel.nin == 3) {
    return kSelectCost;
  }
  if (row != kRows.end() && type != kBool) {
    return type == kDouble ? row->doubles : type == kFloat ? row->floats : row->integers;
  }
  return kernel.out_size == 1 ? 1 : kernel.out_size <= 4 ? 2 : kPlainCost;
}

Cost fused_cost(VectorOp what) {
  switch (what) {
    case VectorOp::kDivide:
    case VectorOp::kReciprocal:
      return 5;
    case VectorOp::kSqrt:
      return 10;
    case VectorOp::kExp:
      return kExpCost;
    case VectorOp::kLog:
      return kLogCost;
    case VectorOp::kGlibcExp:
      return kGlibcExpCost;
    case VectorOp::kGlibcLog:
      return kGlibcLogCost;
    default:
      return 1;
  }
}

}  // namespace tagalong::array
