// Guards on arguments: type, identity, equality, and relations between two arguments.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "replay/arrays/numpy/numpy_abi.h"
#include "rewriter/base/errors.h"
#include "rewriter/base/once.h"
#include "rewriter/cpython/objects/dicts.h"
#include "runtime/specialize/guard_types.h"
#include "runtime/specialize/ready_guards.h"

namespace tagalong::runtime {
namespace {

template <std::size_t count, class... Targets>
bool parse(PyObject* args, PyObject* kwargs, const char* format, const std::array<const char*, count>& names,
           Targets... targets) {
  return PyArg_ParseTupleAndKeywords(args, kwargs, format, const_cast<char**>(names.data()), targets...) != 0;
}

struct ArgumentState : GuardState {
  Argument argument;
  int init(PyFunctionObject* function) { return argument.find_in(function); }
};

template <class Condition>
PyObject* place_of(PyObject* self, void* /*closure*/) {
  return ReadyType<Condition>::of(self).argument.place();
}

// One type or several become a tuple; null with an exception set.
Ref tuple_of_types(PyObject* types) {
  Ref tuple = PyType_Check(types) ? Ref::steal(PyTuple_Pack(1, types)) : Ref::steal(PySequence_Tuple(types));
  for (Py_ssize_t index = 0; tuple && index < PyTuple_GET_SIZE(tuple.get()); ++index) {
    PyObject* type = PyTuple_GET_ITEM(tuple.get(), index);
    if (!PyType_Check(type)) {
      PyErr_Format(PyExc_TypeError, "expected a type, got %.200s", Py_TYPE(type)->tp_name);
      return {};
    }
  }
  if (tuple && PyTuple_GET_SIZE(tuple.get()) == 0) {
    PyErr_SetString(PyExc_ValueError, "at least one type is needed");
    return {};
  }
  return tuple;
}

struct ArgType : ArgumentState {
  static constexpr const char* kName = "ArgType";
  static constexpr const char* kDocumentation =
      "ArgType(index, types)\n--\n\nThe argument has exactly this type, or one of these types; instances of subclasses "
      "do "
      "not count.\n\n`index` is its place among the positional arguments or the name of its parameter.";
  Ref types;
  bool set(PyObject* args, PyObject* kwargs) {
    PyObject* place = nullptr;
    PyObject* wanted = nullptr;
    if (!parse(args, kwargs, "OO:ArgType", std::array<const char*, 3>{"index", "types", nullptr}, &place, &wanted) ||
        !argument.set(place)) {
      return false;
    }
    types = tuple_of_types(wanted);
    return static_cast<bool>(types);
  }
  [[nodiscard]] int check(const Arguments& arguments) const {
    PyObject* value = argument.in(arguments);
    if (value == nullptr) {
      return TAGALONG_NOT_NOW;
    }
    PyObject* const* first = &PyTuple_GET_ITEM(types.get(), 0);
    const Py_ssize_t count = PyTuple_GET_SIZE(types.get());
    return std::find(first, first + count, reinterpret_cast<PyObject*>(Py_TYPE(value))) != first + count
               ? TAGALONG_USE
               : TAGALONG_NOT_NOW;
  }
  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(types.get());
    return 0;
  }
  static PyGetSetDef* attributes() {
    static std::array<PyGetSetDef, 3> table = {{
        {"index", place_of<ArgType>, nullptr, "which argument", nullptr},
        {"types", attribute<ArgType, &ArgType::types>, nullptr, "the types allowed, as a tuple", nullptr},
        {},
    }};
    return table.data();
  }
};

struct Type : ArgumentState {
  static constexpr const char* kName = "Type";
  static constexpr const char* kDocumentation =
      "Type(index, type)\n--\n\nThe argument has exactly this type, and neither the type nor one of its bases has been "
      "changed since: their attributes are what they were.\n\nOnce the type has been changed, the guard never holds "
      "again.";
  Ref type;
  unsigned version = 0;
  bool set(PyObject* args, PyObject* kwargs) {
    PyObject* place = nullptr;
    PyObject* wanted = nullptr;
    if (!parse(args, kwargs, "OO!:Type", std::array<const char*, 3>{"index", "type", nullptr}, &place, &PyType_Type,
               &wanted) ||
        !argument.set(place)) {
      return false;
    }
    type = Ref::create(wanted);
    version = versioned(reinterpret_cast<PyTypeObject*>(wanted));
    return true;
  }
  [[nodiscard]] int check(const Arguments& arguments) const {
    if (cpython::type_version(reinterpret_cast<PyTypeObject*>(type.get())) != version || version == 0) {
      return TAGALONG_NEVER;
    }
    PyObject* value = argument.in(arguments);
    return value != nullptr && reinterpret_cast<PyObject*>(Py_TYPE(value)) == type.get() ? TAGALONG_USE
                                                                                         : TAGALONG_NOT_NOW;
  }
  int init(PyFunctionObject* function) {
    const bool is_changed = cpython::type_version(reinterpret_cast<PyTypeObject*>(type.get())) != version;
    return is_changed || version == 0 ? TAGALONG_NEVER : argument.find_in(function);
  }
  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(type.get());
    return 0;
  }
  static PyGetSetDef* attributes() {
    static std::array<PyGetSetDef, 3> table = {{
        {"index", place_of<Type>, nullptr, "which argument", nullptr},
        {"type", attribute<Type, &Type::type>, nullptr, "the type", nullptr},
        {},
    }};
    return table.data();
  }
};

