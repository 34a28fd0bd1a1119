// Calls of NumPy's functions and of methods of arrays, and what their arguments have to be.
#include <algorithm>
#include <climits>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "replay/arrays/forming/group_planner.h"
#include "replay/arrays/kernels/casts.h"
#include "replay/arrays/kernels/histogram.h"
#include "replay/objects/known_functions.h"

namespace tagalong::replay {
namespace {

using VerbKind = array::ArrayVerb::Kind;

bool is_named(PyObject* keywords, Py_ssize_t index, const char* name) {
  return PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(keywords, index), name) == 0;
}

// Whether the keywords are `out` and perhaps `where`.
bool has_out(PyObject* keywords) {
  const Py_ssize_t count = PyTuple_Check(keywords) ? PyTuple_GET_SIZE(keywords) : 0;
  return (count == 1 && is_named(keywords, 0, "out")) ||
         (count == 2 && ((is_named(keywords, 0, "out") && is_named(keywords, 1, "where")) ||
                         (is_named(keywords, 0, "where") && is_named(keywords, 1, "out"))));
}

// Whether the text is the dtype's name, its kind and size, or its one character, as in "float32", "f4" and "f".
bool names_descr(const array::Numpy& np, unsigned type, std::string_view text) {
  if (np.descr.at(type) == nullptr) {
    return false;
  }
  const auto* descr = reinterpret_cast<const array::DescrFields*>(np.descr.at(type));
  const std::string_view name = np.scalar_type.at(type)->tp_name;
  const auto dot = name.rfind('.');
  return text == name.substr(dot == std::string_view::npos ? 0 : dot + 1) ||
         text == std::string(1, descr->kind) + std::to_string(np.item_size.at(type)) ||
         text == std::string_view(&descr->type, 1);
}

PyObject* descr_named(const array::Numpy& np, PyObject* object) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(object, &size);
  if (text == nullptr) {
    PyErr_Clear();
    return nullptr;
  }
  for (unsigned type = 0; type < array::kTypeNumbers; ++type) {
    if (names_descr(np, type, {text, static_cast<std::size_t>(size)})) {
      return np.descr.at(type);
    }
  }
  return nullptr;
}

// The dtypes and types that are compared live as long as the process.
PyObject* descr_of(const array::Numpy& np, PyObject* object) {
  const auto of = [&](unsigned type) { return np.descr.at(type); };
  if (object == reinterpret_cast<PyObject*>(&PyFloat_Type)) {
    return of(array::kDouble);
  }
  if (object == reinterpret_cast<PyObject*>(&PyLong_Type)) {
    return of(array::kLong);
  }
  if (object == reinterpret_cast<PyObject*>(&PyBool_Type)) {
    return of(array::kBool);
  }
  if (object == reinterpret_cast<PyObject*>(&PyComplex_Type)) {
    return of(array::kComplexDouble);
  }
  if (PyUnicode_CheckExact(object)) {
    return descr_named(np, object);
  }
  for (unsigned type = 0; type < array::kTypeNumbers; ++type) {
    if (of(type) == object || (reinterpret_cast<PyObject*>(np.scalar_type.at(type)) == object)) {
      return of(type);
    }
  }
  return nullptr;
}

bool is_tuple_content(GroupContents* contents, std::int32_t place) {
  const GroupContents::Content* content = contents->find(place);
  return content == nullptr || content->kind == GroupContents::Kind::kTuple ||
         (content->object != nullptr && PyTuple_Check(content->object));
}

// The last operands of a ufunc's call are `out` and perhaps `where`, in the order of the keywords.
void name_out(PyObject* keywords, array::ArrayVerb* verb) {
  for (Py_ssize_t index = PyTuple_GET_SIZE(keywords); index-- > 0;) {
    (is_named(keywords, index, "out") ? verb->out : verb->where) = verb->operands.back();
    verb->operands.pop_back();
  }
}

VerbKind verb_of(array::KnownFunction::Kind function) {
  return function == array::KnownFunction::Kind::kWhere       ? VerbKind::kWhere
         : function == array::KnownFunction::Kind::kClip      ? VerbKind::kClip
         : function == array::KnownFunction::Kind::kConjugate ? VerbKind::kConjugate
         : function == array::KnownFunction::Kind::kCopy      ? VerbKind::kAstype
                                                              : VerbKind::kCount;
}

