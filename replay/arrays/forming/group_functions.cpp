#include "replay/arrays/forming/group_functions.h"

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <string>
#include <string_view>

#include "replay/arrays/kernels/casts.h"
#include "replay/arrays/kernels/histogram.h"

namespace tagalong::replay {
namespace {

using VerbKind = array::ArrayVerb::Kind;
using array::Extent;
using array::ViewSpec;

constexpr std::int32_t kAbsent = -1;

// The registers of a call's arguments, by parameter. False: an argument is given twice, or is unknown.
template <std::size_t kCount>
bool read_arguments(PyObject* keywords, std::span<const std::int32_t> operands,
                    const std::array<const char*, kCount>& names, std::array<std::int32_t, kCount>* places) {
  const std::size_t named = PyTuple_Check(keywords) ? static_cast<std::size_t>(PyTuple_GET_SIZE(keywords)) : 0;
  const std::size_t placed = operands.size() - std::min(named, operands.size());
  if (placed == 0 || operands.size() > kCount) {
    return false;
  }
  places->fill(kAbsent);
  std::copy_n(operands.begin(), placed, places->begin());
  for (std::size_t index = 0; index < named; ++index) {
    PyObject* keyword = PyTuple_GET_ITEM(keywords, static_cast<Py_ssize_t>(index));
    const auto name = std::ranges::find_if(
        names, [&](const char* known) { return PyUnicode_CompareWithASCIIString(keyword, known) == 0; });
    if (name == names.end() || places->at(static_cast<std::size_t>(name - names.begin())) != kAbsent) {
      return false;
    }
    places->at(static_cast<std::size_t>(name - names.begin())) = operands[placed + index];
  }
  return true;
}

ViewSpec::Number constant(Extent value) { return {.is_none = false, .value = value}; }

ViewSpec::Axis slice(ViewSpec::Number start, ViewSpec::Number stop, ViewSpec::Number step = {}) {
  return {.is_slice = true, .start = start, .stop = stop, .step = step};
}

// The part of an array that this slice takes along the axis.
ViewSpec part_along(int axis, const ViewSpec::Axis& slice) {
  const ViewSpec::Axis whole{.is_slice = true};
  ViewSpec spec;
  if (axis < 0) {
    spec.axes = {{.is_rest = true}, slice};
    spec.axes.insert(spec.axes.end(), static_cast<std::size_t>(-1 - axis), whole);
  } else {
    spec.axes.assign(static_cast<std::size_t>(axis), whole);
    spec.axes.push_back(slice);
  }
  return spec;
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

}  // namespace

bool is_named(PyObject* keywords, Py_ssize_t index, const char* name) {
  return PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(keywords, index), name) == 0;
}

bool FunctionCalls::refuse(Reason reason) {
  reason_ = reason;
  return false;
}

bool FunctionCalls::add(const array::ArrayVerb& verb, const Step& step) {
  return add_result(builder().add(verb), step);
}

bool FunctionCalls::add_result(int number, const Step& step) {
  if (number < 0) {
    return refuse(builder().reason());
  }
  contents_.define(step.result, {.kind = Kind::kResult, .number = number});
  return true;
}

bool FunctionCalls::call(const Step& step, array::KnownFunction function, std::span<const std::int32_t> operands) {
  switch (function.kind) {
    case array::KnownFunction::Kind::kReduction:
      return reduce(step, function.reduction, operands);
    case array::KnownFunction::Kind::kBins:
      return count_bins(step, operands);
    case array::KnownFunction::Kind::kRoll:
      return roll(step, operands);
    case array::KnownFunction::Kind::kDifference:
      return difference(step, operands);
    case array::KnownFunction::Kind::kFlip:
      return flip(step, operands);
    case array::KnownFunction::Kind::kRound:
      return round(step, operands);
    default:
      return spread(step, function.kind == array::KnownFunction::Kind::kDeviation, operands);
  }
}

// numpy.roll(array, shift, axis). Without axes it rolls the elements in the order of C, here of one dimension only.
bool FunctionCalls::roll(const Step& step, std::span<const std::int32_t> operands) {
  constexpr std::array kNames = {"a", "shift", "axis"};
  std::array<std::int32_t, kNames.size()> places{};
  std::optional<std::vector<int>> axes;
  std::vector<ViewSpec::Number> shifts;
  if (!read_arguments(step.object, operands, kNames, &places) || places[0] < 0 || places[1] < 0 ||
      (places[2] >= 0 && !subscripts_.read_axes(places[2], &axes)) ||
      !subscripts_.read_shifts(contents_.of(places[1]), &shifts)) {
    return refuse(Reason::kOther);
  }
  const bool is_flat = !axes;
  const std::vector<int> along = is_flat ? std::vector<int>{0} : *axes;
  const std::size_t count = std::max(along.size(), shifts.size());
  const int number = contents_.number_of(places[0]);
  if (number < 0 || shifts.empty() || (along.size() != 1 && along.size() != count) ||
      (shifts.size() != 1 && shifts.size() != count)) {
    return refuse(Reason::kOther);
  }
  std::vector<ViewSpec::Roll> rolls;
  rolls.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    rolls.push_back({.axis = along[along.size() == 1 ? 0 : i], .shift = shifts[shifts.size() == 1 ? 0 : i]});
  }
  return add_result(builder().roll(number, rolls, is_flat), step);
}