struct Identity : ArgumentState {
  static constexpr const char* kName = "Identity";
  static constexpr const char* kDocumentation = "Identity(index, object)\n--\n\nThe argument is this very object.";
  Ref object;
  bool set(PyObject* args, PyObject* kwargs) {
    PyObject* place = nullptr;
    PyObject* wanted = nullptr;
    if (!parse(args, kwargs, "OO:Identity", std::array<const char*, 3>{"index", "object", nullptr}, &place, &wanted) ||
        !argument.set(place)) {
      return false;
    }
    object = Ref::create(wanted);
    return true;
  }
  [[nodiscard]] int check(const Arguments& arguments) const {
    return argument.in(arguments) == object.get() ? TAGALONG_USE : TAGALONG_NOT_NOW;
  }
  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(object.get());
    return 0;
  }
  static PyGetSetDef* attributes() {
    static std::array<PyGetSetDef, 3> table = {{
        {"index", place_of<Identity>, nullptr, "which argument", nullptr},
        {"object", attribute<Identity, &Identity::object>, nullptr, "the object", nullptr},
        {},
    }};
    return table.data();
  }
};

bool is_number(PyObject* object) { return PyLong_CheckExact(object) || PyFloat_CheckExact(object); }

// Whether comparing these objects runs no user code.
bool is_plain(PyObject* object, int depth) {
  constexpr int kMostDepth = 100;
  if (PyTuple_CheckExact(object)) {
    if (depth >= kMostDepth) {
      return false;
    }
    PyObject* const* first = &PyTuple_GET_ITEM(object, 0);
    return std::all_of(first, first + PyTuple_GET_SIZE(object),
                       [depth](PyObject* item) { return is_plain(item, depth + 1); });
  }
  return object == Py_None || object == Py_Ellipsis || PyBool_Check(object) || is_number(object) ||
         PyComplex_CheckExact(object) || PyUnicode_CheckExact(object) || PyBytes_CheckExact(object);
}

bool has_same_bits(double one, double other) {
  return std::bit_cast<std::uint64_t>(one) == std::bit_cast<std::uint64_t>(other);
}

