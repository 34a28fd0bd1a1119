#include "replay/arrays/kernels/kernel.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <string_view>
#include <unordered_map>

#include "replay/arrays/kernels/complex_loops.h"
#include "replay/arrays/kernels/ufunc_info.h"
#include "replay/arrays/libm/libm_functions.h"
#include "replay/arrays/simd/division.h"
#include "replay/codegen/vector/svml_functions.h"

namespace tagalong::array {

namespace {

// NumPy releases the GIL above 500 elements. For cheap loops that pays only with more elements.
constexpr Extent kGilThreshold = 500;
constexpr Extent kGilThresholdCheap = 8192;
// Bounds the memory of programs that create ufuncs in a loop.
constexpr std::size_t kMaxKernels = 1U << 16U;

bool is_plain(unsigned type) {
  return type == kBool || is_integer(type) || type == kHalf || type == kFloat || type == kDouble;
}
bool is_plain_or_complex(unsigned type) { return is_plain(type) || type == kComplexFloat || type == kComplexDouble; }

// Sums, differences and products only compute; other loops may clear the floating point flags.
void apply_complex_knowledge(Kernel* kernel) {
  using enum UfuncName;
  kernel->splittable = kernel->has_complex = !kernel->requires_pyapi && splits_complex(*kernel);
  kernel->keeps_flags = kernel->splittable && (kernel->known == kAdd || kernel->known == kSubtract ||
                                               kernel->known == kMultiply || kernel->known == kSquare);
  if (kernel->splittable && info(kernel->known).raises == UfuncRaises::kNothing) {
    kernel->float_units = FloatUnits::kVector;
  }
}

void apply_knowledge(const Numpy& np, Kernel* kernel) {
  const auto all_are = [&](bool (*is_such)(unsigned)) {
    return is_such(kernel->out_type) &&
           std::all_of(kernel->in_type.begin(), kernel->in_type.begin() + kernel->nin, is_such);
  };
  // A program's own ufunc may have the name of one of NumPy's.
  const Ref numpys = Ref::steal(PyObject_GetAttrString(np.umath, kernel->name.c_str()));
  PyErr_Clear();
  if (!all_are(is_plain_or_complex) || numpys.get() != kernel->ufunc.get()) {
    return;
  }
  if (!all_are(is_plain)) {
    return apply_complex_knowledge(kernel);
  }
  kernel->splittable = !kernel->requires_pyapi;
  if (kernel->splittable && all_are([](unsigned type) { return type == unsigned{kDouble}; })) {
    const StridedLoop numpys_loop = kernel->loop;
    kernel->loop = svml_loop(kernel->known, numpys_loop, kernel->context, kernel->auxdata);
    if (kernel->loop == numpys_loop) {
      kernel->loop = glibc_loop(kernel->known, numpys_loop, kernel->context, kernel->auxdata);
      kernel->is_glibc = kernel->loop != numpys_loop;
    }
    kernel->alias_safe = kernel->loop != numpys_loop;  // then NumPy's loop is element-wise
  }
  kernel->keeps_flags = has(kernel->known, ufunc_trait::kKeepsFlags);
  const UfuncRaises raises = info(kernel->known).raises;
  if (raises == UfuncRaises::kUnknown) {
    return;
  }
  kernel->alias_safe = true;
  kernel->repeatable = true;
  if (kernel->in_type[0] == kHalf || kernel->out_type == kHalf) {
    return;  // conversions raise flags by hand, and take long
  }
  kernel->gil_threshold = kGilThresholdCheap;
  if (raises == UfuncRaises::kNothing) {
    const bool integers = kernel->in_type[0] != kFloat && kernel->in_type[0] != kDouble && kernel->out_type != kFloat &&
                          kernel->out_type != kDouble;
    kernel->float_units = integers ? FloatUnits::kNone : FloatUnits::kVector;
  }
}

PyObject* weak_type(OperandCode code) {
  switch (code) {
    case kPyInt:
      return reinterpret_cast<PyObject*>(&PyLong_Type);
    case kPyFloat:
      return reinterpret_cast<PyObject*>(&PyFloat_Type);
    default:
      return reinterpret_cast<PyObject*>(&PyComplex_Type);
  }
}

bool is_weak(OperandCode code) { return code == kPyInt || code == kPyFloat || code == kPyComplex; }

using Types = std::array<unsigned, kMaxInputs>;

// (dtype, ..., None), the argument for NumPy's resolution. With `weak`, Python numbers are passed as their Python
// types; otherwise every operand has the dtype in `types`.
Ref resolution_key(const Numpy& np, OperandCodes codes, unsigned nin, const Types& types, bool weak) {
  Ref key = Ref::steal(PyTuple_New(nin + 1));
  if (!key) {
    return key;
  }
  for (unsigned i = 0; i < nin; ++i) {
    PyObject* item = weak && is_weak(codes[i]) ? weak_type(codes[i]) : np.descr[types[i]];
    PyTuple_SET_ITEM(key.get(), i, Ref::create(item).release());
  }
  PyTuple_SET_ITEM(key.get(), nin, Ref::create(Py_None).release());
  return key;
}

// The (dtypes, capsule) pair.
Ref resolve(PyObject* ufunc, const Ref& key) {
  Ref pair = key ? Ref::steal(PyObject_CallMethod(ufunc, "_resolve_dtypes_and_context", "(O)", key.get())) : Ref();
  if (!pair || !PyTuple_Check(pair.get()) || PyTuple_GET_SIZE(pair.get()) != 2 ||
      !PyTuple_Check(PyTuple_GET_ITEM(pair.get(), 0))) {
    return {};
  }
  return pair;
}

// The type numbers of resolved dtypes; false if one is not a canonical numeric dtype.
bool read_types(const Numpy& np, PyObject* pair, unsigned nin, Types* in, unsigned* out) {
  PyObject* dtypes = PyTuple_GET_ITEM(pair, 0);
  if (PyTuple_GET_SIZE(dtypes) != static_cast<Py_ssize_t>(nin) + 1) {
    return false;
  }
  for (unsigned i = 0; i <= nin; ++i) {
    PyObject* descr = PyTuple_GET_ITEM(dtypes, i);
    const auto* found = std::ranges::find(np.descr, descr);
    if (descr == Py_None || found == np.descr.end()) {
      return false;
    }
    (i < nin ? (*in)[i] : *out) = static_cast<unsigned>(found - np.descr.begin());
  }
  return true;
}

bool integer_equals(PyObject* object, const char* name, long expected) {
  const Ref value = Ref::steal(PyObject_GetAttrString(object, name));
  return value && PyLong_AsLong(value.get()) == expected;
}

// Value-based promotion takes the first loop that all operands fit; that is the loop of the arrays' own dtype only
// where no loop mixes dtypes. Loops for times and objects do not count: numbers do not match them.
bool every_loop_is_uniform(PyObject* ufunc, unsigned nin) {
  const Ref types = Ref::steal(PyObject_GetAttrString(ufunc, "types"));
  if (!types || !PyList_Check(types.get())) {
    return false;
  }
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(types.get()); ++i) {
    const char* text = PyUnicode_AsUTF8(PyList_GET_ITEM(types.get(), i));
    if (text == nullptr) {
      return false;
    }
    const std::string_view inputs = std::string_view(text).substr(0, nin);
    if (inputs.find_first_of("mMO") == std::string_view::npos && inputs != "qQ" && inputs != "Qq" &&
        inputs.find_first_not_of(inputs[0]) != std::string_view::npos) {
      return false;
    }
  }
  return true;
}

// The dtypes of eager's loop, for arrays with at least one dimension and scalars. False: unknown.
bool loop_types(const Numpy& np, PyObject* ufunc, OperandCodes codes, unsigned nin, Types* in, unsigned* out) {
  bool scalars = false;
  unsigned array_type = kTypeNumbers;
  Types types{};
  for (unsigned i = 0; i < nin; ++i) {
    types[i] = type_of(codes[i]);
    if (is_array(codes[i])) {
      array_type = types[i];
    } else {
      scalars = true;
    }
  }
  if (array_type == kTypeNumbers) {
    return false;  // a result without dimensions
  }
  if (scalars && !np.weak_scalars) {
    // Value-based promotion: if the value fits the dtype of the arrays (read_scalar checks it), the loop is the one of
    // the arrays' dtype. But long and long long both have 64 bits, so the search may end at either.
    for (unsigned i = 0; i < nin; ++i) {
      if ((is_array(codes[i]) && types[i] != array_type) || types[i] == kLongLong || types[i] == kULongLong) {
        return false;
      }
      types[i] = array_type;
    }
    if (!every_loop_is_uniform(ufunc, nin)) {
      return false;
    }
  }
  const Ref pair = resolve(ufunc, resolution_key(np, codes, nin, types, np.weak_scalars));
  if (!pair || !read_types(np, pair.get(), nin, in, out)) {
    return false;
  }
  // Without a loop of the arrays' dtype (quotients of bools), the value of a scalar selects the loop.
  return !scalars || np.weak_scalars ||
         std::all_of(in->begin(), in->begin() + nin, [&](unsigned type) { return type == array_type; });
}

// Eager computes into a temporary only if the other operand casts safely to its dtype; a Python number counts as the
// array that NumPy makes of it. Before NumPy 2.0 the value decides, and the values that reach a kernel always fit.
unsigned elidable_operands(const Numpy& np, OperandCodes codes, unsigned nin, const Kernel& kernel) {
  unsigned mask = 0;
  for (unsigned i = 0; i < nin; ++i) {
    bool elidable = is_array(codes[i]) && kernel.in_type[i] == kernel.out_type &&
                    type_of(codes[i]) == kernel.out_type && (i == 0 || may_elide_right(np, codes[0]));
    for (unsigned other = 0; elidable && other < nin; ++other) {
      if (other == i || (!is_array(codes[other]) && !np.weak_scalars)) {
        continue;
      }
      elidable = can_cast(np, np.descr[type_of(codes[other])], kernel.out_type, "safe");
    }
    mask |= elidable ? 1U << i : 0U;
  }
  return mask;
}

bool take_loop(PyObject* ufunc, PyObject* pair, Kernel* kernel) {
  Ref capsule = Ref::create(PyTuple_GET_ITEM(pair, 1));
  const Ref filled = Ref::steal(PyObject_CallMethod(ufunc, "_get_strided_loop", "(O)", capsule.get()));
  if (!filled || PyCapsule_IsValid(capsule.get(), kCallInfoCapsule) == 0) {
    return false;
  }
  const auto* info = static_cast<const UfuncCallInfo*>(PyCapsule_GetPointer(capsule.get(), kCallInfoCapsule));
  kernel->loop = info->strided_loop;
  kernel->context = info->context;
  kernel->auxdata = info->auxdata;
  kernel->requires_pyapi = info->requires_pyapi != 0;
  kernel->float_units = info->no_floatingpoint_errors == 0 ? FloatUnits::kAll : FloatUnits::kNone;
  kernel->capsule = std::move(capsule);
  return kernel->loop != nullptr;
}

bool fill(const Numpy& np, PyObject* ufunc, OperandCodes codes, Kernel* kernel) {
  unsigned nin = 0;
  while (nin < kMaxInputs && codes[nin] != kNoOperand) {
    ++nin;
  }
  const Ref signature = Ref::steal(PyObject_GetAttrString(ufunc, "signature"));
  const Ref name = Ref::steal(PyObject_GetAttrString(ufunc, "__name__"));
  if (signature.get() != Py_None || !name || !PyUnicode_Check(name.get()) || nin == 0 ||
      !integer_equals(ufunc, "nin", nin) || !integer_equals(ufunc, "nout", 1)) {
    return false;
  }
  Types types{};
  unsigned out = 0;
  if (!loop_types(np, ufunc, codes, nin, &types, &out)) {
    return false;
  }
  for (unsigned i = 0; i < nin; ++i) {
    if (is_array(codes[i]) && types[i] != type_of(codes[i])) {
      kernel->casts = true;
    }
    kernel->casts_number = kernel->casts_number || (!np.weak_scalars && !is_array(codes[i]) &&
                                                    !can_cast(np, np.descr[type_of(codes[i])], types[i], "same_kind"));
  }
  // Resolves again with the dtypes of the loop, because the context must not refer to Python numbers.
  const Ref pair = resolve(ufunc, resolution_key(np, codes, nin, types, false));
  Types again{};
  unsigned out_again = 0;
  if (!pair || !read_types(np, pair.get(), nin, &again, &out_again) || again != types || out_again != out ||
      !take_loop(ufunc, pair.get(), kernel)) {
    return false;
  }
  const char* text = PyUnicode_AsUTF8(name.get());
  if (text == nullptr) {
    return false;
  }
  kernel->name = text;
  kernel->known = ufunc_named(kernel->name);
  kernel->nin = static_cast<std::uint8_t>(nin);
  std::ranges::copy_n(types.begin(), nin, kernel->in_type.begin());
  kernel->out_type = static_cast<std::uint8_t>(out);
  kernel->out_size = np.item_size[out];
  kernel->out_descr = np.descr[out];
  kernel->gil_threshold = kGilThreshold;
  apply_knowledge(np, kernel);
  kernel->elidable = elidable_operands(np, codes, nin, *kernel);
  const bool is_quotient = kernel->splittable && has(kernel->known, ufunc_trait::kQuotient);
  if (is_quotient && types[0] == kDouble && out == kDouble && !is_array(codes[1])) {
    kernel->loop = quotient_loop(kernel->loop);
  }
  return true;
}

struct Key {
  PyObject* ufunc;
  std::uint32_t codes;
  bool operator==(const Key&) const = default;
};
struct KeyHash {
  std::size_t operator()(const Key& key) const {
    return std::hash<PyObject*>()(key.ufunc) ^ (static_cast<std::size_t>(key.codes) * 0x9E3779B97F4A7C15ULL);
  }
};

}  // namespace

