#include "replay/arrays/kernels/matmul.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <optional>

#include "replay/arrays/numpy/float_status.h"
#include "replay/arrays/numpy/kept_memory.h"
#include "replay/arrays/numpy/operand.h"
#include "replay/arrays/simd/reduction.h"

namespace tagalong::array {

namespace {

constexpr Extent kGilThreshold = 8192;   // products of two numbers
constexpr std::size_t kStrides = 3 + 6;  // of the outer axis, and of the matrices
constexpr unsigned kTypes = kComplexDouble + 1;
constexpr int kMostDims = 6;

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

// A vector, a matrix or a stack of matrices.
const ArrayFields* operand_of(const Numpy& np, PyObject* object, unsigned* type) {
  const OperandCode code = classify(np, object);
  const ArrayFields* array = is_array(code) ? as_array(object) : nullptr;
  *type = code;
  const bool is_fit = array != nullptr && code < kTypes && array->nd <= kMostDims && (array->flags & kAligned) != 0 &&
                      std::all_of(array->dimensions, array->dimensions + array->nd, [](Extent n) { return n > 0; });
  return is_fit ? array : nullptr;
}

// NumPy gives axes with one element the stride 0.
Extent stride_of(const ArrayFields* array, int axis) { return array->dimensions[axis] == 1 ? 0 : array->strides[axis]; }

// A product of matrices for each index of the outer axes.
struct Product {
  const ArrayFields* left = nullptr;
  const ArrayFields* right = nullptr;
  int outer = 0;                             // number of outer axes
  std::array<Extent, kMostDims + 2> dims{};  // of the result: outer axes first
  int nd = 0;
  std::array<Extent, 3> sizes{};               // rows, inner elements, columns
  std::array<Extent, kMostDims> left_steps{};  // of the outer axes
  std::array<Extent, kMostDims> right_steps{};
  std::array<Extent, kMostDims> out_steps{};
  [[nodiscard]] bool has_rows() const { return left->nd >= 2; }
  [[nodiscard]] bool has_columns() const { return right->nd >= 2; }
  [[nodiscard]] Extent size() const {
    return std::accumulate(dims.begin(), dims.begin() + nd, Extent{1}, std::multiplies<>());
  }
};

// The outer axes, broadcast. False: NumPy might order the axes of the result otherwise.
bool read_outer(Product* product) {
  const int left_outer = std::max(product->left->nd - 2, 0);
  const int right_outer = std::max(product->right->nd - 2, 0);
  product->outer = std::max(left_outer, right_outer);
  Extent last_left = PY_SSIZE_T_MAX;
  Extent last_right = PY_SSIZE_T_MAX;
  for (int axis = 0; axis < product->outer; ++axis) {
    const int of_left = axis - (product->outer - left_outer);
    const int of_right = axis - (product->outer - right_outer);
    const Extent left_extent = of_left < 0 ? 1 : product->left->dimensions[of_left];
    const Extent right_extent = of_right < 0 ? 1 : product->right->dimensions[of_right];
    const Extent extent = std::max(left_extent, right_extent);
    const auto place = static_cast<std::size_t>(axis);
    if (extent < 2 || (left_extent != extent && left_extent != 1) || (right_extent != extent && right_extent != 1)) {
      return false;
    }
    const auto is_in_order = [](Extent step, Extent* last) {
      const bool is_next = step >= 0 && (step == 0 || step < *last);
      *last = step == 0 ? *last : step;
      return is_next;
    };
    product->dims.at(place) = extent;
    product->left_steps.at(place) = left_extent == 1 ? 0 : product->left->strides[of_left];
    product->right_steps.at(place) = right_extent == 1 ? 0 : product->right->strides[of_right];
    if (!is_in_order(product->left_steps.at(place), &last_left) ||
        !is_in_order(product->right_steps.at(place), &last_right)) {
      return false;
    }
  }
  return true;
}

bool read_product(const ArrayFields* left, const ArrayFields* right, Extent item_size, Product* product) {
  product->left = left;
  product->right = right;
  const Extent inner = left->dimensions[left->nd - 1];
  if (inner != right->dimensions[std::max(right->nd - 2, 0)] || !read_outer(product)) {
    return false;
  }
  product->sizes = {product->has_rows() ? left->dimensions[left->nd - 2] : 1, inner,
                    product->has_columns() ? right->dimensions[right->nd - 1] : 1};
  product->nd = product->outer;
  if (product->has_rows()) {
    product->dims.at(static_cast<std::size_t>(product->nd++)) = product->sizes[0];
  }
  if (product->has_columns()) {
    product->dims.at(static_cast<std::size_t>(product->nd++)) = product->sizes[2];
  }
  Extent step = product->sizes[0] * product->sizes[2] * item_size;
  for (int axis = product->outer; axis-- > 0;) {
    product->out_steps.at(static_cast<std::size_t>(axis)) = step;
    step *= product->dims.at(static_cast<std::size_t>(axis));
  }
  return true;
}

// Calls the loop for the innermost outer axis at once.
int run(const Loop& loop, const Product& product, Extent item_size, char* out) {
  const auto last = static_cast<std::size_t>(std::max(product.outer - 1, 0));
  const bool is_stack = product.outer > 0;
  const std::array<Extent, 4> sizes{is_stack ? product.dims.at(last) : 1, product.sizes[0], product.sizes[1],
                                    product.sizes[2]};
  const bool has_rows = product.has_rows();
  const bool has_columns = product.has_columns();
  const ArrayFields* left = product.left;
  const ArrayFields* right = product.right;
  const std::array<Extent, kStrides> strides{is_stack ? product.left_steps.at(last) : 0,
                                             is_stack ? product.right_steps.at(last) : 0,
                                             is_stack ? product.out_steps.at(last) : 0,
                                             has_rows ? stride_of(left, left->nd - 2) : 0,
                                             stride_of(left, left->nd - 1),
                                             stride_of(right, std::max(right->nd - 2, 0)),
                                             has_columns ? stride_of(right, right->nd - 1) : 0,
                                             has_rows && sizes[1] > 1 ? item_size * sizes[3] : 0,
                                             has_columns && sizes[3] > 1 ? item_size : 0};
  std::array<Extent, kMostDims> at{};
  std::array<char*, 3> data{left->data, right->data, out};
  for (;;) {
    std::array<char*, 3> given = data;  // the loop moves them
    if (const int status = loop.loop(loop.context, given.data(), sizes.data(), strides.data(), loop.auxdata)) {
      return status;
    }
    int axis = product.outer - 2;
    for (; axis >= 0; --axis) {
      const auto place = static_cast<std::size_t>(axis);
      const Extent moved = ++at.at(place) < product.dims.at(place) ? 1 : 1 - product.dims.at(place);
      data[0] += moved * product.left_steps.at(place);
      data[1] += moved * product.right_steps.at(place);
      data[2] += moved * product.out_steps.at(place);
      if (moved == 1) {
        break;
      }
      at.at(place) = 0;
    }
    if (axis < 0) {
      return 0;
    }
  }
}

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
  const Extent item_size = two == nullptr ? 0 : np.item_size.at(type);
  Product product;
  if (two == nullptr || type != other || !read_product(one, two, item_size, &product)) {
    return std::nullopt;
  }
  const Loop& loop = loop_of(np, type);
  if (loop.loop == nullptr) {
    return std::nullopt;
  }
  Accumulator number{};
  static_assert(sizeof(number.bytes) >= 2 * sizeof(double));
  Ref made;
  char* out = number.bytes;
  const Extent size = product.size();
  if (product.nd > 0) {
    const KeptMemory kept(np, static_cast<std::size_t>(size * item_size));
    made = Ref::steal(np.new_from_descr(np.array_type, Py_NewRef(np.descr.at(type)), product.nd, product.dims.data(),
                                        nullptr, nullptr, 0, nullptr));
    if (!made) {
      return -1;
    }
    out = as_array(made.get())->data;
  }
  const FloatUnits units = loop.reports ? FloatUnits::kAll : FloatUnits::kNone;
  forget_float_status(units);
  int status = 0;
  if (size > kGilThreshold / product.sizes[1]) {
    const Ref keep_left = Ref::create(left);  // whatever other threads do to the caller's variables
    const Ref keep_right = Ref::create(right);
    PyThreadState* thread = PyEval_SaveThread();
    status = run(loop, product, item_size, out);
    PyEval_RestoreThread(thread);
  } else {
    status = run(loop, product, item_size, out);
  }
  const int errors = collect_float_status(units);
  if (status != 0 || PyErr_Occurred() != nullptr) {
    return -1;
  }
  *result = product.nd > 0 ? std::move(made) : Ref::steal(make_scalar(np, type, number));
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