// Borrowed.
PyObject* list_append() {
  static PyObject* const method = Py_XNewRef(PyDict_GetItemString(PyList_Type.tp_dict, "append"));
  return method;
}

// Whether it is a reduction of an existing array by a method that was looked up in front of the fusion group.
bool is_array_method(GroupContents& contents, const std::int32_t* operands) {
  const int array = contents.of(operands[1]);
  const GroupContents::Content& method = contents.at(contents.of(operands[0]));
  return array >= 0 && method.kind == GroupContents::Kind::kExternal &&
         array::may_be_alone(array::known_descriptor(contents.np(), method.object)) &&
         contents.is_existing_array(array);
}

}  // namespace

// A method of an array that the fusion group has made is looked up by its name.
bool FusionPlanner::load_method(const Step& step, const std::int32_t* operands) {
  const int index = contents_.of(operands[0]);
  const array::KnownFunction function = array::known_method(step.object);
  const bool is_copy = function.kind == array::KnownFunction::Kind::kCopy;
  const bool is_fused = function.kind != array::KnownFunction::Kind::kNone;
  if (index >= 0 && contents_.at(index).kind < Kind::kResult &&
      (!contents_.is_existing_array(index) || !is_fused || is_copy)) {
    return load_method_of_object(step, operands);
  }
  // An existing array gets its number by its register.
  const bool is_given = index >= 0 && contents_.is_existing_array(index) && contents_.number_of(operands[0]) >= 0;
  const bool is_copied = is_copy && index >= 0 && contents_.at(index).kind == Kind::kView;
  if (index < 0 || (contents_.at(index).kind != Kind::kResult && !is_given && !is_copied) ||
      builder().is_scalar(contents_.at(index).number) || builder().is_column(contents_.at(index).number)) {
    return refuse(Reason::kOther);
  }
  if (!is_fused) {
    return refuse(Reason::kOther);
  }
  const std::int32_t* results = operands + step.operand_count;
  contents_.define(results[0], {.kind = Kind::kMethod, .function = function});
  contents_.state().registers[results[1]] = index;
  return true;
}

// Calls such as numpy.sum(x) and x.sum(), and of ufuncs with `out`.
bool FusionPlanner::call(const Step& step, const std::int32_t* operands) {
  const int first = contents_.of(operands[0]);
  bool is_method = first >= 0 && contents_.at(first).kind == Kind::kMethod;
  array::KnownFunction function;
  PyObject* callable = nullptr;
  if (is_method) {
    function = contents_.at(first).function;
  } else if (first >= 0 && is_array_method(contents_, operands)) {
    is_method = true;
    function = array::known_descriptor(np(), contents_.same_callable(operands[0]));
  } else {
    callable = contents_.is_null(operands[0]) ? contents_.same_callable(operands[1]) : nullptr;
    function = array::known_function(callable);
  }
  if (first >= 0 && contents_.at(first).kind < Kind::kResult && contents_.at(first).object == list_append()) {
    contents_.require_same(first);
    return step.object == Py_None && step.operand_count == kCallableSlots + 1 ? append(step, operands)
                                                                              : refuse(Reason::kOther);
  }
  if (callable != nullptr && replay::known_function(callable) == Known::kAbsolute && step.object == Py_None &&
      step.operand_count == kCallableSlots + 1) {
    return absolute(step, operands);
  }
  const bool is_ufunc = callable != nullptr && Py_TYPE(callable) == np().ufunc_type && has_out(step.object);
  const bool is_reduction = function.kind == array::KnownFunction::Kind::kReduction;
  const bool is_known = function.kind != array::KnownFunction::Kind::kNone && step.object == Py_None;
  const bool is_bincount = function.kind == array::KnownFunction::Kind::kBins;
  const bool is_composed = array::is_composed(function);
  if (!is_ufunc && !is_known && !is_reduction && !is_bincount && !is_composed) {
    return calculate(step, operands);
  }
  const int begin = is_method ? 1 : 2;
  if (is_composed) {
    return call_function(step, function, {operands + begin, operands + step.operand_count});
  }
  if (is_bincount) {
    return count_bins(step, {operands + begin, operands + step.operand_count});
  }
  if (function.kind == array::KnownFunction::Kind::kAstype) {
    return is_method && step.object == Py_None && step.operand_count == 3 ? cast(step, operands)
                                                                          : refuse(Reason::kOther);
  }
  if (array::is_component(function)) {
    const bool is_imaginary = function.kind == array::KnownFunction::Kind::kImaginaryPart;
    return is_known && step.operand_count == kCallableSlots + 1
               ? take_component(step, operands[kCallableSlots], is_imaginary)
               : refuse(Reason::kOther);
  }
  const bool has_no_arguments =
      function.kind == array::KnownFunction::Kind::kConjugate || function.kind == array::KnownFunction::Kind::kCopy;
  if (has_no_arguments && (!is_method || step.operand_count != 2)) {
    return refuse(Reason::kOther);
  }
  if (is_reduction) {
    return reduce(step, function.reduction, {operands + begin, operands + step.operand_count});
  }
  array::ArrayVerb verb{.kind = is_ufunc ? VerbKind::kCall : verb_of(function.kind), .object = callable};
  for (int index = begin; index < step.operand_count; ++index) {
    verb.operands.push_back(contents_.number_of(operands[index]));
    if (verb.operands.back() < 0) {
      return refuse(Reason::kForeign);
    }
  }
  if (is_ufunc) {
    name_out(step.object, &verb);
  }
  return add(verb, step);
}

