#include "replay/arrays/kernels/matmul.h"

#include <algorithm>
#include <array>
#include <optional>

#include "replay/arrays/numpy/float_status.h"
#include "replay/arrays/numpy/kept_memory.h"
#include "replay/arrays/numpy/operand.h"
#include "replay/arrays/simd/reduction.h"

namespace tagalong::array {

namespace {

constexpr Extent kGilThreshold = 8192;   // products of two numbers
constexpr std::size_t kStrides = 3 + 6;  // of the outer loop, which runs once, and of the matrices
constexpr unsigned kTypes = kComplexDouble + 1;

struct Loop {
  bool is_known = false;
  StridedLoop loop = nullptr;  // null: there is none
  MethodContext* context = nullptr;
  void* auxdata = nullptr;
  bool reports = true;
  Ref capsule;
};

bool is_canonical(PyObject* dtypes, PyObject* descr) {
  if (!PyTuple_Check(dtypes) || PyTuple_GET_SIZE(dtypes) != 3) {
    return false;
  }
  PyObject** items = PySequence_Fast_ITEMS(dtypes);
  return std::all_of(items, items + 3, [descr](PyObject* item) { return item == descr; });
}

void find(const Numpy& np, unsigned type, Loop* loop) {
  PyObject* ufunc = matmul_ufunc(np);
  PyObject* descr = np.descr.at(type);
  const Ref pair =
      ufunc == nullptr || descr == nullptr
          ? Ref()
          : Ref::steal(PyObject_CallMethod(ufunc, "_resolve_dtypes_and_context", "((OOO))", descr, descr, Py_None));
  if (!pair || !PyTuple_Check(pair.get()) || PyTuple_GET_SIZE(pair.get()) != 2 ||
      !is_canonical(PyTuple_GET_ITEM(pair.get(), 0), descr)) {
    return;
  }
  Ref capsule = Ref::create(PyTuple_GET_ITEM(pair.get(), 1));
  const Ref filled = Ref::steal(PyObject_CallMethod(ufunc, "_get_strided_loop", "(O)", capsule.get()));
  if (!filled || PyCapsule_IsValid(capsule.get(), kCallInfoCapsule) == 0) {
    return;
  }
  const auto* info = static_cast<const UfuncCallInfo*>(PyCapsule_GetPointer(capsule.get(), kCallInfoCapsule));
  if (info->requires_pyapi == 0) {
    *loop = {.is_known = true,
             .loop = info->strided_loop,
             .context = info->context,
             .auxdata = info->auxdata,
             .reports = info->no_floatingpoint_errors == 0,
             .capsule = std::move(capsule)};
  }
}

const Loop& loop_of(const Numpy& np, unsigned type) {
  static auto* const loops = new std::array<Loop, kTypes>;  // never destroyed
  Loop& loop = loops->at(type);
  if (!loop.is_known) {
    find(np, type, &loop);
    loop.is_known = true;
    PyErr_Clear();
  }
  return loop;
}

// A vector or a matrix; a vector has one row or one column.
const ArrayFields* operand_of(const Numpy& np, PyObject* object, unsigned* type) {
  const OperandCode code = classify(np, object);
  const ArrayFields* array = is_array(code) ? as_array(object) : nullptr;
  *type = code;
  const bool is_fit = array != nullptr && code < kTypes && array->nd <= 2 && (array->flags & kAligned) != 0 &&
                      std::all_of(array->dimensions, array->dimensions + array->nd, [](Extent n) { return n > 0; });
  return is_fit ? array : nullptr;
}

// NumPy gives axes with one element the stride 0.
Extent stride_of(const ArrayFields* array, int axis) { return array->dimensions[axis] == 1 ? 0 : array->strides[axis]; }

}  // namespace

PyObject* matmul_ufunc(const Numpy& np) {
  static PyObject* const ufunc = [&np] {
    Ref found = Ref::steal(PyObject_GetAttrString(np.umath, "matmul"));
    PyErr_Clear();
    return found && Py_TYPE(found.get()) == np.ufunc_type ? found.release() : nullptr;
  }();
  return ufunc;
}

namespace {

// The floating point errors of the product, without a report. Negative: an exception is set. Nothing: the general call
// is needed.
std::optional<int> multiply(const Numpy& np, PyObject* left, PyObject* right, Ref* result) {
  unsigned type = 0;
  unsigned other = 0;
  const ArrayFields* one = operand_of(np, left, &type);
  const ArrayFields* two = one == nullptr ? nullptr : operand_of(np, right, &other);
  if (two == nullptr || type != other || one->dimensions[one->nd - 1] != two->dimensions[0]) {
    return std::nullopt;
  }
  const Loop& loop = loop_of(np, type);
  if (loop.loop == nullptr) {
    return std::nullopt;
  }
  const bool has_rows = one->nd == 2;
  const bool has_columns = two->nd == 2;
  const std::array<Extent, 4> sizes{1, has_rows ? one->dimensions[0] : 1, two->dimensions[0],
                                    has_columns ? two->dimensions[1] : 1};
  const std::array<Extent, 2> dims{has_rows ? sizes[1] : sizes[3], sizes[3]};
  const int nd = (has_rows ? 1 : 0) + (has_columns ? 1 : 0);
  const Extent item_size = np.item_size.at(type);
  Accumulator number{};
  static_assert(sizeof(number.bytes) >= 2 * sizeof(double));
  Ref made;
  char* out = number.bytes;
  if (nd > 0) {
    const KeptMemory kept(np, static_cast<std::size_t>(sizes[1] * sizes[3] * item_size));
    made = Ref::steal(
        np.new_from_descr(np.array_type, Py_NewRef(np.descr.at(type)), nd, dims.data(), nullptr, nullptr, 0, nullptr));
    if (!made) {
      return -1;
    }
    out = as_array(made.get())->data;
  }
  const std::array<Extent, kStrides> strides{0,
                                             0,
                                             0,
                                             has_rows ? stride_of(one, 0) : 0,
                                             stride_of(one, one->nd - 1),
                                             stride_of(two, 0),
                                             has_columns ? stride_of(two, 1) : 0,
                                             has_rows && sizes[1] > 1 ? item_size * sizes[3] : 0,
                                             has_columns && sizes[3] > 1 ? item_size : 0};
  const std::array<char*, 3> data{one->data, two->data, out};
  const auto run = [&] { return loop.loop(loop.context, data.data(), sizes.data(), strides.data(), loop.auxdata); };
  const FloatUnits units = loop.reports ? FloatUnits::kAll : FloatUnits::kNone;
  forget_float_status(units);
  int status = 0;
  if (sizes[1] * sizes[2] * sizes[3] > kGilThreshold) {
    const Ref keep_left = Ref::create(left);  // whatever other threads do to the caller's variables
    const Ref keep_right = Ref::create(right);
    PyThreadState* thread = PyEval_SaveThread();
    status = run();
    PyEval_RestoreThread(thread);
  } else {
    status = run();
  }
  const int errors = collect_float_status(units);
  if (status != 0 || PyErr_Occurred() != nullptr) {
    return -1;
  }
  *result = nd > 0 ? std::move(made) : Ref::steal(make_scalar(np, type, number));
  return *result ? errors : -1;
}

}  // namespace

bool multiply_matrices(const Numpy& np, PyObject* left, PyObject* right, Ref* result, const BeforeReport* before) {
  const std::optional<int> errors = multiply(np, left, right, result);
  if (errors && (*errors < 0 || (*errors > 0 && !report_float_errors(np, "matmul", *errors, before)))) {
    *result = Ref();
  }
  return errors.has_value();
}

bool multiply_quietly(const Numpy& np, PyObject* left, PyObject* right, Ref* result) {
  const std::optional<int> errors = multiply(np, left, right, result);
  if (errors == -1) {
    PyErr_Clear();
  }
  if (errors != 0) {
    *result = Ref();
  }
  return errors == 0;
}

}  // namespace tagalong::array
