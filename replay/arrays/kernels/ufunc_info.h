// What is known of a ufunc for its kernels: the columns of ufuncs.def.
//
//   kernel.known = ufunc_named(name);                     // cold: once for each kernel
//   if (info(kernel.known).numbers == VectorOp::kAdd) ...
#pragma once

#include <string_view>

#include "replay/arrays/numpy/ufuncs.h"
#include "replay/codegen/vector/vector_code.h"

namespace tagalong::array {

enum class UfuncRaises : std::uint8_t { kUnknown, kNothing, kExplicitly };

struct UfuncInfo {
  VectorOp numbers = VectorOp::kNone;
  VectorOp bools = VectorOp::kNone;
  UfuncRaises raises = UfuncRaises::kUnknown;
  std::uint8_t cost_double = 0;
  std::uint8_t cost_float = 0;
  std::uint8_t cost_integer = 0;
  VectorOp svml = VectorOp::kNone;   // where NumPy takes the steps of Intel's library
  VectorOp glibc = VectorOp::kNone;  // where NumPy calls the C library
};

namespace detail {
inline constexpr std::array kUfuncInfos = [] {
  std::array<UfuncInfo, kUfuncNames.size() + 1> infos{{
#define TAGALONG_UFUNC(id, name, numbers, bools, raises, cost_double, cost_float, cost_integer, traits) \
  UfuncInfo{VectorOp::numbers, VectorOp::bools, UfuncRaises::raises, cost_double, cost_float, cost_integer},
#include "replay/arrays/numpy/ufuncs.def"
  }};
#define TAGALONG_SVML(id, operation) infos[static_cast<std::size_t>(UfuncName::id)].svml = VectorOp::operation;
#define TAGALONG_GLIBC(id, steps, function, operation) \
  infos[static_cast<std::size_t>(UfuncName::id)].glibc = VectorOp::operation;
#include "replay/arrays/numpy/ufuncs.def"
  return infos;
}();
}  // namespace detail

// Of another ufunc (kCount): that nothing is known.
[[nodiscard]] constexpr const UfuncInfo& info(UfuncName ufunc) {
  return detail::kUfuncInfos[static_cast<std::size_t>(ufunc)];
}

// kCount: nothing is known of a ufunc of this name.
[[nodiscard]] constexpr UfuncName ufunc_named(std::string_view name) {
  for (std::size_t ufunc = 0; ufunc < kUfuncNames.size(); ++ufunc) {
    if (name == kUfuncNames[ufunc]) {
      return static_cast<UfuncName>(ufunc);
    }
  }
  return UfuncName::kCount;
}

}  // namespace tagalong::array
