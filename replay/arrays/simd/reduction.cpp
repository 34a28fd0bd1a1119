#include "replay/arrays/simd/reduction.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "replay/arrays/simd/argmin.h"
#include "replay/arrays/simd/pairwise.h"
#include "replay/arrays/simd/reduction_loops.h"
#include "replay/arrays/simd/row_reductions.h"
#include "rewriter/base/ref.h"

namespace tagalong::array {

namespace {

template <class T>
T load(const Accumulator& accumulator) {
  T value;
  std::memcpy(&value, accumulator.bytes, sizeof(value));
  return value;
}
template <class T>
void store(T value, Accumulator* accumulator) {
  std::memcpy(accumulator->bytes, &value, sizeof(value));
}

UfuncName ufunc_of(Reduction reduction) {
  switch (reduction) {
    case Reduction::kProd:
      return UfuncName::kMultiply;
    case Reduction::kMax:
      return UfuncName::kMaximum;
    case Reduction::kMin:
      return UfuncName::kMinimum;
    case Reduction::kAny:
      return UfuncName::kLogicalOr;
    case Reduction::kAll:
      return UfuncName::kLogicalAnd;
    default:
      return UfuncName::kAdd;
  }
}

// The type in which NumPy reduces; kTypeNumbers: not for fusion groups.
unsigned loop_type(Reduction reduction, unsigned type) {
  if (type == kComplexFloat || type == kComplexDouble) {
    return reduction == Reduction::kSum ? type : kTypeNumbers;
  }
  const bool is_float = type == kFloat || type == kDouble;
  if (type != kBool && !is_integer(type) && !is_float) {
    return kTypeNumbers;
  }
  switch (reduction) {
    case Reduction::kSum:
    case Reduction::kProd:
      if (type == kBool || type == kInt8 || type == kInt16 || type == kIntC) {
        return kLong;
      }
      return type == kUInt8 || type == kUInt16 || type == kUIntC ? unsigned{kULong} : type;
    case Reduction::kMean:
      return type == kBool ? unsigned{kDouble}
                           : (is_float ? type : kTypeNumbers);  // a mean of bools is a count, exact in any order
    case Reduction::kAny:
    case Reduction::kAll:
      return type == kBool ? type : kTypeNumbers;
    case Reduction::kArgMax:
    case Reduction::kArgMin:
      return type == kBool ? kTypeNumbers : type;
    default:
      return type;
  }
}

// Resolves NumPy's reduce loop. The loop's capsule is leaked on purpose, as kernels live as long as the process.
bool take_loop(const Numpy& np, Reduction reduction, ReductionKernel* kernel) {
  const Ref ufunc = Ref::steal(PyObject_GetAttrString(np.umath, name_of(ufunc_of(reduction))));
  const Ref method = ufunc ? Ref::steal(PyObject_GetAttrString(ufunc.get(), "_resolve_dtypes_and_context")) : Ref();
  PyObject* descr = np.descr[kernel->type];
  const Ref arguments = Ref::steal(Py_BuildValue("((OOO))", Py_None, descr, Py_None));
  const Ref keywords = Ref::steal(Py_BuildValue("{sO}", "reduction", Py_True));
  if (!method || !arguments || !keywords) {
    return false;
  }
  const Ref pair = Ref::steal(PyObject_Call(method.get(), arguments.get(), keywords.get()));
  if (!pair || !PyTuple_Check(pair.get()) || PyTuple_GET_SIZE(pair.get()) != 2) {
    return false;
  }
  PyObject* dtypes = PyTuple_GET_ITEM(pair.get(), 0);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(dtypes); ++i) {
    if (PyTuple_GET_ITEM(dtypes, i) != descr) {
      return false;
    }
  }
  Ref capsule = Ref::create(PyTuple_GET_ITEM(pair.get(), 1));
  const Ref filled = Ref::steal(PyObject_CallMethod(ufunc.get(), "_get_strided_loop", "(O)", capsule.get()));
  if (!filled || PyCapsule_IsValid(capsule.get(), kCallInfoCapsule) == 0) {
    return false;
  }
  const auto* info = static_cast<const UfuncCallInfo*>(PyCapsule_GetPointer(capsule.get(), kCallInfoCapsule));
  if (info->requires_pyapi != 0) {
    return false;
  }
  kernel->context = info->context;
  kernel->auxdata = info->auxdata;
  kernel->float_units = info->no_floatingpoint_errors == 0 ? FloatUnits::kAll : FloatUnits::kNone;
  kernel->loop = info->strided_loop;
  static_cast<void>(capsule.release());
  return kernel->loop != nullptr;
}

template <class T>
T sum_of_block(const ReductionKernel& kernel, const T* values, Extent count) {
  Accumulator accumulator;
  begin_leaf(kernel, &accumulator);
  auto* data = const_cast<char*>(reinterpret_cast<const char*>(values));  // NumPy's signature has no const
  const std::array<char*, 3> places{accumulator.bytes, data, accumulator.bytes};
  const std::array<Extent, 3> strides{0, sizeof(T), 0};
  static_cast<void>(kernel.loop(kernel.context, places.data(), &count, strides.data(), kernel.auxdata));
  return load<T>(accumulator);
}

template <class T>
struct PartOf {
  using Type = T;
  static constexpr Extent kParts = 1;
};
template <class T>
struct PartOf<std::complex<T>> {
  using Type = T;
  static constexpr Extent kParts = 2;
};

// Values of very different magnitudes, whose sum another order would change.
template <class T>
std::vector<T> unequal_values(Extent count) {
  constexpr std::uint64_t kFactor = 6364136223846793005;
  constexpr unsigned kTop = 40;
  constexpr std::array<T, 2> kScales{T{-1} / 7, T{1} / 3};
  std::vector<T> values(static_cast<std::size_t>(count));
  std::uint64_t state = 1;
  for (T& value : values) {
    state = state * kFactor + 1;
    const auto number = static_cast<T>(state >> kTop);
    const std::size_t is_small = state >> 20U & 1U;
    value = number * kScales[is_small] * std::array{number, T{1}}[is_small];
  }
  return values;
}

template <class T>
T sum_in_pieces(const ReductionKernel& kernel, const T* values, Extent count, Extent piece) {
  constexpr Extent kBlock = 1024;
  T sum = 0;
  for (Extent begin = 0; begin < count; begin += piece) {
    sum += pairwise_sum(
        begin, std::min(piece, count - begin), kBlock,
        [&](Extent first, Extent elements) { return sum_of_block(kernel, values + first, elements); },
        PartOf<T>::kParts);
  }
  return sum;
}

// Finds out whether NumPy sums rows or buffers. False: neither.
template <class T>
bool find_summation(const Numpy& np, ReductionKernel* kernel) {
  const Extent buffer = buffer_size(np);
  const std::array<Extent, 4> counts{1000, buffer - 1, buffer + kLeaf, 2 * buffer + 619};
  static StridedLoop known = nullptr;  // sums and means share a loop
  static bool is_known_cut = false;
  if (known == kernel->loop) {
    kernel->is_cut_by_buffers = is_known_cut;
    return true;
  }
  constexpr Extent kMaxBuffer = 1L << 16;
  if (buffer > kMaxBuffer) {
    return false;  // a buffer of this size would make the test slow
  }
  bool is_by_rows = true;
  bool is_by_buffers = true;
  using Part = PartOf<T>::Type;
  const std::vector<Part> parts = unequal_values<Part>(std::ranges::max(counts) * PartOf<T>::kParts);
  const auto* first = reinterpret_cast<const T*>(parts.data());
  std::vector<T> values(first, first + std::ranges::max(counts));
  const Ref ufunc = Ref::steal(PyObject_GetAttrString(np.umath, name_of(UfuncName::kAdd)));
  for (Extent count : counts) {
    PyObject* descr = np.descr[kernel->type];
    Py_INCREF(descr);
    const Ref array =
        Ref::steal(np.new_from_descr(np.array_type, descr, 1, &count, nullptr, values.data(), 0, nullptr));
    if (!array || !ufunc) {
      return false;
    }
    const Ref sum = Ref::steal(PyObject_CallMethod(ufunc.get(), "reduce", "(O)", array.get()));
    if (!sum || Py_TYPE(sum.get()) != np.scalar_type[kernel->type]) {
      return false;
    }
    Accumulator theirs;
    std::memcpy(theirs.bytes, scalar_value(sum.get()), sizeof(T));
    is_by_rows = is_by_rows && load<T>(theirs) == sum_in_pieces(*kernel, values.data(), count, count);
    is_by_buffers = is_by_buffers && load<T>(theirs) == sum_in_pieces(*kernel, values.data(), count, buffer);
  }
  if (!is_by_rows && !is_by_buffers) {
    return false;
  }
  known = kernel->loop;
  is_known_cut = kernel->is_cut_by_buffers = !is_by_rows;
  return true;
}

bool find_summation_of(const Numpy& np, ReductionKernel* kernel) {
  switch (kernel->type) {
    case kFloat:
      return find_summation<float>(np, kernel);
    case kComplexFloat:
      return find_summation<std::complex<float>>(np, kernel);
    case kComplexDouble:
      return find_summation<std::complex<double>>(np, kernel);
    default:
      return find_summation<double>(np, kernel);
  }
}

template <class T>
bool is_order_free(T value) {
  return value != 0 && !std::isnan(value);
}

}  // namespace

