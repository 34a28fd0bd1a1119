// Checks what warnings.py and _warnings.c would do with a RuntimeWarning of NumPy: which parts of it are the standard
// library's, and which the program's own. A part that is not surely the standard library's counts as the program's.
#include "replay/arrays/numpy/float_reports.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "replay/arrays/numpy/float_policy.h"
#include "rewriter/base/once.h"
#include "rewriter/cpython/frames.h"

namespace tagalong::array {
namespace {

constexpr int kLevels = 50;  // nested Python calls, more than a warning takes

// Names that are looked up. The first kPartCount ones are the parts of the module warnings that handle a warning. The
// first part must be a function of that module or a list's append; the next five must be functions of that module.
enum Name : std::size_t {
  kShowImplementation,
  kShow,
  kShowWarning,
  kFormatWarning,
  kFormat,
  kFormatImplementation,
  kShowWarningOriginal,
  kFormatWarningOriginal,
  kMessage,
  kDefaultAction,
  kOnceRegistry,
  kFilters,
  kPartCount,
  kWarnings = kPartCount,
  kRe,
  kPattern,
  kIo,
  kText,
  kBuffered,
  kFile,
  kBuffer,
  kRaw,
  kErrors,
  kClosed,
  kSys,
  kStandardError,
  kFirstStandardError,
  kInit,
  kNameCount
};
constexpr std::array<const char*, kNameCount> kNames{"_showwarnmsg_impl",
                                                     "_showwarnmsg",
                                                     "showwarning",
                                                     "formatwarning",
                                                     "_formatwarnmsg",
                                                     "_formatwarnmsg_impl",
                                                     "_showwarning_orig",
                                                     "_formatwarning_orig",
                                                     "WarningMessage",
                                                     "defaultaction",
                                                     "onceregistry",
                                                     "filters",
                                                     "warnings",
                                                     "re",
                                                     "Pattern",
                                                     "_io",
                                                     "TextIOWrapper",
                                                     "BufferedWriter",
                                                     "FileIO",
                                                     "buffer",
                                                     "raw",
                                                     "errors",
                                                     "closed",
                                                     "sys",
                                                     "stderr",
                                                     "__stderr__",
                                                     "__init__"};
constexpr std::array<const char*, 5> kHarmlessActions{"default", "ignore", "always", "module", "once"};

using Parts = std::array<PyObject*, kPartCount>;  // borrowed

// Null, with an exception set, if there is no memory for the string.
PyObject* text_of(Name name) {
  static std::array<PyObject*, kNameCount> texts{};
  return cpython::once(texts.at(name), [name] { return PyUnicode_InternFromString(kNames.at(name)); });
}

// Null: the dict has no such key.
PyObject* item(PyObject* dict, Name name) {
  PyObject* const text = dict == nullptr ? nullptr : text_of(name);
  return text == nullptr ? nullptr : PyDict_GetItemWithError(dict, text);
}

// The dict of a module that has been imported. The module is not imported here, since that would call what the program
// may have put in place of __import__.
PyObject* module_dict(Name name) {
  PyObject* const module = item(PyImport_GetModuleDict(), name);
  return module != nullptr && PyModule_CheckExact(module) ? PyModule_GetDict(module) : nullptr;
}

bool has_type(PyObject* object, Name module, Name name) {
  return object != nullptr && reinterpret_cast<PyObject*>(Py_TYPE(object)) == item(module_dict(module), name);
}

Ref attribute(PyObject* object, Name name) {
  PyObject* const text = text_of(name);
  return text == nullptr ? Ref() : Ref::steal(PyObject_GetAttr(object, text));
}

bool find_parts(PyObject* dict, Parts* parts) {
  for (std::size_t i = 0; i < kPartCount; ++i) {
    PyObject* const value = item(dict, static_cast<Name>(i));
    if (value == nullptr) {
      return false;
    }
    parts->at(i) = value;
  }
  return PyList_CheckExact(parts->at(kFilters));
}

bool is_text(PyObject* object, const char* text) {
  return PyUnicode_CheckExact(object) && PyUnicode_CompareWithASCIIString(object, text) == 0;
}

bool is_harmless(PyObject* action) {
  return std::ranges::any_of(kHarmlessActions, [&](const char* text) { return is_text(action, text); });
}

// A filter's pattern is a regular expression, a string or None; then its method match() is the standard library's own.
bool is_pattern(PyObject* object) {
  return object == Py_None || PyUnicode_CheckExact(object) || has_type(object, kRe, kPattern);
}

// Whether this filter handles a RuntimeWarning, if it matches at all, without an exception and without code of the
// program. `is_last`: the filter matches every RuntimeWarning.
bool is_harmless_filter(PyObject* filter, bool* is_last) {
  constexpr Py_ssize_t kFields = 5;
  if (!PyTuple_CheckExact(filter) || PyTuple_GET_SIZE(filter) != kFields) {
    return false;
  }
  PyObject* const message = PyTuple_GET_ITEM(filter, 1);
  PyObject* const category = PyTuple_GET_ITEM(filter, 2);
  PyObject* const module = PyTuple_GET_ITEM(filter, 3);
  PyObject* const line = PyTuple_GET_ITEM(filter, 4);
  // A metaclass could override the subclass check.
  if (!PyType_CheckExact(category) || !is_pattern(message) || !is_pattern(module) || !PyLong_CheckExact(line)) {
    return false;
  }
  if (PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(PyExc_RuntimeWarning),
                       reinterpret_cast<PyTypeObject*>(category)) == 0) {
    return true;
  }
  *is_last = message == Py_None && module == Py_None && PyLong_AsLong(line) == 0;
  return is_harmless(PyTuple_GET_ITEM(filter, 0));
}

bool are_harmless_filters(PyObject* filters) {
  bool is_last = false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(filters) && !is_last; ++i) {
    if (!is_harmless_filter(PyList_GET_ITEM(filters, i), &is_last)) {
      return false;
    }
  }
  return true;
}

