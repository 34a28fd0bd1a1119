#include "replay/arrays/numpy/numpy_abi.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "replay/arrays/numpy/elision.h"
#include "replay/arrays/numpy/freed_memory.h"
#include "rewriter/base/dicts.h"
#include "version/threads.h"

namespace tagalong::array {

namespace {

// Slots of the two function tables. NumPy never reuses a slot number.
constexpr std::size_t kSlotNewFromDescr = 94;
constexpr std::size_t kSlotSetHandler = 304;
constexpr std::size_t kSlotGetHandler = 305;
constexpr std::size_t kSlotDefaultHandler = 306;
constexpr std::size_t kSlotGetPyValues = 25;
constexpr std::size_t kSlotHandleFloatErrors = 29;
constexpr std::size_t kSlotGiveFloatErrors = 46;

struct DtypeRow {
  TypeNumber type;
  const char* code;
};
constexpr std::array kDtypes{DtypeRow{kBool, "?"},
                             DtypeRow{kInt8, "b"},
                             DtypeRow{kUInt8, "B"},
                             DtypeRow{kInt16, "h"},
                             DtypeRow{kUInt16, "H"},
                             DtypeRow{kIntC, "i"},
                             DtypeRow{kUIntC, "I"},
                             DtypeRow{kLong, "l"},
                             DtypeRow{kULong, "L"},
                             DtypeRow{kLongLong, "q"},
                             DtypeRow{kULongLong, "Q"},
                             DtypeRow{kFloat, "f"},
                             DtypeRow{kDouble, "d"},
                             DtypeRow{kLongDouble, "g"},
                             DtypeRow{kComplexFloat, "F"},
                             DtypeRow{kComplexDouble, "D"},
                             DtypeRow{kComplexLongDouble, "G"},
                             DtypeRow{kHalf, "e"}};

Ref attribute(PyObject* object, const char* name) { return Ref::steal(PyObject_GetAttrString(object, name)); }

long long integer_attribute(PyObject* object, const char* name) {
  const Ref value = attribute(object, name);
  return value ? PyLong_AsLongLong(value.get()) : -1;
}

void* const* function_table(PyObject* module, const char* name) {
  const Ref capsule = attribute(module, name);
  return capsule ? static_cast<void* const*>(PyCapsule_GetPointer(capsule.get(), nullptr)) : nullptr;
}

template <class Function>
void take_slot(void* const* table, std::size_t slot, Function* function) {
  *function = reinterpret_cast<Function>(table[slot]);
}

bool read_version(PyObject* module, Numpy* np) {
  const Ref text = attribute(module, "__version__");
  const char* version = text && PyUnicode_Check(text.get()) ? PyUnicode_AsUTF8(text.get()) : nullptr;
  if (version == nullptr) {
    return false;
  }
  char* rest = nullptr;
  np->major = static_cast<int>(std::strtol(version, &rest, 10));
  if (*rest != '.') {
    return false;
  }
  np->minor = static_cast<int>(std::strtol(rest + 1, nullptr, 10));
  return (np->major == 1 && np->minor >= 24) || np->major == 2;
}

// NumPy 1.24 to 1.26 can use either promotion; only the default one is known here.
bool promotion_is_known(PyObject* module, Numpy* np) {
  np->weak_scalars = np->major >= 2;
  if (np->weak_scalars) {
    return true;
  }
  const Ref state = Ref::steal(PyObject_CallMethod(module, "_get_promotion_state", nullptr));
  return state && PyUnicode_Check(state.get()) && PyUnicode_CompareWithASCIIString(state.get(), "legacy") == 0;
}

// Checks a dtype's leading fields, and where its scalar type keeps the value; takes its canonical instance.
bool take_dtype(PyObject* module, const DtypeRow& row, Numpy* np) {
  Ref descr = Ref::steal(PyObject_CallMethod(module, "dtype", "s", row.code));
  if (!descr || reinterpret_cast<DescrFields*>(descr.get())->type_num != row.type ||
      integer_attribute(descr.get(), "num") != row.type) {
    return false;
  }
  const Ref type = attribute(descr.get(), "type");
  const Ref one = type ? Ref::steal(PyObject_CallFunction(type.get(), "i", 1)) : Ref();
  const Ref bytes = one ? Ref::steal(PyObject_CallMethod(one.get(), "tobytes", nullptr)) : Ref();
  if (!bytes || !PyBytes_Check(bytes.get()) || !PyType_Check(type.get())) {
    return false;
  }
  const auto size = static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.get()));
  // The padding of an extended double is undefined.
  const std::size_t significant = row.type == kLongDouble || row.type == kComplexLongDouble ? 10 : size;
  if (size > 32 || integer_attribute(descr.get(), "itemsize") != static_cast<long long>(size) ||
      std::memcmp(scalar_value(one.get()), PyBytes_AS_STRING(bytes.get()), std::min(size, significant)) != 0) {
    return false;
  }
  np->item_size[row.type] = static_cast<std::uint8_t>(size);
  np->scalar_type[row.type] = reinterpret_cast<PyTypeObject*>(Ref(type).release());
  np->descr[row.type] = descr.release();
  return true;
}

