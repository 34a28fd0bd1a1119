// Calls of NumPy's functions and of methods of arrays, and what their arguments have to be.
#include <algorithm>
#include <climits>
#include <cstdlib>

#include "replay/arrays/forming/group_planner.h"
#include "replay/arrays/kernels/histogram.h"

namespace tagalong::replay {

// A method of an array that the fusion group has made is looked up by its name.
bool FusionPlanner::load_method(const Step& step, const std::int32_t* operands) {
  const int index = content_of(operands[0]);
  // An existing array gets its number by its register.
  const bool is_given = index >= 0 && contents_[static_cast<std::size_t>(index)].kind == Kind::kExternal &&
                        contents_[static_cast<std::size_t>(index)].object != nullptr &&
                        Py_TYPE(contents_[static_cast<std::size_t>(index)].object) == np_.array_type &&
                        number_of(operands[0]) >= 0;
  if (index < 0 || (contents_[static_cast<std::size_t>(index)].kind != Kind::kResult && !is_given) ||
      builder_.is_scalar(contents_[static_cast<std::size_t>(index)].number) ||
      builder_.is_column(contents_[static_cast<std::size_t>(index)].number)) {
    return refuse(Reason::kOther);
  }
  const array::KnownFunction function = array::known_method(step.object);
  if (function.kind == array::KnownFunction::Kind::kNone) {
    return refuse(Reason::kOther);
  }
  const std::int32_t* results = operands + step.operand_count;
  define(results[0], {.kind = Kind::kMethod, .function = function});
  state_.registers[results[1]] = index;
  return true;
}

// Whether it is a reduction of an existing array by a method that was looked up in front of the fusion group.
bool FusionPlanner::is_array_method(const std::int32_t* operands) {
  const int array = content_of(operands[1]);
  const Content& method = contents_[static_cast<std::size_t>(content_of(operands[0]))];
  return array >= 0 && method.kind == Kind::kExternal &&
         array::known_descriptor(np_, method.object).kind == array::KnownFunction::Kind::kReduction &&
         contents_[static_cast<std::size_t>(array)].kind == Kind::kExternal &&
         contents_[static_cast<std::size_t>(array)].object != nullptr &&
         Py_TYPE(contents_[static_cast<std::size_t>(array)].object) == np_.array_type;
}

// Calls such as numpy.sum(x) and x.sum(), and of ufuncs with `out`.
bool FusionPlanner::call(const Step& step, const std::int32_t* operands) {
  const int first = content_of(operands[0]);
  bool is_method = first >= 0 && contents_[static_cast<std::size_t>(first)].kind == Kind::kMethod;
  array::KnownFunction function;
  PyObject* callable = nullptr;
  if (is_method) {
    function = contents_[static_cast<std::size_t>(first)].function;
  } else if (first >= 0 && is_array_method(operands)) {
    is_method = true;
    function = array::known_descriptor(np_, same_callable(operands[0]));
  } else {
    callable = is_null(operands[0]) ? same_callable(operands[1]) : nullptr;
    function = array::known_function(callable);
  }
  const bool is_ufunc = callable != nullptr && Py_TYPE(callable) == np_.ufunc_type && has_out(step.object);
  const bool is_reduction = function.kind == array::KnownFunction::Kind::kReduction;
  const bool is_known = function.kind != array::KnownFunction::Kind::kNone && step.object == Py_None;
  const bool is_bincount = function.kind == array::KnownFunction::Kind::kBins;
  if (!is_ufunc && !is_known && !is_reduction && !is_bincount) {
    return refuse(Reason::kOther);
  }
  const int begin = is_method ? 1 : 2;
  if (is_bincount) {
    return count_bins(step, {operands + begin, operands + step.operand_count});
  }
  if (function.kind == array::KnownFunction::Kind::kAstype) {
    return is_method && step.object == Py_None && step.operand_count == 3 ? cast(step, operands)
                                                                          : refuse(Reason::kOther);
  }
  if (is_reduction) {
    return reduce(step, function.reduction, {operands + begin, operands + step.operand_count});
  }
  std::vector<int> numbers;
  for (int index = begin; index < step.operand_count; ++index) {
    numbers.push_back(number_of(operands[index]));
    if (numbers.back() < 0) {
      return refuse(Reason::kForeign);
    }
  }
  const int result = is_ufunc ? call_with_out(callable, step.object, numbers) : call_known(function, numbers);
  if (result < 0) {
    return refuse(builder_.reason());
  }
  define(step.result, {.kind = Kind::kResult, .number = result});
  return true;
}

// array.astype(dtype), where the dtype is one of NumPy's own or a type that means one.
bool FusionPlanner::cast(const Step& step, const std::int32_t* operands) {
  const int number = number_of(operands[1]);
  const int index = content_of(operands[2]);
  const Content* content = index < 0 ? nullptr : &contents_[static_cast<std::size_t>(index)];
  PyObject* object = content == nullptr || content->kind >= Kind::kNumber ? nullptr : content->object;
  PyObject* descr = object == nullptr ? nullptr : descr_of(object);
  if (number < 0 || descr == nullptr) {
    return refuse(Reason::kOther);
  }
  if (content->kind == Kind::kExternal) {
    group_->same.emplace_back(origins_[static_cast<std::size_t>(index)], object);
    state_.same = group_->same.size();
  }
  const int result = builder_.astype(number, descr);
  if (result < 0) {
    return refuse(builder_.reason());
  }
  define(step.result, {.kind = Kind::kResult, .number = result});
  return true;
}

// The dtypes and types that are compared live as long as the process.
PyObject* FusionPlanner::descr_of(PyObject* object) const {
  const auto of = [&](unsigned type) { return np_.descr.at(type); };
  if (object == reinterpret_cast<PyObject*>(&PyFloat_Type)) {
    return of(array::kDouble);
  }
  if (object == reinterpret_cast<PyObject*>(&PyLong_Type)) {
    return of(array::kLong);
  }
  if (object == reinterpret_cast<PyObject*>(&PyBool_Type)) {
    return of(array::kBool);
  }
  for (unsigned type = 0; type < array::kTypeNumbers; ++type) {
    if (of(type) == object || (reinterpret_cast<PyObject*>(np_.scalar_type.at(type)) == object)) {
      return of(type);
    }
  }
  return nullptr;
}

// Reads the operand, the axis and keepdims from positional and keyword arguments.
bool FusionPlanner::reduce(const Step& step, array::Reduction reduction, std::span<const std::int32_t> operands) {
  const std::size_t named = PyTuple_Check(step.object) ? static_cast<std::size_t>(PyTuple_GET_SIZE(step.object)) : 0;
  const std::size_t placed = operands.size() - std::min(named, operands.size());
  if (placed == 0 || placed > 2) {
    return refuse(Reason::kOther);
  }
  const int number = number_of(operands[0]);
  std::vector<int> axes;
  bool is_along_axes = false;
  bool keeps_dims = false;
  bool is_tuple = placed > 1 && is_tuple_content(operands[1]);
  bool is_known = number >= 0 && (placed == 1 || read_axes(operands[1], &axes, &is_along_axes));
  for (std::size_t index = 0; index < named && is_known; ++index) {
    PyObject* name = PyTuple_GET_ITEM(step.object, static_cast<Py_ssize_t>(index));
    const std::int32_t place = operands[placed + index];
    if (placed == 1 && PyUnicode_CompareWithASCIIString(name, "axis") == 0) {  // the axis is not given twice
      is_tuple = is_tuple_content(place);
      is_known = read_axes(place, &axes, &is_along_axes);
    } else if (PyUnicode_CompareWithASCIIString(name, "keepdims") == 0) {
      PyObject* value = same_object(place);
      is_known = value == Py_True || value == Py_False;
      keeps_dims = value == Py_True;
    } else {
      is_known = false;
    }
  }
  const bool is_place = reduction == array::Reduction::kArgMax || reduction == array::Reduction::kArgMin;
  if (!is_known || (is_place && is_tuple)) {
    return refuse(Reason::kOther);
  }
  const int result = is_along_axes ? builder_.reduce(reduction, number, axes, keeps_dims)
                     : keeps_dims  ? builder_.refused(Reason::kOther)
                                   : builder_.reduce(reduction, number);
  if (result < 0) {
    return refuse(builder_.reason());
  }
  define(step.result, {.kind = Kind::kResult, .number = result});
  return true;
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
  const bool has_weights = weights >= 0 && same_object(weights) != Py_None;
  PyObject* number = min_length < 0 ? nullptr : same_object(min_length);
  constexpr long kMostKept = 256;  // larger ints are new objects each time, unless names are bound to them
  const bool may_differ =
      number != nullptr && contents_[static_cast<std::size_t>(content_of(min_length))].kind == Kind::kExternal;
  int overflow = 0;
  const long bins = number == nullptr           ? 0
                    : PyLong_CheckExact(number) ? PyLong_AsLongAndOverflow(number, &overflow)
                                                : -1;
  const int labels = number_of(operands[0]);
  const int weighted = has_weights ? number_of(weights) : -1;
  if ((min_length >= 0 && number == nullptr) || overflow != 0 || bins < 0 ||
      bins > (may_differ ? kMostKept : long{array::kMostBins}) || labels < 0 || (has_weights && weighted < 0)) {
    return refuse(Reason::kOther);
  }
  const int result = builder_.bins(labels, weighted, bins);
  if (result < 0) {
    return refuse(builder_.reason());
  }
  define(step.result, {.kind = Kind::kResult, .number = result});
  return true;
}

bool FusionPlanner::is_tuple_content(std::int32_t place) {
  const int index = content_of(place);
  const Content* content = index < 0 ? nullptr : &contents_[static_cast<std::size_t>(index)];
  return content == nullptr || content->kind == Kind::kTuple ||
         (content->object != nullptr && PyTuple_Check(content->object));
}

// An int, a tuple of ints, or None.
bool FusionPlanner::read_axes(std::int32_t place, std::vector<int>* axes, bool* is_along_axes) {
  const auto read = [&](PyObject* object) {
    int overflow = 0;
    const long axis =
        object != nullptr && PyLong_CheckExact(object) ? PyLong_AsLongAndOverflow(object, &overflow) : -INT_MAX;
    axes->push_back(static_cast<int>(axis));
    return overflow == 0 && std::abs(axis) <= array::kMaxFusionDims;
  };
  const int index = content_of(place);
  if (index >= 0 && contents_[static_cast<std::size_t>(index)].kind == Kind::kTuple) {
    const std::vector<int> parts = contents_[static_cast<std::size_t>(index)].parts;
    *is_along_axes = true;
    return !parts.empty() &&
           std::ranges::all_of(parts, [&](int part) { return part >= 0 && read(same_content(part)); });
  }
  PyObject* object = same_object(place);
  *is_along_axes = object != Py_None;
  if (object == nullptr || object == Py_None) {
    return object == Py_None;
  }
  if (!PyTuple_CheckExact(object)) {
    return read(object);
  }
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); ++i) {
    if (!read(PyTuple_GET_ITEM(object, i))) {
      return false;
    }
  }
  return PyTuple_GET_SIZE(object) > 0;
}

