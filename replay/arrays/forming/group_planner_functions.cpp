// NumPy's functions of several operations. roll, diff and flip are written in Python over parts of arrays, which a
// group reads where they are; var and std are written in Python, too. No frames are needed.
#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>

#include "replay/arrays/forming/group_planner.h"

namespace tagalong::replay {
namespace {

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

}  // namespace

bool FusionPlanner::call_function(const Step& step, array::KnownFunction function,
                                  std::span<const std::int32_t> operands) {
  switch (function.kind) {
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
bool FusionPlanner::roll(const Step& step, std::span<const std::int32_t> operands) {
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
bool FusionPlanner::difference(const Step& step, std::span<const std::int32_t> operands) {
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
bool FusionPlanner::flip(const Step& step, std::span<const std::int32_t> operands) {
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
bool FusionPlanner::round(const Step& step, std::span<const std::int32_t> operands) {
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
bool FusionPlanner::spread(const Step& step, bool is_deviation, std::span<const std::int32_t> operands) {
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
bool FusionPlanner::read_constant(std::int32_t place, Extent least, Extent most, Extent* number) {
  PyObject* object = contents_.same_object(place);
  int overflow = 0;
  *number = object == nullptr || !PyLong_CheckExact(object) ? least - 1 : PyLong_AsLongAndOverflow(object, &overflow);
  return overflow == 0 && *number >= least && *number <= most;
}

}  // namespace tagalong::replay
