// Arithmetic of arrays of doubles. Where it would raise a floating point flag that NumPy reports, or where the bits of
// a NaN depend on NumPy's instructions, the call is left to NumPy.
#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cmath>
#include <cstring>

#include "replay/arrays/calls/call.h"
#include "replay/arrays/kernels/histogram.h"
#include "replay/arrays/kernels/kernel.h"
#include "replay/arrays/kernels/matmul.h"
#include "replay/arrays/simd/reduction.h"

namespace tagalong::array {

namespace {

constexpr Extent kMostHere = 1 << 16;  // elements: the GIL is held meanwhile
constexpr std::size_t kOnStack = 256;

// Collects the flags of what is computed while it lives.
class Quiet {
 public:
  Quiet() { forget_float_status(FloatUnits::kAll); }
  // Whether nothing has to be reported; clears the flags.
  [[nodiscard]] bool holds() const { return collect_float_status(FloatUnits::kAll) == 0; }
};

// The array, if it has doubles, and as many as are computed here.
const ArrayFields* doubles(const Numpy& np, PyObject* object) {
  const ArrayFields* array = plain_array(np, object);
  const bool is_fit = array != nullptr && type_number(array) == kDouble && element_count(array) > 0 &&
                      element_count(array) <= kMostHere;
  return is_fit ? array : nullptr;
}

const double* values_of(const ArrayFields* array) { return reinterpret_cast<const double*>(array->data); }
double* values_of(PyObject* array) { return reinterpret_cast<double*>(as_array(array)->data); }

// NumPy's own loop for doubles of a ufunc with two operands; null: there is none.
const Kernel* kernel_of(const Numpy& np, UfuncName ufunc) {
  OperandCodes codes;
  codes.set(0, kDouble);
  codes.set(1, kDouble);
  const Kernel& kernel = kernel_for(np, np.ufunc(ufunc), codes);
  return kernel.usable && kernel.out_type == kDouble && !kernel.requires_pyapi ? &kernel : nullptr;
}

bool run(const Kernel& kernel, const double* left, Extent left_stride, const double* right, Extent count, double* out) {
  constexpr auto kItem = static_cast<Extent>(sizeof(double));
  const auto place = [](const double* value) { return reinterpret_cast<char*>(const_cast<double*>(value)); };
  const std::array<char*, 3> data{place(left), place(right), place(out)};
  const std::array<Extent, 3> strides{left_stride, kItem, kItem};
  return kernel.loop(kernel.context, data.data(), &count, strides.data(), kernel.auxdata) == 0;
}

PyObject* kept_if(bool is_right, PyObject* array) {
  if (!is_right) {
    Py_CLEAR(array);
  }
  return array;
}

PyObject* scalar_of(const Numpy& np, double value) {
  Accumulator accumulator{};
  std::memcpy(accumulator.bytes, &value, sizeof(value));
  PyObject* scalar = make_scalar(np, kDouble, accumulator);
  return scalar == nullptr ? forget_error() : scalar;
}

// The sum in NumPy's order. False: it is not known here.
bool sum(const Numpy& np, const double* values, Extent count, double* result) {
  constexpr Extent kInAnyBuffer = 1024;
  const ReductionKernel& kernel = reduction_kernel(np, Reduction::kSum, kDouble);
  Accumulator total{};
  if (kernel.loop == nullptr || kernel.from != kDouble || (kernel.is_cut_by_buffers && count > kInAnyBuffer) ||
      !reduce_row(kernel, Reduction::kSum, reinterpret_cast<const char*>(values), sizeof(double), count, total.bytes) ||
      !finish(kernel, Reduction::kSum, count, &total)) {
    return false;
  }
  std::memcpy(result, total.bytes, sizeof(*result));
  return !std::isnan(*result);
}

// Follows NumPy's _var().
bool variance_of(const Call& call, double* result) {
  const ArrayFields* array = doubles(call.np, call.parameters[0]);
  const Extent count = array == nullptr ? 0 : element_count(array);
  Extent freedom = 0;
  const bool is_plain = array != nullptr && !call.has(1) && !call.has(2) && !call.has(3) &&
                        (call.parameters[4] == nullptr || read_int(call.parameters[4], 0, count - 1, &freedom));
  if (!is_plain) {
    return false;
  }
  const double* values = values_of(array);
  double total = 0;
  if (!sum(call.np, values, count, &total)) {
    return false;
  }
  const double mean = total / static_cast<double>(count);
  boost::container::small_vector<double, kOnStack> squares(static_cast<std::size_t>(count),
                                                           boost::container::default_init);
  for (Extent i = 0; i < count; ++i) {
    const double difference = values[i] - mean;
    squares[static_cast<std::size_t>(i)] = difference * difference;
  }
  if (!sum(call.np, squares.data(), count, &total)) {
    return false;
  }
  *result = total / static_cast<double>(count - freedom);
  return true;
}

}  // namespace

PyObject* diff(const Call& call) {
  constexpr Extent kOnce = 1;
  const ArrayFields* array = doubles(call.np, call.parameters[0]);
  Extent times = kOnce;
  int axis = 0;
  const bool is_read = is_row(array) && array->dimensions[0] > 1 &&
                       (call.parameters[1] == nullptr || read_int(call.parameters[1], kOnce, kOnce, &times)) &&
                       (call.parameters[2] == nullptr || read_axis(call.parameters[2], 1, &axis));
  const Kernel* kernel = is_read ? kernel_of(call.np, UfuncName::kSubtract) : nullptr;
  if (kernel == nullptr) {
    return nullptr;
  }
  const Extent count = array->dimensions[0] - 1;
  PyObject* made = new_array(call.np, kDouble, 1, &count);
  if (made == nullptr) {
    return nullptr;
  }
  const Quiet quiet;
  const double* values = values_of(array);
  const bool is_done = run(*kernel, values + 1, sizeof(double), values, count, values_of(made));
  return kept_if(quiet.holds() && is_done, made);
}

PyObject* outer(const Call& call) {
  const ArrayFields* left = doubles(call.np, call.parameters[0]);
  const ArrayFields* right = doubles(call.np, call.parameters[1] == nullptr ? Py_None : call.parameters[1]);
  const Kernel* kernel = is_row(left) && is_row(right) ? kernel_of(call.np, UfuncName::kMultiply) : nullptr;
  if (kernel == nullptr) {
    return nullptr;
  }
  const std::array<Extent, 2> dims{left->dimensions[0], right->dimensions[0]};
  if (dims[0] < 2 || dims[1] < 2 || dims[0] * dims[1] > kMostHere) {
    return nullptr;
  }
  PyObject* made = new_array(call.np, kDouble, 2, dims.data());
  if (made == nullptr) {
    return nullptr;
  }
  const Quiet quiet;
  bool is_done = true;
  for (Extent row = 0; row < dims[0] && is_done; ++row) {
    double* out = values_of(made) + row * dims[1];
    is_done = run(*kernel, values_of(left) + row, 0, values_of(right), dims[1], out) &&
              // The product of two NaNs is one of them.
              (!std::isnan(values_of(left)[row]));
  }
  return kept_if(quiet.holds() && is_done, made);
}

PyObject* cumulative_sum(const Call& call) {
  const ArrayFields* array = doubles(call.np, call.parameters[0]);
  int axis = 0;
  if (!is_row(array) || (call.has(1) && !read_axis(call.parameters[1], 1, &axis))) {
    return nullptr;
  }
  const Extent count = array->dimensions[0];
  PyObject* made = new_array(call.np, kDouble, 1, &count);
  if (made == nullptr) {
    return nullptr;
  }
  const Quiet quiet;
  const double* values = values_of(array);
  double* out = values_of(made);
  double total = values[0];
  out[0] = total;
  for (Extent i = 1; i < count; ++i) {
    total += values[i];
    out[i] = total;
  }
  return kept_if(quiet.holds() && !std::isnan(total), made);
}

// Of doubles between two exact floats. What NumPy gives for NaNs and for zeros of both signs depends on its version.
PyObject* clip(const Call& call) {
  const ArrayFields* array = doubles(call.np, call.parameters[0]);
  PyObject* least = call.parameters[1];
  PyObject* most = call.parameters[2];
  if (array == nullptr || least == nullptr || most == nullptr || !PyFloat_CheckExact(least) ||
      !PyFloat_CheckExact(most)) {
    return nullptr;
  }
  const std::array<double, 2> bounds{PyFloat_AS_DOUBLE(least), PyFloat_AS_DOUBLE(most)};
  if (std::isnan(bounds[0]) || std::isnan(bounds[1])) {
    return nullptr;
  }
  PyObject* made = new_array(call.np, kDouble, array->nd, array->dimensions);
  if (made == nullptr) {
    return nullptr;
  }
  const double* values = values_of(array);
  double* out = values_of(made);
  const Extent count = element_count(array);
  const auto is_other_zero = [](double one, double other) {
    return one == 0 && other == 0 && std::signbit(one) != std::signbit(other);
  };
  bool is_open = is_other_zero(bounds[0], bounds[1]);
  for (Extent i = 0; i < count; ++i) {
    const double value = values[i];
    const double above = value > bounds[0] ? value : bounds[0];
    out[i] = above < bounds[1] ? above : bounds[1];
    is_open |= std::isnan(value) || is_other_zero(value, bounds[0]) || is_other_zero(value, bounds[1]);
  }
  return kept_if(!is_open, made);
}

// Of two vectors: np.matmul and np.dot call the same function for their elements.
PyObject* dot(const Call& call) {
  Ref result;
  const bool are_rows = is_row(plain_array(call.np, call.parameters[0])) && call.parameters[1] != nullptr &&
                        is_row(plain_array(call.np, call.parameters[1]));
  return are_rows && multiply_quietly(call.np, call.parameters[0], call.parameters[1], &result) ? result.release()
                                                                                                : nullptr;
}

PyObject* norm(const Call& call) {
  const ArrayFields* array = doubles(call.np, call.parameters[0]);
  Ref squares;
  if (!is_row(array) || !multiply_quietly(call.np, call.parameters[0], call.parameters[0], &squares)) {
    return nullptr;
  }
  double total = 0;
  std::memcpy(&total, scalar_value(squares.get()), sizeof(total));
  return std::isnan(total) ? nullptr : scalar_of(call.np, std::sqrt(total));
}

PyObject* variance(const Call& call) {
  const Quiet quiet;
  double result = 0;
  const bool is_known = variance_of(call, &result);
  return quiet.holds() && is_known && !std::isnan(result) ? scalar_of(call.np, result) : nullptr;
}

PyObject* standard_deviation(const Call& call) {
  const Quiet quiet;
  double result = 0;
  const bool is_known = variance_of(call, &result);
  result = std::sqrt(result);
  return quiet.holds() && is_known && !std::isnan(result) ? scalar_of(call.np, result) : nullptr;
}

PyObject* count_labels(const Call& call) {
  return count_bins(call.np, call.arguments, static_cast<int>(call.count), call.names);
}

}  // namespace tagalong::array