// numpy.diff(array, 1, axis): the difference of two parts. Of bools it would be another operation.
bool FunctionCalls::difference(const Step& step, std::span<const std::int32_t> operands) {
  constexpr std::array kNames = {"a", "n", "axis"};
  std::array<std::int32_t, kNames.size()> places{};
  std::optional<std::vector<int>> axes = std::vector<int>{-1};
  if (!read_arguments(step.object, operands, kNames, &places) || places[0] < 0 ||
      (places[2] >= 0 && !subscripts_.read_axes(places[2], &axes)) || !axes || axes->size() != 1) {
    return refuse(Reason::kOther);
  }
  PyObject* order = places[1] < 0 ? nullptr : contents_.same_object(places[1]);
  int overflow = 0;
  const bool is_first = places[1] < 0 || (order != nullptr && PyLong_CheckExact(order) &&
                                          PyLong_AsLongAndOverflow(order, &overflow) == 1);
  const int index = contents_.of(places[0]);
  const int number = index < 0 ? -1 : contents_.number_of(places[0]);
  if (!is_first || number < 0) {
    return refuse(Reason::kOther);
  }
  const bool is_existing = contents_.is_existing_array(index);
  if ((!is_existing && contents_.at(index).kind != Kind::kResult) || builder().is_scalar(number) ||
      (is_existing ? array::as_array(contents_.at(index).object)->descr == np().descr[array::kBool]
                   : builder().type_of(number) == array::kBool)) {
    return refuse(Reason::kOther);
  }
  const int later = builder().part_of(number, part_along(axes->front(), slice(constant(1), {})));
  const int earlier = later < 0 ? -1 : builder().part_of(number, part_along(axes->front(), slice({}, constant(-1))));
  if (earlier < 0) {
    return refuse(builder().reason());
  }
  return add({.kind = array::ArrayVerb::Kind::kCall,
              .object = np().ufunc(array::UfuncName::kSubtract),
              .operands = {later, earlier}},
             step);
}

// numpy.flip(array, axis): a part of an existing array.
bool FunctionCalls::flip(const Step& step, std::span<const std::int32_t> operands) {
  constexpr std::array kNames = {"m", "axis"};
  std::array<std::int32_t, kNames.size()> places{};
  std::optional<std::vector<int>> axes;
  if (!read_arguments(step.object, operands, kNames, &places) || places[0] < 0 ||
      (places[1] >= 0 && !subscripts_.read_axes(places[1], &axes))) {
    return refuse(Reason::kOther);
  }
  const int index = contents_.of(places[0]);
  const int number = index < 0 || !contents_.is_existing_array(index) ? -1 : contents_.number_of(places[0]);
  if (number < 0) {
    return refuse(Reason::kOther);
  }
  const ViewSpec::Axis reversed = slice({}, {}, constant(-1));
  const int nd = array::as_array(contents_.at(index).object)->nd;
  ViewSpec spec;
  spec.nd = nd;
  spec.axes.assign(static_cast<std::size_t>(nd), axes ? ViewSpec::Axis{.is_slice = true} : reversed);
  for (const int axis : axes.value_or(std::vector<int>())) {
    const int place = axis < 0 ? axis + nd : axis;
    if (place < 0 || place >= nd || spec.axes[static_cast<std::size_t>(place)] == reversed) {
      return refuse(Reason::kOther);  // eager execution raises
    }
    spec.axes[static_cast<std::size_t>(place)] = reversed;
  }
  const int part = nd == 0 ? -1 : builder().part_of(number, std::move(spec));
  if (part < 0) {
    return refuse(Reason::kOther);
  }
  contents_.define(step.result, {.kind = Kind::kView, .number = part});
  return true;
}