// The real or imaginary parts of a result: a view without an object.
bool FusionPlanner::take_component(const Step& step, std::int32_t place, bool is_imaginary) {
  const Content* whole = contents_.find(place);
  if (whole == nullptr || whole->kind != Kind::kResult) {
    return refuse(Reason::kOther);
  }
  const int number =
      builder().add({.kind = VerbKind::kComponent, .code = is_imaginary ? 1 : 0, .operands = {whole->number}});
  if (number < 0) {
    return refuse(builder().reason());
  }
  contents_.define(step.result, {.kind = Kind::kView, .number = number});
  return true;
}

// The builtin function, of an array. Eager NumPy may compute into a result without a name; it does not into an existing
// array of complex numbers.
bool FusionPlanner::absolute(const Step& step, const std::int32_t* operands) {
  const std::int32_t place = operands[kCallableSlots];
  const int index = contents_.of(place);
  if (index < 0) {
    return refuse(Reason::kOther);
  }
  const bool is_result = contents_.at(index).kind == Kind::kResult && !builder().is_scalar(contents_.at(index).number);
  const bool is_view = contents_.at(index).kind == Kind::kView;
  const bool is_existing =
      contents_.is_existing_array(index) && array::holds_complex(np(), array::as_array(contents_.at(index).object));
  if (!is_result && !is_view && !is_existing) {
    return calculate(step, operands);
  }
  const int number = contents_.number_of(place);
  if (number < 0) {
    return refuse(Reason::kForeign);
  }
  return add({.kind = VerbKind::kCall,
              .object = np().ufunc(array::UfuncName::kAbsolute),
              .operands = {number},
              .temporaries = is_result && !is_held(place) ? 1U : 0U},
             step);
}

// array.astype(dtype), where the dtype is one of NumPy's own, or a type or a constant text that means one.
bool FusionPlanner::cast(const Step& step, const std::int32_t* operands) {
  const int number = contents_.number_of(operands[1]);
  const int index = contents_.of(operands[2]);
  const Content* content = index < 0 ? nullptr : &contents_.at(index);
  PyObject* object = content == nullptr || content->kind >= Kind::kComputed ? nullptr : content->object;
  PyObject* descr = object == nullptr ? nullptr : descr_of(np(), object);
  if (number < 0 || descr == nullptr) {
    return refuse(Reason::kOther);
  }
  if (PyUnicode_Check(object) && content->kind != Kind::kConstant) {
    return refuse(Reason::kOther);
  }
  contents_.require_same(index);
  return add({.kind = VerbKind::kAstype, .object = descr, .operands = {number}}, step);
}

