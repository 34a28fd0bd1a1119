// Guards on the values of names: in dicts, in a function's globals and builtins, in cells and attributes; and on the
// code of functions. After a change was seen such a guard never holds again.
#include <algorithm>
#include <utility>

#include "rewriter/base/errors.h"
#include "rewriter/cpython/code_link.h"
#include "rewriter/cpython/objects/dicts.h"
#include "runtime/specialize/guard_types.h"
#include "runtime/specialize/ready_guards.h"

namespace tagalong::runtime {
namespace {

// Names, given one by one or as one sequence, become a tuple of exact, interned strings; null with an exception set.
Ref tuple_of_names(PyObject* args, Py_ssize_t first) {
  const Py_ssize_t given = PyTuple_GET_SIZE(args) - first;
  const bool is_sequence = given == 1 && (PyTuple_Check(PyTuple_GET_ITEM(args, first)) != 0 ||
                                          PyList_Check(PyTuple_GET_ITEM(args, first)) != 0);
  const Ref names = Ref::steal(is_sequence ? PySequence_Tuple(PyTuple_GET_ITEM(args, first))
                                           : PyTuple_GetSlice(args, first, PyTuple_GET_SIZE(args)));
  if (!names) {
    return {};
  }
  const Py_ssize_t count = PyTuple_GET_SIZE(names.get());
  if (count == 0) {
    PyErr_SetString(PyExc_TypeError, "at least one name is needed");
    return {};
  }
  Ref interned = Ref::steal(PyTuple_New(count));
  for (Py_ssize_t index = 0; interned && index < count; ++index) {
    PyObject* name = PyTuple_GET_ITEM(names.get(), index);
    if (!PyUnicode_CheckExact(name)) {
      PyErr_Format(PyExc_TypeError, "a name must be a str, not %.200s", Py_TYPE(name)->tp_name);
      return {};
    }
    Py_INCREF(name);
    PyUnicode_InternInPlace(&name);
    PyTuple_SET_ITEM(interned.get(), index, name);
  }
  return interned;
}

bool has_keywords(const char* what, PyObject* kwargs) {
  if (kwargs != nullptr && PyDict_GET_SIZE(kwargs) != 0) {
    PyErr_Format(PyExc_TypeError, "%s() takes no keyword arguments", what);
    return true;
  }
  return false;
}

// Some names of one dict, and their values.
class Names {
 public:
  // If looking up a name would call an `__eq__` of the program's, the names do not hold. `only_strings`: only keys that
  // are exact strs count.
  void watch(PyObject* dict, const Ref& names, bool only_strings = false) {
    only_strings_ = only_strings;
    dict_ = Ref::create(dict);
    names_ = names;
    values_.clear();
    asks_keys_ = false;
    for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(names.get()); ++index) {
      PyObject* name = PyTuple_GET_ITEM(names.get(), index);
      asks_keys_ = asks_keys_ || asks(name);
      values_.push_back(Ref::create(cpython::find_string_key(dict, name)));
    }
    version_ = asks_keys_ ? 0 : cpython::dict_version(dict);
  }
  [[nodiscard]] bool hold() { return is_same() || (!asks_keys_ && hold_still()); }
  // The whole dict is unchanged.
  [[nodiscard]] bool is_same() const { return cpython::dict_version(dict_.get()) == version_; }
  void distrust() { version_ = 0; }  // no dict has this version
  [[nodiscard]] DictVersion version() const { return {dict_.get(), version_}; }
  // Whether none of the names is in the dict.
  [[nodiscard]] bool are_absent() const {
    return !asks_keys_ && std::ranges::none_of(values_, [](const Ref& value) { return static_cast<bool>(value); });
  }
  [[nodiscard]] PyObject* dict() const { return dict_.get(); }
  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(dict_.get());
    for (const Ref& value : values_) {
      Py_VISIT(value.get());
    }
    return 0;
  }

 private:
  [[nodiscard]] bool asks(PyObject* name) const { return !only_strings_ && cpython::asks_keys(dict_.get(), name); }
  // The dict has changed: checks the names one by one.
  bool hold_still() {
    const std::uint64_t version = cpython::dict_version(dict_.get());
    for (std::size_t index = 0; index < values_.size(); ++index) {
      PyObject* name = PyTuple_GET_ITEM(names_.get(), static_cast<Py_ssize_t>(index));
      asks_keys_ = asks_keys_ || asks(name);
      if (asks_keys_ || cpython::find_string_key(dict_.get(), name) != values_[index].get()) {
        return false;
      }
    }
    version_ = version;
    return true;
  }
  Ref dict_;
  Ref names_;
  std::vector<Ref> values_;
  std::uint64_t version_ = 0;
  bool asks_keys_ = false;
  bool only_strings_ = false;
};

