// C functions that run nobody's code for operands of exact types, raise for nothing that a trace takes on (it leaves
// in front of the call then), and whose results have types that are known: calls of them may be made of numbers
// without objects. A call site guards which function it is.
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
  kAbsolute,   // abs() of a float, or of numpy.float64, which gives one
  kFloor,
  kCeiling,
  kInt,    // of a float
  kFloat,  // of an int, or one of NumPy's floats
  kLength,
  kRange,
};

// Whether it is one of the functions of `math` that take numbers and give one.
[[nodiscard]] bool is_of_math(PyObject* callable);

// The callable is alive for good if it is one of them. Never fails.
[[nodiscard]] Known known_function(PyObject* callable);

// Whether a call with operands of these exact types is one.
[[nodiscard]] bool takes(Known known, const PyTypeObject* const* types, int count);
[[nodiscard]] PyTypeObject* result_of(Known known, const PyTypeObject* operand);

// The float that one of kSqrt ... kAbsolute gives. False: it raises, or nothing is known about that.
[[nodiscard]] bool call_float(Known known, double operand, double* result) noexcept;
// The int that one of kFloor, kCeiling, kInt gives; false as above, or it has more than 64 bits.
[[nodiscard]] bool call_int(Known known, double operand, std::int64_t* result) noexcept;
// Of an exact container; false: it is none. So the type of what `len` is called with needs no guard.
[[nodiscard]] bool length_of(PyObject* container, std::int64_t* result) noexcept;
// iter(range(start, stop)); null without an exception: no memory, or the range is too long.
[[nodiscard]] PyObject* iterate_range(std::int64_t start, std::int64_t stop) noexcept;

}  // namespace tagalong::replay