bool is_function_of(PyObject* dict, PyObject* function) {
  return PyFunction_Check(function) && PyFunction_GetGlobals(function) == dict;
}

// Whether creating an instance of this class runs code of warnings.py and nothing else.
bool is_class_of(PyObject* dict, PyObject* object) {
  if (!PyType_CheckExact(object)) {
    return false;
  }
  auto* const type = reinterpret_cast<PyTypeObject*>(object);
  PyObject* const init = item(type->tp_dict, kInit);
  return type->tp_base == &PyBaseObject_Type && type->tp_new == PyBaseObject_Type.tp_new && init != nullptr &&
         is_function_of(dict, init);
}

// catch_warnings(record=True) puts a list's append here.
bool is_append(PyObject* function) {
  return PyCFunction_CheckExact(function) && PyCFunction_GetSelf(function) != nullptr &&
         PyList_CheckExact(PyCFunction_GetSelf(function)) &&
         std::string_view(reinterpret_cast<PyCFunctionObject*>(function)->m_ml->ml_name) == "append";
}

// Whether the stream writes text to a file and can encode every string.
bool is_plain_text_stream(PyObject* stream) {
  if (!has_type(stream, kIo, kText)) {
    return false;
  }
  Ref buffer = attribute(stream, kBuffer);
  if (has_type(buffer.get(), kIo, kBuffered)) {  // a stream without a buffer has the raw file here
    buffer = attribute(buffer.get(), kRaw);
  }
  const Ref errors = attribute(stream, kErrors);
  return has_type(buffer.get(), kIo, kFile) && errors && is_text(errors.get(), "backslashreplace");
}

// Only the interpreter's own standard error counts. It lives as long as the interpreter, so its result is kept.
bool is_harmless_stream() {
  static PyObject* known = nullptr;
  PyObject* const dict = module_dict(kSys);
  PyObject* const stream = item(dict, kStandardError);
  if (stream == nullptr || stream != item(dict, kFirstStandardError)) {
    return false;
  }
  if (stream == Py_None) {
    return true;
  }
  if (stream != known) {
    if (!is_plain_text_stream(stream)) {
      return false;
    }
    Py_XSETREF(known, Py_NewRef(stream));
  }
  return attribute(stream, kClosed).get() == Py_False;  // writing to a closed stream raises more than an OSError
}

bool are_warnings_unnoticed() {
  constexpr std::array kOwn{kShow, kShowWarning, kFormatWarning, kFormat, kFormatImplementation};
  PyObject* const dict = module_dict(kWarnings);
  Parts parts{};
  if (dict == nullptr || !find_parts(dict, &parts)) {
    return false;
  }
  const bool are_own = std::ranges::all_of(kOwn, [&](Name part) { return is_function_of(dict, parts.at(part)); });
  const bool are_original = parts.at(kShowWarning) == parts.at(kShowWarningOriginal) &&
                            parts.at(kFormatWarning) == parts.at(kFormatWarningOriginal) &&
                            is_class_of(dict, parts.at(kMessage)) && PyDict_CheckExact(parts.at(kOnceRegistry));
  PyObject* const show = parts.at(kShowImplementation);
  return are_own && are_original && is_harmless(parts.at(kDefaultAction)) && are_harmless_filters(parts.at(kFilters)) &&
         (is_append(show) || (is_function_of(dict, show) && is_harmless_stream()));
}

}  // namespace

bool reports_are_unnoticed(const Numpy& np) {
  if (cpython::recursion_left(PyThreadState_Get()) < kLevels || !warns_of_float_errors(np)) {
    return false;
  }
  const bool are_unnoticed = are_warnings_unnoticed();
  PyErr_Clear();
  return are_unnoticed;
}

}  // namespace tagalong::array