const ReductionKernel& reduction_kernel(const Numpy& np, Reduction reduction, unsigned type) {
  static std::map<std::pair<Reduction, unsigned>, ReductionKernel> kernels;  // never erased
  const auto [place, is_new] = kernels.try_emplace({reduction, type});
  ReductionKernel& kernel = place->second;
  if (!is_new) {
    return kernel;
  }
  const unsigned loop = loop_type(reduction, type);
  if (loop == kTypeNumbers) {
    return kernel;
  }
  ReductionKernel made;
  if (reduction == Reduction::kArgMax || reduction == Reduction::kArgMin) {
    made.loop = argmin_loop(loop, reduction == Reduction::kArgMax);
    made.rows = row_places(loop, reduction == Reduction::kArgMax);
    made.type = kLong;
    made.from = static_cast<std::uint8_t>(loop);
    made.item_size = np.item_size[kLong];
    made.takes_rows = true;
    kernel = made;
    return kernel;
  }
  made.type = made.from = static_cast<std::uint8_t>(loop);
  made.item_size = np.item_size[loop];
  const bool is_sum = reduction == Reduction::kSum || reduction == Reduction::kMean;
  made.is_pairwise = is_sum && (loop == kFloat || loop == kDouble || is_complex(loop));
  made.parts = is_complex(loop) ? 2 : 1;
  bool is_usable = take_loop(np, reduction, &made);
  if (is_usable && made.is_pairwise) {
    is_usable = find_summation_of(np, &made);
  }
  PyErr_Clear();
  if (is_usable) {
    kernel = made;
    kernel.whole = made.loop;
    if (loop == kDouble && is_sum) {
      kernel.whole = kernel.loop = sum_loop(made.loop, made.context, made.auxdata);
      kernel.has_known_order = kernel.loop != made.loop;
    } else if (loop == kDouble && begins_with_element(reduction)) {
      kernel.whole = extreme_loop(made.loop, reduction == Reduction::kMax);
    }
    kernel.rows_together = rows_together(kernel, reduction);
    kernel.short_axes = short_axes(kernel, reduction);
  }
  return kernel;
}

