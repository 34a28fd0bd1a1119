#include "replay/array/casts.h"

#include <cstring>
#include <limits>
#include <type_traits>

namespace tagalong::array {

namespace {

// Whether NumPy casts safely: every value is represented, and 64-bit integers count as fitting into a double.
template <class From, class To>
constexpr bool is_safe() {
  using F = std::numeric_limits<From>;
  using T = std::numeric_limits<To>;
  if constexpr (std::is_same_v<From, bool>) {
    return true;
  } else if constexpr (std::is_same_v<To, bool>) {
    return false;
  } else if constexpr (F::is_integer && T::is_integer) {
    return F::is_signed ? T::is_signed && F::digits <= T::digits : F::digits <= T::digits;
  } else if constexpr (F::is_integer) {
    return F::digits <= T::digits || std::is_same_v<To, double>;
  } else {
    return !T::is_integer && F::digits <= T::digits;
  }
}

template <class From, class To>
int cast(MethodContext* /*context*/, char* const* data, const Extent* dims, const Extent* strides, void* /*aux*/) {
  const char* from = data[0];
  char* to = data[1];
  const Extent count = dims[0];
  constexpr auto kFrom = static_cast<Extent>(sizeof(From));
  constexpr auto kTo = static_cast<Extent>(sizeof(To));
  const auto one = [](const char* source, char* target) {
    std::conditional_t<std::is_same_v<From, bool>, unsigned char, From> value;
    std::memcpy(&value, source, sizeof(value));
    if constexpr (std::is_same_v<From, bool>) {
      value = value != 0;
    }
    const auto wide = static_cast<To>(value);  // NOLINT(bugprone-signed-char-misuse): a number, not a character
    std::memcpy(target, &wide, sizeof(wide));
  };
  if (strides[0] == kFrom && strides[1] == kTo) {
    if constexpr (std::is_same_v<From, To> && !std::is_same_v<From, bool>) {
      std::memcpy(to, from, static_cast<std::size_t>(count * kFrom));
      return 0;
    }
    for (Extent i = 0; i < count; ++i) {
      one(from + i * kFrom, to + i * kTo);
    }
  } else {
    for (Extent i = 0; i < count; ++i) {
      one(from + i * strides[0], to + i * strides[1]);
    }
  }
  return 0;
}

template <class From, class To>
StridedLoop loop_of() {
  if constexpr (is_safe<From, To>()) {
    return cast<From, To>;
  } else {
    return nullptr;
  }
}

template <class From>
StridedLoop from_type(unsigned to) {
  switch (to) {
    case kBool:
      return loop_of<From, bool>();
    case kInt8:
      return loop_of<From, signed char>();
    case kUInt8:
      return loop_of<From, unsigned char>();
    case kInt16:
      return loop_of<From, short>();
    case kUInt16:
      return loop_of<From, unsigned short>();
    case kIntC:
      return loop_of<From, int>();
    case kUIntC:
      return loop_of<From, unsigned int>();
    case kLong:
      return loop_of<From, long>();
    case kULong:
      return loop_of<From, unsigned long>();
    case kLongLong:
      return loop_of<From, long long>();
    case kULongLong:
      return loop_of<From, unsigned long long>();
    case kFloat:
      return loop_of<From, float>();
    case kDouble:
      return loop_of<From, double>();
    default:
      return nullptr;
  }
}

}  // namespace

StridedLoop cast_loop(unsigned from, unsigned to) {
  switch (from) {
    case kBool:
      return from_type<bool>(to);
    case kInt8:
      return from_type<signed char>(to);
    case kUInt8:
      return from_type<unsigned char>(to);
    case kInt16:
      return from_type<short>(to);
    case kUInt16:
      return from_type<unsigned short>(to);
    case kIntC:
      return from_type<int>(to);
    case kUIntC:
      return from_type<unsigned int>(to);
    case kLong:
      return from_type<long>(to);
    case kULong:
      return from_type<unsigned long>(to);
    case kLongLong:
      return from_type<long long>(to);
    case kULongLong:
      return from_type<unsigned long long>(to);
    case kFloat:
      return from_type<float>(to);
    case kDouble:
      return from_type<double>(to);
    default:
      return nullptr;
  }
}

}  // namespace tagalong::array
