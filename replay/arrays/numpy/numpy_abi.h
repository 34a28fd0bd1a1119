// What this library knows of NumPy's memory and of its C tables: the public array fields, the slots we call, the
// records behind `ufunc._resolve_dtypes_and_context`. NumPy froze these layouts: they are the same from 1.24 to the
// newest 2.x. So they are mirrored here and the module builds without NumPy's headers and works with the version that
// the program imports. `numpy_if_ready` compares every mirrored field with what Python shows of live objects and
// refuses NumPy altogether (null) when anything differs.
//
//   if (const Numpy* np = numpy_if_ready()) { ... np->new_from_descr(...) ... }
#pragma once

#include <Python.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "replay/arrays/numpy/ufuncs.h"
#include "rewriter/base/ref.h"

namespace tagalong::array {

using Extent = Py_intptr_t;  // an element count, or a stride in bytes

// Type numbers of the dtypes that are handled: 0 (bool) to 16 (clongdouble), and 23 (half).
inline constexpr unsigned kTypeNumbers = 24;
enum TypeNumber : std::uint8_t {
  kBool = 0,
  kInt8 = 1,
  kUInt8 = 2,
  kInt16 = 3,
  kUInt16 = 4,
  kIntC = 5,
  kUIntC = 6,
  kLong = 7,
  kULong = 8,
  kLongLong = 9,
  kULongLong = 10,
  kFloat = 11,
  kDouble = 12,
  kLongDouble = 13,
  kComplexFloat = 14,
  kComplexDouble = 15,
  kComplexLongDouble = 16,
  kHalf = 23,
};
[[nodiscard]] constexpr bool is_handled(unsigned type) { return type <= kComplexLongDouble || type == kHalf; }
[[nodiscard]] constexpr bool is_integer(unsigned type) { return type >= kInt8 && type <= kULongLong; }
[[nodiscard]] constexpr bool is_complex(unsigned type) { return type >= kComplexFloat && type <= kComplexLongDouble; }
[[nodiscard]] constexpr bool is_floating(unsigned type) {
  return (type >= kFloat && type <= kLongDouble) || type == kHalf;
}
// The order of NumPy's numbers: bool, the integers by size with the signed one first, the floats, the complex numbers.
static_assert(kBool < kInt8 && kInt8 < kUInt8 && kUInt8 < kInt16 && kInt16 < kUInt16 && kUInt16 < kIntC &&
              kIntC < kUIntC && kUIntC < kLong && kLong < kULong && kULong < kLongLong && kLongLong < kULongLong &&
              kULongLong < kFloat && kFloat < kDouble && kDouble < kLongDouble && kLongDouble < kComplexFloat &&
              kComplexFloat < kComplexDouble && kComplexDouble < kComplexLongDouble && kComplexLongDouble < kHalf);

// NumPy's PyArrayObject_fields.
struct ArrayFields {
  PyObject ob_base;
  char* data;
  int nd;
  Extent* dimensions;
  Extent* strides;
  PyObject* base;
  PyObject* descr;
  int flags;
  PyObject* weakreflist;
};

inline constexpr int kCContiguous = 0x0001;
inline constexpr int kFContiguous = 0x0002;
inline constexpr int kOwnData = 0x0004;
inline constexpr int kAligned = 0x0100;
inline constexpr int kWriteable = 0x0400;
inline constexpr int kWriteBackIfCopy = 0x2000;
inline constexpr int kWarnOnWrite = static_cast<int>(1U << 31U);

// The leading fields of a dtype, the same in NumPy 1.x and 2.x.
struct DescrFields {
  PyObject ob_base;
  PyTypeObject* typeobj;
  char kind;
  char type;
  char byteorder;
  char former_flags;
  int type_num;
};

// The public prefix of the record that the capsule "numpy_1.24_ufunc_call_info" points to.
struct MethodContext;
using StridedLoop = int (*)(MethodContext*, char* const* data, const Extent* dims, const Extent* strides, void* aux);
struct UfuncCallInfo {
  StridedLoop strided_loop;
  MethodContext* context;
  void* auxdata;
  unsigned char requires_pyapi;
  unsigned char no_floatingpoint_errors;
};
inline constexpr const char* kCallInfoCapsule = "numpy_1.24_ufunc_call_info";

// NumPy's own bits for floating point errors.
enum FloatError : std::uint8_t { kDivideByZero = 1, kOverflow = 2, kUnderflow = 4, kInvalid = 8 };

// The NumPy that the program imported. Its references are never given back: kernels live as long as the process.
struct Numpy {
  int major = 0;
  int minor = 0;
  // NEP 50: Python numbers have no dtype of their own. Before 2.0 the dtype depends on the value of a scalar.
  bool weak_scalars = false;
  // Eager NumPy computes into large temporaries (elision.h); the second flag: also for `scalar op temporary`.
  bool elides = false;
  bool elides_after_numpy_scalar = false;
  PyTypeObject* array_type = nullptr;
  PyTypeObject* ufunc_type = nullptr;
  PyObject* umath = nullptr;  // the module that holds NumPy's own ufuncs
  PyObject* can_cast = nullptr;
  std::array<PyObject*, kTypeNumbers> descr{};            // the canonical native dtype, or null
  std::array<PyTypeObject*, kTypeNumbers> scalar_type{};  // numpy.float64, ...
  std::array<std::uint8_t, kTypeNumbers> item_size{};
  std::array<PyObject*, 2> truth{};                    // numpy.False_ and numpy.True_, the only ones of their type
  std::array<PyObject*, kUfuncNames.size()> ufuncs{};  // those with kOperator
  // Steals a reference to the dtype.
  PyObject* (*new_from_descr)(PyTypeObject*, PyObject* descr, int nd, const Extent* dims, const Extent* strides,
                              void* data, int flags, PyObject* base) = nullptr;
  // The allocator of new arrays is a context variable. The default handler is borrowed.
  PyObject* (*get_handler)() = nullptr;
  PyObject* (*set_handler)(PyObject*) = nullptr;
  PyObject* default_handler = nullptr;
  // NumPy 2.x reports floating point errors by one call, 1.x by two.
  int (*give_float_errors)(const char* name, int errors) = nullptr;
  int (*get_py_values)(const char* name, int* buffer_size, int* mask, PyObject** error_object) = nullptr;
  int (*handle_float_errors)(int mask, PyObject* error_object, int errors, int* first) = nullptr;

