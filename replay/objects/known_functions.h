// C functions that run no user code for operands of exact types, raise in no case that a trace supports (it takes a
// side exit in front of the call instead), and have known result types. So calls of them can work on unboxed numbers. A
// guard at the call site checks which function it is.
//
//   const Known known = known_function(callable);
//   if (takes(known, types, count)) ... result_of(known, type) ...
#pragma once

#include <Python.h>

#include <cstdint>

namespace tagalong::replay {

enum class Known : std::uint8_t {
  kNone,
  kSqrt,
  kSin,
  kCos,
  kTan,
  kAtan,
  kExp,
  kLog,
  kMagnitude,  // math.fabs
  kAbsolute,   // abs() of a float or a numpy.float64; gives the same type
  kFloor,
  kCeiling,
  kInt,    // int() of a float
  kFloat,  // float() of an int or a NumPy float
  kLength,
  kRange,
};

// Whether it is a function of `math` that takes numbers and returns one.
[[nodiscard]] bool is_of_math(PyObject* callable);

// If the callable is a known function, it is never freed. Never fails.
[[nodiscard]] Known known_function(PyObject* callable);

// Whether the known function supports operands of these exact types.
[[nodiscard]] bool takes(Known known, const PyTypeObject* const* types, int count);
[[nodiscard]] PyTypeObject* result_of(Known known, const PyTypeObject* operand);

// The float result of one of kSqrt ... kAbsolute. False: the call raises, or its result is not known.
[[nodiscard]] bool call_float(Known known, double operand, double* result) noexcept;
// The int result of one of kFloor, kCeiling, kInt. False: as for call_float(), or the result exceeds 64 bits.
[[nodiscard]] bool call_int(Known known, double operand, std::int64_t* result) noexcept;
// The length of an exact container; false for other objects, so the type of the argument of `len` needs no guard.
[[nodiscard]] bool length_of(PyObject* container, std::int64_t* result) noexcept;
// iter(range(start, stop)); null without an exception: out of memory, or the range is too long.
[[nodiscard]] PyObject* iterate_range(std::int64_t start, std::int64_t stop) noexcept;

}  // namespace tagalong::replay