bool begins_with_element(Reduction reduction) { return reduction == Reduction::kMax || reduction == Reduction::kMin; }

void begin(const ReductionKernel& kernel, Reduction reduction, Accumulator* accumulator) {
  std::memset(accumulator->bytes, 0, sizeof(accumulator->bytes));
  if (reduction == Reduction::kAll) {
    store<unsigned char>(1, accumulator);
  } else if (reduction == Reduction::kProd) {
    switch (kernel.type) {
      case kFloat:
        store(1.0F, accumulator);
        break;
      case kDouble:
        store(1.0, accumulator);
        break;
      default:
        store(1LL, accumulator);  // integer products have 64 bits
        break;
    }
  }
}

bool needs_whole_rows(const ReductionKernel& kernel, Reduction reduction) {
  return kernel.is_pairwise || kernel.takes_rows || (begins_with_element(reduction) && is_floating(kernel.type));
}

namespace {

template <class Function>
void with_type(const ReductionKernel& kernel, const Function& function) {
  switch (kernel.type) {
    case kFloat:
      return function(float{});
    case kComplexFloat:
      return function(std::complex<float>{});
    case kComplexDouble:
      return function(std::complex<double>{});
    default:
      return function(double{});
  }
}

// Completes a real number. NumPy divides in double and rounds the quotient.
template <class T>
bool finish_real(const ReductionKernel& kernel, Reduction reduction, Extent divisor, bool has_root,
                 Accumulator* accumulator) {
  auto value = load<T>(*accumulator);
  value = kernel.is_pairwise ? T{0} + value : value;
  if (reduction == Reduction::kMean) {
    value = static_cast<T>(static_cast<double>(value) / static_cast<double>(divisor));
  }
  value = has_root ? std::sqrt(value) : value;
  store(value, accumulator);
  return is_order_free(value) || (!begins_with_element(reduction) && value == 0);
}

// Completes a complex sum.
template <class T>
bool finish_complex(Accumulator* accumulator) {
  const auto value = load<std::complex<T>>(*accumulator);
  const std::complex<T> sum(T{0} + value.real(), T{0} + value.imag());
  store(sum, accumulator);
  return !std::isnan(sum.real()) && !std::isnan(sum.imag());
}

}  // namespace