struct NamesState : GuardState {
  Ref names;
  Names watched;
  bool has_failed = false;
  [[nodiscard]] int fail() {
    has_failed = true;
    return TAGALONG_NEVER;
  }
  int check(const Arguments& /*arguments*/) { return !has_failed && watched.hold() ? TAGALONG_USE : fail(); }
  int init(PyFunctionObject* /*function*/) { return check({}) == TAGALONG_USE ? 0 : TAGALONG_NEVER; }
  int traverse(visitproc visit, void* arg) const { return watched.traverse(visit, arg); }
};

template <class Condition>
PyObject* dict_of(PyObject* self, void* /*closure*/) {
  PyObject* dict = ReadyType<Condition>::of(self).watched.dict();
  return Py_NewRef(dict == nullptr ? Py_None : dict);
}

template <class Condition>
PyGetSetDef* names_attributes() {
  static std::array<PyGetSetDef, 3> table = {{
      {"dict", dict_of<Condition>, nullptr, "the dict that is watched", nullptr},
      {"names",
       [](PyObject* self, void* /*closure*/) -> PyObject* {
         PyObject* names = ReadyType<Condition>::of(self).names.get();
         return Py_NewRef(names == nullptr ? Py_None : names);
       },
       nullptr, "the names that are watched, as a tuple", nullptr},
      {},
  }};
  return table.data();
}

struct Dict : NamesState {
  static constexpr const char* kName = "Dict";
  static constexpr const char* kDocumentation =
      "Dict(dict, *names)\n--\n\nThese string keys of the dict have the values they had when the guard was made (the "
      "very "
      "objects), or are missing if they were.\n\nThe names may also be given as one tuple or list. Once one has "
      "changed, "
      "the guard never holds again. While the dict is not changed at all, asking costs one comparison.";
  bool set(PyObject* args, PyObject* kwargs) {
    if (has_keywords(kName, kwargs)) {
      return false;
    }
    PyObject* dict = PyTuple_GET_SIZE(args) == 0 ? Py_None : PyTuple_GET_ITEM(args, 0);
    if (!PyDict_Check(dict)) {
      PyErr_Format(PyExc_TypeError, "Dict() needs a dict, not %.200s", Py_TYPE(dict)->tp_name);
      return false;
    }
    names = tuple_of_names(args, 1);
    if (names) {
      watched.watch(dict, names, true);
    }
    return static_cast<bool>(names);
  }
  static PyGetSetDef* attributes() { return names_attributes<Dict>(); }
};

struct Globals : NamesState {
  static constexpr const char* kName = "Globals";
  static constexpr const char* kDocumentation =
      "Globals(*names)\n--\n\nThese global variables of the function are what they were, or are missing if they "
      "were.\n\n"
      "What they are is noted when the guard is made in a module, and by specialize() where the function is of another "
      "module. The names may also be given as one tuple or list. Once one has changed, the guard never holds again.";
  bool set(PyObject* args, PyObject* kwargs) {
    if (has_keywords(kName, kwargs)) {
      return false;
    }
    names = tuple_of_names(args, 0);
    PyObject* globals = PyEval_GetGlobals();
    if (names && globals != nullptr) {
      watched.watch(globals, names);
    }
    return static_cast<bool>(names);
  }
  int init(PyFunctionObject* function) {
    if (watched.dict() != function->func_globals) {
      if (is_used) {
        return fail();
      }
      watched.watch(function->func_globals, names);
    }
    is_used = true;
    return NamesState::init(function);
  }
  int check(const Arguments& arguments) {
    return watched.dict() == nullptr ? TAGALONG_NOT_NOW : NamesState::check(arguments);
  }
  static PyGetSetDef* attributes() { return names_attributes<Globals>(); }
  bool is_used = false;  // by a function with these globals
};

// The builtins of the interpreter as they were when tagalong was imported; borrowed, may be null.
PyObject*& first_builtins() {
  static PyObject* dict = nullptr;
  return dict;
}

struct Builtins : NamesState {
  static constexpr const char* kName = "Builtins";
  static constexpr const char* kDocumentation =
      "Builtins(*names)\n--\n\nThese names are builtins for the function: they have the values that they had when "
      "tagalong was imported (later ones, when the guard was made), and no globals of the same names hide them.\n\n"
      "The names may also be given as one tuple or list. After one has changed, the guard never holds again.";
  Names hiding;  // globals with the same names hide builtins
  bool is_used = false;