// numpy.round(array, decimals).
bool FunctionCalls::round(const Step& step, std::span<const std::int32_t> operands) {
  constexpr std::array kNames = {"a", "decimals"};
  constexpr Extent kMost = 1000;
  std::array<std::int32_t, kNames.size()> places{};
  Extent decimals = 0;
  if (!read_arguments(step.object, operands, kNames, &places) || places[0] < 0 ||
      (places[1] >= 0 && !read_constant(places[1], -kMost, kMost, &decimals))) {
    return refuse(Reason::kOther);
  }
  const int number = contents_.number_of(places[0]);
  if (number < 0) {
    return refuse(Reason::kForeign);
  }
  return add({.kind = array::ArrayVerb::Kind::kRound, .code = static_cast<int>(decimals), .operands = {number}}, step);
}

// numpy.var(array, axis, dtype, out, ddof, keepdims), and numpy.std.
bool FunctionCalls::spread(const Step& step, bool is_deviation, std::span<const std::int32_t> operands) {
  constexpr std::array kNames = {"a", "axis", "dtype", "out", "ddof", "keepdims"};
  enum : std::uint8_t { kArray, kAxis, kType, kOut, kFreedom, kKeepsDims };
  constexpr Extent kMost = 1000;
  std::array<std::int32_t, kNames.size()> places{};
  array::ArrayVerb verb{.kind = array::ArrayVerb::Kind::kReduce, .end = {.has_root = is_deviation}};
  if (!read_arguments(step.object, operands, kNames, &places) || places[kArray] < 0 ||
      (places[kAxis] >= 0 && !subscripts_.read_axes(places[kAxis], &verb.axes)) ||
      (places[kFreedom] >= 0 && !read_constant(places[kFreedom], 0, kMost, &verb.end.freedom))) {
    return refuse(Reason::kOther);
  }
  for (const int other : {kType, kOut}) {
    if (places[other] >= 0 && contents_.same_object(places[other]) != Py_None) {
      return refuse(Reason::kOther);
    }
  }
  if (places[kKeepsDims] >= 0) {
    PyObject* value = contents_.same_object(places[kKeepsDims]);
    if (value != Py_True && value != Py_False) {
      return refuse(Reason::kOther);
    }
    verb.keeps_dims = value == Py_True;
  }
  verb.operands = {contents_.number_of(places[kArray])};
  if (verb.operands[0] < 0) {
    return refuse(Reason::kForeign);
  }
  return add_result(builder().spread(verb), step);
}

// An int of this range that is the same in every run.
bool FunctionCalls::read_constant(std::int32_t place, Extent least, Extent most, Extent* number) {
  PyObject* object = contents_.same_object(place);
  int overflow = 0;
  *number = object == nullptr || !PyLong_CheckExact(object) ? least - 1 : PyLong_AsLongAndOverflow(object, &overflow);
  return overflow == 0 && *number >= least && *number <= most;
}

// The dtype is one of NumPy's own, or a type or a constant text that means one.
bool FunctionCalls::cast(const Step& step, std::int32_t array, std::int32_t dtype) {
  const int number = contents_.number_of(array);
  const int index = contents_.of(dtype);
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
bool FunctionCalls::reduce(const Step& step, array::Reduction reduction, std::span<const std::int32_t> operands) {
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
bool FunctionCalls::count_bins(const Step& step, std::span<const std::int32_t> operands) {
  constexpr std::array kNames = {"x", "weights", "minlength"};
  constexpr Extent kMostKept = 256;  // larger ints are new objects each time, unless names are bound to them
  std::array<std::int32_t, kNames.size()> places{};
  if (!read_arguments(step.object, operands, kNames, &places)) {
    return refuse(Reason::kOther);
  }
  const bool has_weights = places[1] >= 0 && contents_.same_object(places[1]) != Py_None;
  const int number = places[2] < 0 ? -1 : contents_.of(places[2]);
  const bool may_differ = number >= 0 && contents_.at(number).kind == Kind::kExternal;
  Extent bins = 0;
  if (places[2] >= 0 && !read_constant(places[2], 0, may_differ ? kMostKept : Extent{array::kMostBins}, &bins)) {
    return refuse(Reason::kOther);
  }
  const int labels = contents_.number_of(places[0]);
  const int weighted = has_weights ? contents_.number_of(places[1]) : -1;
  if (labels < 0 || (has_weights && weighted < 0)) {
    return refuse(Reason::kOther);
  }
  return add_result(builder().bins(labels, weighted, bins), step);
}

}  // namespace tagalong::replay