// The same type and the same value, down to the sign of a zero and the bits of a nan. `one` is plain.
bool is_same_value(PyObject* one, PyObject* other) {
  if (one == other) {
    return true;
  }
  if (Py_TYPE(one) != Py_TYPE(other)) {
    return false;
  }
  if (PyFloat_CheckExact(one)) {
    return has_same_bits(PyFloat_AS_DOUBLE(one), PyFloat_AS_DOUBLE(other));
  }
  if (PyComplex_CheckExact(one)) {
    const Py_complex left = PyComplex_AsCComplex(one);
    const Py_complex right = PyComplex_AsCComplex(other);
    return has_same_bits(left.real, right.real) && has_same_bits(left.imag, right.imag);
  }
  if (PyTuple_CheckExact(one)) {
    bool is_same = PyTuple_GET_SIZE(one) == PyTuple_GET_SIZE(other);
    for (Py_ssize_t index = 0; is_same && index < PyTuple_GET_SIZE(one); ++index) {
      is_same = is_same_value(PyTuple_GET_ITEM(one, index), PyTuple_GET_ITEM(other, index));
    }
    return is_same;
  }
  if (!PyLong_CheckExact(one) && !PyUnicode_CheckExact(one) && !PyBytes_CheckExact(one)) {
    return false;
  }
  const int answer = PyObject_RichCompareBool(one, other, Py_EQ);
  if (answer < 0) {
    PyErr_Clear();
  }
  return answer == 1;
}

struct Value : ArgumentState {
  static constexpr const char* kName = "Value";
  static constexpr const char* kDocumentation =
      "Value(index, value)\n--\n\nThe argument has the type and the value of this number, string, bytes, bool, None or "
      "tuple of such; floats are compared bit by bit.\n\nOther objects, which may have an __eq__ of their own, are a "
      "TypeError: see Identity.";
  Ref value;
  bool set(PyObject* args, PyObject* kwargs) {
    PyObject* place = nullptr;
    PyObject* wanted = nullptr;
    if (!parse(args, kwargs, "OO:Value", std::array<const char*, 3>{"index", "value", nullptr}, &place, &wanted) ||
        !argument.set(place)) {
      return false;
    }
    if (!is_plain(wanted, 0)) {
      PyErr_Format(PyExc_TypeError, "a value of type %.200s cannot be guarded; Identity guards objects",
                   Py_TYPE(wanted)->tp_name);
      return false;
    }
    value = Ref::create(wanted);
    return true;
  }
  [[nodiscard]] int check(const Arguments& arguments) const {
    PyObject* found = argument.in(arguments);
    return found != nullptr && is_same_value(value.get(), found) ? TAGALONG_USE : TAGALONG_NOT_NOW;
  }
  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(value.get());
    return 0;
  }
  static PyGetSetDef* attributes() {
    static std::array<PyGetSetDef, 3> table = {{
        {"index", place_of<Value>, nullptr, "which argument", nullptr},
        {"value", attribute<Value, &Value::value>, nullptr, "the value", nullptr},
        {},
    }};
    return table.data();
  }
};

bool is_array(PyObject* object) {
  const array::Numpy* numpy = array::numpy_if_ready();
  return numpy != nullptr && Py_TYPE(object) == numpy->array_type;
}

struct Relation : GuardState {
  static constexpr const char* kName = "Relation";
  static constexpr const char* kDocumentation =
      "Relation(one, relation, other)\n--\n\nTwo arguments are related: 'is', 'is not', 'same type', 'same shape' "
      "(arrays), or '<', '<=', '==', '!=', '>', '>=' (exact ints and floats, or two strings).\n\nWhere the arguments "
      "are "
      "something else, it does not hold.";
  enum class Kind : std::uint8_t { kIs, kIsNot, kSameType, kSameShape, kCompare };
  Argument one, other;
  Ref text;
  Kind kind = Kind::kIs;
  int operation = Py_EQ;