  bool set(PyObject* args, PyObject* kwargs) {
    if (has_keywords(kName, kwargs)) {
      return false;
    }
    names = tuple_of_names(args, 0);
    PyObject* builtins = PyEval_GetBuiltins();
    if (!names || builtins == nullptr) {
      return false;
    }
    watch(builtins);
    hiding.watch(builtins, names);  // until a function has the guard
    return true;
  }
  void watch(PyObject* builtins) {
    watched.watch(builtins, names);
    PyObject* first = first_builtins();
    for (Py_ssize_t index = 0; first != nullptr && index < PyTuple_GET_SIZE(names.get()); ++index) {
      PyObject* name = PyTuple_GET_ITEM(names.get(), index);
      PyObject* known = cpython::find_without_side_effects(first, name);
      has_failed = has_failed || (known != nullptr && known != cpython::find_without_side_effects(builtins, name));
    }
    if (has_failed) {
      watched.distrust();
    }
  }
  int init(PyFunctionObject* function) {
    if (!PyDict_Check(function->func_builtins)) {
      return TAGALONG_NEVER;
    }
    if (is_used && (watched.dict() != function->func_builtins || hiding.dict() != function->func_globals)) {
      watched.distrust();
      return fail();
    }
    if (watched.dict() != function->func_builtins) {
      watch(function->func_builtins);
    }
    if (!is_used) {
      hiding.watch(function->func_globals, names);
      has_failed = has_failed || !hiding.are_absent();
      if (has_failed) {
        watched.distrust();
      }
    }
    is_used = true;
    return check({}) == TAGALONG_USE ? 0 : TAGALONG_NEVER;
  }
  int check(const Arguments& /*arguments*/) {
    return watched.is_same() && hiding.is_same() ? TAGALONG_USE : check_still();
  }
  int check_still() {
    if (!has_failed && watched.hold() && (!is_used || hiding.hold())) {
      return TAGALONG_USE;
    }
    watched.distrust();
    return fail();
  }
  int traverse(visitproc visit, void* arg) const {
    const int result = watched.traverse(visit, arg);
    return result != 0 ? result : hiding.traverse(visit, arg);
  }
  static PyGetSetDef* attributes() { return names_attributes<Builtins>(); }
};

struct Func : GuardState {
  static constexpr const char* kName = "Func";
  static constexpr const char* kDocumentation =
      "Func(function)\n--\n\nA Python function has the code and the default values that it had when the guard was "
      "made.\n\n"
      "Once they have changed, the guard never holds again. That the function is traced or specialised is no change.";
  Ref function, code, seen, defaults, keyword_defaults;
  bool has_failed = false;

  static PyObject* shown(const PyFunctionObject* of) {
    return reinterpret_cast<PyObject*>(cpython::shown_of(reinterpret_cast<PyCodeObject*>(of->func_code)));
  }
  bool set(PyObject* args, PyObject* kwargs) {
    static std::array<const char*, 2> parameters = {"function", nullptr};
    PyObject* given = nullptr;
    if (PyArg_ParseTupleAndKeywords(args, kwargs, "O!:Func", const_cast<char**>(parameters.data()), &PyFunction_Type,
                                    &given) == 0) {
      return false;
    }
    const auto* of = reinterpret_cast<PyFunctionObject*>(given);
    function = Ref::create(given);
    code = Ref::create(shown(of));
    seen = Ref::create(of->func_code);
    defaults = Ref::create(of->func_defaults);
    keyword_defaults = Ref::create(of->func_kwdefaults);
    return true;
  }
  int check(const Arguments& /*arguments*/) {
    const auto* of = reinterpret_cast<PyFunctionObject*>(function.get());
    if (has_failed || of->func_defaults != defaults.get() || of->func_kwdefaults != keyword_defaults.get() ||
        (of->func_code != seen.get() && shown(of) != code.get())) {
      has_failed = true;
      return TAGALONG_NEVER;
    }
    return TAGALONG_USE;
  }
  int init(PyFunctionObject* /*of*/) { return check({}) == TAGALONG_USE ? 0 : TAGALONG_NEVER; }
  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(function.get());
    Py_VISIT(defaults.get());
    Py_VISIT(keyword_defaults.get());
    return 0;
  }
  static PyGetSetDef* attributes() {
    static std::array<PyGetSetDef, 3> table = {{
        {"function", attribute<Func, &Func::function>, nullptr, "the function", nullptr},
        {"code", attribute<Func, &Func::code>, nullptr, "the code object that it had", nullptr},
        {},
    }};
    return table.data();
  }
};