// Reads the operand, the axis and keepdims from positional and keyword arguments.
bool FusionPlanner::reduce(const Step& step, array::Reduction reduction, std::span<const std::int32_t> operands) {
  const std::size_t named = PyTuple_Check(step.object) ? static_cast<std::size_t>(PyTuple_GET_SIZE(step.object)) : 0;
  const std::size_t placed = operands.size() - std::min(named, operands.size());
  if (placed == 0 || placed > 2) {
    return refuse(Reason::kOther);
  }
  array::ArrayVerb verb{.kind = VerbKind::kReduce, .code = static_cast<int>(reduction)};
  verb.operands.push_back(contents_.number_of(operands[0]));
  bool is_tuple = placed > 1 && is_tuple_content(&contents_, operands[1]);
  bool is_known = verb.operands[0] >= 0 && (placed == 1 || subscripts_.read_axes(operands[1], &verb.axes));
  for (std::size_t index = 0; index < named && is_known; ++index) {
    const auto name = static_cast<Py_ssize_t>(index);
    const std::int32_t place = operands[placed + index];
    if (placed == 1 && is_named(step.object, name, "axis")) {  // the axis is not given twice
      is_tuple = is_tuple_content(&contents_, place);
      is_known = subscripts_.read_axes(place, &verb.axes);
    } else if (is_named(step.object, name, "keepdims")) {
      PyObject* value = contents_.same_object(place);
      is_known = value == Py_True || value == Py_False;
      verb.keeps_dims = value == Py_True;
    } else {
      is_known = false;
    }
  }
  const bool is_place = reduction == array::Reduction::kArgMax || reduction == array::Reduction::kArgMin;
  if (!is_known || (is_place && is_tuple)) {
    return refuse(Reason::kOther);
  }
  return add(verb, step);
}

// bincount(labels, weights, minlength); the last two are positional or keyword arguments.
bool FusionPlanner::count_bins(const Step& step, std::span<const std::int32_t> operands) {
  constexpr std::size_t kMost = 3;
  const std::size_t named = PyTuple_Check(step.object) ? static_cast<std::size_t>(PyTuple_GET_SIZE(step.object)) : 0;
  const std::size_t placed = operands.size() - std::min(named, operands.size());
  if (placed == 0 || operands.size() > kMost) {
    return refuse(Reason::kOther);
  }
  std::int32_t weights = placed > 1 ? operands[1] : -1;
  std::int32_t min_length = placed > 2 ? operands[2] : -1;
  for (std::size_t index = 0; index < named; ++index) {
    const bool are_weights = is_named(step.object, static_cast<Py_ssize_t>(index), "weights");
    std::int32_t& place = are_weights ? weights : min_length;
    if (place >= 0 || (!are_weights && !is_named(step.object, static_cast<Py_ssize_t>(index), "minlength"))) {
      return refuse(Reason::kOther);  // an argument that is given twice, or is unknown: eager execution raises
    }
    place = operands[placed + index];
  }
  const bool has_weights = weights >= 0 && contents_.same_object(weights) != Py_None;
  PyObject* number = min_length < 0 ? nullptr : contents_.same_object(min_length);
  constexpr long kMostKept = 256;  // larger ints are new objects each time, unless names are bound to them
  const bool may_differ = number != nullptr && contents_.at(contents_.of(min_length)).kind == Kind::kExternal;
  int overflow = 0;
  const long bins = number == nullptr           ? 0
                    : PyLong_CheckExact(number) ? PyLong_AsLongAndOverflow(number, &overflow)
                                                : -1;
  const int labels = contents_.number_of(operands[0]);
  const int weighted = has_weights ? contents_.number_of(weights) : -1;
  if ((min_length >= 0 && number == nullptr) || overflow != 0 || bins < 0 ||
      bins > (may_differ ? kMostKept : long{array::kMostBins}) || labels < 0 || (has_weights && weighted < 0)) {
    return refuse(Reason::kOther);
  }
  return add_result(builder().bins(labels, weighted, bins), step);
}

}  // namespace tagalong::replay