  bool set_kind(std::string_view name) {
    constexpr std::array<std::pair<std::string_view, Kind>, 4> kKinds = {{{"is", Kind::kIs},
                                                                          {"is not", Kind::kIsNot},
                                                                          {"same type", Kind::kSameType},
                                                                          {"same shape", Kind::kSameShape}}};
    constexpr std::array<std::pair<std::string_view, int>, 6> kOperations = {
        {{"<", Py_LT}, {"<=", Py_LE}, {"==", Py_EQ}, {"!=", Py_NE}, {">", Py_GT}, {">=", Py_GE}}};
    for (const auto& [known, its] : kKinds) {
      if (known == name) {
        kind = its;
        return true;
      }
    }
    for (const auto& [known, its] : kOperations) {
      if (known == name) {
        kind = Kind::kCompare;
        operation = its;
        return true;
      }
    }
    PyErr_Format(PyExc_ValueError,
                 "there is no relation '%s'; there are: is, is not, same type, same shape, <, <=, ==, !=, >, >=",
                 std::string(name).c_str());
    return false;
  }
  bool set(PyObject* args, PyObject* kwargs) {
    PyObject* left = nullptr;
    PyObject* right = nullptr;
    const char* name = nullptr;
    if (!parse(args, kwargs, "OsO:Relation", std::array<const char*, 4>{"one", "relation", "other", nullptr}, &left,
               &name, &right) ||
        !one.set(left) || !other.set(right) || !set_kind(name)) {
      return false;
    }
    text = Ref::steal(PyUnicode_FromString(name));
    return static_cast<bool>(text);
  }
  int init(PyFunctionObject* function) {
    const int answer = one.find_in(function);
    return answer == 0 ? other.find_in(function) : answer;
  }
  [[nodiscard]] bool holds(PyObject* left, PyObject* right) const {
    switch (kind) {
      case Kind::kIs:
        return left == right;
      case Kind::kIsNot:
        return left != right;
      case Kind::kSameType:
        return Py_TYPE(left) == Py_TYPE(right);
      case Kind::kSameShape: {
        if (!is_array(left) || !is_array(right)) {
          return false;
        }
        const auto* first = reinterpret_cast<array::ArrayFields*>(left);
        const auto* second = reinterpret_cast<array::ArrayFields*>(right);
        return first->nd == second->nd &&
               std::equal(first->dimensions, first->dimensions + first->nd, second->dimensions);
      }
      default:
        break;
    }
    if (!(is_number(left) && is_number(right)) && !(PyUnicode_CheckExact(left) && PyUnicode_CheckExact(right))) {
      return false;
    }
    const Ref answer = Ref::steal(PyObject_RichCompare(left, right, operation));
    if (!answer) {
      PyErr_Clear();
    }
    return answer.get() == Py_True;
  }
  [[nodiscard]] int check(const Arguments& arguments) const {
    PyObject* left = one.in(arguments);
    PyObject* right = other.in(arguments);
    return left != nullptr && right != nullptr && holds(left, right) ? TAGALONG_USE : TAGALONG_NOT_NOW;
  }
  static int traverse(visitproc /*visit*/, void* /*arg*/) { return 0; }
  static PyObject* get_one(PyObject* self, void* /*closure*/) { return ReadyType<Relation>::of(self).one.place(); }
  static PyObject* get_other(PyObject* self, void* /*closure*/) { return ReadyType<Relation>::of(self).other.place(); }
  static PyGetSetDef* attributes() {
    static std::array<PyGetSetDef, 4> table = {{
        {"one", get_one, nullptr, "which argument", nullptr},
        {"relation", attribute<Relation, &Relation::text>, nullptr, "how they are related", nullptr},
        {"other", get_other, nullptr, "which other argument", nullptr},
        {},
    }};
    return table.data();
  }
};

struct Array : ArgumentState {
  static constexpr const char* kName = "Array";
  static constexpr const char* kDocumentation =
      "Array(index, dtype=None, ndim=None, layout=None)\n--\n\nThe argument is a numpy.ndarray, of no subclass, with "
      "this dtype, number of dimensions and layout ('C' or 'F': contiguous in that order); None: whichever. Its "
      "extents "
      "do not matter.";
  Ref dtype;
  Ref layout;
  int ndim = -1;
  int flags = 0;