struct Cell : GuardState {
  static constexpr const char* kName = "Cell";
  static constexpr const char* kDocumentation =
      "Cell(cell)\n--\n\nA cell has the content that it had when the guard was made: that very object, or "
      "none.\n\nInstead "
      "of a cell, the name of a free variable of the function; then specialize() notes the content. A cell may get "
      "back "
      "the content that it had.";
  Ref cell, content, name;
  bool set(PyObject* args, PyObject* kwargs) {
    static std::array<const char*, 2> parameters = {"cell", nullptr};
    PyObject* given = nullptr;
    if (PyArg_ParseTupleAndKeywords(args, kwargs, "O:Cell", const_cast<char**>(parameters.data()), &given) == 0) {
      return false;
    }
    if (PyUnicode_CheckExact(given)) {
      name = Ref::create(given);
      return true;
    }
    if (!PyCell_Check(given)) {
      PyErr_Format(PyExc_TypeError, "Cell() needs a cell or the name of a free variable, not %.200s",
                   Py_TYPE(given)->tp_name);
      return false;
    }
    watch(given);
    return true;
  }
  void watch(PyObject* given) {
    cell = Ref::create(given);
    content = Ref::create(PyCell_GET(given));
  }
  int init(PyFunctionObject* function) {
    if (!name) {
      return 0;
    }
    const auto* code = reinterpret_cast<PyCodeObject*>(function->func_code);
    const int first = code->co_nlocalsplus - code->co_nfreevars;
    for (int index = 0; index < code->co_nfreevars; ++index) {
      if (PyUnicode_Compare(PyTuple_GET_ITEM(code->co_localsplusnames, first + index), name.get()) == 0) {
        PyObject* found = PyTuple_GET_ITEM(function->func_closure, index);
        if (cell && cell.get() != found) {
          PyErr_Format(PyExc_ValueError, "%R is another cell in the function that has the guard already", name.get());
          return TAGALONG_ERROR;
        }
        if (!cell) {
          watch(found);
        }
        return 0;
      }
    }
    PyErr_Format(PyExc_ValueError, "%U() has no free variable %R", function->func_qualname, name.get());
    return TAGALONG_ERROR;
  }
  [[nodiscard]] int check(const Arguments& /*arguments*/) const {
    return cell && PyCell_GET(cell.get()) == content.get() ? TAGALONG_USE : TAGALONG_NOT_NOW;
  }
  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(cell.get());
    Py_VISIT(content.get());
    return 0;
  }
  static PyGetSetDef* attributes() {
    static std::array<PyGetSetDef, 3> table = {{
        {"cell", attribute<Cell, &Cell::cell>, nullptr, "the cell; None before specialize() has found it", nullptr},
        {"content", attribute<Cell, &Cell::content>, nullptr, "its content; None if it has none", nullptr},
        {},
    }};
    return table.data();
  }
};

struct Attribute : GuardState {
  static constexpr const char* kName = "Attribute";
  static constexpr const char* kDocumentation =
      "Attribute(object, *names)\n--\n\nThese attributes of a module, a class or an ordinary instance are what they "
      "were "
      "when the guard was made (the very objects), or are missing if they were.\n\nOf a class, that is what it has or "
      "inherits; of an instance, what its __dict__ has, and what its class has. Objects whose class looks attributes "
      "up "
      "by code of its own are a TypeError. Once one has changed, the guard never holds again.";
  Ref object, names;
  Ref type;  // a class, or the class of an instance
  std::vector<Ref> inherited;
  unsigned version = 0;
  Names own;                   // attributes in the dict of a module or an instance
  PyObject** place = nullptr;  // of that dict; null: there is none
  bool has_failed = false;

