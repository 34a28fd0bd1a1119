// The types of the numbers that vector code computes with. A lane is one number of a vector; all lanes of a kernel have
// one size. A bool is a lane, too, of all ones or all zeros, in whatever size the kernel has.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tagalong::array {

enum class LaneType : std::uint8_t {
#define TAGALONG_LANE_TYPE(id, ...) id,
#include "replay/codegen/vector/lane_types.def"
#undef TAGALONG_LANE_TYPE
};

enum class LaneKind : std::uint8_t { kFloat, kSigned, kUnsigned };
struct LaneTypeInfo {
  std::string_view name;
  std::uint8_t bytes;
  LaneKind kind;
};
namespace detail {
inline constexpr std::array kLaneTypes{
#define TAGALONG_LANE_TYPE(id, name, bytes, kind) LaneTypeInfo{name, bytes, LaneKind::kind},
#include "replay/codegen/vector/lane_types.def"
#undef TAGALONG_LANE_TYPE
};
}  // namespace detail
[[nodiscard]] constexpr const LaneTypeInfo& info(LaneType type) {
  return detail::kLaneTypes[static_cast<std::size_t>(type)];
}
[[nodiscard]] constexpr bool is_float(LaneType type) { return info(type).kind == LaneKind::kFloat; }

// A type for operations that only depend on the size of lanes.
[[nodiscard]] constexpr LaneType lane_of(int bytes) {
  using enum LaneType;
  return bytes == info(kUInt8).bytes     ? kUInt8
         : bytes == info(kUInt16).bytes  ? kUInt16
         : bytes == info(kFloat32).bytes ? kFloat32
                                         : kFloat64;
}

}  // namespace tagalong::array