  bool set_dtype(PyObject* wanted) {
    if (wanted == Py_None) {
      return true;
    }
    const Ref numpy = Ref::steal(PyImport_ImportModule("numpy"));
    dtype = numpy ? Ref::steal(PyObject_CallMethod(numpy.get(), "dtype", "O", wanted)) : Ref();
    return static_cast<bool>(dtype);
  }
  bool set_ndim(PyObject* wanted) {
    constexpr long kMost = 64;
    if (wanted == Py_None) {
      return true;
    }
    const long number = PyLong_AsLong(wanted);
    if (PyErr_Occurred() != nullptr) {
      return false;
    }
    if (number < 0 || number > kMost) {
      PyErr_Format(PyExc_ValueError, "ndim must be from 0 to %ld, not %ld", kMost, number);
      return false;
    }
    ndim = static_cast<int>(number);
    return true;
  }
  bool set_layout(PyObject* wanted) {
    if (wanted == Py_None) {
      return true;
    }
    const char* text = PyUnicode_AsUTF8(wanted);
    if (text == nullptr) {
      return false;
    }
    flags = std::string_view(text) == "C"   ? array::kCContiguous
            : std::string_view(text) == "F" ? array::kFContiguous
                                            : 0;
    if (flags == 0) {
      PyErr_Format(PyExc_ValueError, "layout must be 'C', 'F' or None, not %R", wanted);
      return false;
    }
    layout = Ref::create(wanted);
    return true;
  }
  bool set(PyObject* args, PyObject* kwargs) {
    PyObject* place = nullptr;
    PyObject* wanted[3] = {Py_None, Py_None, Py_None};
    return parse(args, kwargs, "O|OOO:Array", std::array<const char*, 5>{"index", "dtype", "ndim", "layout", nullptr},
                 &place, &wanted[0], &wanted[1], &wanted[2]) &&
           argument.set(place) && set_dtype(wanted[0]) && set_ndim(wanted[1]) && set_layout(wanted[2]);
  }
  [[nodiscard]] bool has_dtype(PyObject* found) const {
    if (!dtype || found == dtype.get()) {
      return true;
    }
    const int answer = PyObject_RichCompareBool(found, dtype.get(), Py_EQ);  // NumPy's own
    if (answer < 0) {
      PyErr_Clear();
    }
    return answer == 1;
  }
  [[nodiscard]] int check(const Arguments& arguments) const {
    PyObject* value = argument.in(arguments);
    if (value == nullptr || !is_array(value)) {
      return TAGALONG_NOT_NOW;
    }
    const auto* fields = reinterpret_cast<array::ArrayFields*>(value);
    const bool holds = (ndim < 0 || fields->nd == ndim) && (fields->flags & flags) == flags && has_dtype(fields->descr);
    return holds ? TAGALONG_USE : TAGALONG_NOT_NOW;
  }
  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(dtype.get());
    return 0;
  }
  static PyObject* get_ndim(PyObject* self, void* /*closure*/) {
    const int number = ReadyType<Array>::of(self).ndim;
    return number < 0 ? Py_NewRef(Py_None) : PyLong_FromLong(number);
  }
  static PyGetSetDef* attributes() {
    static std::array<PyGetSetDef, 5> table = {{
        {"index", place_of<Array>, nullptr, "which argument", nullptr},
        {"dtype", attribute<Array, &Array::dtype>, nullptr, "the dtype, or None", nullptr},
        {"ndim", get_ndim, nullptr, "the number of dimensions, or None", nullptr},
        {"layout", attribute<Array, &Array::layout>, nullptr, "'C', 'F' or None", nullptr},
        {},
    }};
    return table.data();
  }
};

}  // namespace

unsigned versioned(PyTypeObject* type) {
  static PyObject* name = nullptr;
  cpython::once(name, [] { return PyUnicode_InternFromString("__class__"); });
  if (name == nullptr) {
    PyErr_Clear();
    return 0;
  }
  _PyType_Lookup(type, name);  // gives the type a version if it has none
  return cpython::type_version(type);
}

void add_argument_guards(std::vector<Ref>& types) {
  types.push_back(make_ready_type<ArgType>());
  types.push_back(make_ready_type<Type>());
  types.push_back(make_ready_type<Identity>());
  types.push_back(make_ready_type<Value>());
  types.push_back(make_ready_type<Relation>());
  types.push_back(make_ready_type<Array>());
}

}  // namespace tagalong::runtime