// Whether the keywords are `out` and perhaps `where`.
bool FusionPlanner::has_out(PyObject* keywords) {
  const Py_ssize_t count = PyTuple_Check(keywords) ? PyTuple_GET_SIZE(keywords) : 0;
  return (count == 1 && is_named(keywords, 0, "out")) ||
         (count == 2 && ((is_named(keywords, 0, "out") && is_named(keywords, 1, "where")) ||
                         (is_named(keywords, 0, "where") && is_named(keywords, 1, "out"))));
}

bool FusionPlanner::is_named(PyObject* keywords, Py_ssize_t index, const char* name) {
  return PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(keywords, index), name) == 0;
}

int FusionPlanner::call_with_out(PyObject* ufunc, PyObject* keywords, std::vector<int> numbers) {
  int out = numbers.back();
  int where = -1;
  numbers.pop_back();
  if (PyTuple_GET_SIZE(keywords) == 2) {
    where = numbers.back();
    numbers.pop_back();
    if (is_named(keywords, 0, "out")) {
      std::swap(out, where);
    }
  }
  return builder_.call(ufunc, numbers, out, where);
}

int FusionPlanner::call_known(const array::KnownFunction& function, const std::vector<int>& numbers) {
  using Kind = array::KnownFunction::Kind;
  constexpr std::size_t kArguments = 3;
  if (function.kind == Kind::kWhere && numbers.size() == kArguments) {
    return builder_.where(numbers[0], numbers[1], numbers[2]);
  }
  return function.kind == Kind::kClip && numbers.size() == kArguments
             ? builder_.clip(numbers[0], numbers[1], numbers[2])
             : builder_.refused(Reason::kOther);
}

