#include "replay/arrays/kernels/casts.h"

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <type_traits>

#include "replay/arrays/numpy/half.h"

namespace tagalong::array {

namespace {

template <class T>
struct PartOf {
  using Type = T;
  static constexpr bool kIsComplex = false;
};
template <class T>
struct PartOf<std::complex<T>> {
  using Type = T;
  static constexpr bool kIsComplex = true;
};

// Whether NumPy considers the cast safe: `To` can represent every value; 64-bit integers to double count as safe.
template <class From, class To>
constexpr bool is_safe() {
  if constexpr (PartOf<To>::kIsComplex) {
    return is_safe<typename PartOf<From>::Type, typename PartOf<To>::Type>();
  }
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

// Whether C++ defines the conversion. The caller leaves other values to NumPy.
template <class From, class To>
bool fits(From value) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && !std::is_same_v<To, bool>) {
    constexpr int kDigits = std::numeric_limits<To>::digits;
    constexpr bool kIsExact = kDigits < std::numeric_limits<double>::digits;
    const auto number = static_cast<double>(value);
    const double above = std::ldexp(1.0, kDigits);
    if constexpr (std::is_signed_v<To>) {
      return (kIsExact ? number > -above - 1 : number >= -above) && number < above;
    }
    return number > -1 && number < above;
  }
  return true;
}

// A number without an imaginary part gets +0.
template <class To, class From>
To convert(From value) {
  if constexpr (PartOf<To>::kIsComplex && !PartOf<From>::kIsComplex) {
    return To(static_cast<PartOf<To>::Type>(value), 0);
  } else {
    return static_cast<To>(value);
  }
}

template <class From, class To>
int cast(MethodContext* /*context*/, char* const* data, const Extent* dims, const Extent* strides, void* /*aux*/) {
  const char* from = data[0];
  char* to = data[1];
  const Extent count = dims[0];
  constexpr auto kFrom = static_cast<Extent>(sizeof(From));
  constexpr auto kTo = static_cast<Extent>(sizeof(To));
  bool all_fit = true;
  const auto one = [&](const char* source, char* target) {
    std::conditional_t<std::is_same_v<From, bool>, unsigned char, From> value;
    std::memcpy(&value, source, sizeof(value));
    if constexpr (std::is_same_v<From, bool>) {
      value = value != 0;
    }
    const bool does_fit = fits<decltype(value), To>(value);
    all_fit = all_fit && does_fit;
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): a number, not a character
    const auto converted = does_fit ? convert<To>(value) : To{};
    std::memcpy(target, &converted, sizeof(converted));
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
  return all_fit ? 0 : -1;
}

template <class From, class To>
StridedLoop loop_between(bool is_any) {
  return is_any || is_safe<From, To>() ? cast<From, To> : nullptr;
}

// NumPy warns where an imaginary part is dropped.
template <class From, class To>
StridedLoop loop_of(bool is_any) {
  if constexpr (PartOf<From>::kIsComplex && !PartOf<To>::kIsComplex) {
    return nullptr;
  } else {
    return loop_between<From, To>(is_any);
  }
}

template <class From>
StridedLoop from_type(unsigned to, bool is_any) {
  switch (to) {
    case kBool:
      return loop_of<From, bool>(is_any);
    case kInt8:
      return loop_of<From, signed char>(is_any);
    case kUInt8:
      return loop_of<From, unsigned char>(is_any);
    case kInt16:
      return loop_of<From, short>(is_any);
    case kUInt16:
      return loop_of<From, unsigned short>(is_any);
    case kIntC:
      return loop_of<From, int>(is_any);
    case kUIntC:
      return loop_of<From, unsigned int>(is_any);
    case kLong:
      return loop_of<From, long>(is_any);
    case kULong:
      return loop_of<From, unsigned long>(is_any);
    case kLongLong:
      return loop_of<From, long long>(is_any);
    case kULongLong:
      return loop_of<From, unsigned long long>(is_any);
    case kFloat:
      return loop_of<From, float>(is_any);
    case kDouble:
      return loop_of<From, double>(is_any);
    case kComplexFloat:
      return loop_of<From, std::complex<float>>(is_any);
    case kComplexDouble:
      return loop_of<From, std::complex<double>>(is_any);
    default:
      return nullptr;
  }
}

// By way of float, apart from doubles; only those of NumPy's casts that fit into any number of that type.
template <class From, class To>
To convert_half(From value) {
  if constexpr (std::is_same_v<From, To>) {
    return value;
  } else if constexpr (std::is_same_v<From, Half>) {
    return std::is_same_v<To, double> ? static_cast<To>(double_of(value)) : static_cast<To>(float_of(value));
  } else if constexpr (std::is_same_v<From, double>) {
    return half_of(value);
  } else {
    return half_of(static_cast<float>(value));
  }
}

template <class From, class To>
int cast_half(MethodContext* /*context*/, char* const* data, const Extent* dims, const Extent* strides, void* /*aux*/) {
  for (Extent i = 0; i < dims[0]; ++i) {
    From value;
    std::memcpy(&value, data[0] + i * strides[0], sizeof(value));
    const To converted = convert_half<From, To>(value);
    std::memcpy(data[1] + i * strides[1], &converted, sizeof(converted));
  }
  return 0;
}

StridedLoop find_half(unsigned from, unsigned to, bool is_any) {
  if (from == kHalf) {
    return to == kHalf     ? cast_half<Half, Half>
           : to == kFloat  ? cast_half<Half, float>
           : to == kDouble ? cast_half<Half, double>
                           : nullptr;
  }
  switch (from) {
    case kInt8:
      return cast_half<signed char, Half>;
    case kUInt8:
      return cast_half<unsigned char, Half>;
    case kFloat:
      return is_any ? cast_half<float, Half> : nullptr;
    case kDouble:
      return is_any ? cast_half<double, Half> : nullptr;
    default:
      return nullptr;
  }
}

StridedLoop find(unsigned from, unsigned to, bool is_any) {
  if (from == kHalf || to == kHalf) {
    return find_half(from, to, is_any);
  }
  switch (from) {
    case kBool:
      return from_type<bool>(to, is_any);
    case kInt8:
      return from_type<signed char>(to, is_any);
    case kUInt8:
      return from_type<unsigned char>(to, is_any);
    case kInt16:
      return from_type<short>(to, is_any);
    case kUInt16:
      return from_type<unsigned short>(to, is_any);
    case kIntC:
      return from_type<int>(to, is_any);
    case kUIntC:
      return from_type<unsigned int>(to, is_any);
    case kLong:
      return from_type<long>(to, is_any);
    case kULong:
      return from_type<unsigned long>(to, is_any);
    case kLongLong:
      return from_type<long long>(to, is_any);
    case kULongLong:
      return from_type<unsigned long long>(to, is_any);
    case kFloat:
      return from_type<float>(to, is_any);
    case kDouble:
      return from_type<double>(to, is_any);
    case kComplexFloat:
      return from_type<std::complex<float>>(to, is_any);
    case kComplexDouble:
      return from_type<std::complex<double>>(to, is_any);
    default:
      return nullptr;
  }
}

template <class T, bool is_imaginary>
int copy_component(MethodContext* /*context*/, char* const* data, const Extent* dims, const Extent* strides,
                   void* /*aux*/) {
  const char* from = data[0] + (is_imaginary ? sizeof(T) : 0);
  for (Extent i = 0; i < dims[0]; ++i) {
    std::memcpy(data[1] + i * strides[1], from + i * strides[0], sizeof(T));
  }
  return 0;
}

}  // namespace

FloatUnits cast_units(unsigned from, unsigned to) {
  const bool is_from_float = is_floating(from) || is_complex(from);
  return to == kHalf ? FloatUnits::kAll : is_from_float ? FloatUnits::kVector : FloatUnits::kNone;
}

StridedLoop component_loop(unsigned type, bool is_imaginary) {
  if (type == kComplexFloat) {
    return is_imaginary ? copy_component<float, true> : copy_component<float, false>;
  }
  return is_imaginary ? copy_component<double, true> : copy_component<double, false>;
}

StridedLoop cast_loop(unsigned from, unsigned to) { return find(from, to, false); }
StridedLoop unsafe_cast_loop(unsigned from, unsigned to) { return find(from, to, true); }

}  // namespace tagalong::array
