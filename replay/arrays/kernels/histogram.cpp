#include "replay/arrays/kernels/histogram.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "replay/arrays/kernels/functions.h"
#include "replay/arrays/numpy/numpy_abi.h"
#include "replay/arrays/numpy/operand.h"
#include "replay/arrays/simd/histogram_lanes.h"
#include "replay/arrays/simd/lanes.h"

namespace tagalong::array {

LoopTally histogram_tally;

namespace {

constexpr Extent kMinForSeveral = 256;  // elements from which on a bin has several counters
constexpr Extent kMaxForSeveral = 256;  // bins up to which a bin has several counters
constexpr std::size_t kCounters = 4;

struct Call {
  const ArrayFields* labels = nullptr;
  unsigned type = 0;  // type of the labels
  Extent count = 0;
  const double* weights = nullptr;
  Extent least = 0;  // minimal number of bins
};

// The object as an aligned, contiguous, one-dimensional array, or null. Sets `type` to its element type.
const ArrayFields* row_of(const Numpy& np, PyObject* object, unsigned* type) {
  const OperandCode code = classify(np, object);
  constexpr int kRequiredFlags = kCContiguous | kAligned;
  const bool is_row =
      is_array(code) && as_array(object)->nd == 1 && (as_array(object)->flags & kRequiredFlags) == kRequiredFlags;
  *type = type_of(code);
  return is_row ? as_array(object) : nullptr;
}

bool read_weights(const Numpy& np, PyObject* object, Call* call) {
  unsigned type = 0;
  const ArrayFields* row = object == Py_None ? nullptr : row_of(np, object, &type);
  if (row != nullptr && type == kDouble && row->dimensions[0] == call->count) {
    call->weights = reinterpret_cast<const double*>(row->data);
  }
  return object == Py_None || call->weights != nullptr;
}

bool read_least(PyObject* object, Call* call) {
  int overflow = 0;
  call->least = PyLong_CheckExact(object) ? PyLong_AsLongAndOverflow(object, &overflow) : -1;
  return overflow == 0 && call->least >= 0 && call->least <= kMostBins;
}

bool read_labels(const Numpy& np, PyObject* object, Call* call) {
  call->labels = row_of(np, object, &call->type);
  // Types that NumPy casts safely to its index type; eager raises for the others.
  const bool are_labels = call->labels != nullptr && (call->type == kBool || is_integer(call->type)) &&
                          call->type != kULong && call->type != kULongLong;
  call->count = are_labels ? call->labels->dimensions[0] : 0;
  return call->count > 0;
}

// Reads the arguments of a call. False: unsupported.
bool read(const Numpy& np, PyObject* const* arguments, int count, PyObject* names, Call* call) {
  const int named = names == nullptr ? 0 : static_cast<int>(PyTuple_GET_SIZE(names));
  const int positional = count - named;
  if (positional < 1 || count > 3 || !read_labels(np, arguments[0], call)) {
    return false;
  }
  bool has_weights = false;
  bool has_least = false;  // an argument may not be passed both by position and by name
  bool is_read = true;
  for (int index = 1; index < count && is_read; ++index) {
    PyObject* name = index < positional ? nullptr : PyTuple_GET_ITEM(names, index - positional);
    const auto is_parameter = [&](const char* parameter, int place) {
      return name == nullptr ? index == place : PyUnicode_CompareWithASCIIString(name, parameter) == 0;
    };
    if (!has_weights && is_parameter("weights", 1)) {
      has_weights = is_read = read_weights(np, arguments[index], call);
    } else if (!has_least && is_parameter("minlength", 2)) {
      has_least = is_read = read_least(arguments[index], call);
    } else {
      is_read = false;
    }
  }
  return is_read;
}

// The largest label as an unsigned number: a negative label is larger than any number of bins.
template <class Label>
[[gnu::always_inline]] inline std::uint64_t largest(const Label* labels, Extent count) {
  std::uint64_t most = 0;
  for (Extent i = 0; i < count; ++i) {
    most = std::max(most, static_cast<std::uint64_t>(static_cast<std::int64_t>(labels[i])));
  }
  return most;
}

// The compiler vectorises this instance.
template <class Label>
[[gnu::noinline]] TAGALONG_AVX2 std::uint64_t largest_in_lanes(const Label* labels, Extent count) {
  return largest(labels, count);
}

template <class Label>
void count_labels(const Label* labels, Extent count, Extent size, std::int64_t* bins) {
  std::fill_n(bins, size, 0);
  Extent i = 0;
  if constexpr (std::is_same_v<Label, std::int64_t>) {
    i = count_few(labels, count, size, bins);
  }
  if (count - i >= kMinForSeveral && size <= kMaxForSeveral) {
    std::array<std::array<std::int64_t, kMaxForSeveral>, kCounters - 1> extra;  // NOLINT(*-member-init): cleared below
    for (auto& counters : extra) {
      std::fill_n(counters.begin(), size, 0);
    }
    for (; i + static_cast<Extent>(kCounters) <= count; i += static_cast<Extent>(kCounters)) {
      ++bins[labels[i]];
      ++extra[0].data()[labels[i + 1]];
      ++extra[1].data()[labels[i + 2]];
      ++extra[2].data()[labels[i + 3]];
    }
    for (const auto& counters : extra) {
      for (Extent bin = 0; bin < size; ++bin) {
        bins[bin] += counters.data()[bin];
      }
    }
  }
  for (; i < count; ++i) {
    ++bins[labels[i]];
  }
}

// False: a sum is a NaN, whose payload depends on the instructions of NumPy's own loop.
template <class Label>
bool add_weights(const Label* labels, const double* weights, Extent count, Extent size, double* bins) {
  std::fill_n(bins, size, 0.0);
  Extent i = 0;
  if constexpr (std::is_same_v<Label, std::int64_t>) {
    i = add_few(labels, weights, count, size, bins);
  }
  for (; i < count; ++i) {
    bins[labels[i]] += weights[i];
  }
  return std::none_of(bins, bins + size, [](double bin) { return std::isnan(bin); });
}

template <class Label>
PyObject* count_bins_of(const Numpy& np, const Call& call) {
  const auto* labels = reinterpret_cast<const Label*>(call.labels->data);
  const std::uint64_t most = has_avx2() ? largest_in_lanes(labels, call.count) : largest(labels, call.count);
  if (most >= static_cast<std::uint64_t>(kMostBins)) {
    return nullptr;
  }
  const Extent size = std::max(static_cast<Extent>(most) + 1, call.least);
  PyObject* descr = Py_NewRef(np.descr[call.weights == nullptr ? kLong : kDouble]);
  PyObject* bins = np.new_from_descr(np.array_type, descr, 1, &size, nullptr, nullptr, 0, nullptr);
  if (bins == nullptr) {
    PyErr_Clear();
    return nullptr;
  }
  char* data = as_array(bins)->data;
  if (call.weights == nullptr) {
    count_labels(labels, call.count, size, reinterpret_cast<std::int64_t*>(data));
  } else if (!add_weights(labels, call.weights, call.count, size, reinterpret_cast<double*>(data))) {
    Py_DECREF(bins);
    return nullptr;
  }
  return bins;
}

PyObject* count_bins_of(const Numpy& np, const Call& call) {
  switch (call.type) {
    case kBool:
    case kUInt8:
      return count_bins_of<std::uint8_t>(np, call);
    case kInt8:
      return count_bins_of<std::int8_t>(np, call);
    case kInt16:
      return count_bins_of<std::int16_t>(np, call);
    case kUInt16:
      return count_bins_of<std::uint16_t>(np, call);
    case kIntC:
      return count_bins_of<std::int32_t>(np, call);
    case kUIntC:
      return count_bins_of<std::uint32_t>(np, call);
    default:
      return count_bins_of<std::int64_t>(np, call);
  }
}

PyObject* counted(const Numpy& np, const Call& call, bool is_read) {
  PyObject* bins = is_read ? count_bins_of(np, call) : nullptr;
  (bins != nullptr ? histogram_tally.computed : histogram_tally.left).add();
  return bins;
}

}  // namespace

PyObject* bincount() {
  if (met_numpy() == nullptr) {
    return nullptr;
  }
  static const Ref* const function = new Ref(dispatcher("bincount"));  // never destroyed
  return function->get();
}

PyObject* count_bins(const Numpy& np, PyObject* const* arguments, int count, PyObject* names) {
  Call call;
  return counted(np, call, read(np, arguments, count, names, &call));
}

PyObject* count_bins(const Numpy& np, PyObject* labels, PyObject* weights, Extent least) {
  Call call;
  call.least = least;
  return counted(np, call, read_labels(np, labels, &call) && (weights == nullptr || read_weights(np, weights, &call)));
}

}  // namespace tagalong::array