const Kernel& kernel_for(const Numpy& np, PyObject* ufunc, OperandCodes codes) {
  // Never destroyed, because static objects are destroyed after the interpreter. NumPy's ufuncs live as long. A null
  // entry caches that there is no kernel; null entries are erased when the map is full.
  static auto& kernels = *new std::unordered_map<Key, std::unique_ptr<Kernel>, KeyHash>;
  static const Kernel& unusable = *new Kernel;
  const Key key{ufunc, codes.packed};
  if (const auto found = kernels.find(key); found != kernels.end()) {
    return found->second != nullptr ? *found->second : unusable;
  }
  if (kernels.size() >= kMaxKernels) {
    std::erase_if(kernels, [](const auto& entry) { return entry.second == nullptr; });
  }
  if (kernels.size() >= kMaxKernels) {
    return unusable;
  }
  auto kernel = std::make_unique<Kernel>();
  kernel->ufunc = Ref::create(ufunc);
  const bool is_filled = fill(np, ufunc, codes, kernel.get());
  PyErr_Clear();
  kernel->usable = is_filled && !kernel->casts;
  if (!is_filled) {
    // Holds no reference: programs create ufuncs from Python functions (np.frompyfunc), and these must be freed.
    // Another ufunc at the same address is then treated as unusable: a fallback, which is always right.
    kernel = nullptr;
  }
  // Resolution runs Python code of NumPy, so another thread may have added the kernel meanwhile; that one stays.
  const auto& known = kernels.try_emplace(key, std::move(kernel)).first->second;
  return known != nullptr ? *known : unusable;
}

}  // namespace tagalong::array
