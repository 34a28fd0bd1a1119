// Common definitions for code with AVX-512 or AVX2 intrinsics (eight or four doubles in a vector): target attributes,
// CPU detection, masks. Functions with a target attribute may be called only where the processor has the instructions.
//
//   TAGALONG_AVX512 void copy(const double* from, Extent count, double* to) {
//     for (Extent i = 0; i < count; i += kLanes) {
//       _mm512_mask_storeu_pd(to + i, mask_of(count - i), _mm512_maskz_loadu_pd(mask_of(count - i), from + i));
//     }
//   }
//   if (has_avx512()) copy(from, count, to);
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <cstdint>

#include "replay/arrays/numpy/numpy_abi.h"

namespace tagalong::array {

inline constexpr Extent kLanes = 8;

// Bits of MXCSR: denormals-are-zero and flush-to-zero.
inline constexpr unsigned kSubnormalsAreZeros = 0x8040;

// Elements up to the next cache line, which has the length of a vector.
[[nodiscard]] inline Extent before_line(const double* values) {
  return static_cast<Extent>(-(reinterpret_cast<std::uintptr_t>(values) / sizeof(double)) % kLanes);
}

#if defined(__x86_64__)

// Contracts a * b + c in a file without -ffp-contract=off.
#define TAGALONG_AVX512 __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,fma")))

#define TAGALONG_AVX2 __attribute__((target("avx2,fma")))

[[nodiscard]] inline bool has_avx512() {
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
         __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
         __builtin_cpu_supports("fma") != 0;
}

[[nodiscard]] inline bool has_avx2() {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
}

// Conversions of float16.
[[nodiscard]] inline bool has_f16c() { return __builtin_cpu_supports("f16c") != 0; }

// For functions that use intrinsics without a mask: GCC 12 warns about registers that its own header leaves undefined
// on purpose.
#if defined(__GNUC__) && !defined(__clang__)
#define TAGALONG_INTRINSICS_BEGIN                                                            \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wmaybe-uninitialized\"") \
      _Pragma("GCC diagnostic ignored \"-Wuninitialized\"")
#define TAGALONG_INTRINSICS_END _Pragma("GCC diagnostic pop")
#else
#define TAGALONG_INTRINSICS_BEGIN
#define TAGALONG_INTRINSICS_END
#endif

// The mask of the lanes that have an element where `left` elements remain.
[[nodiscard]] inline __mmask8 mask_of(Extent left) {
  return left < kLanes ? static_cast<__mmask8>((1U << static_cast<unsigned>(left)) - 1U) : __mmask8{0xFF};
}

// The larger or smaller number; `two` if either is a NaN or both are zeros.
template <bool of_largest>
TAGALONG_AVX512 inline __m512d better(__m512d one, __m512d two) {
  return of_largest ? _mm512_max_pd(one, two) : _mm512_min_pd(one, two);
}

#else

#define TAGALONG_AVX512
#define TAGALONG_AVX2

[[nodiscard]] inline bool has_avx512() { return false; }
[[nodiscard]] inline bool has_avx2() { return false; }
[[nodiscard]] inline bool has_f16c() { return false; }

#endif

}  // namespace tagalong::array
