#include "replay/arrays/kernels/functions.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

namespace tagalong::array {

namespace {

using Kind = KnownFunction::Kind;

struct Row {
  const char* name;
  bool is_method;
  KnownFunction function;
};
constexpr std::array<Row, 28> kRows{{{"sum", true, {Kind::kReduction, Reduction::kSum}},
                                     {"prod", true, {Kind::kReduction, Reduction::kProd}},
                                     {"max", true, {Kind::kReduction, Reduction::kMax}},
                                     {"min", true, {Kind::kReduction, Reduction::kMin}},
                                     {"any", true, {Kind::kReduction, Reduction::kAny}},
                                     {"all", true, {Kind::kReduction, Reduction::kAll}},
                                     {"mean", true, {Kind::kReduction, Reduction::kMean}},
                                     {"argmax", true, {Kind::kReduction, Reduction::kArgMax}},
                                     {"argmin", true, {Kind::kReduction, Reduction::kArgMin}},
                                     {"amax", false, {Kind::kReduction, Reduction::kMax}},
                                     {"amin", false, {Kind::kReduction, Reduction::kMin}},
                                     {"clip", true, {Kind::kClip, Reduction::kCount}},
                                     {"where", false, {Kind::kWhere, Reduction::kCount}},
                                     {"astype", true, {Kind::kAstype, Reduction::kCount}},
                                     {"conj", true, {Kind::kConjugate, Reduction::kCount}},
                                     {"conjugate", true, {Kind::kConjugate, Reduction::kCount}},
                                     {"copy", true, {Kind::kCopy, Reduction::kCount}},
                                     {"real", false, {Kind::kRealPart, Reduction::kCount}},
                                     {"imag", false, {Kind::kImaginaryPart, Reduction::kCount}},
                                     {"bincount", false, {Kind::kBins, Reduction::kCount}},
                                     {"roll", false, {Kind::kRoll, Reduction::kCount}},
                                     {"diff", false, {Kind::kDifference, Reduction::kCount}},
                                     {"flip", false, {Kind::kFlip, Reduction::kCount}},
                                     {"round", true, {Kind::kRound, Reduction::kCount}},
                                     {"around", false, {Kind::kRound, Reduction::kCount}},
                                     {"round_", false, {Kind::kRound, Reduction::kCount}},
                                     {"var", true, {Kind::kVariance, Reduction::kCount}},
                                     {"std", true, {Kind::kDeviation, Reduction::kCount}}}};

// Null: no row has this name.
const Row* row_named(PyObject* name) {
  const auto row = std::ranges::find_if(kRows, [name](const Row& each) {
    return PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, each.name) == 0;
  });
  return row == kRows.end() ? nullptr : &*row;
}

// np.conj is a ufunc. np.copy keeps the order of the elements, which the method does not.
bool is_only_method(Kind kind) { return kind == Kind::kAstype || kind == Kind::kConjugate || kind == Kind::kCopy; }

template <class T>
int select(MethodContext* /*context*/, char* const* data, const Extent* dims, const Extent* strides, void* /*aux*/) {
  const char* condition = data[0];
  const char* one = data[1];
  const char* other = data[2];
  char* out = data[3];
  const Extent count = dims[0];  // a local variable: what is written to `out` cannot change it
  constexpr auto kItem = static_cast<Extent>(sizeof(T));
  if (strides[0] == 1 && strides[1] == kItem && strides[2] == kItem && strides[3] == kItem) {
    for (Extent i = 0; i < count; ++i) {  // without branches, so the compiler can vectorise it
      T first;
      T second;
      std::memcpy(&first, one + i * kItem, sizeof(T));
      std::memcpy(&second, other + i * kItem, sizeof(T));
      const auto mask = static_cast<T>(T{0} - static_cast<T>(condition[i] != 0));
      const auto chosen = static_cast<T>((first & mask) | (second & static_cast<T>(~mask)));
      std::memcpy(out + i * kItem, &chosen, sizeof(T));
    }
    return 0;
  }
  for (Extent i = 0; i < count; ++i) {
    T first;
    T second;
    std::memcpy(&first, one, sizeof(T));
    std::memcpy(&second, other, sizeof(T));
    const T chosen = *condition != 0 ? first : second;
    std::memcpy(out, &chosen, sizeof(T));
    condition += strides[0];
    one += strides[1];
    other += strides[2];
    out += strides[3];
  }
  return 0;
}

// For complex128.
int select_wide(MethodContext* /*context*/, char* const* data, const Extent* dims, const Extent* strides,
                void* /*aux*/) {
  constexpr std::size_t kBytes = 16;
  for (Extent i = 0; i < dims[0]; ++i) {
    const char* chosen = data[0][i * strides[0]] != 0 ? data[1] + i * strides[1] : data[2] + i * strides[2];
    std::memcpy(data[3] + i * strides[3], chosen, kBytes);
  }
  return 0;
}

}  // namespace