bool take_truth(Numpy* np) {
  for (std::size_t i = 0; i < np->truth.size(); ++i) {
    const Ref made = Ref::steal(PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(np->scalar_type[kBool]),
                                                             i == 0 ? Py_False : Py_True, nullptr));
    const Ref again = made
                          ? Ref::steal(PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(np->scalar_type[kBool]),
                                                                    i == 0 ? Py_False : Py_True, nullptr))
                          : Ref();
    if (!made || made.get() != again.get()) {
      return false;
    }
    np->truth[i] = Ref(made).release();
  }
  return true;
}

bool take_ufuncs(PyObject* umath, Numpy* np) {
  for (std::size_t i = 0; i < kUfuncNames.size(); ++i) {
    if (!has(static_cast<UfuncName>(i), ufunc_trait::kOperator)) {
      continue;
    }
    Ref ufunc = attribute(umath, kUfuncNames[i]);
    if (!ufunc || Py_TYPE(ufunc.get()) != np->ufunc_type) {
      return false;
    }
    np->ufuncs[i] = ufunc.release();
  }
  return true;
}

bool take_functions(PyObject* umath, Numpy* np) {
  void* const* array_table = function_table(umath, "_ARRAY_API");
  void* const* ufunc_table = function_table(umath, "_UFUNC_API");
  if (array_table == nullptr || ufunc_table == nullptr) {
    return false;
  }
  take_slot(array_table, kSlotNewFromDescr, &np->new_from_descr);
  take_slot(array_table, kSlotSetHandler, &np->set_handler);
  take_slot(array_table, kSlotGetHandler, &np->get_handler);
  np->default_handler = *static_cast<PyObject* const*>(array_table[kSlotDefaultHandler]);
  if (np->major >= 2) {
    take_slot(ufunc_table, kSlotGiveFloatErrors, &np->give_float_errors);
  } else {
    take_slot(ufunc_table, kSlotGetPyValues, &np->get_py_values);
    take_slot(ufunc_table, kSlotHandleFloatErrors, &np->handle_float_errors);
  }
  return true;
}

// Compares one array's mirrored fields with what Python shows.
bool fields_agree(PyObject* array, PyObject* base, const Numpy& np) {
  const ArrayFields* fields = as_array(array);
  const Ref interface = attribute(array, "__array_interface__");
  const Ref shape = attribute(array, "shape");
  const Ref strides = attribute(array, "strides");
  const Ref flags = attribute(array, "flags");
  PyObject* data = interface ? item_of(interface.get(), "data") : nullptr;
  if (data == nullptr || !shape || !strides || !flags || PyTuple_GET_SIZE(shape.get()) != fields->nd) {
    return false;
  }
  for (int i = 0; i < fields->nd; ++i) {
    if (PyLong_AsLongLong(PyTuple_GET_ITEM(shape.get(), i)) != fields->dimensions[i] ||
        PyLong_AsLongLong(PyTuple_GET_ITEM(strides.get(), i)) != fields->strides[i]) {
      return false;
    }
  }
  return PyLong_AsVoidPtr(PyTuple_GET_ITEM(data, 0)) == fields->data && fields->base == base &&
         fields->descr == np.descr[kInt16] && integer_attribute(flags.get(), "num") == fields->flags &&
         fields->weakreflist == nullptr;
}

bool layout_agrees(PyObject* module, const Numpy& np) {
  const Ref array = Ref::steal(PyObject_CallMethod(module, "zeros", "(ii)s", 2, 3, "h"));
  if (!array || Py_TYPE(array.get()) != np.array_type || !fields_agree(array.get(), nullptr, np)) {
    return false;
  }
  const Ref view = attribute(array.get(), "T");
  if (!view || !fields_agree(view.get(), array.get(), np)) {
    return false;
  }
  const Ref weak = Ref::steal(PyWeakref_NewRef(array.get(), nullptr));
  return weak && as_array(array.get())->weakreflist == weak.get() &&
         np.array_type->tp_weaklistoffset == offsetof(ArrayFields, weakreflist);
}