void begin_leaf(const ReductionKernel& kernel, Accumulator* accumulator) {
  with_type(kernel, [&]<class T>(T) {
    using Part = PartOf<T>::Type;
    const std::array<Part, PartOf<T>::kParts> zeros = [] {
      std::array<Part, PartOf<T>::kParts> made{};
      made.fill(-Part{0});
      return made;
    }();
    store(zeros, accumulator);
  });
}

void add_leaves(const ReductionKernel& kernel, const Accumulator& right, Accumulator* left) {
  with_type(kernel, [&]<class T>(T) { store(load<T>(*left) + load<T>(right), left); });
}

bool finish(const ReductionKernel& kernel, Reduction reduction, Extent count, Accumulator* accumulator,
            const MeanEnd& end) {
  if (is_complex(kernel.type)) {
    return kernel.type == kComplexFloat ? finish_complex<float>(accumulator) : finish_complex<double>(accumulator);
  }
  if (kernel.type != kFloat && kernel.type != kDouble) {
    return true;
  }
  const Extent divisor = reduction == Reduction::kMean ? count - end.freedom : 1;
  return divisor > 0 &&
         (kernel.type == kFloat ? finish_real<float>(kernel, reduction, divisor, end.has_root, accumulator)
                                : finish_real<double>(kernel, reduction, divisor, end.has_root, accumulator));
}

bool reduce_row(const ReductionKernel& kernel, Reduction reduction, const char* data, Extent stride, Extent row,
                char* result) {
  Extent left = row;
  if (begins_with_element(reduction)) {
    std::memcpy(result, data, kernel.item_size);
    --left;
  } else {
    Accumulator first;
    begin(kernel, reduction, &first);
    std::memcpy(result, first.bytes, kernel.item_size);
  }
  const std::array<char*, 3> places{result, const_cast<char*>(data) + (row - left) * stride, result};
  const std::array<Extent, 3> strides{0, stride, 0};
  return left == 0 || kernel.loop(kernel.context, places.data(), &left, strides.data(), kernel.auxdata) == 0;
}

PyObject* make_scalar(const Numpy& np, unsigned type, const Accumulator& accumulator) {
  PyTypeObject* scalar = np.scalar_type[type];
  if (type == kBool) {  // NumPy has two bool objects, True and False
    return PyObject_CallOneArg(reinterpret_cast<PyObject*>(scalar), accumulator.bytes[0] != 0 ? Py_True : Py_False);
  }
  PyObject* object = scalar->tp_alloc(scalar, 0);
  if (object != nullptr) {
    std::memcpy(const_cast<char*>(scalar_value(object)), accumulator.bytes, np.item_size[type]);
  }
  return object;
}

}  // namespace tagalong::array