// The called object, which every run checks to be the same.
PyObject* FusionPlanner::same_callable(std::int32_t place) {
  const int index = content_of(place);
  const Content* content = index < 0 ? nullptr : &contents_[static_cast<std::size_t>(index)];
  if (content != nullptr && content->kind == Kind::kExternal) {
    group_->same.emplace_back(place, content->object);
    state_.same = group_->same.size();
  }
  return content == nullptr ? nullptr : content->object;
}

bool FusionPlanner::is_plain_value(PyObject* object) {
  if (!PyTuple_CheckExact(object)) {
    return object == Py_None || PyBool_Check(object) || PyLong_CheckExact(object);
  }
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); ++i) {
    if (!PyLong_CheckExact(PyTuple_GET_ITEM(object, i))) {
      return false;
    }
  }
  return true;
}

// A value that is part of the plan, which keeps it alive; null: it may differ from run to run.
PyObject* FusionPlanner::same_object(std::int32_t place) {
  const int index = content_of(place);
  return index < 0 ? nullptr : same_content(index);
}

PyObject* FusionPlanner::same_content(int index) {
  const Content& content = contents_[static_cast<std::size_t>(index)];
  if (content.object == nullptr || content.kind >= Kind::kNumber || !is_plain_value(content.object)) {
    return nullptr;
  }
  if (content.kind == Kind::kExternal) {
    group_->same.emplace_back(origins_[static_cast<std::size_t>(index)], content.object);
    state_.same = group_->same.size();
  }
  group_->numbers.push_back(Ref::create(content.object));
  return content.object;
}

}  // namespace tagalong::replay