  [[nodiscard]] PyObject* ufunc(UfuncName name) const { return ufuncs[static_cast<std::size_t>(name)]; }
};

// Borrowed. Null where the program has not imported the module, and while the interpreter ends, since the modules may
// be gone by then.
[[nodiscard]] PyObject* imported_module(const char* name);

namespace detail {
extern const Numpy* ready_numpy;
[[nodiscard]] const Numpy* find_numpy();
}  // namespace detail

// Null as long as numpy_if_ready() has not found NumPy; does not look for it.
[[nodiscard]] inline const Numpy* met_numpy() { return detail::ready_numpy; }

// Null while the program has not imported NumPy (this library never does), or where its layout is not the one known
// here. Clears any exception of its own.
[[nodiscard]] inline const Numpy* numpy_if_ready() {
  return detail::ready_numpy != nullptr ? detail::ready_numpy : detail::find_numpy();
}

[[nodiscard]] inline ArrayFields* as_array(PyObject* object) { return reinterpret_cast<ArrayFields*>(object); }
[[nodiscard]] inline Extent element_count(const ArrayFields* array) {
  Extent count = 1;
  for (int i = 0; i < array->nd; ++i) {
    count *= array->dimensions[i];
  }
  return count;
}
// The address at which a NumPy scalar keeps its value.
[[nodiscard]] inline const char* scalar_value(PyObject* object) {
  return reinterpret_cast<const char*>(object) + sizeof(PyObject);
}

// Makes virtual frames real before Python code can look at them: a callback of the errstate, or the code that shows a
// warning. Passed down to the operation that may report; never found by thread, since a callback may switch to another
// stack.
struct BeforeReport {
  bool (*show)(void* context);  // false: an exception is set
  void* context;
};

// np.can_cast of a dtype or a scalar; leaves no exception behind.
[[nodiscard]] bool can_cast(const Numpy& np, PyObject* from, unsigned to, const char* casting);

// NumPy 1.x: what the errstate does with each error, three bits each, and the callback. False: an exception is set.
[[nodiscard]] bool float_error_mask(const Numpy& np, const char* ufunc_name, int* mask, Ref* error_object);
// How many elements NumPy 1.x computes at a time where it copies operands into buffers; otherwise the default. Clears
// its own exceptions.
[[nodiscard]] Extent buffer_size(const Numpy& np);
// Reports floating point errors as a ufunc of this name would under the current errstate. False: an exception is set.
[[nodiscard]] bool report_float_errors(const Numpy& np, const char* ufunc_name, int errors, const BeforeReport* before);

}  // namespace tagalong::array