bool load(PyObject* module, PyObject* umath, Numpy* np) {
  const Ref array_type = attribute(module, "ndarray");
  const Ref ufunc_type = attribute(module, "ufunc");
  const Ref can_cast = attribute(module, "can_cast");
  if (!array_type || !ufunc_type || !can_cast || !PyType_Check(array_type.get()) || !PyType_Check(ufunc_type.get())) {
    return false;
  }
  np->array_type = reinterpret_cast<PyTypeObject*>(Ref(array_type).release());
  np->ufunc_type = reinterpret_cast<PyTypeObject*>(Ref(ufunc_type).release());
  np->can_cast = Ref(can_cast).release();
  np->umath = Ref::create(umath).release();
  if (!read_version(module, np) || !promotion_is_known(module, np)) {
    return false;
  }
  for (const DtypeRow& row : kDtypes) {
    if (!take_dtype(module, row, np)) {
      return false;
    }
  }
  return take_truth(np) && take_ufuncs(umath, np) && take_functions(umath, np) && layout_agrees(module, *np);
}

// While the import of a module is running, its __spec__ says so.
bool is_initialising(PyObject* module) {
  const Ref spec = attribute(module, "__spec__");
  const Ref value = spec ? attribute(spec.get(), "_initializing") : Ref();
  PyErr_Clear();
  return value && PyObject_IsTrue(value.get()) == 1;
}

}  // namespace

PyObject* imported_module(const char* name) {
  return version::is_finalizing() ? nullptr : item_of(PyImport_GetModuleDict(), name);
}

namespace detail {

const Numpy* ready_numpy = nullptr;

const Numpy* find_numpy() {
  static bool refused = false;
  if (refused || PyErr_Occurred() != nullptr) {
    return nullptr;
  }
  PyObject* module = imported_module("numpy");
  PyObject* umath = imported_module("numpy._core._multiarray_umath");
  umath = umath != nullptr ? umath : imported_module("numpy.core._multiarray_umath");
  if (module == nullptr || umath == nullptr || !PyModule_Check(module) || is_initialising(module)) {
    return nullptr;
  }
  const Ref keep = Ref::create(module);
  const Ref keep_umath = Ref::create(umath);
  auto np = std::make_unique<Numpy>();
  const bool good = load(module, umath, np.get());
  PyErr_Clear();
  if (good) {
    const Elides elides = probe_elision(*np);
    np->elides = elides.ever;
    np->elides_after_numpy_scalar = elides.after_numpy_scalar;
  }
  PyErr_Clear();
  if (ready_numpy == nullptr && good) {
    ready_numpy = np.release();  // never freed, like the references that it holds
    keep_freed_memory_if_enabled();
  }
  refused = ready_numpy == nullptr;
  return ready_numpy;
}

}  // namespace detail

bool can_cast(const Numpy& np, PyObject* from, unsigned to, const char* casting) {
  const Ref rule = Ref::steal(PyUnicode_FromString(casting));
  const Ref can =
      rule ? Ref::steal(PyObject_CallFunctionObjArgs(np.can_cast, from, np.descr[to], rule.get(), nullptr)) : Ref();
  PyErr_Clear();
  return can && can.get() == Py_True;
}

namespace {

// What NumPy 1.x reads from the errstate before each operation. False: an exception is set.
bool take_py_values(const Numpy& np, const char* ufunc_name, int* buffer_size, int* mask, Ref* error_object) {
  PyObject* object = nullptr;
  const int status = np.get_py_values(ufunc_name, buffer_size, mask, &object);
  *error_object = Ref::steal(object);
  return status >= 0;
}

}  // namespace

bool float_error_mask(const Numpy& np, const char* ufunc_name, int* mask, Ref* error_object) {
  int buffer_size = 0;
  return take_py_values(np, ufunc_name, &buffer_size, mask, error_object);
}

Extent buffer_size(const Numpy& np) {
  constexpr int kDefault = 8192;
  int size = kDefault;
  int mask = 0;
  Ref error_object;
  if (np.get_py_values != nullptr && !take_py_values(np, "region", &size, &mask, &error_object)) {
    PyErr_Clear();
    return kDefault;
  }
  return size;
}

bool report_float_errors(const Numpy& np, const char* ufunc_name, int errors, const BeforeReport* before) {
  if (before != nullptr && !before->show(before->context)) {
    return false;
  }
  if (np.give_float_errors != nullptr) {
    return np.give_float_errors(ufunc_name, errors) == 0;
  }
  int mask = 0;
  Ref error_object;
  if (!float_error_mask(np, ufunc_name, &mask, &error_object)) {
    return false;
  }
  int first = 1;
  return np.handle_float_errors(mask, error_object.get(), errors, &first) == 0;
}

}  // namespace tagalong::array
