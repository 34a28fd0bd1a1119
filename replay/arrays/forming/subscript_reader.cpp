#include "replay/arrays/forming/subscript_reader.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <ranges>

namespace tagalong::replay {
namespace {

// Reads an axis from a constant object.
bool read_axis(PyObject* object, array::ViewSpec::Axis* axis) {
  axis->is_new = object == Py_None;
  axis->is_rest = object == Py_Ellipsis;
  if (axis->is_new || axis->is_rest) {
    return true;
  }
  int overflow = 0;
  axis->start.is_none = false;
  axis->start.value = PyLong_CheckExact(object) ? PyLong_AsLongLongAndOverflow(object, &overflow) : 0;
  return PyLong_CheckExact(object) && overflow == 0;
}

}  // namespace

// Reads an integer or None of an index; false: the object is neither.
bool SubscriptReader::read_number(int index, array::ViewSpec::Number* number) {
  const Content* content = index < 0 ? nullptr : &contents_.at(index);
  if (content == nullptr || content->object == nullptr) {
    return false;
  }
  if (content->object == Py_None && content->kind == Kind::kConstant) {
    return true;
  }
  number->is_none = false;
  const bool may_change = content->kind == Kind::kExternal || content->kind == Kind::kComputed;
  const bool is_numpy_int = Py_TYPE(content->object) == contents_.np().scalar_type[array::kLong];
  if ((!PyLong_CheckExact(content->object) && !(is_numpy_int && may_change)) ||
      group_.externals.size() == kMostExternals) {
    return false;
  }
  if (may_change) {
    number->external = static_cast<std::int16_t>(contents_.external_of(index));
    return true;
  }
  int overflow = 0;
  number->value = PyLong_AsLongLongAndOverflow(content->object, &overflow);
  group_.numbers.push_back(Ref::create(content->object));
  return overflow == 0;
}

bool SubscriptReader::read_axis(int index, array::ViewSpec::Axis* axis) {
  const Content* content = index < 0 ? nullptr : &contents_.at(index);
  if (content != nullptr && (content->object == Py_None || content->object == Py_Ellipsis) &&
      (content->kind == Kind::kConstant || content->kind == Kind::kLoaded)) {
    return replay::read_axis(content->object, axis);
  }
  if (content == nullptr || content->kind != Kind::kSlice) {
    return read_number(index, &axis->start) && !axis->start.is_none;
  }
  axis->is_slice = true;
  const std::vector<int> parts = content->parts;
  return read_number(parts[0], &axis->start) && read_number(parts[1], &axis->stop) &&
         (parts.size() < 3 || read_number(parts[2], &axis->step));
}

// The builder's number of a part of an array; negative: there is no such part, or it would be written and belongs to an
// array that the fusion group has made.
int SubscriptReader::part_of(std::int32_t container, std::int32_t key, bool is_written) {
  const int array = contents_.of(container);
  const int index = contents_.of(key);
  if (array < 0 || index < 0 || contents_.number_of(container) < 0) {
    return -1;
  }
  const Content& content = contents_.at(array);
  const bool is_part = content.kind == Kind::kView;
  const bool is_made =
      content.kind == Kind::kResult || (is_part && contents_.builder().is_part_of_result(content.number));
  if (is_made ? is_written
              : (!is_part && (content.external < 0 || Py_TYPE(content.object) != contents_.np().array_type)) ||
                    contents_.builder().is_written(content.number)) {
    return -1;
  }
  const int whole = content.number;
  array::ViewSpec spec;
  return read_subscript(index, &spec) ? contents_.builder().part_of(whole, std::move(spec)) : -1;
}

bool SubscriptReader::read_subscript(int index, array::ViewSpec* spec) {
  const Content& subscript = contents_.at(index);
  bool is_read = true;
  if (subscript.kind == Kind::kConstant && PyTuple_CheckExact(subscript.object)) {
    for (Py_ssize_t i = 0; is_read && i < PyTuple_GET_SIZE(subscript.object); ++i) {
      is_read = replay::read_axis(PyTuple_GET_ITEM(subscript.object, i), &spec->axes.emplace_back());
    }
  } else {
    const std::vector<int> parts = subscript.kind == Kind::kTuple ? subscript.parts : std::vector<int>{index};
    is_read = std::ranges::all_of(parts, [&](int part) { return read_axis(part, &spec->axes.emplace_back()); });
  }
  return is_read && std::ranges::count_if(spec->axes, &array::ViewSpec::Axis::is_rest) <= 1;
}

// Whether it is an item of an existing array, or of another container, not a part of an array.
bool SubscriptReader::is_item(std::int32_t container, std::int32_t key) {
  const int array = contents_.of(container);
  const int index = contents_.of(key);
  if (array < 0 || index < 0 || contents_.at(array).kind >= Kind::kResult) {
    return false;
  }
  if (!contents_.is_existing_array(array)) {
    return true;
  }
  const auto is_int = [this](int part) {
    return part >= 0 && contents_.at(part).object != nullptr && PyLong_CheckExact(contents_.at(part).object);
  };
  const auto count = static_cast<std::size_t>(array::as_array(contents_.at(array).object)->nd);
  const Content& subscript = contents_.at(index);
  if (subscript.kind == Kind::kTuple) {
    return subscript.parts.size() == count && std::ranges::all_of(subscript.parts, is_int);
  }
  if (subscript.object == nullptr || !PyTuple_CheckExact(subscript.object)) {
    return count == 1 && is_int(index);
  }
  const auto is_int_item = [&subscript](std::size_t item) {
    return PyLong_CheckExact(PyTuple_GET_ITEM(subscript.object, static_cast<Py_ssize_t>(item))) != 0;
  };
  return static_cast<std::size_t>(PyTuple_GET_SIZE(subscript.object)) == count &&
         std::ranges::all_of(std::views::iota(std::size_t{0}, count), is_int_item);
}

bool SubscriptReader::read_axes(std::int32_t place, std::optional<std::vector<int>>* axes) {
  axes->emplace();
  const auto read = [&](PyObject* object) {
    int overflow = 0;
    const long axis =
        object != nullptr && PyLong_CheckExact(object) ? PyLong_AsLongAndOverflow(object, &overflow) : -INT_MAX;
    (*axes)->push_back(static_cast<int>(axis));
    return overflow == 0 && std::abs(axis) <= array::kMaxFusionDims;
  };
  const int index = contents_.of(place);
  if (index >= 0 && contents_.at(index).kind == Kind::kTuple) {
    const std::vector<int> parts = contents_.at(index).parts;
    return !parts.empty() &&
           std::ranges::all_of(parts, [&](int part) { return part >= 0 && read(contents_.same_content(part)); });
  }
  PyObject* object = contents_.same_object(place);
  if (object == Py_None) {
    axes->reset();
  }
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

// An int, or a tuple of ints.
bool SubscriptReader::read_shifts(int index, std::vector<array::ViewSpec::Number>* shifts) {
  constexpr Py_ssize_t kMostShifts = array::kMaxFusionDims;
  const auto read = [&](int part) { return read_number(part, &shifts->emplace_back()) && !shifts->back().is_none; };
  if (index < 0) {
    return false;
  }
  const Content content = contents_.at(index);
  if (content.kind == Kind::kTuple) {
    return std::ranges::all_of(content.parts, read);
  }
  if (content.object == nullptr || !PyTuple_CheckExact(content.object)) {
    return read(index);
  }
  const Py_ssize_t count = PyTuple_GET_SIZE(content.object);
  const bool may_change = content.kind == Kind::kExternal || content.kind == Kind::kComputed;
  if (count > kMostShifts || (may_change && group_.externals.size() == kMostExternals)) {
    return false;
  }
  for (Py_ssize_t item = 0; item < count; ++item) {
    array::ViewSpec::Number& number = shifts->emplace_back();
    number.is_none = false;
    if (may_change) {
      number.external = static_cast<std::int16_t>(contents_.external_of(index));
      number.item = static_cast<std::int8_t>(item);
      number.items = static_cast<std::int8_t>(count);
      continue;
    }
    PyObject* object = PyTuple_GET_ITEM(content.object, item);
    int overflow = 0;
    number.value = PyLong_CheckExact(object) ? PyLong_AsLongLongAndOverflow(object, &overflow) : 0;
    if (!PyLong_CheckExact(object) || overflow != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace tagalong::replay