Ref dispatcher(const char* name) {
  // The names of NumPy 2, and of NumPy 1.
  constexpr std::array kModules{"numpy._core.fromnumeric",    "numpy.core.fromnumeric", "numpy._core.multiarray",
                                "numpy.core.multiarray",      "numpy._core.numeric",    "numpy.core.numeric",
                                "numpy._core.shape_base",     "numpy.core.shape_base",  "numpy.lib._function_base_impl",
                                "numpy.lib.function_base",    "numpy.linalg._linalg",   "numpy.linalg.linalg",
                                "numpy.lib._type_check_impl", "numpy.lib.type_check"};
  for (const char* path : kModules) {
    PyObject* module = imported_module(path);
    Ref function = module == nullptr ? Ref() : Ref::steal(PyObject_GetAttrString(module, name));
    PyErr_Clear();
    if (function && std::string_view(Py_TYPE(function.get())->tp_name).ends_with("_ArrayFunctionDispatcher")) {
      return function;
    }
  }
  return {};
}

KnownFunction known_function(PyObject* callable) {
  static const auto* const known = [] {
    auto* functions = new std::array<Ref, kRows.size()>;  // never destroyed
    for (std::size_t i = 0; i < kRows.size(); ++i) {
      (*functions)[i] = is_only_method(kRows[i].function.kind) ? Ref() : dispatcher(kRows[i].name);
    }
    return functions;
  }();
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (callable != nullptr && (*known)[i].get() == callable) {
      return kRows[i].function;
    }
  }
  return {};
}

KnownFunction known_descriptor(const Numpy& np, PyObject* object) {
  const bool is_method = object != nullptr && Py_TYPE(object) == &PyMethodDescr_Type &&
                         reinterpret_cast<PyDescrObject*>(object)->d_type == np.array_type;
  return is_method ? known_method(reinterpret_cast<PyDescrObject*>(object)->d_name) : KnownFunction();
}

KnownFunction function_named(PyObject* name) {
  const Row* row = row_named(name);
  return row == nullptr ? KnownFunction() : row->function;
}

bool is_composed(KnownFunction function) { return function.kind >= Kind::kRoll; }

bool may_be_alone(KnownFunction function) {
  return function.kind == Kind::kReduction || function.kind == Kind::kVariance || function.kind == Kind::kDeviation;
}

bool may_be_reduction(PyObject* name) { return function_named(name).kind == Kind::kReduction; }

bool gives_view(PyObject* name) {
  constexpr std::array kNames = {"reshape", "ravel", "transpose", "swapaxes", "squeeze", "diagonal"};
  return std::ranges::any_of(kNames,
                             [&](const char* known) { return PyUnicode_CompareWithASCIIString(name, known) == 0; });
}

KnownFunction known_method(PyObject* name) {
  const Row* row = row_named(name);
  return row == nullptr || !row->is_method ? KnownFunction() : row->function;
}

StridedLoop select_loop(std::size_t item_size) {
  switch (item_size) {
    case 1:
      return select<std::uint8_t>;
    case 2:
      return select<std::uint16_t>;
    case 4:
      return select<std::uint32_t>;
    case 8:
      return select<std::uint64_t>;
    default:
      return select_wide;
  }
}

}  // namespace tagalong::array