  bool set(PyObject* args, PyObject* kwargs) {
    if (has_keywords(kName, kwargs)) {
      return false;
    }
    if (PyTuple_GET_SIZE(args) == 0) {
      PyErr_SetString(PyExc_TypeError, "Attribute() needs an object and names");
      return false;
    }
    object = Ref::create(PyTuple_GET_ITEM(args, 0));
    names = tuple_of_names(args, 1);
    if (!names) {
      return false;
    }
    PyTypeObject* of = Py_TYPE(object.get());
    if (PyType_Check(object.get())) {
      type = object;
    } else if (of->tp_getattro == PyObject_GenericGetAttr || of->tp_getattro == PyModule_Type.tp_getattro) {
      type = Ref::create(reinterpret_cast<PyObject*>(of));
      const Ref dict = of->tp_dictoffset == 0 ? Ref() : Ref::steal(PyObject_GenericGetDict(object.get(), nullptr));
      if (!dict) {
        PyErr_Clear();
      }
      if (dict && PyDict_Check(dict.get())) {
        place = _PyObject_GetDictPtr(object.get());
        own.watch(dict.get(), names);
      }
    } else {
      PyErr_Format(PyExc_TypeError, "attributes of %.200s are looked up by code of its own", of->tp_name);
      return false;
    }
    return note_inherited();
  }
  [[nodiscard]] PyObject* found(Py_ssize_t index) const {
    return _PyType_Lookup(reinterpret_cast<PyTypeObject*>(type.get()), PyTuple_GET_ITEM(names.get(), index));
  }
  // False with an exception set: the class computes one of the attributes for its instances.
  bool note_inherited() {
    for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(names.get()); ++index) {
      PyObject* value = found(index);
      if (type.get() != object.get() && value != nullptr && Py_TYPE(value)->tp_descr_set != nullptr) {
        PyErr_Format(PyExc_TypeError, "attribute %R of %.200s is computed by its class",
                     PyTuple_GET_ITEM(names.get(), index), Py_TYPE(object.get())->tp_name);
        return false;
      }
      inherited.push_back(Ref::create(value));
    }
    version = versioned(reinterpret_cast<PyTypeObject*>(type.get()));
    return true;
  }
  bool is_inherited_still() {
    if (version != 0 && cpython::type_version(reinterpret_cast<PyTypeObject*>(type.get())) == version) {
      return true;
    }
    for (std::size_t index = 0; index < inherited.size(); ++index) {
      if (found(static_cast<Py_ssize_t>(index)) != inherited[index].get()) {
        return false;
      }
    }
    version = versioned(reinterpret_cast<PyTypeObject*>(type.get()));
    return true;
  }
  // Only called while the object has its old type, and so its dict at the same place.
  bool is_own_still() { return place == nullptr || (*place == own.dict() && own.hold()); }
  int check(const Arguments& /*arguments*/) {
    const bool is_instance = type.get() != object.get();
    const bool has_type = !is_instance || reinterpret_cast<PyObject*>(Py_TYPE(object.get())) == type.get();
    if (has_failed || !has_type || !is_inherited_still() || !is_own_still()) {
      has_failed = true;
      return TAGALONG_NEVER;
    }
    return TAGALONG_USE;
  }
  int init(PyFunctionObject* /*function*/) { return check({}) == TAGALONG_USE ? 0 : TAGALONG_NEVER; }
  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(object.get());
    Py_VISIT(type.get());
    for (const Ref& value : inherited) {
      Py_VISIT(value.get());
    }
    return own.traverse(visit, arg);
  }
  static PyGetSetDef* attributes() {
    static std::array<PyGetSetDef, 3> table = {{
        {"object", attribute<Attribute, &Attribute::object>, nullptr, "whose attributes", nullptr},
        {"names", attribute<Attribute, &Attribute::names>, nullptr, "which, as a tuple", nullptr},
        {},
    }};
    return table.data();
  }
};

template <class Condition>
Condition* exactly(PyObject* guard) {
  return Py_TYPE(guard) == ReadyType<Condition>::type() ? &ReadyType<Condition>::of(guard) : nullptr;
}

}  // namespace

bool take_versions(PyObject* guard, std::vector<DictVersion>& versions) {
  const auto take = [&versions](const Names& names) {
    const DictVersion taken = names.version();
    if (std::ranges::none_of(versions, [&taken](const DictVersion& each) { return each.dict == taken.dict; })) {
      versions.push_back(taken);
    }
    return true;
  };
  if (const auto* dict = exactly<Dict>(guard)) {
    return take(dict->watched);
  }
  if (const auto* globals = exactly<Globals>(guard)) {
    return take(globals->watched);
  }
  const auto* builtins = exactly<Builtins>(guard);
  return builtins != nullptr && take(builtins->watched) && take(builtins->hiding);
}

void add_name_guards(std::vector<Ref>& types) {
  if (first_builtins() == nullptr) {
    first_builtins() = PyDict_Copy(PyEval_GetBuiltins());
    if (first_builtins() == nullptr) {
      throw PythonError();
    }
  }
  types.push_back(make_ready_type<Dict>());
  types.push_back(make_ready_type<Globals>());
  types.push_back(make_ready_type<Builtins>());
  types.push_back(make_ready_type<Func>());
  types.push_back(make_ready_type<Cell>());
  types.push_back(make_ready_type<Attribute>());
}

}  // namespace tagalong::runtime
